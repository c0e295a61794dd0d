//! The check that a session under Landlock is sealed: all threads of its kernel have both filters of system calls.

use std::{
    fs,
    path::{Path, PathBuf},
};

use super::members::numbered;

/// The filters of a session besides those of this process: the one with which it began, and the one that seals it.
const ADDED_FILTERS: u64 = 2;

/// Checks all threads of processes.
///
/// # Errors
///
/// If one of them lacks a filter, or there are none.
pub fn check(processes: &[PathBuf]) -> Result<(), String> {
    let needed = filters(Path::new("/proc/self")).map(|own| own + ADDED_FILTERS);
    let threads: Vec<_> = processes
        .iter()
        .flat_map(|process| numbered(&process.join("task")).collect::<Vec<_>>())
        .collect();
    // One that has ended meanwhile counts as one without: kernels keep the threads with which they begin.
    let is_sealed = |thread: &PathBuf| needed.is_some() && filters(thread) == needed;
    match !threads.is_empty() && threads.iter().all(is_sealed) {
        true => Ok(()),
        false => Err("it could still open sockets of the system".into()),
    }
}

/// Returns the number of filters of a thread; `None` if the system does not tell.
fn filters(thread: &Path) -> Option<u64> {
    let status = fs::read(thread.join("status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    // The name is written without line ends.
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp_filters:"));
    line?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_needs_both_filters() {
        let own = filters(Path::new("/proc/self")).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let process = folder.path().to_owned();
        let write = |thread: &str, filters: u64| {
            let folder = process.join("task").join(thread);
            fs::create_dir_all(&folder).unwrap();
            let status = format!("Name:\tpy\nSeccomp:\t2\nSeccomp_filters:\t{filters}\n");
            fs::write(folder.join("status"), status).unwrap();
        };
        assert!(check(std::slice::from_ref(&process)).is_err());
        write("7", own + 2);
        write("8", own + 2);
        assert_eq!(check(std::slice::from_ref(&process)), Ok(()));
        write("8", own + 1);
        assert!(check(&[process]).is_err());
    }
}
