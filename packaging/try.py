"""Starts packages as their users would, in systems that have nothing else, and asks for a first answer: `scripts/packages-test`.

Parlor has a namespace of the network of its own, connected to a second one by a pair of devices. The client is in the second one and
asks by IP address; the kernel's counters of the first one say whether Parlor has opened a connection or sent a datagram."""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

USER = 65532
PORT = 7387
PASSWORD = "a+long+password"
ADDRESSES = ["10.99.0.1", "10.99.0.2"]
MODEL_PORT = 9999

# The namespaces of Parlor and of its client.
SPACES = ["parlor-server", "parlor-client"]

SCRIPT = Path(__file__).resolve()
ROOTS = Path("target/packages/roots")


def main():
    if sys.argv[1] == "--client":
        return client(*sys.argv[2:])
    if sys.argv[1] == "--model":
        return model()
    packages = Path(sys.argv[1])
    with network():
        try_all(packages)


def try_all(packages):
    (program,) = packages.glob("parlor-*-x86_64-linux")
    for name in ["bookworm", "trixie", "busybox"]:
        with root_of(name) as root:
            shutil.copy(program, root / "parlor")
            check(f"{program.name} in {name}", root, ["/parlor"])
    for package in sorted(packages.glob("*_amd64.deb")):
        for name in ["bookworm", "trixie"]:
            with root_of(name) as root:
                shutil.copy(package, root / "parlor.deb")
                subprocess.run(["chroot", root, "dpkg", "--install", "/parlor.deb"], check=True, stdout=subprocess.DEVNULL)
                owner = subprocess.run(["chroot", root, "stat", "-c", "%U %a", "/var/lib/parlor"], stdout=subprocess.PIPE, text=True)
                assert owner.stdout.strip() == "parlor 700", owner.stdout
                check(f"{package.name} in {name}", root, ["/usr/bin/parlor", "serve", "--config", "/etc/parlor/parlor.toml"])
                check_unit(root)
                subprocess.run(["chroot", root, "dpkg", "--purge", "parlor"], check=True, stdout=subprocess.DEVNULL)
                assert (root / "var/lib/parlor").is_dir() and not (root / "usr/bin/parlor").exists()
    for image in sorted(packages.glob("*-amd64.oci.tar")):
        with open_folder() as folder:
            read_back(image)
            root = unpack_image(image, Path(folder) / "root")
            check(f"{image.name}", root, ["/parlor"])
            if "python" in image.name:
                check_python(root)
    if list(packages.glob("parlor-*-aarch64-linux")) and shutil.which("qemu-aarch64-static"):
        (program,) = packages.glob("parlor-*-aarch64-linux")
        with root_of("busybox") as root:
            shutil.copy(program, root / "parlor")
            shutil.copy(shutil.which("qemu-aarch64-static"), root / "qemu")
            check(f"{program.name} by qemu", root, ["/qemu", "/parlor"])


@contextmanager
def network():
    """Makes the two namespaces, each with one end of a pair of devices."""
    run = lambda command: subprocess.run(command.split(), check=True)
    for space in SPACES:
        subprocess.run(["ip", "netns", "delete", space], stderr=subprocess.DEVNULL)
        run(f"ip netns add {space}")
    try:
        run(f"ip link add parlor0 netns {SPACES[0]} type veth peer name parlor1 netns {SPACES[1]}")
        for number, (space, address) in enumerate(zip(SPACES, ADDRESSES)):
            run(f"ip -n {space} link set lo up")
            run(f"ip -n {space} address add {address}/24 dev parlor{number}")
            run(f"ip -n {space} link set parlor{number} up")
        # A way out, so that nothing fails before it is counted.
        run(f"ip -n {SPACES[0]} route add default via {ADDRESSES[1]}")
        yield
    finally:
        for space in SPACES:
            subprocess.run(["ip", "netns", "delete", space])


@contextmanager
def open_folder():
    """Makes a folder that the other user can enter."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield folder


@contextmanager
def root_of(name):
    """Yields a copy of a bare system: of Debian, made by debootstrap once, or with nothing but busybox."""
    with open_folder() as folder:
        root = Path(folder) / "root"
        if name == "busybox":
            (root / "bin").mkdir(parents=True)
            shutil.copy(shutil.which("busybox"), root / "bin/busybox")
        else:
            made = ROOTS / name
            if not (made / "complete").exists():
                ROOTS.mkdir(parents=True, exist_ok=True)
                command = ["debootstrap", "--variant=minbase", name, made]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                (made / "complete").touch()
            subprocess.run(["cp", "-a", made, root], check=True)
        for place in ["data", "tmp", "proc", "dev"]:
            (root / place).mkdir(exist_ok=True)
        yield root


def read_back(image):
    """Lets other programs read an image, where they are there."""
    if shutil.which("skopeo"):
        shown = subprocess.run(["skopeo", "inspect", f"oci-archive:{image}"], stdout=subprocess.PIPE, check=True)
        found = json.loads(shown.stdout)
        assert found["Architecture"] == "amd64" and found["Layers"], found
        report("skopeo", f"{len(found['Layers'])} layers, {image.stat().st_size / 1e6:.0f} MB")


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
    print(title, flush=True)
    with tempfile.TemporaryDirectory() as data:
        os.chown(data, USER, USER)
        opened = outgoing()
        began = time.monotonic()
        with started(root, program, data) as (process, lines):
            token = re.search(r"token=([\w-]+)", lines[1])[1]
            ask("answer", token)
            report("first answer", f"{time.monotonic() - began:.1f} s after the start, by IP address, with accounts")
            report("idle memory", f"{memory(process)} MB")
        assert outgoing() == opened, (opened, outgoing())
        report("outgoing", "no connections, no datagrams")


def check_python(root):
    """Lets a scripted model run a cell where namespaces can't be made, as in a stock container."""
    with tempfile.TemporaryDirectory() as data:
        os.chown(data, USER, USER)
        command = ["ip", "netns", "exec", SPACES[0], sys.executable, SCRIPT, "--model"]
        model = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        try:
            model.stdout.readline()
            settings = {"OPENAI_BASE_URL": f"http://127.0.0.1:{MODEL_PORT}/v1", "OPENAI_API_KEY": "none"}
            path = {"PATH": "/opt/python/bin:/usr/bin:/bin"}
            began = time.monotonic()
            with started(root, ["/parlor"], data, **settings, **path) as (_, lines):
                token = re.search(r"token=([\w-]+)", lines[1])[1]
                ask("cell", token)
                report("Python cell", f"{time.monotonic() - began:.1f} s after the start, in the sandbox of Landlock")
        finally:
            model.terminate()


def report(subject, text):
    print(f"    {subject:14} {text}", flush=True)


@contextmanager
def started(root, program, data, **environment):
    """Starts a program in a root that it can't change. Yields its process, and the lines that it printed."""
    command = ["ip", "netns", "exec", SPACES[0], "setpriv", "--reuid", str(USER), "--regid", str(USER), "--clear-groups"]
    command += ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--disable-userns", "--die-with-parent"]
    command += ["--uid", str(USER), "--gid", str(USER), "--cap-drop", "ALL"]
    command += ["--ro-bind", str(root), "/", "--bind", data, "/data", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]
    environment = {
        "PARLOR_DATA": "/data",
        "HOME": "/data",
        "PARLOR_AUTH": "password",
        "PARLOR_ADDR": f"0.0.0.0:{PORT}",
        **environment,
    }
    command.append("--clearenv")
    for name, value in environment.items():
        command += ["--setenv", name, value]
    process = subprocess.Popen([*command, *program], stdout=subprocess.PIPE, text=True)
    try:
        lines = [process.stdout.readline()]
        if "ready at" not in lines[0]:
            sys.exit(f"it did not start: {lines[0]}")
        lines.append(process.stdout.readline())
        yield process, lines
    finally:
        process.terminate()
        process.wait()


def outgoing():
    """Returns the numbers of connections that were opened, and of datagrams that were sent, in Parlor's namespace."""
    command = ["ip", "netns", "exec", SPACES[0], "cat", "/proc/net/snmp"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    tables = [line.split() for line in lines]
    value = lambda kind, name: next(
        int(values[names.index(name)])
        for names, values in zip(tables, tables[1:])
        if names[0] == values[0] == kind and name in names
    )
    return value("Tcp:", "ActiveOpens"), value("Udp:", "OutDatagrams")


def inner(process):
    """The process in the namespaces: the last of bubblewrap's descendants."""
    current = process.pid
    while children := Path(f"/proc/{current}/task/{current}/children").read_text().split():
        current = int(children[0])
    return current


def memory(process):
    status = Path(f"/proc/{inner(process)}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024


def ask(*what):
    command = ["ip", "netns", "exec", SPACES[1], sys.executable, SCRIPT, "--client", *what]
    subprocess.run(command, check=True, timeout=300)


def check_unit(root):
    unit = root / "usr/lib/systemd/system/parlor.service"
    verified = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--root={root}", "parlor.service"], stderr=subprocess.PIPE, text=True)
    said = [line for line in verified.stderr.splitlines() if "parlor" in line]
    assert not said, said
    shown = subprocess.run(["systemd-analyze", "security", "--offline=true", unit], stdout=subprocess.PIPE, text=True)
    found = re.search(r"exposure level for parlor.service: ([0-9.]+)", shown.stdout)
    report("unit", f"verified; exposure {found[1]} of 10" if found else "systemd-analyze is not here")


def client(what, token):
    """Asks Parlor from the other namespace, by its IP address."""
    form = f"token={token}&name=ann&password={PASSWORD}&again={PASSWORD}"
    assert request("GET", "/sign-in", host="evil.example")[0] == 403
    assert request("POST", "/setup", form)[0] == 303
    status, _, cookie = request("POST", "/sign-in", f"name=ann&password={PASSWORD}")
    assert status == 303 and cookie, status
    assert request("GET", "/sign-in", host="evil.example")[0] == 403
    question = {"message": "Hello"} if what == "cell" else {"message": "Hello", "model": "parlor/tour"}
    for _ in range(60):
        status, text, _ = request("POST", "/api/chat/stream", json.dumps(question), "application/json", cookie=cookie)
        assert status == 200 and '"complete"' in text, (status, text[-800:])
        if what != "cell" or "fortytwo-42" in text:
            return
        # The Python is looked for after the start.
        time.sleep(1)
    sys.exit(f"no cell was run: {text[-2000:]}")


def request(method, path, body=None, kind="application/x-www-form-urlencoded", host=None, cookie=None):
    address = f"{ADDRESSES[0]}:{PORT}"
    connection = http.client.HTTPConnection(ADDRESSES[0], PORT, timeout=120)
    headers = {"Host": host or address, "Content-Type": kind, "Origin": f"http://{host or address}"}
    if cookie:
        headers["Cookie"] = cookie.split(";")[0]
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    return response.status, response.read().decode(), response.getheader("Set-Cookie")


def model():
    """A model server that lets each question run a cell, and repeats what it shows."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send([{"data": [{"id": "script", "object": "model"}]}], "application/json")

        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            tools = [tool["function"]["name"] for tool in asked.get("tools", [])]
            last = asked["messages"][-1]
            if last["role"] == "tool":
                delta, reason = {"content": str(last["content"])}, "stop"
            elif "execute_code" in tools:
                call = {"name": "execute_code", "arguments": json.dumps({"code": "print(f'fortytwo-{6 * 7}')"})}
                delta = {"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": call}]}
                reason = "tool_calls"
            else:
                delta, reason = {"content": "There is no Python yet."}, "stop"
            chunk = lambda delta, reason: {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}
            self.send([chunk(delta, None), chunk({}, reason)], "text/event-stream")

        def send(self, values, kind):
            text = [json.dumps(value) for value in values]
            text = text[0] if kind == "application/json" else "".join(f"data: {line}\n\n" for line in [*text, "[DONE]"])
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", MODEL_PORT), Handler)
    print("ready", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
