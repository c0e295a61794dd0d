//! The files that bubblewrap inherits from the helper: the filter of system calls, and a pipe for its report.

use std::{
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsRawFd, OwnedFd},
    process::Command,
};

use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::geteuid,
};
use serde::Deserialize;

use super::filter::{self, Surroundings};

/// The largest report of bubblewrap about a sandbox.
const MAX_INFO_BYTES: u64 = 4096;

/// The report of bubblewrap about a sandbox.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct SandboxInfo {
    child_pid: u32,
}

/// The file descriptors that bubblewrap inherits.
pub struct Inherited {
    info: (File, OwnedFd),
    _filter: Option<OwnedFd>,
}

impl Inherited {
    /// Makes them, and names them in the command.
    pub fn prepare(command: &mut Command) -> io::Result<Self> {
        let (info, info_end) = io::pipe()?;
        let info_end = OwnedFd::from(info_end);
        fcntl_setfd(&info_end, FdFlags::empty())?;
        command.args(["--info-fd", &info_end.as_raw_fd().to_string()]);
        let filter = filter::program(Surroundings::Namespaces {
            is_root: geteuid().is_root(),
        })
        .map(|program| {
            let (filter, mut filter_end) = io::pipe()?;
            // It fits into the buffer of the pipe.
            filter_end.write_all(&program)?;
            let filter = OwnedFd::from(filter);
            fcntl_setfd(&filter, FdFlags::empty())?;
            command.args(["--seccomp", &filter.as_raw_fd().to_string()]);
            Ok::<_, io::Error>(filter)
        });
        Ok(Self {
            info: (File::from(OwnedFd::from(info)), info_end),
            _filter: filter.transpose()?,
        })
    }

    /// Returns the first process of the sandbox.
    pub fn read_info(self) -> Result<u32, String> {
        let (info, own_end) = self.info;
        drop(own_end);
        let mut report = String::new();
        info.take(MAX_INFO_BYTES)
            .read_to_string(&mut report)
            .map_err(|error| error.to_string())?;
        // Bubblewrap ends without a report if it can't make the sandbox.
        let info: SandboxInfo = serde_json::from_str(&report).map_err(|_| "there is no sandbox")?;
        Ok(info.child_pid)
    }
}
