"""Asks a question, prints the answer as it comes, resumes after a cut, and asks for a summary.

    PARLOR_TOKEN=parlor_… python3 examples/chat.py "Why is the sky blue?"

PARLOR_URL is the server's URL. On Parlor's own machine no token is needed.
"""

import http.client
import json
import os
import sys
import time
import urllib.error
import urllib.request

URL = os.environ.get("PARLOR_URL", "http://127.0.0.1:7387")
TOKEN = os.environ.get("PARLOR_TOKEN")


def call(path, body=None, **headers):
    headers = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    if TOKEN:
        headers["Authorization"] = f"Bearer {TOKEN}"
    if body is not None:
        headers["Content-Type"] = "application/json"
        body = json.dumps(body).encode()
    return urllib.request.urlopen(urllib.request.Request(URL + path, body, headers))


def stream(message):
    """Prints the answer. Returns its last event, which has the whole answer in its payload."""
    response, run, position = call("/api/chat/stream", {"message": message}), None, 0
    while True:
        try:
            response = response or call(f"/api/runs/{run}/events", Last_Event_ID=position)
            if response.status == 204:
                sys.exit("Nothing follows: load the message itself.")
            for line in response:
                if not line.startswith(b"data:"):
                    continue
                event = json.loads(line[5:])
                run = event.get("expected_assistant_message_id", run)
                position = event.get("position", position)
                if event["type"] == "text_delta":
                    print(event["text"], end="", flush=True)
                if event["type"] in ("complete", "cancelled", "error"):
                    return event
                if event["type"] in ("reset", "log_damaged"):
                    sys.exit("The rest can't be followed: load the message itself.")
        except (OSError, http.client.HTTPException) as cut:
            if not run or isinstance(cut, urllib.error.HTTPError):
                raise
        response = None  # The connection was cut: the run continues on the server.
        time.sleep(1)


if len(sys.argv) != 2:
    sys.exit(__doc__)
last = stream(sys.argv[1])
follow_up = {"message": "In one sentence?", "conversation_id": last["conversation_id"]}
answer = json.load(call("/api/chat/batch", follow_up))  # Waits for the whole answer.
print(f"\n\n{answer.get('message', answer['status'])}")
