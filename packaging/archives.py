"""Archives whose bytes depend on their content only: sorted entries, one time, no names of the machine that made them."""

import gzip
import io
import lzma
import os
import stat
import tarfile
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """A file, or a folder if it has no content."""

    path: str
    content: bytes | None = None
    mode: int = 0o644
    owner: int = 0
    # Of a symbolic link.
    target: str | None = None


def folder(path, mode=0o755, owner=0):
    return Entry(path, None, mode, owner)


def folder_entries(root):
    """Returns what a folder has, without devices and sockets, which belong to root."""
    for path in sorted(Path(root).rglob("*")):
        status = path.lstat()
        name, mode = str(path.relative_to(root)), stat.S_IMODE(status.st_mode)
        if path.is_symlink():
            yield Entry(name, None, mode, status.st_uid, os.readlink(path))
        elif path.is_dir():
            yield folder(name, mode, status.st_uid)
        elif path.is_file():
            yield Entry(name, path.read_bytes(), mode, status.st_uid)


def tar(entries, time, prefix=""):
    """Packs entries, and the folders above them, in the order of their paths."""
    by_path = {entry.path: entry for entry in entries}
    for entry in list(by_path.values()):
        for parent in Path(entry.path).parents:
            if str(parent) != ".":
                by_path.setdefault(str(parent), folder(str(parent)))
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for path in sorted(by_path):
            entry = by_path[path]
            info = tarfile.TarInfo(prefix + path)
            info.mtime, info.mode, info.uid, info.gid = time, entry.mode, entry.owner, entry.owner
            info.uname = info.gname = "root" if entry.owner == 0 else ""
            if entry.target is not None:
                info.type, info.linkname = tarfile.SYMTYPE, entry.target
                archive.addfile(info)
            elif entry.content is None:
                info.type = tarfile.DIRTYPE
                archive.addfile(info)
            else:
                info.size = len(entry.content)
                archive.addfile(info, io.BytesIO(entry.content))
    return packed.getvalue()


def gz(content):
    return gzip.compress(content, compresslevel=6, mtime=0)


def xz(content):
    return lzma.compress(content, format=lzma.FORMAT_XZ, preset=6)


def ar(members, time):
    """Packs (name, content) pairs in the order given, as Debian's packages need it."""
    packed = bytearray(b"!<arch>\n")
    for name, content in members:
        packed += f"{name:<16}{time:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode()
        packed += content
        if len(content) % 2:
            packed += b"\n"
    return bytes(packed)
