//! Memory that the system holds for a session beside the pages of its processes. Each way to take much of it succeeds without the
//! sandbox, so that it is known to be seen.

use std::time::Duration;

use parlor_protocol::{ConversationId, UserId};
use parlor_tools::SessionKeeper;
use tokio::time::timeout;

use super::{Kind, Sessions};
use crate::support::TEST_TIMEOUT;

/// The memory of a session in these tests. No attempt takes much more, also where nothing stops it.
const MEMORY_BYTES: usize = 320 << 20;

/// The attempts, by name: the function that one calls, and a part of the reason for which its session ends.
const ATTEMPTS: [(&str, &str); 13] = [
    ("page_tables", "python.memory_bytes"),
    ("socket_pairs", "python.memory_bytes"),
    // Either that of memory, or that of sockets that wait in others.
    ("sockets_on_their_way", "more than"),
    ("sockets_in_sockets", "sockets on their way"),
    ("epolls_on_their_way", "python.memory_bytes"),
    ("processes_without_first_threads", "python.memory_bytes"),
    ("open_files_of_processes", "python.memory_bytes"),
    ("files_and_pages", "python.memory_bytes"),
    ("deleted_files", "python.memory_bytes"),
    ("mappings", "python.memory_bytes"),
    ("locks", "locks of files"),
    // Either that of their number, or that of memory.
    ("entries_of_epoll", "more than"),
    ("terminals", "terminals"),
];

/// The functions of the attempts. Each holds what it has taken for some seconds, and gives it back.
const FUNCTIONS: &str = "
import array, ctypes, fcntl, mmap, os, platform, resource, select, signal, socket, tempfile, threading, time
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
MB = 1 << 20

def in_children(count, take):
    # Each child takes its part, says so, and waits.
    children = []
    for _ in range(count):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                signal.alarm(90)
                taken = take()
                os.write(writer, b'x')
                time.sleep(60)
            finally:
                os._exit(0)
        os.close(writer)
        children.append((child, reader))
    are_all_done = all([os.read(reader, 1) == b'x' for _, reader in children])
    time.sleep(HOLD)
    for child, reader in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
    return are_all_done

def page_tables():
    # One byte in each 2 MB has a page of tables of its own. What is only read is no data.
    size = 90_000 * 2 * MB
    m = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    for at in range(0, size, 2 * MB):
        m[at]
    time.sleep(HOLD)
    return True

def fill(sock):
    sock.setblocking(False)
    try:
        while True:
            sock.send(b'x' * 32768)
    except BlockingIOError:
        pass

def socket_pairs():
    pairs = [socket.socketpair() for _ in range(450)]
    for pair in pairs:
        for end in pair:
            fill(end)
    time.sleep(HOLD)
    return True

def sockets_on_their_way():
    # Those that are sent are in no process's table.
    ways = []
    for _ in range(450):
        way, pair = socket.socketpair(), socket.socketpair()
        fill(pair[0])
        way[0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [pair[0].fileno(), pair[1].fileno()]))])
        ways.append(way)
    time.sleep(HOLD)
    return True

def send(way, files):
    numbers = array.array('i', [file.fileno() for file in files])
    way[0].sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)])
    for file in files:
        file.close()

def stay_busy():
    # Objects are counted after code has run.
    end = time.monotonic() + HOLD
    while time.monotonic() < end:
        pass

def sockets_in_sockets():
    # The files in such a socket can't be seen.
    way = socket.socketpair()
    send(way, socket.socketpair())
    stay_busy()
    return True

def epolls_on_their_way():
    way, pipes = socket.socketpair(), [os.pipe() for _ in range(40)]
    for _ in range(5):
        epolls = [select.epoll() for _ in range(50)]
        for epoll in epolls:
            for reader, _ in pipes:
                epoll.register(reader, select.EPOLLIN)
        send(way, epolls)
    stay_busy()
    for pair in pipes:
        for end in pair:
            os.close(end)
    return True

def end_first_thread(go_on):
    # The process goes on in another thread.
    threading.Thread(target=go_on).start()
    ctypes.CDLL(None).syscall(60 if platform.machine() == 'x86_64' else 93, 0)

def wait_for_end_of_first_thread(process):
    while open(f'/proc/{process}/stat').read().rsplit(')', 1)[1].split()[0] != 'Z':
        time.sleep(0.01)

def processes_without_first_threads():
    children = []
    for _ in range(3):
        (reader, writer), (begin, beginner) = os.pipe(), os.pipe()
        child = os.fork()
        if child == 0:
            def take():
                signal.alarm(90)
                os.read(begin, 1)
                pages = b'x' * (130 * MB)
                os.write(writer, b'x')
                time.sleep(60)
                os._exit(len(pages) & 1)
            end_first_thread(take)
        wait_for_end_of_first_thread(child)
        os.write(beginner, b'x')
        children.append((child, reader))
        for end in [writer, begin, beginner]:
            os.close(end)
    are_all_done = all([os.read(reader, 1) == b'x' for _, reader in children])
    time.sleep(HOLD)
    for child, reader in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
    return are_all_done

def open_files_of_processes():
    return in_children(45, lambda: [os.pipe() for _ in range(450)])

def files_and_pages():
    files = [open(os.path.join(tempfile.gettempdir(), f'parlor-{n}'), 'w+b') for n in range(2)]
    for file in files:
        file.write(bytes(90 * MB))
        file.flush()
    pages = b'x' * (150 * MB)
    time.sleep(HOLD)
    for file in files:
        os.remove(file.name)
    return len(pages) > 0

def deleted_files():
    files = []
    for folder in ['.', tempfile.gettempdir()]:
        file = tempfile.TemporaryFile(dir=folder)
        file.write(bytes(160 * MB))
        file.flush()
        files.append(file)
    time.sleep(HOLD)
    return True

def map_alternately():
    library = ctypes.CDLL(None)
    library.mmap.restype = ctypes.c_void_p
    library.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    library.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    count = 60_000
    start = library.mmap(None, count * 4096, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    for n in range(0, count, 2):
        if library.mprotect(start + n * 4096, 4096, mmap.PROT_READ) != 0:
            raise OSError
    return start

def mappings():
    pages = b'x' * (100 * MB)
    return in_children(4, map_alternately) and len(pages) > 0

def locks():
    files = [open(os.path.join(tempfile.gettempdir(), f'parlor-{n}'), 'w') for n in range(220)]
    for file in files:
        for n in range(100):
            fcntl.lockf(file, fcntl.LOCK_EX, 1, n * 2)
    time.sleep(HOLD)
    for file in files:
        os.remove(file.name)
    return True

def entries_of_epoll():
    # An entry stays when its number is another file's.
    epoll, pipes = select.epoll(), [os.pipe() for _ in range(30)]
    for reader, _ in pipes:
        for number in range(200, 600):
            os.dup2(reader, number)
            epoll.register(number, select.EPOLLIN)
    os.closerange(200, 600)
    time.sleep(HOLD)
    return True

def terminals():
    terminals = [os.openpty() for _ in range(100)]
    time.sleep(HOLD)
    for pair in terminals:
        for end in pair:
            os.close(end)
    return True
";

async fn start(kind: Kind) -> Sessions {
    Sessions::start(|settings| {
        kind.choose(settings);
        settings.python.memory_bytes = MEMORY_BYTES;
    })
    .await
}

#[tokio::test]
async fn memory_that_the_system_holds_is_limited() {
    for (name, reason, outcome) in attempt_all(Kind::Bubblewrap).await {
        assert!(outcome.contains(reason), "{name}: {outcome}");
    }
}

#[tokio::test]
async fn memory_that_the_system_holds_is_limited_under_landlock() {
    for (name, reason, outcome) in attempt_all(Kind::Landlock).await {
        // There are no sockets to take it with.
        let is_refused = outcome.contains("PermissionError");
        // All files lie on a disk there.
        let is_of_files = name == "deleted_files" && outcome.contains("python.folder_bytes");
        assert!(
            is_refused || is_of_files || outcome.contains(reason),
            "{name}: {outcome}"
        );
    }
}

/// Tries all attempts in a sandbox. Returns each with the expected reason and the outcome.
async fn attempt_all(kind: Kind) -> Vec<(&'static str, &'static str, String)> {
    let sessions = start(kind).await;
    let mut outcomes = Vec::new();
    for (name, reason) in ATTEMPTS {
        let session = ConversationId::new();
        sessions.text(session, &format!("HOLD = 30\n{FUNCTIONS}")).await;
        let ended = sessions.run(session, &format!("print({name}())")).await;
        let outcome = ended.map_or_else(|error| error.to_string(), |output| output.text());
        outcomes.push((name, reason, outcome));
    }
    outcomes
}

#[tokio::test]
async fn the_same_memory_is_taken_without_the_sandbox() {
    let sessions = start(Kind::None).await;
    let session = ConversationId::new();
    sessions.text(session, &format!("HOLD = 0\n{FUNCTIONS}")).await;
    for (name, _) in ATTEMPTS {
        let outcome = sessions.text(session, &format!("print({name}())")).await;
        assert_eq!(outcome, "True", "{name}");
    }
}

#[tokio::test]
async fn shared_pages_of_processes_count_once() {
    let sessions = start(Kind::Bubblewrap).await;
    let code = "
import multiprocessing, time
numbers = b'x' * (80 << 20)
def look(n):
    time.sleep(0.3)
    return numbers[n]
with multiprocessing.get_context('fork').Pool(8) as pool:
    print(sum(pool.map(look, range(16))))";
    let sum = u32::from(b'x') * 16;
    assert_eq!(sessions.text(ConversationId::new(), code).await, sum.to_string());
}

#[tokio::test]
async fn processes_end_with_their_call() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    let begin = "
import os, subprocess, time
detached = subprocess.Popen(['sleep', '600'], start_new_session=True)
forked = os.fork()
if forked == 0:
    while True:
        time.sleep(1)
value = 7
print('begun')";
    assert_eq!(sessions.text(session, begin).await, "begun");
    let ended = "print(detached.wait(), os.waitstatus_to_exitcode(os.waitpid(forked, 0)[1]), value)";
    assert_eq!(sessions.text(session, ended).await, "-9 -9 7");
    // What they wrote before is shown, and an exception ends them too.
    let failing =
        "p = subprocess.Popen(['sleep', '600'])\nsubprocess.run(['echo', 'x'])\nraise ValueError('no')";
    assert!(sessions.text(session, failing).await.ends_with("ValueError: no"));
    assert_eq!(sessions.text(session, "p.wait()").await, "-9");
}

#[tokio::test]
async fn process_without_its_first_thread_ends_with_its_call() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    let begin = "
child = os.fork()
if child == 0:
    end_first_thread(lambda: time.sleep(600))
wait_for_end_of_first_thread(child)
print('begun')";
    let begun = sessions.text(session, &format!("{FUNCTIONS}{begin}")).await;
    assert_eq!(begun, "begun");
    let ended = "os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])";
    assert_eq!(sessions.text(session, ended).await, "-9");
}

#[tokio::test]
async fn multiprocessing_works_again_in_the_next_call() {
    let sessions = Sessions::start(|_| {}).await;
    let session = ConversationId::new();
    let pool = "
import multiprocessing, multiprocessing.shared_memory
memory = multiprocessing.shared_memory.SharedMemory(create=True, size=100)
with multiprocessing.get_context('fork').Pool(2) as pool:
    print(pool.map(abs, [-1, -2]))
memory.close()
memory.unlink()";
    for _ in 0..2 {
        assert_eq!(sessions.text(session, pool).await, "[1, 2]");
    }
}

#[tokio::test]
async fn memory_of_a_user_has_a_limit() {
    let sessions = Sessions::start(|settings| settings.python.user_memory_bytes = 700 << 20).await;
    let (one, two, other) = (
        ConversationId::new(),
        ConversationId::new(),
        ConversationId::new(),
    );
    sessions.text(one, "x = b'x' * (250 << 20)").await;
    let neighbour = UserId::new();
    sessions.run_as(neighbour, other, "x = 1").await.unwrap();
    // The unused one ends for it, soon after.
    sessions.text(two, "y = b'y' * (450 << 20)").await;
    let folder = sessions.folder.path().join("data/python/sessions");
    let ended = async {
        while std::fs::read_dir(&folder).unwrap().count() > 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(TEST_TIMEOUT, ended).await.expect("one ends");
    let error = sessions.run(one, "x").await.unwrap_err().to_string();
    assert!(error.contains("python.user_memory_bytes"), "{error}");
    // There is none left but itself.
    let error = sessions
        .run(two, "z = b'z' * (300 << 20)\nimport time\ntime.sleep(30)")
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("python.user_memory_bytes"), "{error}");
    let kept = sessions.run_as(neighbour, other, "print(x)").await.unwrap();
    assert_eq!(kept.text(), "1");
}

#[tokio::test]
async fn memory_of_all_users_has_a_limit() {
    let sessions = Sessions::start(|settings| settings.python.total_memory_bytes = 600 << 20).await;
    let (small, large) = (ConversationId::new(), ConversationId::new());
    let neighbour = UserId::new();
    sessions.run_as(neighbour, small, "x = 1").await.unwrap();
    let error = sessions
        .run(large, "x = b'x' * (600 << 20)\nimport time\ntime.sleep(30)")
        .await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("python.total_memory_bytes"), "{error}");
    let kept = sessions.run_as(neighbour, small, "print(x)").await.unwrap();
    assert_eq!(kept.text(), "1");
}

#[tokio::test]
async fn a_user_cannot_hold_all_places() {
    let sessions = Sessions::start(|settings| {
        settings.python.sessions = 3;
        settings.python.user_sessions = 1;
    })
    .await;
    let (first, second, other) = (
        ConversationId::new(),
        ConversationId::new(),
        ConversationId::new(),
    );
    let neighbour = UserId::new();
    sessions.run_as(neighbour, other, "x = 1").await.unwrap();
    sessions.text(first, "x = 1").await;
    let hold = sessions.python.hold(first);
    let error = sessions.run(second, "x = 2").await.unwrap_err().to_string();
    assert!(error.contains("python.user_sessions"), "{error}");
    drop(hold);
    sessions.text(second, "x = 2").await;
    assert!(sessions.text(first, "x").await.contains("NameError"));
    let kept = sessions.run_as(neighbour, other, "print(x)").await.unwrap();
    assert_eq!(kept.text(), "1");
}
