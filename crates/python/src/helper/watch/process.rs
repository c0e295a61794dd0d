//! The memory of one process, as its files in `/proc` name it.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::helper::members;

/// The memory of the system for a thread: its stack, and its entry with the state of its registers.
const THREAD_BYTES: u64 = 32 << 10;

/// The memory of the system for a place in a table of open files: the file, and what it holds, such as a page of a pipe.
pub const DESCRIPTOR_BYTES: u64 = 8 << 10;

/// The maximum number of threads that are asked for the memory of a process whose first thread has ended.
const MAX_READS: usize = 4;

/// The use of a process.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ProcessUse {
    pub threads: u64,
    /// Its pages in memory or swapped out, in bytes, without those of files in memory, which count with their folder.
    pub resident: u64,
    /// Its page tables, in bytes.
    page_tables: u64,
    /// The size of its table of open files.
    pub descriptors: u64,
}

impl ProcessUse {
    /// Reads the use of a process; `None` if it has ended. This waits for no lock of the process.
    pub fn read(process: &Path) -> Option<Self> {
        let read = |folder: &Path| {
            // Its name may have any characters.
            let status = fs::read(folder.join("status")).ok()?;
            Some(Self::parse(&String::from_utf8_lossy(&status)))
        };
        let mut used = read(process)?;
        // Its first thread may have ended alone. The one that is read instead may end at the same time.
        for _ in 0..MAX_READS {
            if used.threads < 2 || used.has_memory() {
                break;
            }
            used = read(&members::living(process)).unwrap_or(used);
        }
        Some(used)
    }

    /// Returns `false` for a thread that has ended, and a process whose first thread has.
    fn has_memory(&self) -> bool {
        self.page_tables > 0 || self.resident > 0
    }

    fn parse(status: &str) -> Self {
        let mut used = Self::default();
        for line in status.lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            let (value, unit) = match value.trim().strip_suffix(" kB") {
                Some(value) => (value.trim(), 1024),
                None => (value.trim(), 1),
            };
            let number = || value.parse::<u64>().unwrap_or_default().saturating_mul(unit);
            match name {
                "Threads" => used.threads = number(),
                "RssAnon" | "RssFile" | "VmSwap" => used.resident = used.resident.saturating_add(number()),
                "VmPTE" => used.page_tables = number(),
                "FDSize" => used.descriptors = number(),
                _ => {}
            }
        }
        used
    }

    /// Returns the memory that the system holds for it besides its pages.
    pub fn held(&self) -> u64 {
        let threads = self.threads.saturating_mul(THREAD_BYTES);
        let descriptors = self.descriptors.saturating_mul(DESCRIPTOR_BYTES);
        self.page_tables
            .saturating_add(threads)
            .saturating_add(descriptors)
    }
}

/// Returns the pages of processes in bytes; a shared page counts for each with its part.
pub fn proportional_memory(processes: &[PathBuf]) -> u64 {
    let of = |process: &PathBuf| match fs::read_to_string(members::living(process).join("smaps_rollup")) {
        Ok(text) => Some(proportional(&text)),
        // It may be hidden, or have ended.
        Err(_) => Some(ProcessUse::read(process)?.resident),
    };
    processes.iter().filter_map(of).fold(0, u64::saturating_add)
}

fn proportional(rollup: &str) -> u64 {
    let field = |name: &str| {
        let line = rollup.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()
    };
    // Linux before 5.4 has the sum alone.
    let pages = match (field("Pss_Anon:"), field("Pss_File:")) {
        (Some(own), Some(files)) => own.saturating_add(files),
        _ => field("Pss:").unwrap_or_default(),
    };
    let swapped = field("SwapPss:").unwrap_or_default();
    pages.saturating_add(swapped).saturating_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_held_for_a_process_counts() {
        let status = "Name:\tpy: Threads\nFDSize:\t256\nVmRSS:\t  999999 kB\nRssAnon:\t    1000 kB\nRssFile:\t     200 kB\n\
            RssShmem:\t  7000 kB\nVmPTE:\t  4096 kB\nVmSwap:\t      30 kB\nThreads:\t4\n";
        let used = ProcessUse::parse(status);
        let expected = ProcessUse {
            threads: 4,
            resident: 1230 << 10,
            page_tables: 4 << 20,
            descriptors: 256,
        };
        assert_eq!(used, expected);
        assert_eq!(used.held(), (4 << 20) + 4 * THREAD_BYTES + 256 * DESCRIPTOR_BYTES);
    }

    #[test]
    fn process_without_its_first_thread_counts() {
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path();
        let write = |folder: &Path, state: &str, status: &str| {
            fs::create_dir_all(folder).unwrap();
            let stat = format!("7 (py) {state} 1 7 7 0 -1 4228044 8 0 0 0 30 12 0 0 20 0 2 0 737553 0 0");
            fs::write(folder.join("stat"), stat).unwrap();
            fs::write(folder.join("status"), status).unwrap();
        };
        let status = "FDSize:\t64\nRssAnon:\t300 kB\nVmPTE:\t8 kB\nThreads:\t2\n";
        write(process, "Z", "FDSize:\t0\nThreads:\t2\n");
        write(&process.join("task/7"), "Z", "FDSize:\t0\nThreads:\t2\n");
        write(&process.join("task/8"), "S", status);
        let processes = [process.to_owned()];
        assert_eq!(ProcessUse::read(process), Some(ProcessUse::parse(status)));
        // Its exact memory is not known.
        assert_eq!(proportional_memory(&processes), 300 << 10);
        fs::write(process.join("task/8/smaps_rollup"), "Pss:   200 kB\n").unwrap();
        assert_eq!(proportional_memory(&processes), 200 << 10);
    }

    #[test]
    fn files_in_memory_count_with_their_folder() {
        let rollup = "Rss:   9 kB\nPss:   900 kB\nPss_Anon:   100 kB\nPss_File:    20 kB\nPss_Shmem:   780 kB\nSwapPss:   3 kB\n";
        assert_eq!(proportional(rollup), 123 << 10);
        assert_eq!(proportional("Pss:   900 kB\n"), 900 << 10);
    }
}
