"""The other side of the tried Parlor: a client that asks it from another network namespace, a model server with a script, and a watch over
what Parlor sends without being asked.

    packaging/visitor.py ask ADDRESS TOKEN PROMPT EXPECTED [NAME]   prints the text of the page of the system
    packaging/visitor.py model ADDRESS
    packaging/visitor.py watch DEVICE                               prints each such packet

`ask` makes the first account, under the IP address or the NAME, signs in, and asks until an answer has the expected text."""

import html
import http.client
import json
import os
import re
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

PASSWORD = "a+long+password"
FORM = "application/x-www-form-urlencoded"

# A document with text.
DOCUMENT = Path(__file__).resolve().parent.parent / "tests/fixtures/files/crazyones.pdf"

# Nobody's name, as in an attack by DNS rebinding.
FOREIGN_NAME = "foreign.example"

# The seconds for which Python is looked for after a start.
ATTEMPTS = 60


class Client:
    def __init__(self, address, name):
        self.address = address
        self.host = name or address
        self.cookie = None

    def request(self, method, path, body=None, kind=FORM, host=None):
        host = host or self.host
        connection = http.client.HTTPConnection(self.address, timeout=120)
        headers = {"Host": host, "Content-Type": kind, "Origin": f"http://{host}"}
        if self.cookie:
            headers["Cookie"] = self.cookie
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        if cookie := response.getheader("Set-Cookie"):
            self.cookie = cookie.split(";")[0]
        return response.status, response.read().decode()

    def expect(self, status, *request, **options):
        found, text = self.request(*request, **options)
        assert found == status, f"{request[:2]} {options}: {found} instead of {status}: {text[-800:]}"
        return text


def ask(address, token, prompt, expected, name=None):
    client = Client(address, name)
    client.expect(403, "GET", "/sign-in", host=FOREIGN_NAME)
    setup = f"token={token}&name=ann&password={PASSWORD}&again={PASSWORD}"
    client.expect(403, "POST", "/setup", setup.replace(token, "wrong"), host=FOREIGN_NAME)
    client.expect(303, "POST", "/setup", setup)
    client.cookie = None
    client.expect(200, "GET", "/sign-in")
    client.expect(303, "POST", "/sign-in", f"name=ann&password={PASSWORD}")
    client.expect(403, "GET", "/", host=FOREIGN_NAME)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(1)
        question = {"message": prompt} if expected.startswith("cell") else {"message": prompt, "model": "parlor/tour"}
        answer = client.expect(200, "POST", "/api/chat/stream", json.dumps(question), kind="application/json")
        assert '"complete"' in answer, answer[-800:]
        if expected in answer:
            break
    else:
        sys.exit(f"no answer has {expected}: {answer[-2000:]}")
    if "PARLOR_IS_EMULATED" not in os.environ:
        check_document(client)
    page = client.expect(200, "GET", "/settings/system")
    print(html.unescape(re.sub(r"<[^>]*>", " ", page)))


def check_document(client):
    """Sends a document, which a process of its own with a limit of memory has to read: the size of its text is known then. An emulator can't
    start the program of another processor from within."""
    conversation = "0190d7a0-0000-7000-8000-000000000000"
    path = f"/api/files?name=document.pdf&conversation_id={conversation}"
    stored = json.loads(client.expect(201, "POST", path, DOCUMENT.read_bytes(), kind="application/pdf"))
    assert stored.get("text_bytes", 0) > 0, stored


class Script(BaseHTTPRequestHandler):
    """Lets each question run a cell, and repeats what it shows."""

    def do_GET(self):
        if self.path != "/v1/models":
            return self.send_error(404)
        self.send([{"data": [{"id": "script", "object": "model"}]}], "application/json")

    def do_POST(self):
        if self.path != "/v1/chat/completions":
            return self.send_error(404)
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        tools = [tool["function"]["name"] for tool in asked.get("tools", [])]
        last = asked["messages"][-1]
        if last["role"] == "tool":
            delta, reason = {"content": str(last["content"])}, "stop"
        elif "execute_code" in tools:
            code = "import pandas\nprint(f'cell-{pandas.Series([6]).prod() * 7}')"
            call = {"name": "execute_code", "arguments": json.dumps({"code": code})}
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


def model(address):
    host, port = address.split(":")
    server = HTTPServer((host, int(port)), Script)
    print("ready", flush=True)
    server.serve_forever()


def watch(device):
    """Prints the packets of the device that open a TCP connection from the other side, and all of UDP."""
    every_protocol = 3
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(every_protocol)) as packets:
        packets.bind((device, every_protocol))
        print("ready", flush=True)
        while True:
            frame, (_, _, kind, *_) = packets.recvfrom(1 << 16)
            if kind != socket.PACKET_OUTGOING and is_unasked(frame[12:14], frame[14:]):
                print(frame[14:].hex(), flush=True)


def is_unasked(ethertype, packet):
    if ethertype == b"\x08\x00":
        protocol, content = packet[9], packet[4 * (packet[0] & 15) :]
    elif ethertype == b"\x86\xdd":
        protocol, content = packet[6], packet[40:]
    else:
        return False
    syn, ack = 2, 16
    return protocol == socket.IPPROTO_UDP or (protocol == socket.IPPROTO_TCP and content[13] & (syn | ack) == syn)


if __name__ == "__main__":
    {"ask": ask, "model": model, "watch": watch}[sys.argv[1]](*sys.argv[2:])
