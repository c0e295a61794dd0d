"""What the hosts run: Postgres, PgBouncer, nginx and the nodes."""

import asyncio
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from client import NO_ANSWER, Client, Refused
from network import HOSTS, OUTSIDE, address, on

MODEL_PORT = 9999
NODE_PORT = 7387
PROXY_PORT = 8080
POSTGRES_PORT = 5432
POOLER_PORT = 6432
NODES = ["node1", "node2", "node3"]

# Clocks are minutes apart, in seconds.
CLOCKS = {"node1": 0, "node2": 420, "node3": -300}

SETTINGS = f"""
[server]
proxies = ["{address('proxy')}", "{address(OUTSIDE)}"]
[database]
url = "postgres://parlor@{address('database')}:DATABASE_PORT/parlor?sslmode=disable"
pooler = HAS_POOLER
[nodes]
enabled = true
[accounts]
auth = "proxy"
requests_per_minute = 1000000
runs = 1000
[agent]
repetitions = 0
max_resumptions = 1000
[files]
store = "database"
[titles]
mode = "never"
[python]
enabled = false
[timeouts]
heartbeat = "1s"
[tools.pubmed]
base_url = "http://{address(OUTSIDE)}:{MODEL_PORT}/eutils"
"""

NGINX = f"""
daemon off;
worker_processes 1;
pid nginx.pid;
error_log nginx.log;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp; scgi_temp_path tmp;
    upstream nodes {{
        {" ".join(f"server {address(node)}:{NODE_PORT} max_fails=0;" for node in NODES)}
    }}
    server {{
        listen {PROXY_PORT};
        location / {{
            proxy_pass http://nodes;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header Remote-User $http_remote_user;
            proxy_buffering off;
            proxy_connect_timeout 1s;
            proxy_read_timeout 1h;
            proxy_next_upstream error timeout;
        }}
    }}
}}
"""

# Moves the clock of a process by the seconds of CLOCK_OFFSET.
CLOCK_SOURCE = """
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    const char *offset = getenv("CLOCK_OFFSET");
    if (result == 0 && clock == CLOCK_REALTIME && offset) time->tv_sec += atol(offset);
    return result;
}
"""


class Postgres:
    def __init__(self, folder):
        self.folder = folder / "postgres"
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
        assert programs, "Postgres is missing (package postgresql)"
        self.programs = programs[-1].parent
        self.folder.mkdir()
        shutil.chown(self.folder, "postgres", "postgres")
        self.call("initdb", "--pgdata", self.folder / "data", "--auth", "trust", "--encoding", "UTF8", "--locale", "C")
        with open(self.folder / "data/pg_hba.conf", "a") as rules:
            rules.write(f"host all all {address('database')}/24 trust\n")
        with open(self.folder / "data/postgresql.conf", "a") as settings:
            settings.write(f"listen_addresses = '*'\nunix_socket_directories = '{self.folder}'\nmax_connections = 60\n")
            # A client behind a broken cable is given up, as managed servers do.
            settings.write("tcp_keepalives_idle = 5\ntcp_keepalives_interval = 1\ntcp_keepalives_count = 5\n")

    def call(self, program, *arguments):
        command = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", self.programs / program, *arguments]
        subprocess.run(on("database", *command), check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def start(self):
        self.call("pg_ctl", "start", "--wait", "--pgdata", self.folder / "data", "--log", self.folder / "log")

    def stop(self, mode):
        self.call("pg_ctl", "stop", "--wait", "--pgdata", self.folder / "data", "--mode", mode)

    def sql(self, text):
        """Returns the lines of a result."""
        command = ["psql", "--host", self.folder, "--username", "postgres", "--no-align", "--tuples-only", "--command", text, "parlor"]
        done = subprocess.run(on("database", *map(str, command)), check=True, stdout=subprocess.PIPE, text=True)
        return done.stdout.split("\n")[:-1]

    def make_database(self):
        self.call("createuser", "--host", self.folder, "parlor")
        self.call("createdb", "--host", self.folder, "--owner", "parlor", "parlor")


# Fewer connections than the nodes have, so that the transactions of each get different ones.
PGBOUNCER = f"""
[databases]
parlor = host={address('database')} port={POSTGRES_PORT} user=parlor
[pgbouncer]
listen_addr = *
listen_port = {POOLER_PORT}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 10
max_client_conn = 200
"""


def start_pooler(folder):
    """Starts PgBouncer on the host of Postgres, as another user than root."""
    settings = folder / "pgbouncer.ini"
    settings.write_text(PGBOUNCER)
    command = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", "pgbouncer", str(settings)]
    log = open(folder / "pgbouncer.log", "ab")
    return subprocess.Popen(on("database", *command), stdout=log, stderr=log)


class Nodes:
    """The processes of nodes, and the folders of their data and logs."""

    def __init__(self, program, folder, has_pooler):
        self.folder = folder
        self.programs = dict.fromkeys(NODES, Path(program).resolve())
        self.processes = {}
        settings = SETTINGS.replace("DATABASE_PORT", str(POOLER_PORT if has_pooler else POSTGRES_PORT))
        (folder / "parlor.toml").write_text(settings.replace("HAS_POOLER", str(has_pooler).lower()))
        self.key = os.urandom(32).hex()
        source, self.clock = folder / "clock.c", folder / "clock.so"
        source.write_text(CLOCK_SOURCE)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.clock, source], check=True)

    async def start(self, *nodes):
        for node in nodes:
            environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PARLOR_SECRET_KEY": self.key, "PARLOR_LOG": "parlor=info,warn"}
            environment |= {"OPENAI_BASE_URL": f"http://{address(OUTSIDE)}:{MODEL_PORT}/v1", "OPENAI_API_KEY": "none"}
            environment |= {"LD_PRELOAD": str(self.clock), "CLOCK_OFFSET": str(CLOCKS[node])}
            command = [self.programs[node], "serve", "--config", self.folder / "parlor.toml", "--data", self.folder / node, "--addr", f"0.0.0.0:{NODE_PORT}"]
            log = open(self.folder / f"{node}.log", "ab")
            # `ip netns exec` becomes the program, so its process is the node's.
            self.processes[node] = subprocess.Popen(on(node, *map(str, command)), env=environment, stdout=log, stderr=log, cwd=self.folder)
        for node in nodes:
            await self.wait_until_ready(node)

    async def wait_until_ready(self, node, limit=60):
        """Returns the seconds that it took."""
        begin = time.monotonic()
        client = Client(address(node), NODE_PORT, "nobody")
        while time.monotonic() < begin + limit:
            assert self.processes[node].poll() is None, f"{node} has ended: {self.log(node)}"
            try:
                reader, writer = await client.open("GET", "/readyz")
                writer.close()
                return time.monotonic() - begin
            except (Refused, *NO_ANSWER):
                await asyncio.sleep(0.1)
        raise SystemExit(f"{node} is not ready after {limit} s: {self.log(node)}")

    def signal(self, node, number):
        self.processes[node].send_signal(number)

    def kill(self, node):
        self.signal(node, signal.SIGKILL)
        self.processes[node].wait()

    async def replace(self, node, program):
        """Stops a node as an operator does, and starts another program in its place. Returns the seconds that the stop took."""
        begin = time.monotonic()
        self.signal(node, signal.SIGTERM)
        await asyncio.to_thread(self.processes[node].wait)
        stopped = time.monotonic() - begin
        self.programs[node] = Path(program).resolve()
        await self.start(node)
        return stopped

    def log(self, node):
        return (self.folder / f"{node}.log").read_text()[-2000:]

    def complaints(self):
        """Returns the lines of panics of all nodes."""
        lines = [line for node in NODES for line in (self.folder / f"{node}.log").read_text().splitlines()]
        return [line for line in lines if re.search(r"panicked|poisoned", line)]

    def stop(self):
        for process in self.processes.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.kill()
                process.wait()


def start_proxy(folder):
    folder = folder / "nginx"
    (folder / "tmp").mkdir(parents=True)
    (folder / "nginx.conf").write_text(NGINX)
    # It drops root's rights otherwise, to a user who can't enter the folder.
    settings = ["-p", f"{folder}/", "-c", "nginx.conf", "-g", "user root;"]
    return subprocess.Popen(on("proxy", "nginx", *settings), stderr=subprocess.DEVNULL)
