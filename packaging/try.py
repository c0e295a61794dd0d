"""Starts packages as their users would, in systems that have nothing else, and asks for a first answer: `scripts/packages-test`."""

import http.client
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

USER = 65532
PORT = 7387
PASSWORD = "a+long+password"

# Runs in Parlor's namespace of the network, which has nothing but its loopback device.
CLIENT = Path(__file__).resolve()


def main():
    if sys.argv[1] == "--client":
        return client(*sys.argv[2:])
    packages = Path(sys.argv[1])
    for image in sorted(packages.glob("*-amd64.oci.tar")):
        with open_folder() as folder:
            root = unpack_image(image, Path(folder) / "root")
            check(f"{image.name}: an image with nothing else", root, "/parlor")
    for package in sorted(packages.glob("*_amd64.deb")):
        with open_folder() as folder:
            root = Path(folder) / "root"
            subprocess.run(["dpkg-deb", "--extract", package, root], check=True)
            for name in ["data", "tmp", "proc", "dev"]:
                (root / name).mkdir()
            check(f"{package.name}: its files alone", root, "/usr/bin/parlor")
            check_unit(root)


@contextmanager
def open_folder():
    """Makes a folder that the other user can enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield folder


def unpack_image(image, root):
    """Unpacks the layers over each other."""
    with tarfile.open(image) as archive:
        manifest = json.load(archive.extractfile("manifest.json"))[0]
        for layer in manifest["Layers"]:
            with tarfile.open(fileobj=archive.extractfile(layer)) as files:
                files.extractall(root, numeric_owner=True, filter="fully_trusted")
    for name in ["proc", "dev"]:
        (root / name).mkdir(exist_ok=True)
    return root


def check(title, root, program):
    print(title)
    with tempfile.TemporaryDirectory() as data:
        os.chown(data, USER, USER)
        began = time.monotonic()
        with started(root, program, data, PARLOR_AUTH="none", PARLOR_ADDR=f"127.0.0.1:{PORT}") as (process, _):
            ask(process, "answer")
            report("first answer", f"{time.monotonic() - began:.1f} s after the start")
            report("idle memory", f"{memory(process)} MB")
    with tempfile.TemporaryDirectory() as data:
        os.chown(data, USER, USER)
        settings = {"PARLOR_AUTH": "password", "PARLOR_ADDR": f"0.0.0.0:{PORT}"}
        with started(root, program, data, **settings) as (process, lines):
            token = re.search(r"token=(\w+)", lines[1])[1]
            ask(process, "setup", token)
            report("accounts", "setup and sign-in under an IP address; foreign names refused")


def report(subject, text):
    print(f"    {subject:14} {text}")


@contextmanager
def started(root, program, data, **environment):
    """Starts a program in a root that it can't change. Yields its process, and the lines that it printed."""
    command = ["bwrap", "--unshare-all", "--uid", str(USER), "--gid", str(USER), "--die-with-parent", "--cap-drop", "ALL"]
    command += ["--ro-bind", str(root), "/", "--bind", data, "/data", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]
    command += ["--clearenv", "--setenv", "PARLOR_DATA", "/data", "--setenv", "HOME", "/data"]
    for name, value in environment.items():
        command += ["--setenv", name, value]
    process = subprocess.Popen(
        [*command, program], stdout=subprocess.PIPE, text=True, user=USER, group=USER, extra_groups=[]
    )
    try:
        lines = [process.stdout.readline()]
        if "ready at" not in lines[0]:
            sys.exit(f"it did not start: {lines[0]}")
        if environment["PARLOR_AUTH"] == "password":
            lines.append(process.stdout.readline())
        yield process, lines
    finally:
        process.terminate()
        process.wait()


def inner(process):
    """The process in the namespaces: the last of bubblewrap's descendants."""
    current = process.pid
    while children := Path(f"/proc/{current}/task/{current}/children").read_text().split():
        current = int(children[0])
    return current


def memory(process):
    status = Path(f"/proc/{inner(process)}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


def ask(process, *what):
    command = ["nsenter", "--net", "--target", str(inner(process)), sys.executable, str(CLIENT), "--client", *what]
    subprocess.run(command, check=True, timeout=120)


def check_unit(root):
    unit = root / "usr/lib/systemd/system/parlor.service"
    shown = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], stdout=subprocess.PIPE, text=True)
    found = re.search(r"exposure level for parlor.service: ([0-9.]+)", shown.stdout)
    report("unit", f"exposure {found[1]} of 10" if found else "systemd-analyze is not here")


def client(what, *arguments):
    """Asks Parlor, from inside its namespace."""
    if what == "answer":
        body = json.dumps({"message": "Hello", "model": "parlor/tour"})
        status, text = request("POST", "/api/chat/stream", "127.0.0.1", body, "application/json")
        assert status == 200 and '"complete"' in text, (status, text[-500:])
    else:
        (token,) = arguments
        form = f"token={token}&name=ann&password={PASSWORD}&again={PASSWORD}"
        assert request("GET", "/sign-in", "evil.example")[0] == 403
        assert request("POST", "/setup", "192.0.2.7:7387", form)[0] == 303
        assert request("POST", "/sign-in", "192.0.2.7:7387", f"name=ann&password={PASSWORD}")[0] == 303
        assert request("GET", "/sign-in", "evil.example")[0] == 403


def request(method, path, host, body=None, kind="application/x-www-form-urlencoded"):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=60)
    connection.request(method, path, body, {"Host": host, "Content-Type": kind})
    response = connection.getresponse()
    return response.status, response.read().decode()


if __name__ == "__main__":
    main()
