//! Attempts to get out of the sandbox. Each succeeds without it, so that it is known to be seen.

use std::{
    fs,
    os::{
        linux::net::SocketAddrExt,
        unix::{net, process::CommandExt},
    },
    process::{Child, Command, Stdio},
};

use parlor_protocol::ConversationId;

use super::{Kind, Sessions};

/// The attempts, by name: expressions that are true if they succeed. FOLDER, PORT, PID and NAME stand for what is outside:
/// a folder with the file `secret` and sockets, a TCP port, a process, an abstract socket.
const ATTEMPTS: [(&str, &str); 44] = [
    ("read a file", "open('FOLDER/secret').read() == 'swordfish'"),
    ("write a file", "bool(open('FOLDER/written', 'w').write('x'))"),
    ("list a folder", "'secret' in os.listdir('FOLDER')"),
    (
        "read through a symlink",
        "os.symlink('FOLDER/secret', 'link') or open('link').read() == 'swordfish'",
    ),
    (
        "read through a symlink of a folder",
        "os.symlink('FOLDER', 'linked') or open('linked/secret').read() == 'swordfish'",
    ),
    (
        "make a hard link",
        "os.link('FOLDER/secret', 'FOLDER/hard') is None",
    ),
    (
        "rename a file",
        "os.rename('FOLDER/renamed', 'FOLDER/again') is None",
    ),
    ("delete a file", "os.remove('FOLDER/deleted') is None"),
    (
        "climb out of the folder",
        "open('/'.join(['..'] * 20) + 'FOLDER/secret').read() == 'swordfish'",
    ),
    (
        "read through /proc/self/root",
        "open('/proc/self/root' + 'FOLDER/secret').read() == 'swordfish'",
    ),
    (
        "read through a process's root",
        "open('/proc/PID/root' + 'FOLDER/secret').read() == 'swordfish'",
    ),
    (
        "read through a process's folder",
        "open('/proc/PID/cwd/secret').read() == 'swordfish'",
    ),
    (
        "read as another program",
        "run('cat FOLDER/secret') == 'swordfish'",
    ),
    (
        "write as another program",
        "run('echo x > FOLDER/shell; cat FOLDER/shell') == 'x\\n'",
    ),
    ("read users", "'root' in open('/etc/passwd').read()"),
    ("read host names", "len(open('/etc/hosts').read()) >= 0"),
    ("list a home", "'secret' in os.listdir('FOLDER/home')"),
    (
        "write into Python's packages",
        "open(sys.prefix + '/parlor-test', 'w') and os.remove(sys.prefix + '/parlor-test') is None",
    ),
    (
        "write at the root",
        "os.mkdir('/parlor-test') or os.rmdir('/parlor-test') is None",
    ),
    (
        "make a device file",
        "os.mknod('/dev/parlor-test') or os.remove('/dev/parlor-test') is None",
    ),
    (
        "change a setting of the kernel",
        "os.open('/proc/sys/kernel/core_pattern', os.O_WRONLY) > 0",
    ),
    ("write into /proc", "os.open('/proc/self/comm', os.O_WRONLY) > 0"),
    (
        "change a device",
        "os.chmod('/dev/full', 0o1666) or os.stat('/dev/full').st_mode & 0o1000 and os.chmod('/dev/full', 0o666) is None",
    ),
    (
        "read an environment",
        "b'WORD=swordfish' in open('/proc/PID/environ', 'rb').read()",
    ),
    (
        "read a command line",
        "b'sleep' in open('/proc/PID/cmdline', 'rb').read()",
    ),
    ("read a memory map", "'stack' in open('/proc/PID/maps').read()"),
    ("open a memory", "open('/proc/PID/mem', 'rb') is not None"),
    ("list open files", "len(os.listdir('/proc/PID/fd')) > 0"),
    ("see a process", "os.path.exists('/proc/PID/stat')"),
    (
        "list processes",
        "any('swordfish-sleep' in name for name in processes())",
    ),
    ("signal a process", "os.kill(PID, 0) is None"),
    ("signal its group", "os.killpg(os.getpgid(PID), 0) is None"),
    (
        "reprioritize a process",
        "os.setpriority(os.PRIO_PROCESS, PID, 5) is None",
    ),
    (
        "limit a process",
        "resource.prlimit(PID, resource.RLIMIT_CORE) is not None",
    ),
    ("schedule a process", "len(os.sched_getaffinity(PID)) > 0"),
    ("open a process", "os.pidfd_open(PID) > 0"),
    (
        "connect by TCP",
        "socket.create_connection(('127.0.0.1', PORT), 5) is not None",
    ),
    ("connect by a Unix socket", "unix('FOLDER/socket')"),
    ("connect by an abstract socket", "unix('\\0NAME')"),
    (
        "send to a Unix socket",
        "pair()[0].sendto(b'x', 'FOLDER/datagrams') > 0",
    ),
    (
        "send a message to a Unix socket",
        "pair()[0].sendmsg([b'x'], [], 0, 'FOLDER/datagrams') > 0",
    ),
    (
        "change a mode",
        "os.chmod('FOLDER/secret', 0o604) or os.stat('FOLDER/secret').st_mode & 0o777 == 0o604",
    ),
    (
        "change a time",
        "os.utime('FOLDER/secret', (7, 7)) or os.stat('FOLDER/secret').st_mtime == 7",
    ),
    ("see network devices", "len(socket.if_nameindex()) > 1"),
];

/// The attempts that only root could do without the sandbox.
const AS_ROOT: [&str; 6] = [
    "change a setting of the kernel",
    "change a device",
    "write at the root",
    "make a device file",
    "open a memory",
    "fill the folder of sockets",
];

/// The attempts that succeed under Landlock, which SECURITY.md names.
const UNDER_LANDLOCK: [&str; 1] = ["see a process"];

/// The functions that the attempts use.
const PRELUDE: &str = "
import os, resource, socket, subprocess, sys
def run(command):
    return subprocess.run(command, shell=True, capture_output=True, text=True).stdout
def unix(name):
    s = socket.socket(socket.AF_UNIX)
    s.connect(name)
    return True
def pair():
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
def processes():
    for pid in os.listdir('/proc'):
        if pid.isdigit():
            try:
                yield open(f'/proc/{pid}/cmdline', 'rb').read().decode(errors='replace')
            except OSError:
                pass
";

/// A process and other things outside.
struct Outside {
    folder: tempfile::TempDir,
    process: Child,
    port: u16,
    name: String,
    _listeners: (
        std::net::TcpListener,
        net::UnixListener,
        net::UnixListener,
        net::UnixDatagram,
    ),
}

impl Outside {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for file in ["secret", "renamed", "deleted"] {
            fs::write(path.join(file), "swordfish").unwrap();
        }
        fs::create_dir(path.join("home")).unwrap();
        fs::write(path.join("home/secret"), "swordfish").unwrap();
        let process = Command::new("sleep")
            .arg0("swordfish-sleep")
            .arg("600")
            .env("WORD", "swordfish")
            .current_dir(path)
            .process_group(0)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        let tcp = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = tcp.local_addr().unwrap().port();
        let name = format!("parlor-test-{}", fastrand::u64(..));
        let address = net::SocketAddr::from_abstract_name(&name).unwrap();
        let listeners = (
            tcp,
            net::UnixListener::bind(path.join("socket")).unwrap(),
            net::UnixListener::bind_addr(&address).unwrap(),
            net::UnixDatagram::bind(path.join("datagrams")).unwrap(),
        );
        Self {
            process,
            port,
            name,
            _listeners: listeners,
            folder,
        }
    }

    fn code(&self, attempt: &str) -> String {
        let attempt = attempt
            .replace("FOLDER", &self.folder.path().display().to_string())
            .replace("PORT", &self.port.to_string())
            .replace("PID", &self.process.id().to_string())
            .replace("NAME", &self.name);
        format!(
            "try:\n    outcome = 'ESCAPED' if {attempt} else 'no'\nexcept Exception as error:\n    outcome = repr(error)\nprint(outcome)"
        )
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Tries all attempts. Returns the outcomes by name.
async fn attempt_all(kind: Kind) -> Vec<(&'static str, String)> {
    let sessions = Sessions::start(|settings| kind.choose(settings)).await;
    let is_sandboxed = kind != Kind::None;
    let session = ConversationId::new();
    let outside = Outside::new();
    sessions.text(session, PRELUDE).await;
    let mut outcomes = Vec::new();
    for (name, attempt) in ATTEMPTS {
        outcomes.push((name, sessions.text(session, &outside.code(attempt)).await));
    }
    let written = outside.folder.path().join("written");
    assert_eq!(written.exists(), !is_sandboxed);
    assert_eq!(outside.folder.path().join("deleted").exists(), is_sandboxed);
    outcomes
}

#[tokio::test]
async fn nothing_gets_out_of_the_sandbox() {
    for (name, outcome) in attempt_all(Kind::Bubblewrap).await {
        assert!(!outcome.contains("ESCAPED"), "{name}: {outcome}");
    }
}

#[tokio::test]
async fn nothing_gets_out_under_landlock() {
    for (name, outcome) in attempt_all(Kind::Landlock).await {
        let is_known = UNDER_LANDLOCK.contains(&name);
        assert_eq!(outcome.contains("ESCAPED"), is_known, "{name}: {outcome}");
    }
}

#[tokio::test]
async fn the_same_succeeds_without_the_sandbox() {
    let is_root = rustix::process::geteuid().is_root();
    for (name, outcome) in attempt_all(Kind::None).await {
        if is_root || !AS_ROOT.contains(&name) {
            assert_eq!(outcome, "ESCAPED", "{name}");
        }
    }
}

/// Expressions that fill memory or disks of the system, and are true if they succeed.
const FLOODS: [(&str, &str); 4] = [
    (
        "fill the folder",
        "all(open(f'fill-{n}', 'wb').write(bytes(60 << 20)) for n in range(4))",
    ),
    (
        "fill the temporary folder",
        "all(open(os.path.join(tempfile.gettempdir(), f'parlor-fill-{n}'), 'wb').write(bytes(60 << 20)) for n in range(4))",
    ),
    (
        "fill the shared memory",
        "all(open(f'/dev/shm/parlor-fill-{n}', 'wb').write(bytes(50 << 20)) for n in range(4))",
    ),
    (
        "fill the folder of sockets",
        "all(open(f'/run/parlor-fill-{n}', 'wb').write(bytes(1 << 20)) for n in range(2))",
    ),
];

const CLEAN: &str = "
import glob, tempfile
for path in glob.glob('fill-*') + glob.glob(tempfile.gettempdir() + '/parlor-fill-*') + glob.glob('/dev/shm/parlor-fill-*') + \\
        glob.glob('/run/parlor-fill-*'):
    os.remove(path)";

#[tokio::test]
async fn floods_end_at_the_quota() {
    for is_sandboxed in [true, false] {
        let sessions = Sessions::start(|settings| {
            settings.python.unsandboxed = !is_sandboxed;
            settings.python.folder_bytes = 100 << 20;
        })
        .await;
        let session = ConversationId::new();
        let outside = Outside::new();
        sessions.text(session, "import os, tempfile").await;
        for (name, flood) in FLOODS {
            let outcome = sessions.text(session, &outside.code(flood)).await;
            let is_root = rustix::process::geteuid().is_root();
            if is_sandboxed || is_root || !AS_ROOT.contains(&name) {
                assert_eq!(outcome.contains("ESCAPED"), !is_sandboxed, "{name}: {outcome}");
            }
            assert!(
                !is_sandboxed || outcome.contains("No space left"),
                "{name}: {outcome}"
            );
            sessions.text(session, CLEAN).await;
        }
    }
}

#[tokio::test]
async fn no_process_survives_its_session() {
    for kind in [Kind::Bubblewrap, Kind::Landlock] {
        check_that_no_process_survives(kind).await;
    }
}

async fn check_that_no_process_survives(kind: Kind) {
    let sessions = Sessions::start(|settings| kind.choose(settings)).await;
    let session = ConversationId::new();
    let marker = format!("parlor-{}", fastrand::u64(..));
    let detach = format!(
        "import subprocess\nsubprocess.run(['bash', '-c', 'exec -a {marker} sleep 600'], start_new_session=True)"
    );
    let is_running = || {
        let processes = fs::read_dir("/proc").unwrap().flatten();
        let lines = processes.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
        lines.into_iter().any(|line| line.starts_with(marker.as_bytes()))
    };
    let wait_for = async |wanted: bool| {
        while is_running() != wanted {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    let limit = crate::support::TEST_TIMEOUT;
    let shut_down = async {
        tokio::time::timeout(limit, wait_for(true))
            .await
            .expect("it runs");
        // Its call is given up with its future, and its session ends.
    };
    tokio::select! {
        ended = sessions.run(session, &detach) => panic!("it ended: {:?}", ended.is_ok()),
        () = shut_down => {}
    }
    sessions.python.shut_down();
    tokio::time::timeout(limit, wait_for(false))
        .await
        .expect("it ends");
    let folder = sessions.folder.path().join("data/python/sessions");
    let deleted = async {
        while fs::read_dir(&folder).unwrap().count() > 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(limit, deleted)
        .await
        .expect("its folder is deleted");
}

#[tokio::test]
async fn nothing_in_proc_names_the_data_folder() {
    let sessions = Sessions::start(|_| {}).await;
    let code = "
import glob
found = []
for path in glob.glob('/proc/[0-9]*/*') + glob.glob('/proc/self/task/*/*') + ['/proc/mounts', '/proc/self/mountinfo']:
    try:
        with open(path, errors='replace') as file:
            found.append((path, file.read(1 << 20)))
    except OSError:
        pass
len(found) > 20 and [path for path, text in found if 'DATA' in text]";
    let folder = sessions.folder.path().display().to_string();
    // The code must not name it either, since the call is in the memory of the process only.
    let code = code.replace(
        "'DATA'",
        &format!("{:?}[::-1]", folder.chars().rev().collect::<String>()),
    );
    assert_eq!(sessions.text(ConversationId::new(), &code).await, "[]");
}
