//! A real Postgres for tests, in a folder of its own, and PgBouncer before it. They end with the process that started them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic"
)]

use std::{
    collections::HashSet,
    fs,
    io::Write,
    net::{TcpListener, TcpStream},
    os::unix::{
        fs::{PermissionsExt, chown},
        process::CommandExt,
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{LazyLock, mpsc},
    thread,
    time::Duration,
};

use parking_lot::Mutex;
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use uuid::Uuid;

/// The beginning of the names of servers' folders.
const FOLDER_PREFIX: &str = "parlor-test-postgres-";

/// The file with the id of the process that started a server. (The server removes its own when it ends.)
const PROCESS_FILE: &str = "process";

/// A server.
#[derive(Debug)]
pub struct PostgresServer {
    port: u16,
    folder: PathBuf,
    process: Mutex<Child>,
}

/// PgBouncer, which gives a connection to the server for each transaction.
#[derive(Debug)]
struct Pooler {
    port: u16,
    _process: Child,
}

/// The server that has a database for each data folder.
static SHARED: LazyLock<PostgresServer> = LazyLock::new(|| PostgresServer::start("trust", &[]));

/// The databases that were created.
static CREATED: LazyLock<tokio::sync::Mutex<HashSet<String>>> = LazyLock::new(Default::default);

/// The name of the database that the others are copies of.
const PREPARED: &str = "prepared";

/// Returns the URL of the database that belongs to a folder. The first time this is a copy of one that `prepare` has made tables
/// in, and closed: that takes a fifth of the time in which the tables are made.
pub async fn database_of(folder: &Path, prepare: impl AsyncFnOnce(String)) -> String {
    let name = Uuid::new_v5(&Uuid::NAMESPACE_URL, folder.as_os_str().as_encoded_bytes());
    let name = format!("data_{}", name.simple());
    let mut created = CREATED.lock().await;
    if created.insert(PREPARED.to_owned()) {
        execute(format!("CREATE DATABASE {PREPARED}")).await;
        prepare(url_of(PREPARED)).await;
    }
    if created.insert(name.clone()) {
        execute(format!("CREATE DATABASE {name} TEMPLATE {PREPARED}")).await;
    }
    url_of(&name)
}

/// PgBouncer before that server, in transaction mode.
static POOLER: tokio::sync::OnceCell<Pooler> = tokio::sync::OnceCell::const_new();

/// Returns the URL by which a database of [`database_of`] is reached through PgBouncer.
///
/// # Panics
///
/// If PgBouncer is not installed.
pub async fn pooled(url: &str) -> String {
    let pooler = POOLER.get_or_init(|| Pooler::start(SHARED.port)).await;
    url.replace(&format!(":{}/", SHARED.port), &format!(":{}/", pooler.port))
}

fn url_of(database: &str) -> String {
    SHARED.url_of(database)
}

/// Executes a statement that belongs to no database.
async fn execute(statement: String) {
    let mut connection = connect(&url_of("postgres")).await;
    connection.execute(AssertSqlSafe(statement)).await.unwrap();
    connection.close().await.unwrap();
}

/// Connects when the server has started.
/// Ends the connections that lock a database, as a proxy does with idle ones; or all, as a restart of the server does. Returns their
/// number.
///
/// # Panics
///
/// If the server can't be reached.
pub async fn end_connections(url: &str, all: bool) -> i64 {
    let condition = match all {
        true => "true",
        false => "pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')",
    };
    let end = format!(
        "SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid() AND {condition}"
    );
    let mut connection = connect(url).await;
    let ended = sqlx::query_scalar(AssertSqlSafe(end));
    ended.fetch_one(&mut connection).await.unwrap()
}

async fn connect(url: &str) -> PgConnection {
    for _ in 0..600 {
        if let Ok(connection) = PgConnection::connect(url).await {
            return connection;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    PgConnection::connect(url)
        .await
        .expect("the server starts in time")
}

/// Returns the program of Postgres with this name.
fn program(name: &str) -> PathBuf {
    let mut folders: Vec<PathBuf> = std::env::split_paths(&std::env::var("PATH").unwrap()).collect();
    // Debian has one folder for each version, of which none is in PATH.
    if let Ok(versions) = fs::read_dir("/usr/lib/postgresql") {
        folders.extend(versions.map(|version| version.unwrap().path().join("bin")));
    }
    // The server's programs belong together.
    let whole = folders.iter().find(|folder| {
        ["initdb", "postgres"]
            .iter()
            .all(|name| folder.join(name).exists())
    });
    let folder = whole.expect("Postgres is missing, for this test: `make test` installs it, or says how");
    fs::canonicalize(folder.join(name)).unwrap()
}

/// Returns a command that does not run as root, which Postgres refuses.
fn command(name: &str, owner: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(program(name));
    command
        .env_clear()
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .current_dir("/");
    if let Some((user, group)) = owner {
        command.uid(user).gid(group);
    }
    command
}

/// Returns the system user to run as: none but the present one, unless that is root.
fn unprivileged_user() -> Option<(u32, u32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let ids = |name: &str| {
        let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut fields = line.split(':').skip(2);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    Some(
        ids("postgres")
            .or(ids("nobody"))
            .expect("a system user that is not root"),
    )
}

/// Removes the folders of earlier processes, whose servers have ended with them.
fn remove_old_folders() {
    for entry in fs::read_dir(std::env::temp_dir()).unwrap().flatten() {
        let is_one = entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX);
        let process = fs::read_to_string(entry.path().join(PROCESS_FILE)).unwrap_or_default();
        if is_one && !process.is_empty() && !Path::new("/proc").join(process).exists() {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

impl PostgresServer {
    /// Makes a database cluster in a new folder, runs statements in it, and starts the server. Its superuser is `owner`, with the
    /// password `owner-password`. `auth` is the method of authentication, such as `scram-sha-256` or `trust`.
    pub fn start(auth: &str, setup: &[String]) -> Self {
        // Nothing is written to the disk at once: a test does not lose power.
        start(auth, setup, &["-F", "-c", "shared_buffers=16MB"])
    }

    /// Starts a server that keeps what it has committed, as one in use does, with these databases. Waits until it is ready.
    pub async fn start_durable(databases: &[&str]) -> Self {
        let setup: Vec<String> = databases
            .iter()
            .map(|name| format!("CREATE DATABASE {name};\n\n"))
            .collect();
        let server = start("trust", &setup, &["-c", "shared_buffers=128MB"]);
        let ready = connect(&server.url_of("postgres")).await;
        ready.close().await.unwrap();
        server
    }

    /// Returns the URL of a database, as its superuser reaches it.
    pub fn url_of(&self, database: &str) -> String {
        let port = self.port;
        format!("postgres://owner:owner-password@127.0.0.1:{port}/{database}?sslmode=disable")
    }

    /// Returns the id of its first process.
    pub fn id(&self) -> u32 {
        self.process.lock().id()
    }

    /// Returns the folder of the server, in which nothing may appear that a query wrote.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns true if the server still runs.
    pub fn is_running(&self) -> bool {
        let mut process = self.process.lock();
        matches!(process.try_wait(), Ok(None))
    }
}

fn start(auth: &str, setup: &[String], options: &[&str]) -> PostgresServer {
    let owner = unprivileged_user();
    remove_old_folders();
    let folder = tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .tempdir()
        .unwrap()
        .keep();
    fs::write(folder.join(PROCESS_FILE), std::process::id().to_string()).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let (data, password) = (folder.join("data"), folder.join("password"));
    fs::create_dir(&data).unwrap();
    fs::write(&password, "owner-password").unwrap();
    if let Some((user, group)) = owner {
        chown(&data, Some(user), Some(group)).unwrap();
    }
    let made = command("initdb", owner)
        .args([
            "--no-sync",
            &format!("--auth={auth}"),
            "--username=owner",
            "--encoding=UTF8",
            "--no-locale",
        ])
        .arg(format!("--pwfile={}", password.display()))
        .arg(&data)
        .output()
        .unwrap();
    assert!(
        made.status.success(),
        "initdb: {}",
        String::from_utf8_lossy(&made.stderr)
    );
    let mut single = command("postgres", owner)
        .args(["--single", "-j", "-D"])
        .arg(&data)
        .arg("postgres")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    single
        .stdin
        .take()
        .unwrap()
        .write_all(setup.concat().as_bytes())
        .unwrap();
    let set_up = single.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&set_up.stderr).into_owned();
    assert!(set_up.status.success() && !said.contains("ERROR"), "{said}");
    let port = free_port();
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut postgres = command("postgres", owner);
    postgres
        .arg("-D")
        .arg(&data)
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k", ""])
        .args(["-c", "max_connections=100", "-c", "temp_file_limit=64MB"])
        .args(options)
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    PostgresServer {
        port,
        folder,
        process: Mutex::new(spawn(postgres)),
    }
}

impl Pooler {
    async fn start(server: u16) -> Self {
        let port = free_port();
        let owner = unprivileged_user();
        let folder = tempfile::Builder::new()
            .prefix(FOLDER_PREFIX)
            .tempdir()
            .unwrap()
            .keep();
        fs::write(folder.join(PROCESS_FILE), std::process::id().to_string()).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let settings = folder.join("pgbouncer.ini");
        // Few connections, so that the transactions of a client get different ones.
        fs::write(
            &settings,
            format!(
                "[databases]\n* = host=127.0.0.1 port={server} user=owner\n[pgbouncer]\nlisten_addr = 127.0.0.1\n\
                 listen_port = {port}\nunix_socket_dir =\nauth_type = any\npool_mode = transaction\ndefault_pool_size = 3\n\
                 max_client_conn = 2000\nserver_idle_timeout = 2\n"
            ),
        )
        .unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let mut pooler = Command::new("pgbouncer");
        pooler
            .arg(&settings)
            .stdin(Stdio::null())
            .current_dir("/")
            .stdout(log.try_clone().unwrap())
            .stderr(log);
        // It refuses to run as root.
        if let Some((user, group)) = owner {
            pooler.uid(user).gid(group);
        }
        let pooler = Self {
            port,
            _process: spawn(pooler),
        };
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return pooler;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("PgBouncer does not listen; its log is in {}", folder.display());
    }
}

/// Returns a port that is free at this moment.
fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// Starts a program that does not outlive the tests.
fn spawn(mut program: Command) -> Child {
    set_end_with_parent(&mut program);
    let (sender, started) = mpsc::channel();
    // The signal comes with the end of the thread that starts the program, so that one must not end.
    thread::spawn(move || {
        sender.send(program.spawn()).ok();
        loop {
            thread::park();
        }
    });
    started.recv().unwrap().unwrap()
}

/// Lets the kernel stop the server when the process of the tests ends.
#[cfg(target_os = "linux")]
fn set_end_with_parent(command: &mut Command) {
    let stop = || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::QUIT))?;
        Ok(())
    };
    #[expect(
        unsafe_code,
        reason = "a test has no other way to run code between fork and exec"
    )]
    // SAFETY: the closure only makes one system call.
    unsafe {
        command.pre_exec(stop);
    }
}

#[cfg(not(target_os = "linux"))]
fn set_end_with_parent(_command: &mut Command) {}
