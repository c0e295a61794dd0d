//! The sandbox of a session: what starts its kernel, and with which limits.
//!
//! - [`bubblewrap`]: namespaces of its own
//! - [`landlock`]: where these can't be made

mod bubblewrap;
mod landlock;

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

pub use self::{
    bubblewrap::DATA_FOLDER,
    landlock::{temporary_folder, work_folder},
};
use super::{
    cgroup::SessionGroup,
    environment::{Environment, Sandbox},
    wire::{Isolation, KernelLimits, KernelPlan},
};
use parlor_base::settings::PythonSettings;

/// The first code of a session's process.
const BOOT: &str = include_str!("../boot.py");

/// The beginning of the names of the kernel's sockets.
const SOCKET_BEGINNING: &str = "k";

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

/// The open files of a process, its message queues in bytes, and its signals that wait.
const MAX_OPEN_FILES: u64 = 1024;
const MAX_QUEUE_BYTES: u64 = 64 << 10;
const MAX_WAITING_SIGNALS: u64 = 1024;

/// The processes and threads of Parlor's user besides those of sessions.
const PROCESSES_OF_PARLOR: usize = 1024;

/// The threads of libraries for numbers.
const MAX_NUMBER_THREADS: &str = "2";

/// One message of a kernel, besides its text and pictures.
const MESSAGE_OVERHEAD_BYTES: usize = 16 << 20;

/// The folders of a session outside the sandbox.
#[derive(Clone, Debug)]
pub struct SessionFolders {
    /// The files that the server gives to the session. It can't write there.
    pub data: PathBuf,
    /// The folder for sockets and files of a session without file systems of its own, with a short path.
    pub outside: Option<PathBuf>,
}

/// Returns the environment variables of a session that works in a folder.
fn set_variables(environment: &Environment, folder: &str) -> Vec<(String, String)> {
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
fn process_limits(settings: &PythonSettings, sandbox: &Sandbox) -> Value {
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
    match sandbox {
        Sandbox::Bubblewrap(_) => limits["RLIMIT_NPROC"] = settings.processes.into(),
        // It counts all processes of the system's user, Parlor's threads and other sessions among them.
        Sandbox::Landlock => {
            let of_sessions = settings.processes.saturating_mul(settings.sessions);
            limits["RLIMIT_NPROC"] = of_sessions.saturating_add(PROCESSES_OF_PARLOR).into();
        }
        Sandbox::None => {}
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
    let outside = folders.outside.clone().unwrap_or_default();
    let (mut command, isolation) = match &environment.sandbox {
        Sandbox::Bubblewrap(program) => (
            bubblewrap::kernel_command(program, environment, settings, folders),
            Isolation::Bubblewrap,
        ),
        Sandbox::Landlock => (
            Vec::new(),
            Isolation::Landlock(landlock::rules(environment, settings, folders)),
        ),
        Sandbox::None => (Vec::new(), Isolation::None),
    };
    let (sockets, work) = match &environment.sandbox {
        Sandbox::Bubblewrap(_) => (bubblewrap::SOCKET_FOLDER.into(), bubblewrap::WORK_FOLDER.into()),
        Sandbox::Landlock => (outside.clone(), work_folder(&outside)),
        Sandbox::None => (outside.clone(), outside.clone()),
    };
    let has_namespaces = isolation == Isolation::Bubblewrap;
    command.extend([
        environment.interpreter.display().to_string(),
        "-c".into(),
        BOOT.into(),
        sockets.display().to_string(),
        work.display().to_string(),
        process_limits(settings, &environment.sandbox).to_string(),
    ]);
    match &environment.sandbox {
        Sandbox::Bubblewrap(_) => command.push(bubblewrap::HIDE_MOUNTS.into()),
        Sandbox::Landlock => command.extend(landlock::seal_argument()),
        Sandbox::None => {}
    }
    let mut variables = match has_namespaces {
        // They are in its command.
        true => Vec::new(),
        false => set_variables(environment, &work.to_string_lossy()),
    };
    if environment.sandbox == Sandbox::Landlock {
        let folder = temporary_folder(&outside);
        variables.push(("TMPDIR".into(), folder.to_string_lossy().into_owned()));
    }
    KernelPlan {
        command,
        environment: variables,
        isolation,
        sockets: sockets.join(SOCKET_BEGINNING),
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
    code_command(environment, settings, None, "import ipykernel")
}

/// Returns a command that makes matplotlib's list of fonts, of those that the sandbox shows, in a folder.
pub fn fonts_command(environment: &Environment, settings: &PythonSettings, folder: &Path) -> Vec<String> {
    let code = "import matplotlib.font_manager as fonts; fonts.fontManager";
    code_command(environment, settings, Some(folder), code)
}

/// Returns a command that runs code of Parlor in a sandbox, without a kernel.
fn code_command(
    environment: &Environment,
    settings: &PythonSettings,
    fonts: Option<&Path>,
    code: &str,
) -> Vec<String> {
    let mut command = match &environment.sandbox {
        Sandbox::Bubblewrap(program) => bubblewrap::code_command(program, environment, settings, fonts),
        Sandbox::Landlock => landlock::code_command(environment, settings, fonts),
        Sandbox::None => Vec::new(),
    };
    command.extend([
        environment.interpreter.display().to_string(),
        "-c".into(),
        code.into(),
    ]);
    command
}
