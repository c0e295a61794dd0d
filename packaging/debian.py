"""The Debian package: the program, a systemd unit, a user of its own, and a settings file that upgrades leave alone."""

import hashlib
from pathlib import Path

from archives import Entry, ar, gz, tar, xz

FILES = Path(__file__).parent / "files"

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


def package(processor, version, binary, documents, time):
    """Returns the file's name and content. `documents` are (name, content) pairs."""
    architecture = ARCHITECTURES[processor]
    entries = [
        Entry("usr/bin/parlor", binary, 0o755),
        Entry("etc/parlor/parlor.toml", read("parlor.toml")),
        Entry("usr/lib/systemd/system/parlor.service", read("parlor.service")),
        Entry("usr/lib/sysusers.d/parlor.conf", read("sysusers.conf")),
        *(Entry(f"usr/share/doc/parlor/{name}", content) for name, content in documents),
    ]
    size = sum(len(entry.content) for entry in entries) // 1024 + 1
    control = f"""\
Package: parlor
Version: {version}
Architecture: {architecture}
Maintainer: Parlor's maintainers <parlor@localhost>
Section: web
Priority: optional
Installed-Size: {size}
Recommends: ca-certificates
Suggests: bubblewrap, python3-venv, caddy
Description: self-hosted web chat for language models
 One program and one data folder. Answers are kept on the server: a closed
 tab, a lost connection or a killed server loses nothing that was shown.
"""
    sums = "".join(
        f"{hashlib.md5(entry.content).hexdigest()}  {entry.path}\n"
        for entry in sorted(entries, key=lambda entry: entry.path)
        if not entry.path.startswith("etc/")
    )
    scripts = [Entry(name, read(f"deb/{name}"), 0o755) for name in ["postinst", "prerm", "postrm"]]
    about = [
        Entry("control", control.encode()),
        Entry("conffiles", b"/etc/parlor/parlor.toml\n"),
        Entry("md5sums", sums.encode()),
        *scripts,
    ]
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.gz", gz(tar(about, time, prefix="./"))),
        ("data.tar.xz", xz(tar(entries, time, prefix="./"))),
    ]
    return f"parlor_{version}_{architecture}.deb", ar(members, time)


def read(name):
    return (FILES / name).read_bytes()
