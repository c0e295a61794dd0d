//! Memory limits of the system for sessions: cgroups (version 2), where Parlor may make some below its own, which is then *delegated* to it.
//!
//! ```text
//! own cgroup         of the service or container. It keeps no process: only then may its children have limits
//! ├── parlor         this process, and those that it starts
//! └── sessions       the limit of all sessions
//!     └── 123-1 …    the limit of a session: its kernel, without the helper process that reports its end
//! ```
//!
//! The limits are those that the [helper](super::helper) and [`share`](super::share) enforce by measuring. These remain: they give a reason,
//! and limit the sessions of a user. The system has no delay, and counts what can't be measured.

mod own_group;
#[cfg(test)]
mod tests;

use std::{
    fs::{self, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parlor_base::settings::PythonSettings;
use tokio::{runtime::Handle, time::sleep};

use self::own_group::{OwnGroup, find_own_group};
use super::{share::MemoryLimits, wire::GroupPlan};

/// The file with the processes of a cgroup. Writing a process's id moves it there; 0 is the writer's.
pub const PROCESSES: &str = "cgroup.procs";
pub const SELF: &str = "0";

/// The controllers that a cgroup has, and those that it gives to its children.
const CONTROLLERS: &str = "cgroup.controllers";
const SUBTREE_CONTROL: &str = "cgroup.subtree_control";

const MEMORY_LIMIT: &str = "memory.max";

/// The names of the cgroups below that of Parlor.
const HOME: &str = "parlor";
const SESSIONS: &str = "sessions";

/// The interval and the number of attempts to remove a cgroup whose processes still end.
const REMOVE_INTERVAL: Duration = Duration::from_millis(100);
const MAX_REMOVE_TRIES: u32 = 50;

/// The cgroups of all sessions.
#[derive(Clone)]
pub struct SessionGroups {
    home: PathBuf,
    sessions: PathBuf,
    session_bytes: u64,
    /// The number of the last session.
    last: Arc<AtomicU64>,
}

/// The cgroup of a session. Dropping it ends its processes and removes it, at the latest some seconds later.
pub struct SessionGroup {
    plan: GroupPlan,
}

impl SessionGroups {
    /// Sets up the cgroups of this system; `None` where Parlor may make none.
    pub fn of_system(settings: &PythonSettings) -> Option<Self> {
        if !settings.enabled {
            return None;
        }
        let groups = Self::set_up(
            Path::new("/"),
            rustix::process::geteuid().is_root(),
            settings.memory_bytes as u64,
            MemoryLimits::new(settings).total(),
        );
        groups
            .inspect_err(|reason| tracing::debug!("Python sessions get no cgroups: {reason}"))
            .ok()
    }

    /// Moves this process into a cgroup of its own and makes the one for sessions, each with a limit in bytes. Has to be called before this
    /// process starts others. `root` is the root folder of the system; `is_superuser` says that permissions don't hold this process.
    ///
    /// # Errors
    ///
    /// If Parlor may make no cgroups, which is usual: the reason in words. Everything is then as before.
    fn set_up(root: &Path, is_superuser: bool, session_bytes: u64, total_bytes: u64) -> Result<Self, String> {
        let OwnGroup {
            folder: own,
            is_namespace_root,
        } = find_own_group(root)?;
        // It may write to every cgroup, also to those that only the service manager should change.
        if is_superuser && !is_namespace_root {
            return Err(
                "outside of a container, nothing tells root whether its own cgroup is delegated".into(),
            );
        }
        let read = |file: &str| {
            let text = fs::read_to_string(own.join(file));
            text.map_err(|error| format!("{file} can't be read: {error}"))
        };
        if !read(CONTROLLERS)?.split_whitespace().any(|name| name == "memory") {
            return Err("its own cgroup does not control memory".into());
        }
        // Others would have to be moved, too, and may be none of Parlor's business: the shell that started it.
        let own_id = process::id().to_string();
        if read(PROCESSES)?.lines().any(|id| id != own_id) {
            return Err("its own cgroup has other processes".into());
        }
        let groups = Self {
            home: own.join(HOME),
            sessions: own.join(SESSIONS),
            session_bytes,
            last: Arc::default(),
        };
        groups.make(&own, total_bytes).map_err(|error| {
            groups.undo(&own);
            format!("no cgroups can be made in {}: {error}", own.display())
        })?;
        Ok(groups)
    }

    fn make(&self, own: &Path, total_bytes: u64) -> io::Result<()> {
        make_group(&self.home)?;
        fs::write(self.home.join(PROCESSES), SELF)?;
        // Not before: a cgroup with processes can't give controllers to others.
        fs::write(own.join(SUBTREE_CONTROL), "+memory")?;
        make_group(&self.sessions)?;
        remove_leftovers(&self.sessions)?;
        fs::write(self.sessions.join(MEMORY_LIMIT), total_bytes.to_string())?;
        // A system without swap does not have it.
        let _ = fs::write(self.sessions.join("memory.swap.max"), "0");
        fs::write(self.sessions.join(SUBTREE_CONTROL), "+memory")
    }

    /// Undoes a set-up that has failed, as far as it got.
    fn undo(&self, own: &Path) {
        let _ = fs::remove_dir(&self.sessions);
        let _ = write_existing(&own.join(SUBTREE_CONTROL), "-memory");
        let _ = write_existing(&own.join(PROCESSES), SELF);
        let _ = fs::remove_dir(&self.home);
    }

    /// Makes the cgroup of a session.
    fn make_session(&self) -> io::Result<SessionGroup> {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let session = self.sessions.join(format!("{}-{number}", process::id()));
        fs::create_dir(&session)?;
        let group = SessionGroup {
            plan: GroupPlan {
                home: self.home.clone(),
                session,
            },
        };
        let folder = &group.plan.session;
        fs::write(folder.join(MEMORY_LIMIT), self.session_bytes.to_string())?;
        // Linux before 4.19 ends a single process instead.
        let _ = fs::write(folder.join("memory.oom.group"), "1");
        Ok(group)
    }
}

impl SessionGroup {
    pub fn plan(&self) -> &GroupPlan {
        &self.plan
    }
}

impl Drop for SessionGroup {
    fn drop(&mut self) {
        let folder = self.plan.session.clone();
        let Err(error) = remove_group(&folder) else {
            return;
        };
        // Without a runtime the server ends. Its successor removes it.
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        runtime.spawn(async move {
            for _ in 0..MAX_REMOVE_TRIES {
                sleep(REMOVE_INTERVAL).await;
                if remove_group(&folder).is_ok() {
                    return;
                }
            }
            tracing::warn!(%error, "the cgroup of a Python session is left: {}", folder.display());
        });
    }
}

/// Makes the cgroup of a session, where there are some. If that fails, the session has the limits that are measured, as everywhere else.
pub fn session_group(groups: Option<&SessionGroups>) -> Option<SessionGroup> {
    let made = groups?.make_session();
    made.inspect_err(|error| tracing::warn!(%error, "no cgroup can be made for a Python session"))
        .ok()
}

/// Makes a cgroup, unless it is there.
fn make_group(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Removes the cgroups that an earlier process has left in one. Those whose processes still end stay.
fn remove_leftovers(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            let _ = remove_group(&entry.path());
        }
    }
    Ok(())
}

/// Ends the processes of a cgroup and removes it, if they are gone by then.
fn remove_group(folder: &Path) -> io::Result<()> {
    // Linux before 5.14 does not have it.
    let _ = write_existing(&folder.join("cgroup.kill"), "1");
    match fs::remove_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Writes to a file if there is one.
fn write_existing(path: &Path, text: &str) -> io::Result<()> {
    OpenOptions::new()
        .write(true)
        .open(path)?
        .write_all(text.as_bytes())
}
