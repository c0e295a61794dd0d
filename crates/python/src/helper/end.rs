//! The end of a session, and its cause in words.

use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

use super::{group::ReachedLimit, watch::exceeded_memory_limit};
use crate::wire::KernelLimits;

/// The cause of an end that only the kernel knows.
pub const ENDED: &str = "it ended";

/// The end of a session.
pub struct End {
    pub cause: String,
    /// True if its code has ended it.
    pub is_by_code: bool,
}

/// The end for a reason outside of the code, such as a limit.
impl From<String> for End {
    fn from(cause: String) -> Self {
        Self {
            cause,
            is_by_code: false,
        }
    }
}

impl From<&str> for End {
    fn from(cause: &str) -> Self {
        cause.to_owned().into()
    }
}

impl End {
    /// Returns the end with its cause in words. `status` is that of a kernel that has ended by itself, `reached` the limit of memory for which
    /// the system has ended processes of the session.
    pub fn explain(
        self,
        status: Option<ExitStatus>,
        reached: Option<ReachedLimit>,
        limits: &KernelLimits,
    ) -> Self {
        if self.cause != ENDED {
            return self;
        }
        let by_code = |cause: String| Self {
            cause,
            is_by_code: true,
        };
        let Some(status) = status else {
            return by_code("it closed its connections".into());
        };
        // Bubblewrap, as a shell, adds 128 to the signal that ended a process.
        let status = match status.signal() {
            Some(signal) => signal + 128,
            None => status.code().unwrap_or_default(),
        };
        match status - 128 {
            libc::SIGXCPU => "its computing time was over (setting python.cpu_time)".into(),
            libc::SIGKILL if reached == Some(ReachedLimit::Session) => exceeded_memory_limit(limits).into(),
            libc::SIGKILL if reached == Some(ReachedLimit::Other) => {
                "the system ended it for the memory of all sessions together, or of the machine (setting python.total_memory_bytes)".into()
            }
            libc::SIGKILL => "the signal SIGKILL ended it, probably from the system for its memory".into(),
            libc::SIGSEGV | libc::SIGABRT | libc::SIGBUS | libc::SIGILL | libc::SIGFPE => {
                by_code("Python crashed".into())
            }
            signal @ 1.. => by_code(format!("the signal {} ended it", signal_name(signal))),
            _ => by_code(format!("its process ended with the status {status}")),
        }
    }
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP",
        libc::SIGINT => "SIGINT",
        libc::SIGQUIT => "SIGQUIT",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE",
        libc::SIGALRM => "SIGALRM",
        libc::SIGTERM => "SIGTERM",
        libc::SIGSYS => "SIGSYS",
        libc::SIGXFSZ => "SIGXFSZ",
        _ => return signal.to_string(),
    };
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_ends_a_session_for_its_memory() {
        let limits = KernelLimits {
            memory: 2000,
            processes: 1,
            message: 1,
            output: 1,
            pictures: 1,
            start_seconds: 1,
        };
        let explain = |status, reached| {
            let end = End::from(ENDED).explain(Some(ExitStatus::from_raw(status)), reached, &limits);
            assert!(!end.is_by_code);
            end.cause
        };
        // A signal, and the status of bubblewrap for that of its child.
        for status in [libc::SIGKILL, (128 + libc::SIGKILL) << 8] {
            assert_eq!(
                explain(status, Some(ReachedLimit::Session)),
                "it used more than 2000 bytes of memory (setting python.memory_bytes)"
            );
            let cause = explain(status, Some(ReachedLimit::Other));
            assert!(cause.contains("python.total_memory_bytes"), "{cause}");
            assert!(explain(status, None).contains("SIGKILL"));
        }
    }
}
