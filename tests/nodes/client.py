"""A client of the proxy or of one node, and the check of what it reads.

It follows a run as a program would that was told nothing of nodes: whenever its connection ends, or is silent for longer than heartbeats come, it
asks again, for what came after the last position that it has."""

import asyncio
import json
import re
import uuid
from collections import Counter

# Heartbeats come more often.
SILENCE = 4
RETRY = 0.2

# A number of an answer with its time in microseconds (model.py). The space after it arrives with the next one.
NUMBER = re.compile(r"(\d+)@(\d{16})")


class Refused(Exception):
    """A response with another status than 2xx."""

    def __init__(self, status, text):
        super().__init__(f"{status}: {text[:300]}")
        self.status = status


class Client:
    def __init__(self, address, port, user):
        self.address, self.port, self.user = address, port, user

    async def open(self, method, path, body=None, key=None):
        """Sends a request, and returns the reader of the body of a successful response, and the writer, which the caller closes."""
        reader, writer = await asyncio.wait_for(asyncio.open_connection(self.address, self.port), SILENCE)
        try:
            content = b"" if body is None else json.dumps(body).encode()
            # Of an HTTP/1.0 response the body is sent as it is, up to the end of the connection.
            head = [f"{method} {path} HTTP/1.0", f"Host: {self.address}:{self.port}", f"Remote-User: {self.user}"]
            head += [f"Origin: http://{self.address}:{self.port}", "Content-Type: application/json", f"Content-Length: {len(content)}"]
            head += [f"Idempotency-Key: {key}"] if key else []
            writer.write("\r\n".join([*head, "", ""]).encode() + content)
            answer = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), SILENCE)).decode()
            status = int(answer.split(" ", 2)[1])
            if not 200 <= status < 300:
                raise Refused(status, (await asyncio.wait_for(reader.read(), SILENCE)).decode())
            return reader, writer
        except BaseException:
            writer.close()
            raise

    async def ask(self, method, path, body=None, key=None):
        """Returns the JSON of a response."""
        reader, writer = await self.open(method, path, body, key)
        try:
            text = await asyncio.wait_for(reader.read(), 3 * SILENCE)
            return json.loads(text) if text else None
        finally:
            writer.close()

    async def ask_until_answered(self, *request, **options):
        """Like `ask`, again and again while no node answers."""
        while True:
            try:
                return await self.ask(*request, **options)
            except Refused as refused:
                if refused.status < 500:
                    raise
            except NO_ANSWER:
                pass
            await asyncio.sleep(RETRY)


NO_ANSWER = (OSError, EOFError, asyncio.TimeoutError, ValueError)


class Run:
    """A run that one client starts and follows to its end."""

    def __init__(self, numbers, rate, on_number=None):
        self.key = str(uuid.uuid4())
        self.question = f"count {numbers} at {rate} of {self.key}"
        self.numbers = numbers
        # Called with the time of each number, as it is read.
        self.on_number = on_number
        self.id = None
        # The data of each event by its position.
        self.events = {}
        self.text = ""
        self.end = None
        self.faults = []
        # Why each connection but the last one ended.
        self.breaks = Counter()
        self.last = 0
        self.part, self.part_start = None, 0
        self.read_numbers = 0
        # The length of the text whose numbers were read.
        self.parsed = 0

    async def follow(self, client):
        while self.end is None:
            try:
                await self.read(client)
                reason = "end of the stream"
            except Refused as refused:
                # 404: the run that was asked for was never stored, and the next request asks again.
                if refused.status < 500 and refused.status not in (404, 429):
                    self.faults.append(str(refused))
                    return self
                reason = f"status {refused.status}"
            except NO_ANSWER as error:
                reason = type(error).__name__
            if self.end is None:
                self.breaks[reason] += 1
                await asyncio.sleep(RETRY)
        return self

    async def read(self, client):
        if self.id is None:
            question = {"message": self.question, "model": "openai/count"}
            reader, writer = await client.open("POST", "/api/chat/stream", question, self.key)
        else:
            reader, writer = await client.open("GET", f"/api/runs/{self.id}/events?after={self.last}")
        try:
            position = None
            while line := await asyncio.wait_for(reader.readline(), SILENCE):
                name, _, value = line.decode().rstrip("\n").partition(": ")
                if name == "id":
                    position = int(value)
                elif name == "data" and position is not None:
                    self.event(position, value)
                    position = None
        finally:
            writer.close()

    def event(self, position, data):
        event = json.loads(data)
        self.id = self.id or event.get("message_id")
        if event["position"] != position or position <= self.last:
            self.faults.append(f"position {position} came after {self.last}")
            return
        if self.end is not None:
            self.faults.append(f"{event['type']} came after the end")
        self.last = position
        self.events[position] = data
        if event["type"] == "text_delta" and event.get("offset") is not None:
            self.delta(event)
        elif event["type"] in ("complete", "error", "cancelled"):
            self.end = event["type"]
            if self.end != "complete":
                self.faults.append(f"it ended with {data[:300]}")
            elif event["payload"]["message"] != self.text:
                self.faults.append("the last event has another text than the deltas")

    def delta(self, event):
        place = (event["node"], event["part"])
        if place != self.part:
            self.part, self.part_start = place, len(self.text.encode())
        if event["offset"] != len(self.text.encode()) - self.part_start:
            self.faults.append(f"a delta at {event['offset']} after {len(self.text) - self.part_start}")
        self.text += event["text"]
        for found in NUMBER.finditer(self.text, self.parsed):
            self.parsed = found.end()
            self.read_numbers += 1
            if self.on_number:
                self.on_number(int(found[2]))

    def check(self):
        """Returns what is wrong with the whole answer."""
        faults = list(self.faults)
        numbers = [word.split("@")[0] for word in self.text.split()]
        if numbers != [str(number) for number in range(self.numbers)]:
            wrong = next((i for i, number in enumerate(numbers) if number != str(i)), len(numbers))
            faults.append(f"{len(numbers)} of {self.numbers} numbers; the first wrong one is at {wrong}: {numbers[wrong - 1 : wrong + 3]}")
        return faults
