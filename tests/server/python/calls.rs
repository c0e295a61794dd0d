//! System calls that no computation needs: the sandbox does not have them. Each succeeds without it, so that it is known to be seen.

use parlor_protocol::ConversationId;

use super::{Kind, Sessions};

/// The attempts, by name: expressions that are true if they succeed.
const ATTEMPTS: [(&str, &str); 23] = [
    (
        "trace a process",
        "in_child(lambda: call('ptrace', 0, 0, 0, 0)) == 0",
    ),
    (
        "read the memory of a process",
        "call('process_vm_readv', os.getpid(), 0, 0, 0, 0, 0) == 0",
    ),
    ("make a namespace", "call('unshare', 0x200) == 0"),
    (
        // In a namespace of its own, so that the machine's mounts stay as they are.
        "change the mounts",
        "in_child(lambda: (call('unshare', 0x10020000), call('mount', 0, b'/', 0, 0x44000, 0))[1] == 0) == 1",
    ),
    ("add a key", "call('add_key', b'user', b'x', b'y', 1, -3) > 0"),
    ("reserve memory in a file", "call('memfd_create', b'x', 0) > 0"),
    (
        "reserve shared memory",
        "call('shmctl', call('shmget', 0, 4096, 0o1600), 0, 0) == 0",
    ),
    (
        "reserve a message queue",
        "call('msgctl', call('msgget', 0, 0o1600), 0, 0) == 0",
    ),
    (
        "reserve semaphores",
        "call('semctl', call('semget', 0, 32000, 0o1600), 0, 0) == 0",
    ),
    (
        "open a message queue",
        "call('mq_open', b'parlor-test', 0o102, 0o600, ctypes.byref((ctypes.c_long * 8)(0, 1, 64))) > 0 and call('mq_unlink', b'parlor-test') == 0",
    ),
    (
        "map shared memory without a file",
        "call('mmap', 0, 4096, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0) != -1",
    ),
    (
        "map shared memory of a device",
        "mmap.mmap(os.open('/dev/zero', os.O_RDWR), 4096) is not None",
    ),
    (
        "give a thread a table of open files",
        "in_child(lambda: call('close_range', 3000, 3001, 2) == 0) == 1",
    ),
    ("watch files", "call('inotify_init1', 0) > 0"),
    (
        "make a timer",
        "call('timer_create', 1, 0, ctypes.byref(ctypes.c_int())) == 0",
    ),
    (
        "prepare asynchronous reading",
        "call('io_setup', 1, ctypes.byref(ctypes.c_ulong())) == 0",
    ),
    (
        "keep pages of a file in a pipe",
        "call('splice', os.open(sys.executable, os.O_RDONLY), 0, os.pipe()[1], 0, 4096, 0) == 4096",
    ),
    (
        "keep pages of memory in a pipe",
        "call('vmsplice', os.pipe()[1], vector(b'x' * 4096), 1, 0) == 4096",
    ),
    (
        "enlarge a pipe",
        "fcntl.fcntl(os.pipe()[1], 1031, 1 << 18) >= 1 << 18",
    ),
    ("change the buffer of a socket", "buffer_change() > 0"),
    ("open an IP socket", "socket.socket(socket.AF_INET).fileno() > 0"),
    (
        "open an IPv6 socket",
        "socket.socket(socket.AF_INET6).fileno() > 0",
    ),
    (
        "open a netlink socket",
        "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).fileno() > 0",
    ),
];

/// The functions that the attempts use. System calls have their numbers on x86-64 and on ARM.
const PRELUDE: &str = "
import ctypes, fcntl, mmap, os, platform, socket, sys
NUMBERS = {'ptrace': (101, 117), 'mount': (165, 40), 'process_vm_readv': (310, 270), 'memfd_create': (319, 279), 'shmget': (29, 194), 'shmctl': (31, 195),
    'msgget': (68, 186), 'msgctl': (71, 187), 'unshare': (272, 97), 'add_key': (248, 217), 'semget': (64, 190), 'semctl': (66, 191),
    'mq_open': (240, 180), 'mq_unlink': (241, 181), 'inotify_init1': (294, 26), 'timer_create': (222, 107), 'io_setup': (206, 0),
    'splice': (275, 76), 'vmsplice': (278, 75), 'mmap': (9, 222), 'close_range': (436, 436)}
def call(name, *arguments):
    # Whole words: the upper half of an int would be left to chance.
    arguments = [ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments]
    return ctypes.CDLL(None, use_errno=True).syscall(NUMBERS[name][platform.machine() != 'x86_64'], *arguments)
def vector(data):
    return ctypes.byref((ctypes.c_size_t * 2)(ctypes.cast(data, ctypes.c_void_p).value, len(data)))
def buffer_change():
    s = socket.socket(socket.AF_UNIX)
    before = s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 5000)
    return before - s.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF)
def in_child(call):
    child = os.fork()
    if child == 0:
        os._exit(call() & 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
";

/// Tries all attempts. Returns the outcomes by name.
async fn attempt_all(kind: Kind) -> Vec<(&'static str, String)> {
    let sessions = Sessions::start(|settings| kind.choose(settings)).await;
    let session = ConversationId::new();
    sessions.text(session, PRELUDE).await;
    let mut outcomes = Vec::new();
    for (name, attempt) in ATTEMPTS {
        let code = format!(
            "try:\n    outcome = 'DONE' if {attempt} else 'no'\nexcept Exception as error:\n    outcome = repr(error)\nprint(outcome)"
        );
        outcomes.push((name, sessions.text(session, &code).await));
    }
    outcomes
}

#[tokio::test]
async fn calls_beyond_computation_fail() {
    for (name, outcome) in attempt_all(Kind::Bubblewrap).await {
        assert!(!outcome.contains("DONE"), "{name}: {outcome}");
    }
}

#[tokio::test]
async fn calls_beyond_computation_fail_under_landlock() {
    for (name, outcome) in attempt_all(Kind::Landlock).await {
        assert!(!outcome.contains("DONE"), "{name}: {outcome}");
    }
}

#[tokio::test]
async fn the_same_calls_work_without_the_sandbox() {
    for (name, outcome) in attempt_all(Kind::None).await {
        assert_eq!(outcome, "DONE", "{name}");
    }
}

/// The use of the system by usual notebooks: each line is an expression that is true.
const USUAL: [&str; 11] = [
    "asyncio.run(asyncio.wait_for(asyncio.to_thread(lambda: True), 20))",
    "subprocess.run('seq 1 1000 | sort -n | tail -1', shell=True, capture_output=True, text=True).stdout == '1000\\n'",
    "asyncio.run(child()) == b'hi\\n'",
    "list(ThreadPoolExecutor(8).map(abs, [-1, -2])) == [1, 2]",
    "list(ProcessPoolExecutor(2, mp_context=fork).map(abs, [-1, -2])) == [1, 2]",
    "shared(multiprocessing.Manager().list) == [1, 2]",
    "fork.Value('i', 3).value == 3 and put(fork.Queue()) == 3",
    "sqlite3.connect('numbers.db').execute('SELECT 1').fetchone() == (1,)",
    "shutil.copy2(sys.executable, 'copy') == 'copy' and len(open('/dev/zero', 'rb').read(9)) == 9",
    "written_by_child(mmap.mmap(-1, 4096)) == b'hi'",
    "len(os.openpty()) == 2 and get_ipython().getoutput('echo hi') == ['hi']",
];

#[tokio::test]
async fn usual_code_has_the_calls_it_needs() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    let prelude = "
import asyncio, mmap, multiprocessing, os, shutil, sqlite3, subprocess, sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
fork = multiprocessing.get_context('fork')
async def child():
    process = await asyncio.create_subprocess_exec('echo', 'hi', stdout=asyncio.subprocess.PIPE)
    return (await process.communicate())[0]
def written_by_child(memory):
    writer = os.fork()
    if writer == 0:
        memory[:2] = b'hi'
        os._exit(0)
    os.waitpid(writer, 0)
    return memory[:2]
def shared(make):
    made = make([1])
    made.append(2)
    return list(made)
def put(queue):
    queue.put(3)
    return queue.get(timeout=20)";
    sessions.text(session, prelude).await;
    for expression in USUAL {
        // The kernel's own loop runs in its main thread.
        let code = format!("list(ThreadPoolExecutor(1).map(lambda _: {expression}, [0]))[0]");
        assert_eq!(sessions.text(session, &code).await, "True", "{expression}");
    }
}
