//! The sandbox of bubblewrap: namespaces of its own, no network, and nothing of the system but programs.

use std::path::Path;

use super::{SYSTEM, SessionFolders, set_variables};
use crate::environment::Environment;
use parlor_base::settings::PythonSettings;

/// The folder of the kernel's sockets in the sandbox.
pub const SOCKET_FOLDER: &str = "/run";

/// The folder in which a session works, and that of the files that the server gives it.
pub const WORK_FOLDER: &str = "/session";
pub const DATA_FOLDER: &str = "/session-files";

/// The folder in which the list of fonts is made, once for all sessions.
const FONT_FOLDER: &str = "/session-fonts";

/// The places that become read-only at the end. If Parlor runs as root, the sandbox has root's rights to files: without this, it could
/// change settings of the kernel in `/proc/sys`.
const READ_ONLY: [&str; 4] = [FIRST_PROCESS, "/proc", "/dev", "/"];

/// The folder of the sandbox's first process, bubblewrap itself. Its arguments and its mounts name folders of the system.
const FIRST_PROCESS: &str = "/proc/1";

/// The capabilities of the first code of a session, in its own namespace: `boot.py` gives them up.
const BOOT_CAPABILITIES: [&str; 2] = ["CAP_SYS_ADMIN", "CAP_SYS_CHROOT"];

/// The argument that lets `boot.py` hide the mounts.
pub const HIDE_MOUNTS: &str = "hide-mounts";

/// The size of the shared memory, and of the folder of sockets, in bytes.
const SHARED_MEMORY_BYTES: usize = 64 << 20;
const SOCKET_FOLDER_BYTES: usize = 1 << 20;

/// Returns the options that make a sandbox, without the program that runs in it.
fn options(environment: &Environment, settings: &PythonSettings) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| all.extend(words.iter().map(|word| (*word).to_owned()));
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
    all
}

/// Returns the end of the options: after it, nothing is mounted.
fn closing_options() -> impl Iterator<Item = &'static str> {
    let read_only = READ_ONLY.iter().flat_map(|path| ["--remount-ro", path]);
    read_only.chain(["--chdir", WORK_FOLDER])
}

/// Returns the command that starts a kernel in a sandbox, up to the kernel's own. Behind the name of the program come its descriptors,
/// which the helper adds.
pub fn kernel_command(
    program: &Path,
    environment: &Environment,
    settings: &PythonSettings,
    folders: &SessionFolders,
) -> Vec<String> {
    let mut command = vec![program.display().to_string()];
    command.extend(options(environment, settings));
    let data = folders.data.to_string_lossy().into_owned();
    command.extend(["--ro-bind".into(), data, DATA_FOLDER.into()]);
    command.extend(closing_options().map(str::to_owned));
    for capability in BOOT_CAPABILITIES {
        command.extend(["--cap-add".into(), capability.into()]);
    }
    for (name, value) in set_variables(environment, WORK_FOLDER) {
        command.extend(["--setenv".into(), name, value]);
    }
    command.push("--".into());
    command
}

/// Returns the command that runs code of Parlor in a sandbox, without a kernel, up to the interpreter. `fonts` is a folder to which it may
/// write a list of fonts.
pub fn code_command(
    program: &Path,
    environment: &Environment,
    settings: &PythonSettings,
    fonts: Option<&Path>,
) -> Vec<String> {
    let mut command = vec![program.display().to_string()];
    command.extend(options(environment, settings));
    if let Some(folder) = fonts {
        let folder = folder.display().to_string();
        command.extend(["--bind", &folder, FONT_FOLDER].map(str::to_owned));
        for name in ["HOME", "MPLCONFIGDIR"] {
            command.extend(["--setenv", name, FONT_FOLDER].map(str::to_owned));
        }
    }
    command.extend(closing_options().map(str::to_owned));
    command.push("--".into());
    command
}
