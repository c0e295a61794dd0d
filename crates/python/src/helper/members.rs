//! The processes of a sandbox, as the system numbers them. Those that a call has made end with it.

use std::{
    collections::HashSet,
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

/// The processes of a sandbox.
#[derive(Clone, Debug)]
pub enum Family {
    /// Those of a numbering of its own.
    Namespace {
        /// Its name.
        name: PathBuf,
        /// The sandbox's own `/proc`.
        listed: PathBuf,
    },
    /// The descendants of a process, which adopts those whose parents have ended.
    Descendants(u32),
}

/// The processes of a sandbox that stay when a call ends: the kernel, and bubblewrap or none.
pub struct Members {
    family: Family,
    own: Vec<PathBuf>,
    own_listed: usize,
}

impl Family {
    /// Returns the processes that bubblewrap's first one is among. It has this root.
    pub fn of_namespace(first: u32, root: &Path) -> Option<Self> {
        Some(Self::Namespace {
            name: namespace_of(&Path::new("/proc").join(first.to_string()))?,
            listed: root.join("proc"),
        })
    }

    /// Returns the folders of its processes, in the `/proc` of the system.
    pub fn all(&self) -> Vec<PathBuf> {
        match self {
            Self::Namespace { .. } => numbered(Path::new("/proc"))
                .filter(|process| self.has(process))
                .collect(),
            Self::Descendants(ancestor) => descendants(*ancestor),
        }
    }

    fn has(&self, process: &Path) -> bool {
        match self {
            Self::Namespace { name, .. } => namespace_of(process).is_some_and(|namespace| namespace == *name),
            Self::Descendants(ancestor) => descendants(*ancestor).iter().any(|other| other == process),
        }
    }

    fn count_running(&self) -> usize {
        let count = |processes: &mut dyn Iterator<Item = PathBuf>| {
            processes.filter(|process| is_running(process)).count()
        };
        match self {
            // A program whose file can't be read hides its numbering, but not itself.
            Self::Namespace { listed, .. } => count(&mut numbered(listed)),
            Self::Descendants(ancestor) => count(&mut descendants(*ancestor).into_iter()),
        }
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

impl Members {
    /// Notes the processes of a sandbox that run now, which no call has made.
    pub fn note(family: Family) -> Self {
        Self {
            own: family.all(),
            own_listed: family.count_running(),
            family,
        }
    }

    /// Returns the noted processes.
    pub fn own(&self) -> &[PathBuf] {
        &self.own
    }

    /// Ends the processes that calls have made.
    ///
    /// # Errors
    ///
    /// If they go on, as a flood of new ones does.
    pub fn end_others(&self) -> Result<(), String> {
        let deadline = Instant::now() + MAX_END_TIME;
        while self.family.count_running() > self.own_listed {
            if Instant::now() > deadline {
                return Err("its processes did not end with their call".into());
            }
            let others = self.family.all();
            for process in others.iter().filter(|process| !self.own.contains(process)) {
                self.family.kill(process);
            }
            pause(INTERVAL);
        }
        Ok(())
    }

    /// Ends all processes, as far as they can be found.
    pub fn end_all(&self) {
        for process in self.family.all() {
            self.family.kill(&process);
        }
    }
}

fn namespace_of(process: &Path) -> Option<PathBuf> {
    fs::read_link(process.join("ns/pid")).ok()
}

/// Returns the descendants of a process. The list is in ascending order, so that a new process, which has a higher number than its
/// parent, comes after it.
fn descendants(ancestor: u32) -> Vec<PathBuf> {
    let number = |path: &Path| path.file_name()?.to_str()?.parse::<u32>().ok();
    // The second field is the number of the parent.
    let parent = |process: &Path| fields(process)?.get(1)?.parse::<u32>().ok();
    let all: Vec<_> = numbered(Path::new("/proc"))
        .filter_map(|process| Some((number(&process)?, parent(&process)?, process)))
        .collect();
    let mut known = HashSet::from([ancestor]);
    // Once, unless numbers have begun again.
    loop {
        let count = known.len();
        for (process, parent, _) in &all {
            if known.contains(parent) {
                known.insert(*process);
            }
        }
        if known.len() == count {
            break;
        }
    }
    known.remove(&ancestor);
    let found = all.into_iter().filter(|(process, ..)| known.contains(process));
    found.map(|(.., path)| path).collect()
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

/// Returns the folder in which `/proc` tells of the memory and the files of a process: its own, or that of a living thread if its first
/// thread has ended alone. Then its own folder is that of a process that has ended, and shows none.
pub fn living(process: &Path) -> PathBuf {
    let threads = || numbered(&process.join("task")).find(|thread| has_state(thread, State::is_alive));
    match has_state(process, |state| state == State::FirstThreadEnded) {
        true => threads().unwrap_or_else(|| process.to_owned()),
        false => process.to_owned(),
    }
}

/// The state of a process or of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Alive,
    /// Its first thread has ended and others go on, or the thread is such a first one.
    FirstThreadEnded,
    /// It is yet to be noticed by its parent.
    Ended,
}

impl State {
    fn parse(fields: &[impl AsRef<str>]) -> Self {
        if !matches!(fields.first().map(AsRef::as_ref), Some("Z" | "X")) {
            return Self::Alive;
        }
        // The 20th of all fields: the number of its threads, with the first one.
        let threads = fields.get(17).and_then(|threads| threads.as_ref().parse().ok());
        match threads.unwrap_or(0_u64) {
            0 | 1 => Self::Ended,
            _ => Self::FirstThreadEnded,
        }
    }

    fn is_alive(self) -> bool {
        self == Self::Alive
    }
}

/// Returns the fields of a process's `stat` behind its name, which may have any characters.
fn fields(process: &Path) -> Option<Vec<String>> {
    let stat = fs::read(process.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    let fields = stat.rsplit(')').next()?;
    Some(fields.split_whitespace().map(str::to_owned).collect())
}

/// Returns `false` also for one that is gone.
fn has_state(process: &Path, is_wanted: impl Fn(State) -> bool) -> bool {
    fields(process).is_some_and(|fields| is_wanted(State::parse(&fields)))
}

/// Returns `false` for one that has ended and is yet to be noticed by its parent. One whose first thread has ended alone runs.
fn is_running(process: &Path) -> bool {
    has_state(process, |state| state != State::Ended)
}

/// Returns the computing time of a process, in ticks of the system's clock.
pub fn computing_time(process: &Path) -> u64 {
    // The 14th and the 15th of all fields; the first is the number, the second one the name.
    let fields = fields(process).unwrap_or_default();
    let time = fields.iter().skip(11).take(2);
    time.filter_map(|field| field.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// Writes the folder of a process or a thread.
    fn write_stat(folder: &Path, state: &str, threads: u32) {
        fs::create_dir_all(folder).unwrap();
        let stat =
            format!("7 (py) Z 1) {state} 1 7 7 0 -1 4228044 8 0 0 0 30 12 0 0 20 0 {threads} 0 737553 0 0");
        fs::write(folder.join("stat"), stat).unwrap();
    }

    #[test]
    fn descendants_are_found_without_others() {
        let mut shell = Command::new("sh")
            .args(["-c", "cat; true"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let family = Family::Descendants(std::process::id());
        let own = PathBuf::from(format!("/proc/{}", shell.id()));
        let of_shell = Family::Descendants(shell.id());
        // Until the shell has started it.
        while of_shell.all().is_empty() {
            std::thread::yield_now();
        }
        let all = family.all();
        assert!(all.contains(&own) && of_shell.all().iter().all(|child| all.contains(child)));
        assert!(!of_shell.all().contains(&own) && of_shell.count_running() == 1);
        Members::note(of_shell).end_all();
        shell.stdin.take();
        shell.wait().unwrap();
        assert!(!family.all().contains(&own));
    }

    #[test]
    fn process_without_its_first_thread_runs() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path();
        for (state, threads, expected) in [
            ("S", 1, true),
            ("R", 4, true),
            ("Z", 1, false),
            ("X", 0, false),
            ("Z", 2, true),
            ("X", 2, true),
        ] {
            write_stat(process, state, threads);
            assert_eq!(is_running(process), expected, "{state} {threads}");
        }
        assert_eq!(computing_time(process), 42);
        assert!(!is_running(&process.join("gone")));
    }

    #[test]
    fn living_thread_stands_for_an_ended_first_one() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path();
        let (first, second) = (process.join("task/7"), process.join("task/8"));
        write_stat(&first, "Z", 2);
        write_stat(&second, "S", 2);
        for (state, threads, expected) in [("S", 2, process), ("Z", 2, &second), ("Z", 1, process)] {
            write_stat(process, state, threads);
            assert_eq!(living(process), expected, "{state} {threads}");
        }
        // All others are ending.
        write_stat(&second, "Z", 2);
        write_stat(process, "Z", 2);
        assert_eq!(living(process), process);
    }
}
