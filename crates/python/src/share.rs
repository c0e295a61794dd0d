//! The memory of all sessions together: which one ends when a user's sessions, or those of all users, take more than they may.

use std::{
    collections::HashMap,
    fs,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use tokio::{sync::watch, time::Instant};

use parlor_base::settings::PythonSettings;
use parlor_protocol::{ConversationId, UserId};

/// The part of the machine's memory that all sessions may take, as a divisor.
const MACHINE_PART: u64 = 2;

/// The memory of a session, as its helper process last reported it.
#[derive(Clone)]
pub struct MemoryGauge {
    bytes: Arc<AtomicU64>,
    /// Told of each change, of any session.
    changed: watch::Sender<()>,
}

impl MemoryGauge {
    pub fn new(changed: watch::Sender<()>) -> Self {
        Self {
            bytes: Arc::default(),
            changed,
        }
    }

    pub fn set(&self, bytes: u64) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.changed.send_replace(());
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A gauge of a session that counts for nobody.
impl Default for MemoryGauge {
    fn default() -> Self {
        Self::new(watch::Sender::new(()))
    }
}

/// The memory limits of several sessions together, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct MemoryLimits {
    user: u64,
    total: u64,
}

/// A session that may be ended for its memory.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub conversation_id: ConversationId,
    pub user_id: UserId,
    pub bytes: u64,
    /// The time since which nobody uses it.
    pub unused_since: Option<Instant>,
}

impl MemoryLimits {
    /// Returns the limits of the settings, in a machine with as much memory as this one.
    pub fn new(settings: &PythonSettings) -> Self {
        Self::on_machine(settings, machine_memory())
    }

    fn on_machine(settings: &PythonSettings, machine: Option<u64>) -> Self {
        let part = machine.map_or(u64::MAX, |bytes| bytes / MACHINE_PART);
        Self {
            user: settings.user_memory_bytes as u64,
            total: part.min(settings.total_memory_bytes as u64),
        }
    }

    /// Returns the limit of all sessions together.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the session that has to end now, and the reason in words. It is one of the user who takes too much; of all users, the
    /// one who takes most.
    pub fn superfluous(&self, sessions: &[Candidate]) -> Option<(ConversationId, String)> {
        let mut users = HashMap::<UserId, u64>::new();
        for session in sessions {
            let bytes = users.entry(session.user_id).or_default();
            *bytes = bytes.saturating_add(session.bytes);
        }
        let (user_id, most) = users.iter().max_by_key(|(_, bytes)| **bytes)?;
        let total = users
            .values()
            .fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        let cause = if *most > self.user {
            format!(
                "the sessions of its user took more than {} bytes of memory together (setting python.user_memory_bytes)",
                self.user
            )
        } else if total > self.total {
            format!(
                "all sessions together took more than {} bytes of memory (setting python.total_memory_bytes, at most half of the \
                 machine’s memory)",
                self.total
            )
        } else {
            return None;
        };
        let own = || sessions.iter().filter(|session| session.user_id == *user_id);
        let unused = own().filter_map(|session| Some((session.unused_since?, session)));
        let ended = match unused.min_by_key(|(since, _)| *since) {
            Some((_, session)) => session,
            None => own().max_by_key(|session| session.bytes)?,
        };
        Some((ended.conversation_id, cause))
    }
}

/// Returns the memory of the machine, or of the container, in bytes.
fn machine_memory() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok()?;
    let machine = machine.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let machine = machine
        .trim()
        .strip_suffix(" kB")?
        .trim()
        .parse::<u64>()
        .ok()?
        .saturating_mul(1024);
    // Without a limit it is a word.
    let container = fs::read_to_string("/sys/fs/cgroup/memory.max");
    let container = container.ok().and_then(|limit| limit.trim().parse::<u64>().ok());
    Some(container.map_or(machine, |limit| limit.min(machine)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn limits(user: u64, total: u64) -> MemoryLimits {
        MemoryLimits { user, total }
    }

    fn session(user_id: UserId, bytes: u64, unused_since: Option<Instant>) -> Candidate {
        Candidate {
            conversation_id: ConversationId::new(),
            user_id,
            bytes,
            unused_since,
        }
    }

    #[test]
    fn user_over_the_limit_loses_unused_sessions_first() {
        let now = Instant::now();
        let (greedy, other) = (UserId::new(), UserId::new());
        let mut sessions = vec![
            session(greedy, 10, Some(now)),
            session(greedy, 10, Some(now - Duration::from_secs(1))),
            session(greedy, 30, None),
            session(greedy, 20, None),
            session(other, 40, Some(now - Duration::from_secs(9))),
        ];
        let limits = limits(50, 1000);
        let mut ended = Vec::new();
        while let Some((id, cause)) = limits.superfluous(&sessions) {
            assert!(cause.contains("python.user_memory_bytes"), "{cause}");
            let at = sessions
                .iter()
                .position(|session| session.conversation_id == id)
                .unwrap();
            ended.push(sessions.remove(at).bytes);
        }
        assert_eq!(ended, [10, 10]);
        // Nothing is unused: the largest ends.
        sessions[1].bytes = 29;
        let (id, _) = limits.superfluous(&sessions).unwrap();
        assert_eq!(id, sessions[0].conversation_id);
    }

    #[test]
    fn user_with_most_memory_makes_room_for_all() {
        let now = Instant::now();
        let (greedy, other) = (UserId::new(), UserId::new());
        let sessions = [session(greedy, 60, None), session(other, 50, Some(now))];
        assert!(limits(100, 110).superfluous(&sessions).is_none());
        let (id, cause) = limits(100, 109).superfluous(&sessions).unwrap();
        assert_eq!(id, sessions[0].conversation_id);
        assert!(cause.contains("python.total_memory_bytes"), "{cause}");
        assert!(limits(0, 0).superfluous(&[]).is_none());
    }

    #[test]
    fn sessions_take_half_of_the_machine_at_most() {
        let settings = PythonSettings::default();
        let small = MemoryLimits::on_machine(&settings, Some(2 << 30));
        assert_eq!(small.total, 1 << 30);
        let large = MemoryLimits::on_machine(&settings, Some(1 << 40));
        assert_eq!(large.total, settings.total_memory_bytes as u64);
        let unknown = MemoryLimits::on_machine(&settings, None);
        assert_eq!(unknown.total, settings.total_memory_bytes as u64);
    }
}
