"""Makes the packages from built programs: `packaging/make.py OUTPUT PROCESSOR=PROGRAM… [PROCESSOR-python=ROOT]` (scripts/packages
calls it). ROOT is the folder of a system with Python, for the image that has one.

Everything is made by this machine alone, without a container engine, and depends on the programs, the commit and the files here
only: the same input gives the same bytes."""

import hashlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import bill
import debian
import images
import roots

FILES = Path(__file__).parent / "files"

# The checksums of all others.
SUMS = "SHA256SUMS"

# The files that name an image.
MANIFESTS = ["compose.yaml", "compose-nodes.yaml", "kubernetes.yaml", "kubernetes-nodes.yaml"]



def main():
    output = Path(sys.argv[1])
    inputs = dict(argument.split("=", 1) for argument in sys.argv[2:])
    programs = {name: path for name, path in inputs.items() if not name.endswith("-python")}
    output.mkdir(parents=True, exist_ok=True)
    names, version, time = read_names(), read_version(), commit_time()
    certificates = roots.mozilla_list()
    made = {}
    for processor, program in sorted(programs.items()):
        binary = Path(program).read_bytes()
        check_program(binary, processor)
        made[f"parlor-{version}-{processor}-linux"] = binary
        name, content = debian.package(processor, version, binary, documents(), time)
        made[name] = content
        layer = images.program_layer(binary, certificates, time)
        name, content = images.image(names["IMAGE"], version, processor, [layer], time)
        made[name] = content
        if root := inputs.get(f"{processor}-python"):
            layers = [images.python_layer(root, time), layer]
            environment = [images.PYTHON_PATH]
            name, content = images.image(f"{names['IMAGE']}-python", version, processor, layers, time, environment)
            made[name] = content
            made[f"parlor-python-{version}-{processor}.cdx.json"] = bill.python_bill(root, version, time)
        made[f"parlor-{version}-{processor}.cdx.json"] = bill.bill(f"{processor}-unknown-linux-musl", version, time)
    for name in MANIFESTS:
        text = (FILES / name).read_text()
        text = text.replace("@IMAGE@", names["IMAGE"]).replace("@VERSION@", version)
        made[name] = text.encode()
    # Those of another version or processor would be listed with these.
    for earlier in output.iterdir():
        if earlier.name.startswith("parlor") or earlier.name in [*MANIFESTS, SUMS]:
            earlier.unlink()
    for name, content in sorted(made.items()):
        path = output / name
        path.write_bytes(content)
        path.chmod(0o755 if name.endswith("-linux") else 0o644)
        print(f"{len(content) / 1e6:8.2f} MB  {path}")
    write_checksums(output)


def write_checksums(output):
    """Lists all files of the folder."""
    files = sorted(path for path in output.iterdir() if path.is_file() and path.name != SUMS)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (output / SUMS).write_text("".join(sums))


def documents():
    """The documents of the package, by their names there."""
    found = {
        "install.md": "docs/install.md",
        "settings.toml": "Leptos.toml",
        "changelog.md": "CHANGELOG.md",
        "LICENSE-MIT": "LICENSE-MIT",
        "LICENSE-APACHE": "LICENSE-APACHE",
    }
    copyright = b"Parlor is licensed under MIT or Apache-2.0, at your option: LICENSE-MIT, LICENSE-APACHE in this folder.\n"
    return [(name, Path(path).read_bytes()) for name, path in found.items()] + [("copyright", copyright)]


def check_program(binary, processor):
    """Rejects a program that needs libraries of the system, or is of another processor."""
    machine = {"x86_64": 62, "aarch64": 183}[processor]
    if binary[:4] != b"\x7fELF" or int.from_bytes(binary[18:20], "little") != machine:
        sys.exit(f"the program is not of {processor}")
    start, size, count = (int.from_bytes(binary[at : at + width], "little") for at, width in [(32, 8), (54, 2), (56, 2)])
    kinds = {int.from_bytes(binary[at : at + 4], "little") for at in range(start, start + size * count, size)}
    interpreter = 3
    if interpreter in kinds and not os.environ.get("PARLOR_PACKAGES_DYNAMIC"):
        sys.exit("the program is not static: it needs a loader and libraries of the system")


def read_names():
    lines = (Path(__file__).parent / "names.env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def read_version():
    return tomllib.loads(Path("Cargo.toml").read_text())["workspace"]["package"]["version"]


def commit_time():
    """The time of everything that is made: that of the commit, or SOURCE_DATE_EPOCH."""
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch)
    shown = subprocess.run(["git", "log", "-1", "--format=%ct"], check=True, stdout=subprocess.PIPE)
    return int(shown.stdout)


if __name__ == "__main__":
    main()
