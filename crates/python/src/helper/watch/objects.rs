//! Objects that the system holds for a sandbox and sums up nowhere: mappings of memory, locks of files, entries of epoll. They are
//! counted one by one, and only after code has run.
//!
//! An open file that waits in a socket for its receiver is in no table. If it is an epoll, its entries can't be seen, so each such file
//! counts as a full one. A socket that itself waits hides the files in it, so it may do so for a moment only.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::{Place, Watched, files, process::ProcessUse};
use crate::helper::members;

/// The largest numbers of all processes together.
const MAX_MAPPINGS: usize = 300_000;
const MAX_LOCKS: usize = 20_000;
const MAX_WAITING: usize = 10_000;

/// The memory of one, in bytes. A mapping may keep a file open that no table has.
const MAPPING_BYTES: usize = 640;
const LOCK_BYTES: usize = 256;
const WAITING_BYTES: usize = 192;

/// The memory of a link between a mapping and a process from which it was inherited: there is one for each generation.
const INHERITED_BYTES: usize = 64;

/// The text in which the system lists an entry of epoll. It is kept as long as the list is open.
const WAITING_TEXT_BYTES: u64 = 96;

/// The memory for an open file that waits in a socket. It may be an epoll with as many entries as there may be.
const WAITING_FILE_BYTES: u64 = (MAX_WAITING * WAITING_BYTES) as u64;

/// The interval of counting, and the part of the time that it may take.
const INTERVAL: Duration = Duration::from_millis(100);
const PAUSE_FACTOR: u32 = 8;

/// The buffer for lists of `/proc`, which come in pages.
const BUFFER_BYTES: usize = 64 << 10;

/// Counts the objects of a sandbox.
pub struct ObjectWatch {
    watched: Watched,
    /// The computing time and the number of processes at the last count.
    counted_at: Option<(u64, usize)>,
    /// The sockets that waited in others at the last count, by inode.
    waiting_sockets: HashSet<u64>,
}

/// The open files of a sandbox that matter here.
#[derive(Default)]
struct OpenFiles {
    /// The descriptions of those that are an epoll.
    epolls: Vec<PathBuf>,
    /// The sockets, by inode.
    sockets: HashSet<u64>,
    /// The number of open files that wait in sockets.
    waiting: u64,
    /// The sizes of files that have no name any more, by device and inode.
    deleted: HashMap<(u64, u64), u64>,
}

impl ObjectWatch {
    pub fn new(watched: Watched) -> Self {
        Self {
            watched,
            counted_at: None,
            waiting_sockets: HashSet::new(),
        }
    }

    /// Counts, if code has run since the last count. Returns the time until the next count, or the limit that is exceeded, in words.
    /// This may wait for processes of the sandbox.
    pub fn count(&mut self) -> Result<Duration, String> {
        let processes = self.watched.processes();
        let time = processes.iter().map(|process| members::computing_time(process));
        let now = (time.sum(), processes.len());
        if self.counted_at == Some(now) {
            return Ok(INTERVAL);
        }
        let begin = Instant::now();
        let living: Vec<_> = processes.iter().map(|process| members::living(process)).collect();
        let bytes = self.bytes(&living)?;
        self.watched.counts.objects.store(bytes, Ordering::Relaxed);
        // Sockets that wait are looked at again in any case.
        self.counted_at = self.waiting_sockets.is_empty().then_some(now);
        Ok(INTERVAL.max(begin.elapsed() * PAUSE_FACTOR))
    }

    fn bytes(&mut self, processes: &[PathBuf]) -> Result<u64, String> {
        let mut mappings = 0;
        for process in processes {
            let counted = count_lines(&process.join("maps"), MAX_MAPPINGS - mappings, |_| true);
            mappings += match counted {
                // The program's file may be one that can't be read.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    return Err("it started a program that can't be watched".into());
                }
                // It has ended.
                counted => counted.unwrap_or_default(),
            };
            if mappings >= MAX_MAPPINGS {
                return Err(format!("it had more than {MAX_MAPPINGS} mappings of memory"));
            }
        }
        let locks = self.locks(processes);
        if locks >= MAX_LOCKS {
            return Err(format!("it had more than {MAX_LOCKS} locks of files"));
        }
        let existing = self.existing_sockets();
        let (mut open, mut descriptors) = (OpenFiles::default(), 0_u64);
        for process in processes {
            descriptors += ProcessUse::read(process).map_or(0, |used| used.descriptors);
            open.add(process);
        }
        if let Place::Shared(rules) = &self.watched.place {
            let bytes = files::check(rules, &open.deleted)?;
            self.watched.counts.files.store(bytes, Ordering::Relaxed);
            let sockets = open.sockets.len() as u64;
            self.watched.counts.sockets.store(sockets, Ordering::Relaxed);
        }
        let hidden: HashSet<u64> = existing.difference(&open.sockets).copied().collect();
        // One that is received, made or closed in this moment is not in both.
        if !hidden.is_disjoint(&self.waiting_sockets) {
            return Err("it had sockets on their way through sockets for more than a moment".into());
        }
        self.waiting_sockets = hidden;
        let (mut waiting, mut largest) = (0, 0);
        for epoll in &open.epolls {
            let is_entry = |line: &[u8]| line.starts_with(b"tfd:");
            let entries = count_lines(epoll, MAX_WAITING, is_entry).unwrap_or_default();
            waiting += entries;
            largest = largest.max(entries);
            if waiting >= MAX_WAITING {
                return Err(format!("it waited for more than {MAX_WAITING} files at once"));
            }
        }
        let mapping_bytes = MAPPING_BYTES + INHERITED_BYTES * processes.len();
        let objects = mappings * mapping_bytes + locks * LOCK_BYTES + waiting * WAITING_BYTES;
        let texts = descriptors.saturating_mul(largest as u64 * WAITING_TEXT_BYTES);
        let in_sockets = open.waiting.saturating_mul(WAITING_FILE_BYTES);
        Ok(texts.saturating_add(in_sockets).saturating_add(objects as u64))
    }

    /// Returns the number of locks of files.
    fn locks(&self, processes: &[PathBuf]) -> usize {
        let count = |list: &Path, is_own: &dyn Fn(&[u8]) -> bool| {
            count_lines(list, MAX_LOCKS, is_own).unwrap_or_default()
        };
        match &self.watched.place {
            // Locks of open files, which the filter refuses, are those of the whole system.
            Place::Namespaces { root } => count(&root.join("proc/locks"), &|line| {
                !line.windows(6).any(|word| word == b"OFDLCK")
            }),
            Place::Shared(_) => {
                let names = processes.iter().filter_map(|process| process.file_name());
                let own: HashSet<&[u8]> = names.map(OsStrExt::as_bytes).collect();
                count(Path::new("/proc/locks"), &|line| {
                    lock_owner(line).is_some_and(|owner| own.contains(owner))
                })
            }
        }
    }

    /// Returns the sockets of the sandbox that programs have or send, by inode. Without namespaces, none can be sent.
    fn existing_sockets(&self) -> HashSet<u64> {
        if matches!(self.watched.place, Place::Shared(_)) {
            return HashSet::new();
        }
        let list = fs::read(format!("/proc/{}/net/unix", self.watched.first())).unwrap_or_default();
        listed_sockets(&String::from_utf8_lossy(&list))
    }
}

impl OpenFiles {
    fn add(&mut self, process: &Path) {
        let entries = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
        for entry in entries {
            let Ok(target) = fs::read_link(entry.path()) else {
                continue;
            };
            let description = process.join("fdinfo").join(entry.file_name());
            if target.as_os_str() == "anon_inode:[eventpoll]" {
                self.epolls.push(description);
            } else if let Some(inode) = target.to_str().and_then(socket_inode)
                && self.sockets.insert(inode)
            {
                let text = fs::read_to_string(description).unwrap_or_default();
                self.waiting = self.waiting.saturating_add(files_in_socket(&text));
            } else if target.as_os_str().as_bytes().ends_with(b" (deleted)")
                && let Ok(file) = fs::metadata(entry.path())
                && file.nlink() == 0
            {
                let size = file.blocks().saturating_mul(files::BLOCK_BYTES);
                self.deleted.insert((file.dev(), file.ino()), size);
            }
        }
    }
}

/// Returns the inode of a socket, by the target of its link in `/proc`.
fn socket_inode(target: &str) -> Option<u64> {
    target.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns the number of open files that wait in a socket, as its description in `/proc` says since Linux 5.10.
fn files_in_socket(description: &str) -> u64 {
    let count = description.lines().find_map(|line| line.strip_prefix("scm_fds:"));
    count
        .and_then(|count| count.trim().parse().ok())
        .unwrap_or_default()
}

/// Returns the process in a line of the system's list of locks. A waiting one has an arrow before its kind.
fn lock_owner(line: &[u8]) -> Option<&[u8]> {
    let mut words = line
        .split(|byte| *byte == b' ')
        .filter(|word| !word.is_empty() && *word != b"->");
    words.nth(4)
}

/// Returns the inodes in a list of Unix sockets. A connection that is yet to be accepted has none.
fn listed_sockets(list: &str) -> HashSet<u64> {
    let inode = |line: &str| line.split_whitespace().nth(6)?.parse().ok();
    let inodes = list.lines().filter_map(inode);
    inodes.filter(|inode| *inode != 0).collect()
}

/// Counts lines of a list, at most this many.
fn count_lines(path: &Path, limit: usize, is_counted: impl Fn(&[u8]) -> bool) -> io::Result<usize> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let (mut filled, mut count) = (0, 0);
    while count < limit {
        let read = file.read(&mut buffer[filled..])?;
        if read == 0 {
            break;
        }
        filled += read;
        let mut lines = buffer[..filled].split(|byte| *byte == b'\n').peekable();
        let mut rest = 0;
        while let Some(line) = lines.next() {
            match lines.peek() {
                Some(_) => count += usize::from(is_counted(line)),
                None => rest = line.len(),
            }
        }
        // A line has a path at most, so it is shorter than the buffer.
        if rest == buffer.len() {
            break;
        }
        buffer.copy_within(filled - rest..filled, 0);
        filled = rest;
    }
    Ok(count.min(limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sockets_are_found_with_the_files_in_them() {
        let list = "Num       RefCount Protocol Flags    Type St Inode Path\n\
            000000005a9d6438: 00000002 00000000 00010000 0001 01 1522 /run/k 1\n\
            000000006a5ac14d: 00000003 00000000 00000000 0001 03 1523\n\
            000000006623608a: 00000002 00000000 00000000 0001 02     0 /run/k 1\n";
        assert_eq!(listed_sockets(list), HashSet::from([1522, 1523]));
        assert_eq!(socket_inode("socket:[1522]"), Some(1522));
        assert_eq!(socket_inode("pipe:[1522]"), None);
        let description = "pos:\t0\nflags:\t02000002\nmnt_id:\t10\nino:\t1522\nscm_fds: 3\n";
        assert_eq!(files_in_socket(description), 3);
        assert_eq!(files_in_socket("pos:\t0\n"), 0);
    }

    #[test]
    fn lock_names_its_process() {
        let line = b"1: FLOCK  ADVISORY  WRITE 2917 fe:00:134 0 EOF";
        assert_eq!(lock_owner(line), Some(&b"2917"[..]));
        let waiting = b"1: -> POSIX  ADVISORY  READ 33 fe:00:134 0 0";
        assert_eq!(lock_owner(waiting), Some(&b"33"[..]));
        assert_eq!(lock_owner(b"1: FLOCK"), None);
    }

    #[test]
    fn open_file_in_a_socket_is_counted_once() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path();
        fs::create_dir_all(process.join("fd")).unwrap();
        fs::create_dir_all(process.join("fdinfo")).unwrap();
        for (number, target) in [
            ("3", "socket:[8]"),
            ("4", "socket:[8]"),
            ("5", "anon_inode:[eventpoll]"),
            ("6", "pipe:[9]"),
        ] {
            std::os::unix::fs::symlink(target, process.join("fd").join(number)).unwrap();
            fs::write(process.join("fdinfo").join(number), "scm_fds: 2\n").unwrap();
        }
        let mut open = OpenFiles::default();
        // A child has the same.
        open.add(process);
        open.add(process);
        assert_eq!((open.waiting, &open.sockets), (2, &HashSet::from([8])));
        assert_eq!(open.epolls, [process.join("fdinfo/5"), process.join("fdinfo/5")]);
    }

    #[test]
    fn lines_are_counted_across_chunks_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list");
        let line = format!("tfd: 1 {}\npos: 2\n", "x".repeat(90));
        fs::write(&path, line.repeat(3000)).unwrap();
        let count = |limit, beginning: &[u8]| {
            let is_counted = |line: &[u8]| line.starts_with(beginning);
            count_lines(&path, limit, is_counted).unwrap()
        };
        assert_eq!(count(10_000, b"tfd:"), 3000);
        assert_eq!(count(10_000, b""), 6000);
        assert_eq!(count(500, b""), 500);
    }
}
