//! Watches the processes of a sandbox: what limits of a single process do not cover, their number and their memory together.

use std::{
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    time::Duration,
};

use crate::python::wire::KernelLimits;

/// The largest number of files in the writable folders: each takes memory of the system besides its content.
const MAX_FILES: u64 = 100_000;

/// The writable folders of a sandbox, as [`sandbox`](crate::python::sandbox) makes them.
const FOLDERS: [&str; 4] = ["session", "tmp", "dev/shm", "run"];

/// The interval of looking at the processes of a sandbox.
pub const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// The processes of a sandbox.
#[derive(Clone)]
pub struct Watched {
    /// The root folder of the sandbox.
    root: PathBuf,
    limits: KernelLimits,
    page_bytes: u64,
}

/// The threads and the memory that a sandbox uses.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    threads: usize,
    /// The resident memory, in pages.
    resident: u64,
}

impl Watched {
    /// Watches the sandbox of a process.
    pub fn new(process: u32, limits: KernelLimits) -> Self {
        Self {
            root: path_in_sandbox(process, Path::new("/")),
            limits,
            page_bytes: rustix::param::page_size() as u64,
        }
    }

    /// Returns the limit that is exceeded, except that of memory, in words. Nothing here waits for a process of the sandbox.
    pub fn exceeded(&self) -> Option<String> {
        let processes = self.processes();
        let limit = self.limits.processes;
        let too_many =
            || format!("it had more than {limit} processes and threads (setting python.processes)");
        // Before anything is read about them: there may be thousands by then.
        if processes.len() > limit {
            return Some(too_many());
        }
        let used = self.used(&processes);
        if used.threads > limit {
            return Some(too_many());
        }
        let is_full = |folder: &&&str| {
            let status = rustix::fs::statvfs(self.root.join(folder));
            status.is_ok_and(|status| status.f_files.saturating_sub(status.f_ffree) > MAX_FILES)
        };
        let folder = FOLDERS.iter().find(is_full)?;
        Some(format!("it made more than {MAX_FILES} files in /{folder}"))
    }

    /// Returns the limit of memory in words, if it is exceeded. That may wait for processes of the sandbox: the kernel reads
    /// their memory maps under a lock, which a process holds while it forks.
    pub fn exceeded_memory(&self) -> Option<String> {
        let processes = self.processes();
        // Shared pages count for each process at first; exactly only if that is too much.
        let limit = self.limits.memory;
        let resident = self.used(&processes).resident.saturating_mul(self.page_bytes);
        (resident > limit && proportional_memory(&processes) > limit)
            .then(|| format!("it used more than {limit} bytes of memory (setting python.memory_bytes)"))
    }

    /// Returns the folders of the processes in the sandbox's own `/proc`, which has no others; of too many, one more than the
    /// limit.
    fn processes(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(self.root.join("proc")) else {
            return Vec::new();
        };
        let is_number = |path: &PathBuf| {
            let name = path.file_name().map(|name| name.as_bytes().to_vec());
            name.is_some_and(|name| name.iter().all(u8::is_ascii_digit))
        };
        let paths = entries.filter_map(|entry| entry.ok().map(|entry| entry.path()));
        paths.filter(is_number).take(self.limits.processes + 1).collect()
    }

    fn used(&self, processes: &[PathBuf]) -> Use {
        let mut used = Use::default();
        for process in processes {
            // The fields behind the name, which may have any characters: state, parent … threads (18th), … pages (22nd).
            let Ok(stat) = fs::read(process.join("stat")) else {
                continue;
            };
            let stat = String::from_utf8_lossy(&stat);
            let fields = stat.rsplit(')').next().unwrap_or_default();
            let mut fields = fields.split_whitespace().skip(17);
            let mut number = |skipped: usize| fields.nth(skipped).and_then(|field| field.parse::<u64>().ok());
            used.threads += number(0)
                .and_then(|threads| usize::try_from(threads).ok())
                .unwrap_or(1);
            used.resident += number(3).unwrap_or_default();
        }
        used
    }
}

/// Returns the memory of processes in bytes; a shared page counts for each with its part.
fn proportional_memory(processes: &[PathBuf]) -> u64 {
    let of = |process: &PathBuf| -> Option<u64> {
        let text = fs::read_to_string(process.join("smaps_rollup")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    processes.iter().filter_map(of).sum::<u64>().saturating_mul(1024)
}

/// Returns the path of a place in a sandbox, by its first process.
pub fn path_in_sandbox(process: u32, place: &Path) -> PathBuf {
    let place = place.strip_prefix("/").unwrap_or(place);
    Path::new("/proc")
        .join(process.to_string())
        .join("root")
        .join(place)
}
