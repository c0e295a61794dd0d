//! Which runs are at work, so that they can be stopped and waited for. What they do is nobody's business here.

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

/// Orders stops and starts in time: a stop has the number after the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StopNumber(u64);

/// The runs at work in this process, and the stops that are under way. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct ActiveRuns(Arc<Mutex<RunTable>>);

#[derive(Default)]
struct RunTable {
    entries: HashMap<MessageId, Entry>,
    /// The stops that are under way, by run: whoever enters meanwhile is stopped from the beginning.
    stops: HashMap<(UserId, MessageId), Vec<StopNumber>>,
    /// The latest stop of any run.
    latest_stop: StopNumber,
}

#[derive(Clone)]
struct Entry {
    user_id: UserId,
    stop: CancellationToken,
    approvals: mpsc::Sender<ApprovalReply>,
    /// Closed when the run is not at work any more.
    closed: watch::Receiver<()>,
}

/// A run's place among those at work. It is left when this is dropped, and those who wait for that are told.
pub(super) struct RunSlot {
    active: ActiveRuns,
    run: MessageId,
    /// Cancelled when the run is to stop.
    pub stop: CancellationToken,
    /// What the person answers while it is at work.
    pub approvals: mpsc::Receiver<ApprovalReply>,
    _end: watch::Sender<()>,
}

/// A stop of a run that is under way until this is dropped.
#[must_use = "a stop is forgotten when this is dropped"]
pub(super) struct StopGuard {
    active: ActiveRuns,
    run: (UserId, MessageId),
    number: StopNumber,
}

/// Whether a tool call may begin.
#[derive(Debug)]
pub(super) struct ApprovalReply {
    pub index: usize,
    pub answer: ApprovalAnswer,
    /// Told when it is committed; dropped if the run was not at work any more.
    pub committed: oneshot::Sender<()>,
}

/// How many answers may wait for the run to hear them.
const MAX_QUEUED_APPROVALS: usize = 16;

impl ActiveRuns {
    /// Gives a run its place, stopped if a stop of it is under way. Nothing if it has one already.
    pub fn enter(&self, run: RunKey) -> Option<RunSlot> {
        self.enter_after(run, StopNumber::default())
    }

    /// The latest stop so far, for [`Self::enter_after`].
    pub fn latest_stop(&self) -> StopNumber {
        self.lock().latest_stop
    }

    /// Gives a run its place, stopped only if a stop that began after `before` is under way: whoever continues a run that was
    /// stopped wants it to go on.
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

    /// Any of them.
    pub fn first_active(&self) -> Option<MessageId> {
        self.lock().entries.keys().next().copied()
    }

    /// Tells a run of a user to stop, and whoever enters it for as long as the result is held.
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

    /// Gives a run of a user the person's answer, if it is at work; waits until that is committed, or the run is not at work
    /// any more (then it has not heard it).
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
        let heard = entry.approvals.send(answer).await.is_ok() && committed.await.is_ok();
        if !heard {
            self.wait_until_ended(run).await;
        }
        heard
    }

    /// Waits until a run is not at work any more.
    pub async fn wait_until_ended(&self, run: MessageId) {
        let entry = self.lock().entries.get(&run).cloned();
        if let Some(mut entry) = entry {
            // The sender never sends: it closes when the place is left.
            let _ = entry.closed.changed().await;
        }
    }

    /// Waits until none is at work.
    pub async fn wait_until_all_ended(&self) {
        while let Some(run) = self.first_active() {
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
        let is_stopped = || at_work.enter(run).map(|place| place.stop.is_cancelled());
        let before = at_work.enter(run);
        let first = at_work.stop(run.user_id, run.message_id);
        let second = at_work.stop(run.user_id, run.message_id);
        assert_eq!(is_stopped(), None, "the place is taken");
        drop(before);
        assert_eq!(is_stopped(), Some(true));
        drop(first);
        assert_eq!(is_stopped(), Some(true));
        let between = at_work.latest_stop();
        let is_continued = || {
            at_work
                .enter_after(run, between)
                .map(|place| !place.stop.is_cancelled())
        };
        assert_eq!(is_continued(), Some(true), "it is continued after the stop");
        let third = at_work.stop(run.user_id, run.message_id);
        assert_eq!(is_continued(), Some(false), "it is stopped again");
        drop(third);
        drop(second);
        assert_eq!(is_stopped(), Some(false));
    }
}
