//! The active runs of this process, so that they can be stopped and waited for. It knows nothing of
//! their work.

use std::{
    collections::{HashMap, hash_map},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    protocol::{MessageId, UserId, intent::ApprovalAnswer},
    storage::RunKey,
};

/// Orders stops and starts in time: each stop has the next number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StopNumber(u64);

/// The active runs in this process, and the stops in progress. Clones share the same state.
#[derive(Clone, Default)]
pub(super) struct ActiveRuns(Arc<Mutex<RunTable>>);

#[derive(Default)]
struct RunTable {
    entries: HashMap<MessageId, Entry>,
    /// The stops in progress, by run. A run that enters meanwhile is stopped from the beginning.
    stops: HashMap<(UserId, MessageId), Vec<StopNumber>>,
    /// The number of the latest stop of any run.
    latest_stop: StopNumber,
}

#[derive(Clone)]
struct Entry {
    user_id: UserId,
    stop: CancellationToken,
    approvals: mpsc::Sender<ApprovalReply>,
    /// Closed when the run is no longer active.
    closed: watch::Receiver<()>,
}

/// The slot of an active run. Dropping it ends the run's activity and wakes everybody who waits for
/// that.
pub(super) struct RunSlot {
    active: ActiveRuns,
    run: MessageId,
    /// Cancelled to stop the run.
    pub stop: CancellationToken,
    /// The user's approval answers while the run is active.
    pub approvals: mpsc::Receiver<ApprovalReply>,
    _end: watch::Sender<()>,
}

/// A stop of a run, in progress until this is dropped.
#[must_use = "a stop is forgotten when this is dropped"]
pub(super) struct StopGuard {
    active: ActiveRuns,
    run: (UserId, MessageId),
    number: StopNumber,
}

/// A user's answer to the question whether a tool call may begin.
#[derive(Debug)]
pub(super) struct ApprovalReply {
    pub index: usize,
    pub answer: ApprovalAnswer,
    /// Sent when the answer is committed; dropped if the run was no longer active.
    pub committed: oneshot::Sender<()>,
}

/// Maximum number of answers queued for a run.
const MAX_QUEUED_APPROVALS: usize = 16;

impl ActiveRuns {
    /// Adds a run to the active runs; it is stopped if a stop of it is in progress. Returns `None`
    /// if it is active already.
    pub fn enter(&self, run: RunKey) -> Option<RunSlot> {
        self.enter_after(run, StopNumber::default())
    }

    /// Returns the number of the latest stop, for [`Self::enter_after`].
    pub fn latest_stop(&self) -> StopNumber {
        self.lock().latest_stop
    }

    /// Adds a run to the active runs; it is stopped only if a stop that began after `before` is in
    /// progress. A user who continues a stopped run wants it to run.
    pub fn enter_after(&self, run: RunKey, before: StopNumber) -> Option<RunSlot> {
        let stop = CancellationToken::new();
        let (end, ended) = watch::channel(());
        let (answer, answers) = mpsc::channel(MAX_QUEUED_APPROVALS);
        let mut state = self.lock();
        let stops = state.stops.get(&(run.user_id, run.message_id));
        let is_stopping = stops.is_some_and(|stops| stops.iter().any(|stop| *stop > before));
        match state.entries.entry(run.message_id) {
            hash_map::Entry::Occupied(_) => return None,
            hash_map::Entry::Vacant(entry) => entry.insert(Entry {
                user_id: run.user_id,
                stop: stop.clone(),
                approvals: answer,
                closed: ended,
            }),
        };
        if is_stopping {
            stop.cancel();
        }
        Some(RunSlot {
            active: self.clone(),
            run: run.message_id,
            stop,
            approvals: answers,
            _end: end,
        })
    }

    /// Returns any active run.
    pub fn any_active(&self) -> Option<MessageId> {
        self.lock().entries.keys().next().copied()
    }

    /// Stops a run of a user. A run that enters while the guard is held is stopped too.
    pub fn stop(&self, user_id: UserId, run: MessageId) -> StopGuard {
        let key = (user_id, run);
        let mut state = self.lock();
        let ticket = StopNumber(state.latest_stop.0 + 1);
        state.latest_stop = ticket;
        state.stops.entry(key).or_default().push(ticket);
        if let Some(entry) = state.entries.get(&run).filter(|entry| entry.user_id == user_id) {
            entry.stop.cancel();
        }
        StopGuard {
            active: self.clone(),
            run: key,
            number: ticket,
        }
    }

    /// Delivers the user's answer to a user's run, if it is active. Waits until the answer is
    /// committed or the run is no longer active; in the second case the run has not received it.
    pub async fn deliver_approval(
        &self,
        user_id: UserId,
        run: MessageId,
        index: usize,
        answer: ApprovalAnswer,
    ) -> bool {
        let entry = self.lock().entries.get(&run).cloned();
        let Some(entry) = entry.filter(|entry| entry.user_id == user_id) else {
            return false;
        };
        let (done, committed) = oneshot::channel();
        let answer = ApprovalReply {
            index,
            answer,
            committed: done,
        };
        let is_delivered = entry.approvals.send(answer).await.is_ok() && committed.await.is_ok();
        if !is_delivered {
            self.wait_until_ended(run).await;
        }
        is_delivered
    }

    /// Waits until a run is no longer active.
    pub async fn wait_until_ended(&self, run: MessageId) {
        let entry = self.lock().entries.get(&run).cloned();
        if let Some(mut entry) = entry {
            // The sender never sends: it is closed when the slot is dropped.
            let _ = entry.closed.changed().await;
        }
    }

    /// Waits until no run is active.
    pub async fn wait_until_all_ended(&self) {
        while let Some(run) = self.any_active() {
            self.wait_until_ended(run).await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, RunTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.active.lock().entries.remove(&self.run);
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        let mut state = self.active.lock();
        if let hash_map::Entry::Occupied(mut stops) = state.stops.entry(self.run) {
            stops.get_mut().retain(|stop| *stop != self.number);
            if stops.get().is_empty() {
                stops.remove();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ConversationId;

    #[test]
    fn stops_a_run_that_enters_during_a_stop() {
        let at_work = ActiveRuns::default();
        let run = RunKey {
            user_id: UserId::LOCAL,
            conversation_id: ConversationId::new(),
            message_id: MessageId::new(),
        };
        let is_stopped = || at_work.enter(run).map(|slot| slot.stop.is_cancelled());
        let before = at_work.enter(run);
        let first = at_work.stop(run.user_id, run.message_id);
        let second = at_work.stop(run.user_id, run.message_id);
        assert_eq!(is_stopped(), None, "the slot is taken");
        drop(before);
        assert_eq!(is_stopped(), Some(true));
        drop(first);
        assert_eq!(is_stopped(), Some(true));
        let between = at_work.latest_stop();
        let is_continued = || {
            at_work
                .enter_after(run, between)
                .map(|slot| !slot.stop.is_cancelled())
        };
        assert_eq!(is_continued(), Some(true), "it is continued after the stop");
        let third = at_work.stop(run.user_id, run.message_id);
        assert_eq!(is_continued(), Some(false), "it is stopped again");
        drop(third);
        drop(second);
        assert_eq!(is_stopped(), Some(false));
    }
}
