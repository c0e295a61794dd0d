//! A real Postgres for tests: one for all tests of the process, in a folder of its own.

use std::{
    fs,
    io::Write,
    net::TcpListener,
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

use super::super::{RoleRequest, role_sql};
use parlor_base::settings::{DatabaseSettings, Secret};

/// The tables that the tests read, the role that may read them, and a table that it may not read.
const SETUP: &str = "
    CREATE TYPE mood AS ENUM ('glad', 'sad');
    CREATE TABLE jobs (year int PRIMARY KEY, rate numeric(6, 2) NOT NULL);
    COMMENT ON TABLE jobs IS 'One row a year';
    COMMENT ON COLUMN jobs.rate IS 'Percent of all';
    INSERT INTO jobs VALUES (2020, 5.5), (2021, 4.25), (2022, 3);
    CREATE TABLE kinds (
        i8 bigint, f float8, n numeric, b bool, t text, ts timestamptz, d date, a int[], bin bytea, j jsonb, m mood,
        year int REFERENCES jobs (year));
    INSERT INTO kinds VALUES
        (9007199254740993, 'NaN', 123456789012345678901234567890.5, true, 'é''x', '2024-02-29 12:00:00+00', '2024-02-29',
         '{1,NULL,3}', '\\x00ff', '{\"k\": [1]}', 'sad', 2020),
        (NULL, 'Infinity', 'NaN', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CREATE SCHEMA pay;
    CREATE VIEW pay.best AS SELECT year FROM jobs WHERE rate < 5;
    CREATE TABLE secrets (word text);
    INSERT INTO secrets VALUES ('swordfish');
    CREATE SEQUENCE counter;
    CREATE ROLE reader LOGIN PASSWORD 'reader-password';
    CREATE ROLE boss LOGIN SUPERUSER PASSWORD 'boss-password';
    GRANT USAGE ON SCHEMA pay TO reader;
    GRANT SELECT ON jobs, kinds, pay.best TO reader;
    GRANT USAGE, SELECT ON SEQUENCE counter TO reader;
    CREATE FUNCTION alarm(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION alarm(jobs) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION pay.alarm(float8) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION tand(text) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION varying(int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION by(int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION materialized(bool) RETURNS bool LANGUAGE sql AS 'SELECT 1 / random() > 1';
    CREATE FUNCTION area(int, int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION over(int) RETURNS float8 LANGUAGE sql AS 'SELECT 1 / random()';
    CREATE FUNCTION total_of(jobs) RETURNS numeric LANGUAGE sql AS 'SELECT $1.rate * 2';
    CREATE FUNCTION dblink_connect(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
    CREATE FUNCTION dblink_exec(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
    CREATE FUNCTION crosstab(text) RETURNS text LANGUAGE sql AS 'SELECT $1';
    CREATE SCHEMA \"my \"\"schema\";
    CREATE TABLE \"my \"\"schema\".\"my.\"\"table\" (\"a\"\"b\" int4multirange);
    INSERT INTO \"my \"\"schema\".\"my.\"\"table\" VALUES ('{[1,2)}');
    CREATE ROLE writer LOGIN PASSWORD 'writer-password';
    GRANT INSERT ON jobs TO writer;
    GRANT CREATE ON SCHEMA pay TO writer;
    GRANT pg_read_server_files TO writer;";

/// The beginning of the names of servers' folders.
const FOLDER_PREFIX: &str = "parlor-test-postgres-";

struct PostgresServer {
    port: u16,
    folder: PathBuf,
    process: Mutex<Child>,
}

static SERVER: LazyLock<PostgresServer> = LazyLock::new(start);

/// Returns the settings of the database for a role: `reader`, `boss`, `writer`, or `clerk`, which the printed SQL makes.
pub fn database(role: &str) -> DatabaseSettings {
    let port = SERVER.port;
    DatabaseSettings {
        name: "real".into(),
        url: format!("postgres://{role}@127.0.0.1:{port}/postgres?sslmode=disable"),
        password_env: None,
        password: Some(Secret(format!("{role}-password"))),
        documentation: None,
        functions: Vec::new(),
    }
}

/// Returns the folder of the server, in which nothing may appear that a query wrote.
pub fn folder() -> &'static Path {
    &SERVER.folder
}

/// Returns true if the server still runs.
pub fn is_running() -> bool {
    let mut process = SERVER.process.lock();
    matches!(process.try_wait(), Ok(None))
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
        let process = fs::read_to_string(entry.path().join("data/postmaster.pid")).unwrap_or_default();
        let process = process.lines().next().unwrap_or_default();
        if is_one && !process.is_empty() && !Path::new("/proc").join(process).exists() {
            fs::remove_dir_all(entry.path()).ok();
        }
    }
}

/// Returns the printed SQL of a role, with a password.
fn clerk_sql() -> String {
    let sql = role_sql(&RoleRequest {
        role: "clerk".into(),
        database: "postgres".into(),
        schemas: vec!["public".into(), "pay".into()],
        is_managed: false,
        timeout: Duration::from_secs(600),
        max_connections: 20,
        max_disk_bytes: 1 << 20,
    });
    format!("{sql}\nALTER ROLE clerk PASSWORD 'clerk-password';\n\n")
}

fn start() -> PostgresServer {
    let owner = unprivileged_user();
    remove_old_folders();
    let folder = tempfile::Builder::new()
        .prefix(FOLDER_PREFIX)
        .tempdir()
        .unwrap()
        .keep();
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
            "--auth=scram-sha-256",
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
    let statements: Vec<String> = SETUP
        .split_inclusive(';')
        .map(|statement| format!("{}\n\n", statement.trim()))
        .chain([clerk_sql()])
        .collect();
    single
        .stdin
        .take()
        .unwrap()
        .write_all(statements.concat().as_bytes())
        .unwrap();
    let set_up = single.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&set_up.stderr).into_owned();
    assert!(set_up.status.success() && !said.contains("ERROR"), "{said}");
    // Held until the server takes it.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut postgres = command("postgres", owner);
    postgres
        .arg("-D")
        .arg(&data)
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-k", "", "-F"])
        .args([
            "-c",
            "max_connections=40",
            "-c",
            "shared_buffers=16MB",
            "-c",
            "temp_file_limit=64MB",
        ])
        .stdout(log.try_clone().unwrap())
        .stderr(log);
    // It must not outlive the tests.
    set_end_with_parent(&mut postgres);
    let (sender, started) = mpsc::channel();
    // The signal comes with the end of the thread that starts the server, so that one must not end.
    thread::spawn(move || {
        sender.send(postgres.spawn()).ok();
        loop {
            thread::park();
        }
    });
    let process = started.recv().unwrap().unwrap();
    PostgresServer {
        port,
        folder,
        process: Mutex::new(process),
    }
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
