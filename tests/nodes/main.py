"""Three nodes, nginx and Postgres, each on a host of its own, and what can go wrong between them: `make nodes-test` calls it, as root.

    tests/nodes/main.py PROGRAM [--runs 300] [--jobs 20] [--only killed,paused] [--pooler] [--next PROGRAM]

In each part, many runs go on while something breaks; afterwards every run must have its whole answer, once and in order, for the client that
followed it through the proxy and for one that reads its log at each node. The clocks of the nodes are minutes apart all the time. Times are printed,
and fail nothing, except for a limit on each part."""

import argparse
import asyncio
import json
import os
import shutil
import signal
import statistics
import sys
import tempfile
import time
import uuid
from collections import Counter
from pathlib import Path

from client import NO_ANSWER, Client, Refused, Run
from model import ModelServer, now_micros
from network import OUTSIDE, address, cut_off, enter, hosts, reconnect
from services import MODEL_PORT, NODE_PORT, NODES, PROXY_PORT, Nodes, Postgres, start_pooler, start_proxy

# Runs are spread over some users; a log belongs to one.
USERS = 10

# The time limit of a part, in seconds.
PART_LIMIT = 300

# The connections that get notifications: their last statement, or the one by which they see that they still are connected.
IS_LISTENING = "query LIKE 'LISTEN%' OR query = ';'"

# A function in the place of the server's own, which tells nobody.
SILENCE = [
    "CREATE SCHEMA silent",
    "GRANT USAGE ON SCHEMA silent TO parlor",
    "CREATE FUNCTION silent.pg_notify(text, text) RETURNS void LANGUAGE sql AS ''",
    "ALTER ROLE parlor SET search_path = silent, pg_catalog, public",
]
END_SILENCE = ["ALTER ROLE parlor RESET search_path", "DROP SCHEMA silent CASCADE"]
END_CONNECTIONS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'parlor'"


def report(subject, text):
    print(f"    {subject:28} {text}", flush=True)


def through_proxy(user):
    return Client(address("proxy"), PROXY_PORT, user)


def at(node, user):
    return Client(address(node), NODE_PORT, user)


def user_of(index):
    return f"user{index % USERS}"


class Parts:
    def __init__(self, options, nodes, postgres, model):
        self.options, self.nodes, self.postgres, self.model = options, nodes, postgres, model
        self.faults = 0

    async def under_load(self, name, seconds, trouble):
        """Starts runs of so many seconds through the proxy, makes trouble meanwhile, and checks all of them."""
        print(name, flush=True)
        begin = time.monotonic()
        self.received = []
        runs = []
        for index in range(self.options.runs):
            run = Run(int(seconds * self.options.rate), self.options.rate, self.note)
            runs.append((user_of(index), run, asyncio.create_task(run.follow(through_proxy(user_of(index))))))
            await asyncio.sleep(3 / self.options.runs)
        await asyncio.sleep(2)
        troubled = asyncio.create_task(trouble(runs))
        done, late = await asyncio.wait([troubled, *(task for _, _, task in runs)], timeout=PART_LIMIT)
        for task in late:
            task.cancel()
        if troubled in done:
            troubled.result()
        for node in NODES:
            await self.nodes.wait_until_ready(node)
        faults = [fault for user, run, _ in runs for fault in await self.faults_of(user, run)]
        events = sum(len(run.events) for _, run, _ in runs)
        breaks = sum((run.breaks for _, run, _ in runs), Counter())
        resumed = sum(self.model.calls.get(run.key, 1) - 1 for _, run, _ in runs)
        report("runs", f"{len(runs)}, {events} events, {resumed} continued, {time.monotonic() - begin:.0f} s")
        report("connections that ended", ", ".join(f"{count} by {reason}" for reason, count in breaks.most_common()))
        self.close(faults)

    async def sql(self, text):
        return await asyncio.to_thread(self.postgres.sql, text)

    def note(self, _):
        self.received.append(time.monotonic())

    async def faults_of(self, user, run):
        """Compares what a client has seen with the log at each node."""
        if run.end is None:
            return [f"run {run.id} of {user} has not ended; last position {run.last}, {dict(run.breaks)}"]
        faults = [f"run {run.id} of {user}: {fault}" for fault in run.check()]
        for node in NODES if faults else NODES[:1]:
            stored = Run(run.numbers, 1)
            stored.id = run.id
            try:
                await asyncio.wait_for(stored.follow(at(node, user)), 30)
            except asyncio.TimeoutError:
                faults.append(f"run {run.id} of {user} is not readable at {node}")
                continue
            missing = [position for position, data in run.events.items() if stored.events.get(position) != data]
            if missing:
                position = missing[0]
                faults.append(f"run {run.id} of {user} at {node}: {len(missing)} events differ; {run.events[position][:200]} is {stored.events.get(position)}")
        return faults

    def close(self, faults):
        faults += self.nodes.complaints()
        self.faults += len(faults)
        report("faults", str(len(faults)))
        for fault in faults[:5]:
            report("", fault[:600])

    def largest_gap(self, since):
        """Returns the longest time in which no client read a number, after an event."""
        times = [moment for moment in self.received if moment >= since]
        return max((after - before for before, after in zip([since, *times], times)), default=0)

    async def takeover(self, runs, node, cause):
        """Does something to a node, and reports when the others had taken its runs, and how long their clients waited for the next number."""
        lease = await self.lease_of(node)
        is_mine = f"owner = '{lease}' AND status = 'running'"
        ids = set(await self.sql(f"SELECT id FROM runs WHERE {is_mine}"))
        waiting = {run: run.read_numbers for _, run, _ in runs if run.id in ids}
        begin = time.monotonic()
        cause()
        taken, waited = None, []
        while (waiting or taken is None) and time.monotonic() < begin + 60:
            # A number may have been on its way.
            for run in [run for run, seen in waiting.items() if run.read_numbers > seen + 2 or run.end]:
                waited.append(time.monotonic() - begin)
                del waiting[run]
            if taken is None and not await self.sql(f"SELECT 1 FROM runs WHERE {is_mine} LIMIT 1"):
                taken = time.monotonic() - begin
            await asyncio.sleep(0.05)
        text = f"{len(ids)} runs, after {taken:.1f} s" if taken is not None else "not after 60 s"
        text += f"; clients waited {statistics.median(waited):.1f} s (median), {max(waited):.1f} s (longest)" if waited else ""
        report(f"takeover from {node}", text)

    async def check_listening(self):
        """Each node must listen again. One that only listens is not told that its connection has no other end any more."""
        if self.options.pooler:
            return
        begin = time.monotonic()
        while (count := len(await self.sql(f"SELECT 1 FROM pg_stat_activity WHERE {IS_LISTENING}"))) < len(NODES):
            if time.monotonic() > begin + 60:
                return self.close([f"{count} of {len(NODES)} nodes listen"])
            await asyncio.sleep(0.5)

    async def lease_of(self, node):
        """Returns the id of the lease of a node: the owner of a run that it writes."""
        run = Run(3, 1)
        following = asyncio.create_task(run.follow(at(node, "nobody")))
        while run.id is None:
            await asyncio.sleep(0.05)
        owner = (await self.sql(f"SELECT owner FROM runs WHERE id = '{run.id}'"))[0]
        await following
        return owner


async def crossing(parts):
    """The time by which a number is later at another node than at the one that writes it."""
    print("a token crosses nodes", flush=True)
    seconds, readers = 20, []
    delays = {"same node": [], "other node": []}
    pairs = [("node1", "node2"), ("node2", "node3"), ("node3", "node1")]
    tasks = []
    for index in range(parts.options.quiet_runs):
        here, there = pairs[index % len(pairs)]
        run = Run(int(seconds * 10), 10, lambda stamp: delays["same node"].append(now_micros() - stamp))
        tasks.append((user_of(index), run, asyncio.create_task(run.follow(at(here, user_of(index))))))
        while run.id is None:
            await asyncio.sleep(0.01)
        other = Run(run.numbers, 10, lambda stamp: delays["other node"].append(now_micros() - stamp))
        other.id = run.id
        readers.append(other)
        tasks.append((user_of(index), other, asyncio.create_task(other.follow(at(there, user_of(index))))))
    await asyncio.wait([task for *_, task in tasks], timeout=PART_LIMIT)
    for name, micros in delays.items():
        ordered = sorted(micros)
        report(name, f"p50 {ordered[len(ordered) // 2] / 1000:.1f} ms, p99 {ordered[len(ordered) * 99 // 100] / 1000:.1f} ms, {len(ordered)} numbers")
    parts.close([fault for user, run, _ in tasks for fault in await parts.faults_of(user, run)])


async def start_jobs(parts):
    """Starts reports through the proxy. Returns them with their users."""
    jobs = []
    for index in range(parts.options.jobs):
        client, stream, job = through_proxy(user_of(index)), str(uuid.uuid4()), str(uuid.uuid4())
        fields = [{"name": "Amount", "question": "How much?", "type": "number"}]
        form = {"id": stream, "name": f"Tides {index}", "query": "tides", "instructions": "", "schema": fields}
        await client.ask_until_answered("POST", "/rpc/save_stream", {"stream": form})
        request = {"kind": "report", "input": {"stream_id": stream}, "model": "openai/count"}
        await client.ask_until_answered("POST", "/api/jobs", request, key=job)
        jobs.append((user_of(index), job))
    return jobs


async def check_jobs(parts, jobs):
    """Waits for the reports, which must be equal, with each step once."""
    faults, reports = [], {}
    for user, job in jobs:
        client = through_proxy(user)
        for _ in range(PART_LIMIT):
            details = await client.ask_until_answered("GET", f"/api/jobs/{job}")
            if details["status"] != "running":
                break
            await asyncio.sleep(1)
        if details["status"] != "complete":
            faults.append(f"job {job} of {user} is {details['status']}: {details.get('error')}")
            continue
        steps = (await client.ask_until_answered("GET", f"/api/jobs/{job}/steps"))["steps"]
        keys = [step["key"] for step in steps]
        if len(keys) != len(set(keys)):
            faults.append(f"job {job} has a step twice")
        reports.setdefault((len(keys), json.dumps(comparable(details.get("result")), sort_keys=True)), job)
    if len(reports) > 1:
        faults.append(f"the reports differ: {list(reports.values())}")
    report("jobs", f"{len(jobs)} reports of {next(iter(reports), [0])[0]} steps")
    parts.close(faults)


def comparable(value):
    """Leaves out what differs between reports: ids, times and names."""
    if isinstance(value, dict):
        return {name: comparable(inner) for name, inner in value.items() if not name.endswith(("id", "_at", "title", "name"))}
    return [comparable(inner) for inner in value] if isinstance(value, list) else value


async def killed(parts):
    jobs = await start_jobs(parts)

    async def trouble(runs):
        for node in NODES:
            await parts.takeover(runs, node, lambda: parts.nodes.kill(node))
            await parts.nodes.start(node)

    await parts.under_load("each node is killed in turn", 75, trouble)
    await check_jobs(parts, jobs)


async def paused(parts):
    async def trouble(runs):
        await parts.takeover(runs, "node2", lambda: parts.nodes.signal("node2", signal.SIGSTOP))
        await asyncio.sleep(5)
        parts.nodes.signal("node2", signal.SIGCONT)
        report("woken", f"ready after {await parts.nodes.wait_until_ready('node2'):.1f} s")

    await parts.under_load("a node is paused beyond its lease, and wakes", 45, trouble)


async def database_restarts(parts):
    async def trouble(_):
        for mode in ["fast", "immediate"]:
            parts.postgres.stop(mode)
            await asyncio.sleep(3)
            parts.postgres.start()
            begin = time.monotonic()
            await asyncio.sleep(8)
            report(f"after a stop “{mode}”", f"longest silence {parts.largest_gap(begin - 3):.1f} s, of which it was away 3 s")

    await parts.under_load("Postgres is restarted", 40, trouble)


async def partitions(parts):
    async def trouble(runs):
        await parts.takeover(runs, "node3", lambda: cut_off("node3"))
        await asyncio.sleep(20)
        reconnect("node3")
        report("reconnected", f"ready after {await parts.nodes.wait_until_ready('node3'):.1f} s")

    await parts.under_load("a node is cut off for 30 s", 60, trouble)

    async def without_database(_):
        begin = time.monotonic()
        cut_off("database")
        await asyncio.sleep(30)
        reconnect("database")
        for node in NODES:
            report(node, f"ready after {await parts.nodes.wait_until_ready(node):.1f} s")
        await asyncio.sleep(5)
        report("longest silence", f"{parts.largest_gap(begin):.1f} s, of which it was cut off 30 s")

    await parts.under_load("the database is cut off for 30 s", 60, without_database)
    await parts.check_listening()


async def notifications_lost(parts):
    async def trouble(_):
        until = time.monotonic() + 20
        ended = 0
        while time.monotonic() < until:
            ended += len(await parts.sql(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {IS_LISTENING}"))
            await asyncio.sleep(0.3)
        report("listening connections", f"ended {ended} times")

    await parts.under_load("notifications are lost", 25, trouble)

    # The nodes listen, and nothing arrives: the poll is all there is.
    for statement in SILENCE:
        await parts.sql(statement)
    try:
        await parts.sql(END_CONNECTIONS)
        print("no notification is sent", flush=True)
        await crossing(parts)
    finally:
        for statement in END_SILENCE:
            await parts.sql(statement)
        await parts.sql(END_CONNECTIONS)


async def isolation(parts):
    """Whatever node is asked, nothing of another user is there."""
    print("users", flush=True)
    run = Run(5, 10)
    await run.follow(at("node1", "user0"))
    faults = []
    for node in NODES:
        for path in [f"/api/runs/{run.id}", f"/api/runs/{run.id}/events", f"/api/messages/{run.id}"]:
            try:
                await at(node, "somebody").ask("GET", path)
                faults.append(f"{path} is readable for another user at {node}")
            except Refused as refused:
                if refused.status != 404:
                    faults.append(f"{path}: {refused}")
    parts.close(faults)


async def upgraded(parts):
    """Nodes of two versions are at work at the same time; each is replaced in turn."""
    if not parts.options.next:
        return print("two versions: skipped, since --next names no program", flush=True)

    async def trouble(_):
        for node in NODES:
            stopped = await parts.nodes.replace(node, parts.options.next)
            report(node, f"stopped in {stopped:.1f} s, and ready as the next version")
            await asyncio.sleep(5)

    await parts.under_load("each node is replaced by one of the next version", 60, trouble)


PARTS = {"isolation": isolation, "crossing": crossing, "killed": killed, "paused": paused, "restarts": database_restarts, "partitions": partitions, "notifications": notifications_lost, "upgraded": upgraded}


# Behind a pooler, there are none.
NEED_NOTIFICATIONS = ["notifications"]


async def main(options, folder):
    enter(OUTSIDE)
    postgres = Postgres(folder)
    postgres.start()
    nodes, proxy, pooler = None, None, None
    try:
        postgres.make_database()
        if options.pooler:
            pooler = start_pooler(folder)
        model = ModelServer()
        await model.start(address(OUTSIDE), MODEL_PORT)
        nodes = Nodes(options.program, folder, options.pooler)
        parts = Parts(options, nodes, postgres, model)
        for node in NODES:
            await nodes.start(node)
        proxy = start_proxy(folder)
        names = options.only.split(",") if options.only else [name for name in PARTS if not (options.pooler and name in NEED_NOTIFICATIONS)]
        for name in names:
            await PARTS[name](parts)
        return parts.faults
    finally:
        if proxy:
            proxy.terminate()
        if nodes:
            nodes.stop()
        if pooler:
            pooler.terminate()
        postgres.stop("immediate")


def parse():
    options = argparse.ArgumentParser()
    options.add_argument("program")
    options.add_argument("--runs", type=int, default=300, help="runs at the same time")
    options.add_argument("--quiet-runs", type=int, default=12, help="runs that are followed at two nodes")
    options.add_argument("--jobs", type=int, default=20)
    options.add_argument("--rate", type=float, default=4, help="numbers a second of each run")
    options.add_argument("--only", help=f"parts, of {','.join(PARTS)}")
    options.add_argument("--next", help="the program of the next version, which takes the place of the other")
    options.add_argument("--pooler", action="store_true", help="PgBouncer is between the nodes and Postgres")
    options.add_argument("--keep", action="store_true", help="keep the logs")
    return options.parse_args()


if __name__ == "__main__":
    options = parse()
    folder = Path(tempfile.mkdtemp(prefix="parlor-nodes-"))
    folder.chmod(0o755)
    try:
        with hosts():
            faults = asyncio.run(main(options, folder))
    finally:
        if options.keep:
            print(f"logs: {folder}")
        else:
            shutil.rmtree(folder)
    print(f"{faults} faults")
    sys.exit(1 if faults else 0)
