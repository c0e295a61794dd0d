"""Writes the settings of try-data-agent: settings.py DATABASE DOCUMENTATION PYTHON TARGET. They are those of Leptos.toml and the
sample database. With --find-local-model it succeeds if a local model server listens."""

import json
import socket
import sys
from pathlib import Path

if sys.argv[1:] == ["--find-local-model"]:
    for port in (11434, 8080, 1234):
        with socket.socket() as probe:
            probe.settimeout(0.3)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                sys.exit(0)
    sys.exit(1)

database, documentation, python, target = sys.argv[1:]
page = """title = "American statistics"
placeholder = "Ask about American statistics..."
questions = [
    "Which industries lost the most jobs in 2009?",
    "How has Iowa's electricity changed since 2001?",
    "Which month is the wettest in Seattle?",
]"""
own = Path("Leptos.toml")
lines = own.read_text().splitlines() if own.exists() else []
if "[data]" in lines:
    lines.insert(lines.index("[data]") + 1, page)
else:
    lines += ["[data]", page]
# Another Python of the settings stays.
if python and "[python]" not in lines:
    lines += ["[python]", f"interpreter = {json.dumps(python)}"]
lines += [
    "[[databases]]",
    'name = "statistics"',
    f"url = {json.dumps('sqlite:' + database)}",
    f"documentation = {json.dumps(documentation)}",
]
Path(target).write_text("\n".join(lines) + "\n")
