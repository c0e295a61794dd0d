//! The active runs of this process, so that they can be stopped and waited for. It knows nothing of
//! their work.

use std::{
    collections::{HashMap, hash_map},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::Runs;
use parlor_protocol::{ConversationId, MessageId, UserId, intent::ApprovalAnswer};
use parlor_storage::RunKey;

/// Orders stops and starts in time: each stop has the next number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StopNumber(u64);

/// The active runs in this process, and the stops in progress. Clones share the same state.
#[derive(Clone, Default)]
pub(super) struct ActiveRuns(Arc<Mutex<RunTable>>);

#[derive(Default)]
struct RunTable {
    entries: HashMap<MessageId, ActiveRun>,
    /// The stops in progress, by run. A run that enters meanwhile is stopped from the beginning.
    stops: HashMap<(UserId, MessageId), Vec<StopNumber>>,
    /// The number of the latest stop of any run.
    latest_stop: StopNumber,
}

#[derive(Clone)]
struct ActiveRun {
    user_id: UserId,
    conversation_id: ConversationId,
    /// True once its start is committed, so that it belongs to this process.
    has_begun: bool,
    /// False from when its end is being stored: whoever sees the end may start the next run at once.
    holds_place: bool,
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
    /// The time at which the run became active.
    pub entered: Instant,
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

/// The user has the maximum number of active runs.
#[derive(Debug)]
pub(super) struct TooManyRuns {
    pub limit: usize,
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
        self.0.lock().latest_stop
    }

    /// Adds a run to the active runs; it is stopped only if a stop that began after `before` is in
    /// progress. A user who continues a stopped run wants it to run.
    pub fn enter_after(&self, run: RunKey, before: StopNumber) -> Option<RunSlot> {
        self.enter_limited(run, before, None).unwrap_or_default()
    }

    /// Adds a run as [`enter_after`](Self::enter_after) does, within a limit. In a conversation that is being answered the limit does
    /// not count: no run starts there.
    ///
    /// # Errors
    ///
    /// If the user has the maximum number of other active runs.
    pub fn enter_limited(
        &self,
        run: RunKey,
        before: StopNumber,
        limit: Option<usize>,
    ) -> Result<Option<RunSlot>, TooManyRuns> {
        let mut state = self.0.lock();
        if let Some(limit) = limit
            && state.is_full(run, limit)
        {
            return Err(TooManyRuns { limit });
        }
        let stop = CancellationToken::new();
        let (end, ended) = watch::channel(());
        let (answer, answers) = mpsc::channel(MAX_QUEUED_APPROVALS);
        let stops = state.stops.get(&(run.user_id, run.message_id));
        let is_stopping = stops.is_some_and(|stops| stops.iter().any(|stop| *stop > before));
        match state.entries.entry(run.message_id) {
            hash_map::Entry::Occupied(_) => return Ok(None),
            hash_map::Entry::Vacant(entry) => entry.insert(ActiveRun {
                user_id: run.user_id,
                conversation_id: run.conversation_id,
                has_begun: false,
                holds_place: true,
                stop: stop.clone(),
                approvals: answer,
                closed: ended,
            }),
        };
        if is_stopping {
            stop.cancel();
        }
        Ok(Some(RunSlot {
            active: self.clone(),
            run: run.message_id,
            entered: Instant::now(),
            stop,
            approvals: answers,
            _end: end,
        }))
    }

    /// Returns the number of active runs.
    pub fn count(&self) -> usize {
        self.0.lock().entries.len()
    }

    /// Notes that the start of a run is committed.
    pub fn begin(&self, run: MessageId) {
        if let Some(entry) = self.0.lock().entries.get_mut(&run) {
            entry.has_begun = true;
        }
    }

    /// Returns the runs that belong to this process.
    pub fn begun(&self) -> Vec<MessageId> {
        let state = self.0.lock();
        let begun = state.entries.iter().filter(|(_, entry)| entry.has_begun);
        begun.map(|(run, _)| *run).collect()
    }

    /// Returns true if a run belongs to this process.
    pub fn has_begun(&self, run: MessageId) -> bool {
        self.0
            .lock()
            .entries
            .get(&run)
            .is_some_and(|entry| entry.has_begun)
    }

    /// Ends the work of a run that another process has taken. What it still wants to store is refused.
    pub fn lose(&self, run: MessageId) {
        if let Some(entry) = self.0.lock().entries.get(&run) {
            entry.stop.cancel();
        }
    }

    /// Returns any active run.
    pub fn any_active(&self) -> Option<MessageId> {
        self.0.lock().entries.keys().next().copied()
    }

    /// Stops a run of a user. A run that enters while the guard is held is stopped too.
    pub fn stop(&self, user_id: UserId, run: MessageId) -> StopGuard {
        let key = (user_id, run);
        let mut state = self.0.lock();
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
        let entry = self.0.lock().entries.get(&run).cloned();
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
        let entry = self.0.lock().entries.get(&run).cloned();
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
}

impl Runs {
    /// Returns the number of runs on which this process works.
    pub fn active_count(&self) -> usize {
        self.0.active.count()
    }
}

impl RunTable {
    /// Returns true if a run would be beyond the limit of its user, unless its conversation is being answered.
    fn is_full(&self, run: RunKey, limit: usize) -> bool {
        let own = self
            .entries
            .iter()
            .filter(|(_, active)| active.user_id == run.user_id);
        let is_answered = own
            .clone()
            .any(|(_, active)| active.conversation_id == run.conversation_id);
        let others = own.filter(|(id, active)| **id != run.message_id && active.holds_place);
        !is_answered && others.count() >= limit
    }
}

impl RunSlot {
    /// Gives up the run's place among those of its user, before its end is stored.
    pub fn free_place(&self) {
        if let Some(entry) = self.active.0.lock().entries.get_mut(&self.run) {
            entry.holds_place = false;
        }
    }
}

impl Drop for RunSlot {
    fn drop(&mut self) {
        self.active.0.lock().entries.remove(&self.run);
    }
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        let mut state = self.active.0.lock();
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
    use parlor_protocol::ConversationId;

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

    #[test]
    fn limits_the_runs_of_each_user() {
        let active = ActiveRuns::default();
        let run = |user_id, conversation_id| RunKey {
            user_id,
            conversation_id,
            message_id: MessageId::new(),
        };
        let (here, there) = (ConversationId::new(), ConversationId::new());
        let first = run(UserId::LOCAL, here);
        let enter = |run| active.enter_limited(run, StopNumber::default(), Some(1));
        let slot = enter(first).unwrap();
        assert!(slot.is_some() && enter(first).is_ok_and(|slot| slot.is_none()));
        assert!(enter(run(UserId::LOCAL, there)).is_err());
        assert!(enter(run(UserId::new(), there)).is_ok(), "another user");
        assert!(
            enter(run(UserId::LOCAL, here)).is_ok(),
            "the message waits for the end of the first"
        );
        let ending = slot.unwrap();
        ending.free_place();
        assert!(
            enter(run(UserId::LOCAL, there)).is_ok(),
            "its end is being stored"
        );
    }
}
