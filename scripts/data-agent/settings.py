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
own_text = own.read_text() if own.exists() else ""
lines = own_text.splitlines()


def add(section, setting):
    if section not in lines:
        lines.append(section)
    lines.insert(lines.index(section) + 1, setting)


def has_python():
    _, _, rest = own_text.partition("\n[python]\n")
    return any(line.startswith(("interpreter =", "kernel =")) for line in rest.partition("\n[")[0].splitlines())


add("[data]", page)
# Another Python of the settings stays.
if python and not has_python():
    add("[python]", f"interpreter = {json.dumps(python)}")
lines += [
    "[[databases]]",
    'name = "statistics"',
    f"url = {json.dumps('sqlite:' + database)}",
    f"documentation = {json.dumps(documentation)}",
]
Path(target).write_text("\n".join(lines) + "\n")
