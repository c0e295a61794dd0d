//! The processes of a sandbox, as the system numbers them. Those that a call has made end with it.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::kernel::pause;

/// The longest wait for the end of processes, and the interval of looking.
const MAX_END_TIME: Duration = Duration::from_secs(2);
const INTERVAL: Duration = Duration::from_millis(2);

/// The processes of a sandbox that stay when a call ends: bubblewrap and the kernel.
pub struct Members {
    /// The name of the sandbox's own numbering of processes.
    namespace: PathBuf,
    own: Vec<PathBuf>,
    /// The sandbox's own `/proc`, and the number of those in it.
    listed: PathBuf,
    own_listed: usize,
}

impl Members {
    /// Notes the processes of a sandbox that run now, which no call has made. It has this root.
    pub fn note(first: u32, root: &Path) -> Option<Self> {
        let namespace = namespace_of(&Path::new("/proc").join(first.to_string()))?;
        let mut members = Self {
            namespace,
            own: Vec::new(),
            listed: root.join("proc"),
            own_listed: 0,
        };
        members.own = members.all().collect();
        members.own_listed = members.count_listed();
        Some(members)
    }

    /// Ends the processes that calls have made.
    ///
    /// # Errors
    ///
    /// If they go on, as a flood of new ones does.
    pub fn end_others(&self) -> Result<(), String> {
        let deadline = Instant::now() + MAX_END_TIME;
        // A program whose file can't be read hides its numbering, but not itself.
        while self.count_listed() > self.own_listed {
            if Instant::now() > deadline {
                return Err("its processes did not end with their call".into());
            }
            for process in self.all().filter(|process| !self.own.contains(process)) {
                self.kill(&process);
            }
            pause(INTERVAL);
        }
        Ok(())
    }

    fn count_listed(&self) -> usize {
        numbered(&self.listed)
            .filter(|process| is_running(process))
            .count()
    }

    fn all(&self) -> impl Iterator<Item = PathBuf> {
        numbered(Path::new("/proc")).filter(|process| self.has(process))
    }

    fn has(&self, process: &Path) -> bool {
        namespace_of(process).is_some_and(|namespace| namespace == self.namespace)
    }

    fn kill(&self, process: &Path) {
        let number = process.file_name().and_then(|name| name.to_str()?.parse().ok());
        let Some(number) = number.and_then(Pid::from_raw) else {
            return;
        };
        // Its number may be another process's by now: what is opened is checked again.
        if let Ok(opened) = pidfd_open(number, PidfdFlags::empty())
            && self.has(process)
        {
            let _ = pidfd_send_signal(opened, Signal::KILL);
        }
    }
}

fn namespace_of(process: &Path) -> Option<PathBuf> {
    fs::read_link(process.join("ns/pid")).ok()
}

/// Returns the folders of a `/proc` that are those of processes.
pub fn numbered(proc: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(proc).into_iter().flatten();
    entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let is_number = path.file_name()?.as_bytes().iter().all(u8::is_ascii_digit);
        is_number.then_some(path)
    })
}

/// Returns the fields of a process's `stat` behind its name, which may have any characters.
fn fields(process: &Path) -> Option<Vec<String>> {
    let stat = fs::read(process.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let fields = stat.rsplit(')').next()?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Returns `false` for one that has ended and is yet to be noticed by its parent.
fn is_running(process: &Path) -> bool {
    fields(process).is_some_and(|fields| !matches!(fields.first().map(String::as_str), Some("Z" | "X")))
}

/// Returns the computing time of a process, in ticks of the system's clock.
pub fn computing_time(process: &Path) -> u64 {
    // The 14th and the 15th of all fields; the first is the number, the second one the name.
    let fields = fields(process).unwrap_or_default();
    let time = fields.iter().skip(11).take(2);
    time.filter_map(|field| field.parse::<u64>().ok()).sum()
}
