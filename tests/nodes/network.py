"""Hosts on one machine: a network namespace for each, connected by a bridge in one more. Needs root and Debian's iproute2.

A host that is cut off keeps its sockets, and every packet from and to it is lost, as behind a broken cable."""

import ctypes
import os
import subprocess
from contextlib import contextmanager

PREFIX = "parlor-"
SWITCH = f"{PREFIX}switch"

# Clients, the model server and PubMed. This process moves there.
OUTSIDE = "outside"
HOSTS = {OUTSIDE: "10.78.0.1", "database": "10.78.0.2", "proxy": "10.78.0.3", "node1": "10.78.0.11", "node2": "10.78.0.12", "node3": "10.78.0.13"}

# setns(2)
CLONE_NEWNET = 0x40000000


def address(host):
    return HOSTS[host]


def run(command):
    subprocess.run(command.split(), check=True)


@contextmanager
def hosts():
    """Makes all hosts, and removes them at the end."""
    remove()
    run(f"ip netns add {SWITCH}")
    run(f"ip -n {SWITCH} link add bridge type bridge")
    run(f"ip -n {SWITCH} link set bridge up")
    for host in HOSTS:
        run(f"ip netns add {PREFIX}{host}")
        run(f"ip link add eth0 netns {PREFIX}{host} type veth peer name {host} netns {SWITCH}")
        run(f"ip -n {SWITCH} link set {host} master bridge up")
        run(f"ip -n {PREFIX}{host} address add {address(host)}/24 dev eth0")
        run(f"ip -n {PREFIX}{host} link set lo up")
        run(f"ip -n {PREFIX}{host} link set eth0 up")
    try:
        yield
    finally:
        remove()


def remove():
    for space in [SWITCH, *(PREFIX + host for host in HOSTS)]:
        subprocess.run(["ip", "netns", "delete", space], stderr=subprocess.DEVNULL)


def on(host, *command):
    """Returns the command that runs another one on a host."""
    return ["ip", "netns", "exec", f"{PREFIX}{host}", *command]


def enter(host):
    """Moves this process to a host: its later sockets are there."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{PREFIX}{host}") as space:
        if libc.setns(space.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"entering the host {host}")
    assert os.path.exists("/proc/net/tcp")


def cut_off(host):
    run(f"ip -n {SWITCH} link set {host} down")


def reconnect(host):
    run(f"ip -n {SWITCH} link set {host} up")
