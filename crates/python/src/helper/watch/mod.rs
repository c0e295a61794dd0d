//! Watches the processes of a sandbox: what limits of a single process do not cover, their number and their memory together.
//!
//! Their memory is all that the system holds for them: [`process`] reads what it says of one, [`objects`] counts what it does not
//! sum up, and [`files`] a folder that has no file system of its own. What can't be counted, the [`filter`](super::filter) refuses.

mod files;
mod objects;
mod process;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

pub use self::objects::ObjectWatch;
use self::process::ProcessUse;
use super::members::{self, Family};
use crate::wire::{KernelLimits, LandlockRules};

/// The largest number of files in the writable folders: each takes memory of the system besides its content.
const MAX_FILES: u64 = 100_000;

/// The memory of a file besides its content: its inode and names.
const FILE_BYTES: u64 = 1536;

/// The largest number of terminals. The system has some thousands for all.
const MAX_TERMINALS: usize = 64;

/// The buffers of a socket if the system does not say their size.
const BUFFER_BYTES: u64 = 212_992;

/// The writable folders of a sandbox, as [`sandbox`](crate::sandbox) makes them.
const FOLDERS: [&str; 4] = ["session", "tmp", "dev/shm", "run"];

/// The interval of looking at the processes of a sandbox.
pub const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// The change of the memory at which it is measured exactly.
const STEP_BYTES: u64 = 16 << 20;

/// The processes of a sandbox.
#[derive(Clone)]
pub struct Watched {
    /// Its first process, as the system numbers it: bubblewrap, or the keeper.
    first: u32,
    place: Place,
    limits: KernelLimits,
    /// The memory of a socket whose buffers are full.
    socket_bytes: u64,
    counts: Arc<Counts>,
}

/// The surroundings of a sandbox's processes.
#[derive(Clone)]
enum Place {
    /// Namespaces of their own, with this root folder.
    Namespaces { root: PathBuf },
    /// Those of Parlor. All files that they write are in these folders.
    Shared(Arc<LandlockRules>),
}

/// Sums in bytes that threads tell each other.
#[derive(Default)]
struct Counts {
    /// The memory at the last exact measurement.
    memory: AtomicU64,
    /// The part of it that is not of processes, folders or sockets.
    objects: AtomicU64,
    /// Without namespaces: the sockets, which are a number, and the files in the writable folders.
    sockets: AtomicU64,
    files: AtomicU64,
}

impl Watched {
    /// Watches the namespaces of a process.
    pub fn in_namespaces(process: u32, limits: KernelLimits) -> Self {
        let root = path_in_sandbox(process, Path::new("/"));
        Self::new(process, Place::Namespaces { root }, limits)
    }

    /// Watches the descendants of a process, which write files in the folders of these rules only.
    pub fn shared(process: u32, rules: LandlockRules, limits: KernelLimits) -> Self {
        Self::new(process, Place::Shared(Arc::new(rules)), limits)
    }

    fn new(process: u32, place: Place, limits: KernelLimits) -> Self {
        let buffer = fs::read_to_string("/proc/sys/net/core/wmem_default");
        let buffer = buffer.ok().and_then(|text| text.trim().parse::<u64>().ok());
        Self {
            first: process,
            place,
            limits,
            // The last message may exceed the buffer.
            socket_bytes: buffer.unwrap_or(BUFFER_BYTES).saturating_mul(2),
            counts: Arc::default(),
        }
    }

    /// Returns the first process of the sandbox.
    pub fn first(&self) -> u32 {
        self.first
    }

    /// Returns its processes; `None` if they can't be told from others.
    pub fn family(&self) -> Option<Family> {
        match &self.place {
            Place::Namespaces { root } => Family::of_namespace(self.first, root),
            Place::Shared(_) => Some(Family::Descendants(self.first)),
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
        let threads = uses(&processes).map(|used| used.threads).sum::<u64>();
        if usize::try_from(threads).is_ok_and(|threads| threads > limit) {
            return Some(too_many());
        }
        let Place::Namespaces { root } = &self.place else {
            return None;
        };
        let terminals = fs::read_dir(root.join("dev/pts"));
        if terminals.is_ok_and(|entries| entries.take(MAX_TERMINALS + 1).count() > MAX_TERMINALS) {
            return Some(format!("it opened more than {MAX_TERMINALS} terminals"));
        }
        let is_full = |folder: &&&str| {
            let status = rustix::fs::statvfs(root.join(folder));
            status.is_ok_and(|status| status.f_files.saturating_sub(status.f_ffree) > MAX_FILES)
        };
        let folder = FOLDERS.iter().find(is_full)?;
        Some(format!("it made more than {MAX_FILES} files in /{folder}"))
    }

    /// Returns the limit of memory in words, if it is exceeded. `seen` is the memory as it was estimated before the last exact
    /// measurement. This may wait for processes of the sandbox: the kernel reads their memory maps under a lock, which a process
    /// holds while it forks.
    pub fn exceeded_memory(&self, seen: &mut u64) -> Option<String> {
        let processes = self.processes();
        let limit = self.limits.memory;
        let (mut resident, mut held) = (0_u64, self.held_by_all());
        for used in uses(&processes) {
            resident = resident.saturating_add(used.resident);
            held = held.saturating_add(used.held());
        }
        // Shared pages count for each process at first; exactly only if that is too much, or has changed.
        let estimate = resident.saturating_add(held);
        if estimate <= limit && estimate.abs_diff(*seen) < STEP_BYTES {
            return None;
        }
        *seen = estimate;
        let memory = process::proportional_memory(&processes).saturating_add(held);
        self.counts.memory.store(memory, Ordering::Relaxed);
        (memory > limit).then(|| exceeded_memory_limit(&self.limits))
    }

    /// Returns the memory in bytes, as last measured.
    pub fn memory(&self) -> u64 {
        self.counts.memory.load(Ordering::Relaxed)
    }

    /// Returns the memory that belongs to no single process: files, sockets and other objects.
    fn held_by_all(&self) -> u64 {
        let files = match &self.place {
            Place::Namespaces { root } => of_file_systems(root),
            Place::Shared(_) => self.counts.files.load(Ordering::Relaxed),
        };
        let sockets = self.sockets().saturating_mul(self.socket_bytes);
        let objects = self.counts.objects.load(Ordering::Relaxed);
        files.saturating_add(sockets).saturating_add(objects)
    }

    /// Returns the number of sockets, also of those on their way from one process to another.
    fn sockets(&self) -> u64 {
        if matches!(self.place, Place::Shared(_)) {
            return self.counts.sockets.load(Ordering::Relaxed);
        }
        let text = fs::read_to_string(format!("/proc/{}/net/sockstat", self.first)).unwrap_or_default();
        let used = text.lines().find_map(|line| line.strip_prefix("sockets: used "));
        used.and_then(|used| used.trim().parse().ok()).unwrap_or_default()
    }

    /// Returns the folders of the processes, in the sandbox's own `/proc` if it has one, which has no others; of too many, one more than
    /// the limit.
    fn processes(&self) -> Vec<PathBuf> {
        let limit = self.limits.processes + 1;
        match &self.place {
            Place::Namespaces { root } => members::numbered(&root.join("proc")).take(limit).collect(),
            Place::Shared(_) => {
                let mut all = Family::Descendants(self.first).all();
                all.truncate(limit);
                all
            }
        }
    }
}

/// Returns the memory of the writable file systems below a root folder.
fn of_file_systems(root: &Path) -> u64 {
    let folders = FOLDERS.iter().filter_map(|folder| {
        let status = rustix::fs::statvfs(root.join(folder)).ok()?;
        let content = status.f_blocks.saturating_sub(status.f_bfree) * status.f_frsize;
        let files = status.f_files.saturating_sub(status.f_ffree);
        Some(content.saturating_add(files.saturating_mul(FILE_BYTES)))
    });
    folders.fold(0, u64::saturating_add)
}

/// Returns the cause of an end for the memory of all processes together, in words.
pub fn exceeded_memory_limit(limits: &KernelLimits) -> String {
    format!(
        "it used more than {} bytes of memory (setting python.memory_bytes)",
        limits.memory
    )
}

/// Reads what processes use, of those that still run.
fn uses(processes: &[PathBuf]) -> impl Iterator<Item = ProcessUse> {
    processes.iter().filter_map(|process| ProcessUse::read(process))
}

/// Returns the path of a place in a sandbox, by its first process.
pub fn path_in_sandbox(process: u32, place: &Path) -> PathBuf {
    let place = place.strip_prefix("/").unwrap_or(place);
    Path::new("/proc")
        .join(process.to_string())
        .join("root")
        .join(place)
}
