"""The network and the container of a tried Parlor.

Parlor has a network namespace of its own, connected to a second one by a pair of devices. The client is in the second one, asks by IP
address, and sees everything that Parlor sends."""

import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PORT = 7387
ADDRESSES = ["10.99.0.1", "10.99.0.2"]
MODEL_ADDRESS = "127.0.0.1:9999"

# The namespaces of Parlor and of its client.
SPACES = ["parlor-server", "parlor-client"]
DEVICES = ["parlor0", "parlor1"]

VISITOR = Path(__file__).resolve().with_name("visitor.py")

# The time for everything that is asked of one Parlor, in seconds. An emulated processor is slow.
TIME_LIMIT = 600


@dataclass(frozen=True)
class Start:
    """A way to start Parlor in a root."""

    command: list
    # The user and group, as a container or a unit would set it.
    user: int
    # The folder that the data are bound to.
    data: str = "/data"
    environment: dict = field(default_factory=dict)
    # True if namespaces can be made in the container, as bubblewrap needs it.
    has_namespaces: bool = False


@contextmanager
def network():
    """Makes the two namespaces, each with one end of a pair of devices."""
    run = lambda command: subprocess.run(command.split(), check=True)
    for space in SPACES:
        subprocess.run(["ip", "netns", "delete", space], stderr=subprocess.DEVNULL)
        run(f"ip netns add {space}")
    try:
        run(f"ip link add {DEVICES[0]} netns {SPACES[0]} type veth peer name {DEVICES[1]} netns {SPACES[1]}")
        for space, device, address in zip(SPACES, DEVICES, ADDRESSES):
            run(f"ip -n {space} link set lo up")
            run(f"ip -n {space} address add {address}/24 dev {device}")
            run(f"ip -n {space} link set {device} up")
        # A way out, so that nothing fails before it is seen.
        run(f"ip -n {SPACES[0]} route add default via {ADDRESSES[1]}")
        yield
    finally:
        for space in SPACES:
            subprocess.run(["ip", "netns", "delete", space])


@contextmanager
def started(root, start):
    """Starts Parlor in a root that it can't change, with an empty folder of data. Yields its process and its setup token."""
    user = str(start.user)
    command = ["ip", "netns", "exec", SPACES[0], "setpriv", "--reuid", user, "--regid", user, "--clear-groups"]
    command += ["bwrap", "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--die-with-parent"]
    command += [] if start.has_namespaces else ["--disable-userns"]
    command += ["--uid", user, "--gid", user, "--cap-drop", "ALL", "--clearenv"]
    command += ["--ro-bind", str(root), "/", "--tmpfs", "/tmp", "--proc", "/proc", "--dev", "/dev"]
    for name, value in start.environment.items():
        command += ["--setenv", name, value]
    with tempfile.TemporaryDirectory() as data, tempfile.TemporaryFile("w+") as log:
        os.chown(data, start.user, start.user)
        command += ["--bind", data, start.data, "--chdir", start.data]
        process = subprocess.Popen([*command, *start.command], stdout=subprocess.PIPE, stderr=log, text=True)
        try:
            lines = [process.stdout.readline(), process.stdout.readline()]
            if "ready at" not in lines[0] or "/setup?token=" not in lines[1]:
                sys.exit(f"it did not start: {lines}")
            yield process, re.search(r"token=([\w-]+)", lines[1])[1]
        except BaseException:
            log.seek(0)
            sys.stderr.write(log.read())
            raise
        finally:
            process.terminate()
            process.wait()


@contextmanager
def scripted_model():
    """Runs the model server with a script where Parlor finds it on the loopback device."""
    command = ["ip", "netns", "exec", SPACES[0], sys.executable, VISITOR, "model", MODEL_ADDRESS]
    model = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        model.stdout.readline()
        yield {"OPENAI_BASE_URL": f"http://{MODEL_ADDRESS}/v1", "OPENAI_API_KEY": "none"}
    finally:
        model.terminate()
        model.wait()


def ask(token, prompt, expected, *name, is_emulated=False):
    """Lets the client ask. Returns the text of Parlor's page of the system."""
    command = ["ip", "netns", "exec", SPACES[1], sys.executable, VISITOR, "ask", f"{ADDRESSES[0]}:{PORT}", token, prompt, expected, *name]
    environment = {**os.environ, "PARLOR_IS_EMULATED": "1"} if is_emulated else None
    return subprocess.run(command, check=True, timeout=TIME_LIMIT, stdout=subprocess.PIPE, text=True, env=environment).stdout


@contextmanager
def nothing_sent():
    """Fails if Parlor opens a connection to another machine meanwhile, or sends it a datagram. On the loopback device it looks for model
    servers."""
    command = ["ip", "netns", "exec", SPACES[1], sys.executable, VISITOR, "watch", DEVICES[1]]
    watch = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert watch.stdout.readline() == "ready\n"
    try:
        yield
    finally:
        watch.terminate()
        sent = watch.communicate()[0]
    assert not sent, f"Parlor has sent: {sent}"


def memory(process):
    """Returns the resident memory of Parlor in MB, when it has been idle for a second: the last of bubblewrap's descendants."""
    time.sleep(1)
    current = process.pid
    while children := Path(f"/proc/{current}/task/{current}/children").read_text().split():
        current = int(children[0])
    status = Path(f"/proc/{current}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) / 1024
