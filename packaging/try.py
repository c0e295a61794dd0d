"""Starts packages as their users would, in systems that have nothing else, and asks each for a first answer: `scripts/packages-test`
calls it, as root.

    packaging/try.py PACKAGES"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import roots
from make import MANIFESTS
from spaces import PORT, Start, ask, memory, network, nothing_sent, scripted_model, started

ROOTS = Path("target/packages/roots")
# With systemd, as on a machine, and without it, as in a container: the Debian package makes its user in two ways.
DEBIANS = {"bookworm": "Debian 12", "trixie": "Debian 13"}
WITH_SYSTEMD = "bookworm"

# A system with nothing but busybox stands for those without Debian's C library: Alpine's packages come from servers of its own.
WITHOUT_GLIBC = "busybox"

# The exposure of the unit by systemd-analyze, of 10. What it does not give up is what bubblewrap needs: namespaces, mounts, its system calls.
MAX_EXPOSURE = 5.0

# The place of an emulator in a root.
EMULATOR = "/emulator"

# A user that no system has, for the program alone.
USER = 1234

# The settings of a container, where nothing else says them: for the program alone.
ENVIRONMENT = {"PARLOR_DATA": "/data", "HOME": "/data", "PARLOR_AUTH": "password", "PARLOR_ADDR": f"0.0.0.0:{PORT}"}

# A name under which the first account is made; the other packages are set up under the IP address.
NAME = "parlor.example"


def main():
    packages = Path(sys.argv[1])
    check_files(packages)
    with network():
        for program in sorted(packages.glob("parlor-*-x86_64-linux")):
            for system in [*DEBIANS, WITHOUT_GLIBC]:
                try_program(program, system, ["/parlor"])
        for package in sorted(packages.glob("*_amd64.deb")):
            for system in DEBIANS:
                try_debian_package(package, system)
        for image in sorted(packages.glob("*-amd64.oci.tar")):
            try_image(image)
        for program in sorted(packages.glob("parlor-*-aarch64-linux")):
            emulator = shutil.which("qemu-aarch64-static")
            assert emulator, "qemu-aarch64-static is missing (package qemu-user-static)"
            try_program(program, WITHOUT_GLIBC, [EMULATOR, "/parlor"], emulator)
            for package in sorted(packages.glob("*_arm64.deb")):
                check_debian_package(package, program)
            for image in sorted(packages.glob("*-arm64.oci.tar")):
                try_image(image, emulator)


def report(subject, text):
    print(f"    {subject:14} {text}", flush=True)


def check_files(packages):
    """Compares the checksums, and shows that both descriptions of images name an image of the folder."""
    print(packages, flush=True)
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=packages, check=True)
    listed = {line.split("  ", 1)[1] for line in (packages / "SHA256SUMS").read_text().splitlines()}
    there = {path.name for path in packages.iterdir()} - {"SHA256SUMS"}
    assert listed == there, (listed, there)
    report("checksums", f"of {len(there)} files")
    for name in MANIFESTS:
        named = re.search(r"image: (?:\$\{PARLOR_IMAGE:-)?(\w+):([\w.-]+)\}?\n", (packages / name).read_text())
        assert list(packages.glob(f"{named[1]}-{named[2]}-*.oci.tar")), (name, named[0])
        report(name, f"names {named[1]}:{named[2]}")


@contextmanager
def root_of(system):
    """Yields a copy of a bare system: of Debian, made by debootstrap once, or with nothing but busybox."""
    with open_folder() as folder:
        root = folder / "root"
        if system == WITHOUT_GLIBC:
            (root / "bin").mkdir(parents=True)
            shutil.copy(shutil.which("busybox"), root / "bin/busybox")
        else:
            made = ROOTS / system
            if not (made / "complete").exists():
                shutil.rmtree(made, ignore_errors=True)
                ROOTS.mkdir(parents=True, exist_ok=True)
                more = ["--include=systemd"] if system == WITH_SYSTEMD else []
                command = ["debootstrap", "--variant=minbase", *more, system, made]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                (made / "complete").touch()
            subprocess.run(["cp", "-a", made, root], check=True)
        add_places(root)
        yield root


@contextmanager
def open_folder():
    """Makes a folder that other users can enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


def add_places(root):
    """Makes the folders over which a container mounts."""
    for place in ["data", "tmp", "proc", "dev"]:
        (root / place).mkdir(exist_ok=True)


def check(began, root, start, *name):
    """Asks for a first answer, and shows that Parlor itself connects to nothing."""
    with nothing_sent(), started(root, start) as (process, token):
        ready = time.monotonic()
        page = ask(token, "Hello", "complete", *name, is_emulated=start.command[0] == EMULATOR)
        answered = time.monotonic()
        assert "Data folder" in page, page
        report("first answer", f"{answered - began:.1f} s after the package was there ({ready - began:.1f} s until it was ready)")
        report("idle memory", f"{memory(process):.0f} MB")
    report("outgoing", "no connections, no datagrams")


def try_program(program, system, command, emulator=None):
    print(f"{program.name} ({program.stat().st_size / 1e6:.1f} MB) in {DEBIANS.get(system, system)}", flush=True)
    with root_of(system) as root:
        if emulator:
            shutil.copy(emulator, root / "emulator")
        began = time.monotonic()
        shutil.copy(program, root / "parlor")
        check(began, root, Start(command, USER, environment=ENVIRONMENT))


def try_debian_package(package, system):
    print(f"{package.name} ({package.stat().st_size / 1e6:.1f} MB) in {DEBIANS[system]}", flush=True)
    with root_of(system) as root:
        in_root = lambda *command: subprocess.run(["chroot", root, *command], check=True, stdout=subprocess.PIPE, text=True).stdout
        shutil.copy(package, root / "parlor.deb")
        began = time.monotonic()
        in_root("dpkg", "--install", "/parlor.deb")
        kept = "/var/lib/parlor"
        assert in_root("stat", "-c", "%U %G %a", kept) == "parlor parlor 700\n"
        unit = (root / "usr/lib/systemd/system/parlor.service").read_text()
        # As the unit starts it, but for the address, which is of this machine only.
        command = re.search(r"^ExecStart=(.*)$", unit, re.MULTILINE)[1].split()
        start = Start([*command, "--addr", f"0.0.0.0:{PORT}"], int(in_root("id", "--user", "parlor")), kept)
        check(began, root, start, NAME)
        if system == WITH_SYSTEMD:
            check_unit(root)
        (root / kept[1:] / "parlor.db").touch()
        # Again, as an upgrade does.
        in_root("dpkg", "--install", "/parlor.deb")
        in_root("dpkg", "--purge", "parlor")
        places = ["usr/bin/parlor", "usr/share/doc/parlor", "etc/parlor", "usr/lib/systemd/system/parlor.service"]
        left = [place for place in places if (root / place).exists()]
        assert not left, left
        assert (root / kept[1:] / "parlor.db").exists(), "the data are gone"
        report("removal", "the data stay")


def check_debian_package(package, program):
    """Compares a package of another processor, whose programs can't be installed here, with the program that was tried."""
    print(f"{package.name} ({package.stat().st_size / 1e6:.1f} MB)", flush=True)
    shown = subprocess.run(["dpkg-deb", "--field", package, "Architecture"], check=True, stdout=subprocess.PIPE, text=True)
    assert shown.stdout == "arm64\n", shown.stdout
    with open_folder() as folder:
        subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        assert (folder / "usr/bin/parlor").read_bytes() == program.read_bytes()
        assert (folder / "usr/lib/systemd/system/parlor.service").exists()
    report("content", "the program that was tried")


def check_unit(root):
    unit = root / "usr/lib/systemd/system/parlor.service"
    command = ["systemd-analyze", "verify", "--man=no", f"--root={root}", "parlor.service"]
    verified = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    said = [line for line in verified.stderr.splitlines() if "parlor" in line]
    assert not said, said
    command = ["systemd-analyze", "security", "--offline=true", unit]
    shown = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    exposure = float(re.search(r"exposure level for parlor.service: ([0-9.]+)", shown.stdout)[1])
    assert exposure <= MAX_EXPOSURE, shown.stdout
    report("unit", f"verified; exposure {exposure} of 10")


def read_back(image):
    """Lets skopeo read an image in both of its formats. Returns the number of its layers."""
    found = []
    for form in ["oci-archive", "docker-archive"]:
        shown = subprocess.run(["skopeo", "inspect", f"{form}:{image}"], stdout=subprocess.PIPE, check=True)
        found.append(json.loads(shown.stdout))
    processor = image.name.removesuffix(".oci.tar").rsplit("-", 1)[1]
    assert all(read["Architecture"] == processor and read["Os"] == "linux" for read in found), found
    assert len(found[0]["Layers"]) == len(found[1]["Layers"]) > 0, found
    report("skopeo", f"{len(found[0]['Layers'])} layers, {image.stat().st_size / 1e6:.1f} MB")


def try_image(image, emulator=None):
    """Lets umoci unpack an image, and starts it as a container engine would: with its user, command and environment, read-only. One of another
    processor has an emulator in front of its command."""
    print(image.name, flush=True)
    read_back(image)
    with open_folder() as folder:
        began = time.monotonic()
        layout = folder / "layout"
        subprocess.run(["skopeo", "copy", "--quiet", f"oci-archive:{image}", f"oci:{layout}:tried"], check=True)
        bundle = folder / "bundle"
        subprocess.run(["umoci", "unpack", "--image", f"{layout}:tried", bundle], check=True, stdout=subprocess.DEVNULL)
        bundle.chmod(0o755)
        config = json.loads((bundle / "config.json").read_text())
        process, root = config["process"], bundle / "rootfs"
        assert process["user"]["uid"] == process["user"]["gid"] > 0 and process["cwd"] == "/data", process
        found = {path.name for path in root.iterdir()}
        assert "-python-" in image.name or found == {"parlor", "etc", "data", "tmp"}, found
        certificates = (root / "etc/ssl/certs/ca-certificates.crt").read_bytes()
        assert certificates == roots.mozilla_list(), "its certificates are not those of the program"
        add_places(root)
        command = process["args"]
        if emulator:
            shutil.copy(emulator, root / "emulator")
            command = [EMULATOR, *command]
        environment = dict(variable.split("=", 1) for variable in process["env"])
        start = Start(command, process["user"]["uid"], environment=environment)
        check(began, root, start)
        if "-python-" in image.name:
            try_python(root, start)


def try_python(root, start):
    """Runs a cell in both sandboxes: where namespaces can't be made, as in a stock container, and where they can."""
    for has_namespaces, sandbox in [(False, "Landlock"), (True, "bubblewrap")]:
        with scripted_model() as settings:
            began = time.monotonic()
            environment = {**start.environment, **settings}
            confined = Start(start.command, start.user, start.data, environment, has_namespaces)
            # The model server is on the loopback device.
            with nothing_sent(), started(root, confined) as (_, token):
                page = ask(token, "Calculate", "cell-42")
                assert f"in the sandbox of {sandbox}" in page, page
            report("Python cell", f"{time.monotonic() - began:.1f} s after the start, in the sandbox of {sandbox}")


if __name__ == "__main__":
    main()
