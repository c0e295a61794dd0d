//! The sandbox of a session: bubblewrap, with namespaces of its own, no network, and nothing of the system but programs.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::{
    cgroup::SessionGroup,
    environment::Environment,
    wire::{KernelLimits, KernelPlan, SocketPlace},
};
use parlor_base::settings::PythonSettings;

/// The first code of a session's process.
const BOOT: &str = include_str!("boot.py");

/// The folder of the kernel's sockets in the sandbox, and their beginning.
const SOCKET_FOLDER: &str = "/run";
const SOCKET_BEGINNING: &str = "k";

/// The folder in which a session works, and that of the files that the server gives it.
const WORK_FOLDER: &str = "/session";
pub const DATA_FOLDER: &str = "/session-files";

/// The folder in which the list of fonts is made, once for all sessions.
const FONT_FOLDER: &str = "/session-fonts";

/// Folders and files of the system that programs need. What is missing is left out.
const SYSTEM: [&str; 12] = [
    "/usr",
    "/bin",
    "/lib",
    "/lib32",
    "/lib64",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/etc/fonts",
    "/etc/localtime",
];

/// The places that become read-only at the end. If Parlor runs as root, the sandbox has root's rights to files: without this, it could
/// change settings of the kernel in `/proc/sys`.
const READ_ONLY: [&str; 4] = [FIRST_PROCESS, "/proc", "/dev", "/"];

/// The folder of the sandbox's first process, bubblewrap itself. Its arguments and its mounts name folders of the system.
const FIRST_PROCESS: &str = "/proc/1";

/// The capabilities of the first code of a session, in its own namespace: `boot.py` gives them up.
const BOOT_CAPABILITIES: [&str; 2] = ["CAP_SYS_ADMIN", "CAP_SYS_CHROOT"];

/// The argument that lets `boot.py` hide the mounts.
const HIDE_MOUNTS: &str = "hide-mounts";

/// The size of the shared memory, and of the folder of sockets, in bytes.
const SHARED_MEMORY_BYTES: usize = 64 << 20;
const SOCKET_FOLDER_BYTES: usize = 1 << 20;

/// The open files of a process, its message queues in bytes, and its signals that wait.
const MAX_OPEN_FILES: u64 = 1024;
const MAX_QUEUE_BYTES: u64 = 64 << 10;
const MAX_WAITING_SIGNALS: u64 = 1024;

/// The threads of libraries for numbers.
const MAX_NUMBER_THREADS: &str = "2";

/// One message of a kernel, besides its text and pictures.
const MESSAGE_OVERHEAD_BYTES: usize = 16 << 20;

/// The folders of a session outside the sandbox.
#[derive(Clone, Debug)]
pub struct SessionFolders {
    /// The files that the server gives to the session. It can't write there.
    pub data: PathBuf,
    /// The folder for sockets and files of a session without a sandbox, with a short path.
    pub unsandboxed: Option<PathBuf>,
}

/// Returns the options that make a sandbox, without the program that runs in it.
fn sandbox_options(environment: &Environment, settings: &PythonSettings) -> Vec<String> {
    let mut options: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| options.extend(words.iter().map(|word| (*word).to_owned()));
    add(&[
        "--unshare-user",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
    ]);
    // No namespaces within, and nothing of the terminal; the sandbox ends with its helper.
    add(&["--disable-userns", "--new-session", "--die-with-parent"]);
    add(&[
        "--cap-drop",
        "ALL",
        "--uid",
        "1000",
        "--gid",
        "1000",
        "--hostname",
        "sandbox",
        "--clearenv",
    ]);
    for path in SYSTEM {
        add(&["--ro-bind-try", path, path]);
    }
    let folder = settings.folder_bytes.to_string();
    let tmpfs = |size: &str, path: &str| {
        [
            "--size".into(),
            size.to_owned(),
            "--tmpfs".into(),
            path.to_owned(),
        ]
    };
    add(&["--proc", "/proc", "--tmpfs", FIRST_PROCESS, "--dev", "/dev"]);
    // It reads as zeros too, but a shared mapping of /dev/zero is memory that no limit counts.
    add(&["--dev-bind", "/dev/full", "/dev/zero"]);
    for (size, path) in [
        (&*SHARED_MEMORY_BYTES.to_string(), "/dev/shm"),
        (folder.as_str(), WORK_FOLDER),
        (folder.as_str(), "/tmp"),
        (&*SOCKET_FOLDER_BYTES.to_string(), SOCKET_FOLDER),
    ] {
        add(&tmpfs(size, path).each_ref().map(String::as_str));
    }
    for path in &environment.folders {
        let path = path.to_string_lossy();
        add(&["--ro-bind", &path, &path]);
    }
    options
}

/// Returns the end of the options: after it, nothing is mounted.
fn closing_options() -> impl Iterator<Item = &'static str> {
    let read_only = READ_ONLY.iter().flat_map(|path| ["--remount-ro", path]);
    read_only.chain(["--chdir", WORK_FOLDER])
}

/// Returns the environment variables of a session that works in a folder.
fn variables(environment: &Environment, folder: &str) -> Vec<(String, String)> {
    let bin = environment.interpreter.parent().unwrap_or(Path::new("/usr/bin"));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    [
        ("HOME", folder),
        ("PATH", path.as_str()),
        ("LANG", "C.UTF-8"),
        ("OMP_NUM_THREADS", MAX_NUMBER_THREADS),
        ("OPENBLAS_NUM_THREADS", MAX_NUMBER_THREADS),
        ("NUMEXPR_MAX_THREADS", MAX_NUMBER_THREADS),
        ("MALLOC_ARENA_MAX", "2"),
        ("PYTHONDONTWRITEBYTECODE", "1"),
        // Hashes, and with them the order of sets, are the same when a session is restored.
        ("PYTHONHASHSEED", "0"),
        // The JSON of a chart alone, without a page of some megabytes around it.
        ("PLOTLY_RENDERER", "plotly_mimetype"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into()
}

/// Returns the limits of each process, as Python's module `resource` names them.
fn process_limits(settings: &PythonSettings, is_sandboxed: bool) -> serde_json::Value {
    let mut limits = json!({
        // Not RLIMIT_AS: V8, which draws charts of Altair, reserves much more than it uses.
        "RLIMIT_DATA": settings.memory_bytes,
        "RLIMIT_CPU": settings.cpu_time.as_secs().max(1),
        "RLIMIT_FSIZE": settings.folder_bytes,
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": MAX_OPEN_FILES,
        "RLIMIT_MSGQUEUE": MAX_QUEUE_BYTES,
        "RLIMIT_SIGPENDING": MAX_WAITING_SIGNALS,
    });
    if is_sandboxed {
        // Otherwise it would count all processes of the system user.
        limits["RLIMIT_NPROC"] = settings.processes.into();
    }
    limits
}

/// Returns the plan of a session's kernel.
pub fn kernel_plan(
    environment: &Environment,
    settings: &PythonSettings,
    folders: &SessionFolders,
    group: Option<&SessionGroup>,
) -> KernelPlan {
    let is_sandboxed = folders.unsandboxed.is_none();
    let folder = match &folders.unsandboxed {
        Some(folder) => folder.clone(),
        None => SOCKET_FOLDER.into(),
    };
    let mut command = Vec::new();
    if is_sandboxed {
        command.push(environment.bubblewrap.display().to_string());
        // Behind the name of the program come its descriptors, which the helper adds.
        command.extend(sandbox_options(environment, settings));
        let data = folders.data.to_string_lossy().into_owned();
        command.extend(["--ro-bind".into(), data, DATA_FOLDER.into()]);
        command.extend(closing_options().map(str::to_owned));
        for capability in BOOT_CAPABILITIES {
            command.extend(["--cap-add".into(), capability.into()]);
        }
        for (name, value) in variables(environment, WORK_FOLDER) {
            command.extend(["--setenv".into(), name, value]);
        }
        command.push("--".into());
    }
    command.extend([
        environment.interpreter.display().to_string(),
        "-c".into(),
        BOOT.into(),
        folder.display().to_string(),
        match is_sandboxed {
            true => WORK_FOLDER.into(),
            false => folder.display().to_string(),
        },
        process_limits(settings, is_sandboxed).to_string(),
    ]);
    command.extend(is_sandboxed.then(|| HIDE_MOUNTS.into()));
    let beginning = folder.join(SOCKET_BEGINNING);
    KernelPlan {
        command,
        environment: match &folders.unsandboxed {
            Some(folder) => variables(environment, &folder.to_string_lossy()),
            None => Vec::new(),
        },
        sockets: match is_sandboxed {
            true => SocketPlace::Sandbox(beginning),
            false => SocketPlace::System(beginning),
        },
        limits: KernelLimits {
            memory: settings.memory_bytes as u64,
            processes: settings.processes,
            message: (settings.output_bytes + settings.picture_bytes * 2 + MESSAGE_OVERHEAD_BYTES) as u64,
            output: settings.output_bytes,
            pictures: settings.picture_bytes,
            start_seconds: settings.start_timeout.as_secs().max(1),
        },
        group: group.map(|group| group.plan().clone()),
    }
}

/// Returns a command that shows whether the sandbox can be had, and whether its Python finds the kernel.
pub fn probe_command(environment: &Environment, settings: &PythonSettings) -> Vec<String> {
    code_command(environment, settings, &[], "import ipykernel")
}

/// Returns a command that makes matplotlib's list of fonts, of those that the sandbox shows, in a folder.
pub fn fonts_command(environment: &Environment, settings: &PythonSettings, folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let options = [
        "--bind",
        &folder,
        FONT_FOLDER,
        "--setenv",
        "HOME",
        FONT_FOLDER,
        "--setenv",
        "MPLCONFIGDIR",
        FONT_FOLDER,
    ];
    let code = "import matplotlib.font_manager as fonts; fonts.fontManager";
    code_command(environment, settings, &options, code)
}

/// Returns a command that runs code of Parlor in a sandbox, without a kernel.
fn code_command(
    environment: &Environment,
    settings: &PythonSettings,
    options: &[&str],
    code: &str,
) -> Vec<String> {
    let mut command = vec![environment.bubblewrap.display().to_string()];
    command.extend(sandbox_options(environment, settings));
    command.extend(options.iter().map(|option| (*option).to_owned()));
    command.extend(closing_options().map(str::to_owned));
    command.push("--".into());
    command.extend([
        environment.interpreter.display().to_string(),
        "-c".into(),
        code.into(),
    ]);
    command
}
