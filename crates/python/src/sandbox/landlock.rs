//! The sandbox of Landlock: the processes and file systems of Parlor itself, of which nothing can be opened but programs and the
//! folders of the session. The [helper](crate::helper) applies it.

use std::path::{Path, PathBuf};

use base64::{Engine, prelude::BASE64_STANDARD};

use super::{SYSTEM, SessionFolders};
use crate::{
    environment::Environment,
    process::{self, CONFINED_SUBCOMMAND},
    seal,
    wire::LandlockRules,
};
use parlor_base::settings::PythonSettings;

/// The folders below that of a session: of its files, and of temporary ones.
const WORK_FOLDER: &str = "work";
const TEMPORARY_FOLDER: &str = "tmp";

/// The devices that it can open. `/dev/zero` is not among them: a shared mapping of it is memory that no limit counts.
const DEVICES: [&str; 4] = ["/dev/null", "/dev/full", "/dev/random", "/dev/urandom"];

/// Returns the rules of a session.
pub fn rules(
    environment: &Environment,
    settings: &PythonSettings,
    folders: &SessionFolders,
) -> LandlockRules {
    let mut readable = readable(environment);
    readable.push(folders.data.clone());
    LandlockRules {
        readable,
        devices: DEVICES.map(PathBuf::from).into(),
        writable: folders.outside.iter().cloned().collect(),
        writable_bytes: settings.folder_bytes as u64,
    }
}

fn readable(environment: &Environment) -> Vec<PathBuf> {
    SYSTEM
        .iter()
        .map(PathBuf::from)
        .chain(environment.folders.iter().cloned())
        .collect()
}

/// Returns the folder in which a session works.
pub fn work_folder(folder: &Path) -> PathBuf {
    folder.join(WORK_FOLDER)
}

/// Returns the folder of temporary files.
pub fn temporary_folder(folder: &Path) -> PathBuf {
    folder.join(TEMPORARY_FOLDER)
}

/// Returns the argument by which `boot.py` applies the second filter, once the kernel has bound its sockets; `None` on an unknown
/// architecture.
pub fn seal_argument() -> Option<String> {
    let (call, program) = seal()?;
    Some(format!("seal={call}:{}", BASE64_STANDARD.encode(program)))
}

/// Returns the command that runs code of Parlor in a sandbox, without a kernel, up to the interpreter. `fonts` is a folder to which it may
/// write a list of fonts.
pub fn code_command(
    environment: &Environment,
    settings: &PythonSettings,
    fonts: Option<&Path>,
) -> Vec<String> {
    let rules = LandlockRules {
        readable: readable(environment),
        devices: DEVICES.map(PathBuf::from).into(),
        writable: fonts.iter().map(|folder| folder.to_path_buf()).collect(),
        writable_bytes: 0,
    };
    let rules = serde_json::to_string(&rules).unwrap_or_default();
    let program = process::program(settings).display().to_string();
    let mut command = vec![program, CONFINED_SUBCOMMAND.into(), rules];
    if let Some(folder) = fonts {
        let folder = folder.display();
        command.extend(["HOME", "MPLCONFIGDIR"].map(|name| format!("{name}={folder}")));
    }
    command.push("--".into());
    command
}
