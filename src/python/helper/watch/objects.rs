//! Objects that the system holds for a sandbox and sums up nowhere: mappings of memory, locks of files, entries of epoll. They are
//! counted one by one, and only after code has run.

use std::{
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::{Watched, process::ProcessUse};
use crate::python::helper::members;

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
}

impl ObjectWatch {
    pub fn new(watched: Watched) -> Self {
        Self {
            watched,
            counted_at: None,
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
        let bytes = self.bytes(&processes)?;
        self.watched.counts.objects.store(bytes, Ordering::Relaxed);
        self.counted_at = Some(now);
        Ok(INTERVAL.max(begin.elapsed() * PAUSE_FACTOR))
    }

    fn bytes(&self, processes: &[PathBuf]) -> Result<u64, String> {
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
        // Locks of open files, which the filter refuses, are those of the whole system.
        let is_own = |line: &[u8]| !line.windows(6).any(|word| word == b"OFDLCK");
        let locks = count_lines(&self.watched.root.join("proc/locks"), MAX_LOCKS, is_own).unwrap_or_default();
        if locks >= MAX_LOCKS {
            return Err(format!("it had more than {MAX_LOCKS} locks of files"));
        }
        let (mut waiting, mut largest, mut descriptors) = (0, 0, 0_u64);
        for process in processes {
            descriptors += ProcessUse::read(process).map_or(0, |used| used.descriptors);
            for epoll in epolls(process) {
                let is_entry = |line: &[u8]| line.starts_with(b"tfd:");
                let entries = count_lines(&epoll, MAX_WAITING, is_entry).unwrap_or_default();
                waiting += entries;
                largest = largest.max(entries);
                if waiting >= MAX_WAITING {
                    return Err(format!("it waited for more than {MAX_WAITING} files at once"));
                }
            }
        }
        let mapping_bytes = MAPPING_BYTES + INHERITED_BYTES * processes.len();
        let objects = mappings * mapping_bytes + locks * LOCK_BYTES + waiting * WAITING_BYTES;
        let texts = descriptors.saturating_mul(largest as u64 * WAITING_TEXT_BYTES);
        Ok(texts.saturating_add(objects as u64))
    }
}

/// Returns the descriptions of a process's open files that are an epoll.
fn epolls(process: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(process.join("fd")).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?;
        let is_epoll = target.as_os_str() == "anon_inode:[eventpoll]";
        is_epoll.then(|| process.join("fdinfo").join(entry.file_name()))
    })
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
    fn lines_are_counted_across_pieces_up_to_a_limit() {
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
