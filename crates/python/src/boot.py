# Starts a kernel with its limits: `python -c … SOCKETS WORK LIMITS [hide-mounts] [seal=CALL:FILTER]`, with the folders of its sockets and of its files. It is the first code of a session's process.
import base64
import ctypes
import importlib.machinery
import importlib.util
import json
import os
import resource
import struct
import sys
import types


# Leaves the namespace of the mounts, whose list names folders outside, but keeps its files as the root: what is not reached from there is in no list. Then it gives up the capabilities that this takes.
def hide_mounts():
    library = ctypes.CDLL(None, use_errno=True)
    root = os.open("/", os.O_PATH | os.O_DIRECTORY)
    # Systems may forbid it (AppArmor). Then the list of mounts can be seen.
    if library.unshare(0x20000) == 0:  # CLONE_NEWNS
        os.fchdir(root)
        os.chroot(".")
    os.close(root)
    header = struct.pack("Ii", 0x20080522, 0)  # _LINUX_CAPABILITY_VERSION_3, this process
    if library.capset(header, bytes(24)) != 0:
        sys.exit("its capabilities can't be given up")


if "hide-mounts" in sys.argv[4:]:
    hide_mounts()
del hide_mounts


# Adds a filter of system calls to all threads (SECCOMP_SET_MODE_FILTER with SECCOMP_FILTER_FLAG_TSYNC).
def seal(argument):
    number, _, program = argument.partition(":")
    program = base64.b64decode(program)
    code = ctypes.create_string_buffer(program, len(program))
    described = ctypes.create_string_buffer(struct.pack("HP", len(program) // 8, ctypes.addressof(code)))
    words = [ctypes.c_long(int(number)), ctypes.c_long(1), ctypes.c_long(1), ctypes.c_void_p(ctypes.addressof(described))]
    if ctypes.CDLL(None, use_errno=True).syscall(*words) != 0:
        sys.exit("its sockets can't be closed to it: " + os.strerror(ctypes.get_errno()))


seals = [word.removeprefix("seal=") for word in sys.argv[4:] if word.startswith("seal=")]

# It ends with the process that started it (PR_SET_PDEATHSIG, SIGKILL).
ctypes.CDLL(None).prctl(1, 9)

# Code that takes all it can must not keep others from ending it.
os.nice(10)

folder, limits = sys.argv[1], json.loads(sys.argv[3])
os.chdir(sys.argv[2])
for name, value in limits.items():
    limit = getattr(resource, name, None)
    if limit is not None:
        hard = resource.getrlimit(limit)[1]
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        # The first limit of the computing time is a signal, the second one kills.
        resource.setrlimit(limit, (value, value + 5 if name == "RLIMIT_CPU" and hard == resource.RLIM_INFINITY else value))

# Address space may be reserved without being used; that of data is limited above.
hard = resource.getrlimit(resource.RLIMIT_AS)[1]
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

# Modules are found in the working folder too, but last: a file of the conversation never takes the place of an installed one.
sys.path = [path for path in sys.path if path] + [""]

# Plotly refuses to hand a chart to the kernel without nbformat, of which it uses the version only.
if importlib.util.find_spec("nbformat") is None:
    stub = types.ModuleType("nbformat", "Only the version, for Plotly: nbformat is not installed.")
    stub.__spec__ = importlib.machinery.ModuleSpec("nbformat", None)
    stub.__version__ = "5.0"
    sys.modules["nbformat"] = stub
    del stub

ports = {name + "_port": number + 1 for number, name in enumerate(["shell", "iopub", "stdin", "control", "hb"])}
connection = os.path.join(folder, "kernel.json")
with open(connection, "w") as file:
    # Only the helper reaches the sockets, so nothing is signed.
    json.dump({"transport": "ipc", "ip": os.path.join(folder, "k"), "key": "", **ports}, file)

sys.argv = ["ipykernel_launcher", "-f", connection, "--HistoryManager.enabled=False", "--log-level=ERROR"]
from ipykernel.kernelapp import IPKernelApp

application = IPKernelApp.instance()
application.initialize()
# Its own sockets are bound, and it has taken no request yet.
for argument in seals:
    seal(argument)
del application, seal, seals
IPKernelApp.instance().start()
