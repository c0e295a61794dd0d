//! Settings of Python: the environment of its sessions, and their limits.

use std::time::Duration;

use serde::Deserialize;

use super::{AuthMode, ProgramPath, SettingPath, SettingsError};

/// The least memory of a session: a kernel with pandas needs half of it.
pub(super) const MIN_MEMORY_BYTES: usize = 512 << 20;

/// Python that the assistant runs, one session for each conversation, in a sandbox.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PythonSettings {
    /// False if the assistant is never offered Python.
    pub enabled: bool,
    /// The Python with ipykernel, such as /opt/science/bin/python. If unset, that of `parlor python setup`, then that of `kernel`.
    pub interpreter: Option<ProgramPath>,
    /// The name of the Jupyter kernelspec, as `jupyter kernelspec list` shows it.
    pub kernel: String,
    /// The program that makes the sandbox: bubblewrap.
    pub bubblewrap: ProgramPath,
    /// False if Python is not offered where bubblewrap can't make its sandbox, such as in a container. Otherwise a weaker one is taken
    /// there, of Landlock (Linux 6.12).
    pub landlock: bool,
    /// True if Python runs without a sandbox, with all rights of Parlor itself. Only with accounts.auth = "none"; every call asks
    /// first.
    pub unsandboxed: bool,
    /// The memory of a session, in bytes: of each of its processes, and of all together with what the system holds for them.
    pub memory_bytes: usize,
    /// The memory of all sessions of one user together, in bytes. Beyond it, an unused one ends, or the largest.
    pub user_memory_bytes: usize,
    /// The memory of all sessions together, in bytes, at most half of the machine's. Beyond it, the user with most of it loses one.
    pub total_memory_bytes: usize,
    /// The computing time of each process of a session.
    #[serde(deserialize_with = "super::duration::positive")]
    pub cpu_time: Duration,
    /// The processes and threads of a session.
    pub processes: usize,
    /// The files that a session writes, in bytes. They are in memory, and gone with the session.
    pub folder_bytes: usize,
    /// The longest time that one call may take.
    #[serde(deserialize_with = "super::duration::positive")]
    pub call_timeout: Duration,
    /// The longest time that the start of a session may take.
    #[serde(deserialize_with = "super::duration::positive")]
    pub start_timeout: Duration,
    /// The text that one call may print, in bytes. The rest is left out.
    pub output_bytes: usize,
    /// The pictures that one call may show, in bytes. The rest is left out.
    pub picture_bytes: usize,
    /// The time after which an unused session ends. The next question restores it.
    #[serde(deserialize_with = "super::duration::positive")]
    pub idle_time: Duration,
    /// The number of sessions at the same time. Another one ends the one that was used longest ago.
    pub sessions: usize,
    /// The number of sessions of one user at the same time.
    pub user_sessions: usize,
    /// False if Python is offered without the check of a whole session. For tests, which start many servers.
    #[serde(skip)]
    pub is_checked: bool,
    /// The program that runs sessions; Parlor itself if unset. For tests, whose own program can't.
    #[serde(skip)]
    pub helper: Option<SettingPath>,
}

impl Default for PythonSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            interpreter: None,
            kernel: "python3".into(),
            bubblewrap: "bwrap".into(),
            landlock: true,
            unsandboxed: false,
            memory_bytes: 2 << 30,
            user_memory_bytes: 4 << 30,
            total_memory_bytes: 8 << 30,
            cpu_time: Duration::from_secs(1800),
            processes: 256,
            folder_bytes: 256 << 20,
            call_timeout: Duration::from_secs(120),
            start_timeout: Duration::from_secs(60),
            output_bytes: 256 << 10,
            picture_bytes: 8 << 20,
            idle_time: Duration::from_secs(1800),
            sessions: 20,
            user_sessions: 8,
            is_checked: true,
            helper: None,
        }
    }
}

impl PythonSettings {
    /// Returns the limits that may not be 0.
    pub(super) fn positive(&self) -> [(&'static str, usize); 6] {
        [
            ("python.processes", self.processes),
            ("python.folder_bytes", self.folder_bytes),
            ("python.output_bytes", self.output_bytes),
            ("python.picture_bytes", self.picture_bytes),
            ("python.sessions", self.sessions),
            ("python.user_sessions", self.user_sessions),
        ]
    }

    /// Returns the limits of memory, each of which leaves room for a session.
    pub(super) fn memory(&self) -> [(&'static str, usize); 3] {
        [
            ("python.memory_bytes", self.memory_bytes),
            ("python.user_memory_bytes", self.user_memory_bytes),
            ("python.total_memory_bytes", self.total_memory_bytes),
        ]
    }

    pub(super) fn check(&self, auth: AuthMode) -> Result<(), SettingsError> {
        match self.unsandboxed && auth != AuthMode::None {
            true => Err(SettingsError::UnsandboxedPython),
            false => Ok(()),
        }
    }
}
