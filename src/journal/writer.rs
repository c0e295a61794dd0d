//! The task that writes: commits what has come, publishes it, and finds what a damaged database does not take.

use std::{collections::HashSet, sync::Arc};

use tokio::sync::watch;

use super::{Done, JournalError, Queues, RETRY, keep_output, merge, refuse};
use crate::{
    clock,
    hub::Hub,
    protocol::MessageId,
    storage::{Change, RunKey, Storage, Trouble},
};

/// The task that writes.
pub(super) struct Writer {
    pub storage: Arc<dyn Storage>,
    pub hub: Arc<Hub>,
    pub queues: Queues,
    /// Runs of which something was lost to a damaged database, until their end.
    pub gives_up: watch::Sender<HashSet<MessageId>>,
}

impl Writer {
    pub async fn write(mut self) {
        loop {
            let came = self.queues.take().await;
            if came.is_empty() {
                return;
            }
            let (changes, waiting): (Vec<_>, Vec<_>) = merge(came.into_iter())
                .into_iter()
                .map(|entry| (entry.change, entry.done))
                .unzip();
            crash_point!("journal::taken", if changes.iter().any(Change::is_end));
            self.commit(changes, waiting).await;
        }
    }

    /// Commits all of them together. What a damaged database does not take is found by committing each of them alone.
    async fn commit(&mut self, mut changes: Vec<Change>, mut waiting: Vec<Option<Done>>) {
        let (mut delay, mut together) = (RETRY.0, usize::MAX);
        while !changes.is_empty() {
            self.refuse_given_up(&mut changes, &mut waiting);
            let count = changes.len().min(together);
            let batch = &changes[..count];
            if batch.is_empty() {
                return;
            }
            match self.storage.commit(clock::now(), batch).await {
                Ok(committed) => {
                    crash_point!("journal::committed", if batch.iter().any(Change::is_end));
                    self.hub.publish(&committed.events);
                    crash_point!("journal::published", if batch.iter().any(Change::is_end));
                    for (change, outcome) in batch.iter().zip(&committed.outcomes) {
                        if let (Change::GiveUp { run, events, .. }, Ok(_)) = (change, outcome)
                            && events.is_empty()
                        {
                            self.hub.give_up(*run);
                        }
                    }
                    for (done, outcome) in waiting.drain(..count).zip(committed.outcomes) {
                        if let Some(done) = done {
                            // Who asked may have gone; the change is made all the same.
                            let _ = done.send(outcome.map_err(JournalError::from));
                        }
                    }
                    crash_point!("journal::answered", if batch.iter().any(Change::is_end));
                    self.has_ended(batch);
                    changes.drain(..count);
                }
                Err(error) if error.trouble() == Trouble::Damaged => {
                    if count > 1 {
                        together = 1;
                        continue;
                    }
                    tracing::error!(%error, "the database is damaged: something could not be stored and is lost");
                    for (change, done) in changes.drain(..count).zip(waiting.drain(..count)) {
                        self.lose(&change, done);
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "could not commit; trying again in {delay:?}");
                    let trouble = error.trouble();
                    (changes, waiting) = keep_output(changes, waiting, trouble);
                    self.queues.refuse_for(delay, trouble).await;
                    delay = (delay * 2).min(RETRY.1);
                }
            }
        }
    }

    /// A change is not made, and will not be.
    fn lose(&self, change: &Change, done: Option<Done>) {
        refuse(done, Trouble::Damaged);
        if let Some(run) = at_work(change) {
            self.gives_up.send_modify(|runs| {
                runs.insert(run.message_id);
            });
        }
        if let Change::GiveUp {
            run,
            events,
            message: None,
            ..
        } = change
            && events.is_empty()
        {
            // Not even its status. It is not tried again before the next start.
            self.hub.give_up(*run);
            self.has_ended(std::slice::from_ref(change));
        }
    }

    /// Refuses all that comes after something that was lost: it would not fit to what is stored.
    fn refuse_given_up(&self, changes: &mut Vec<Change>, waiting: &mut Vec<Option<Done>>) {
        let given_up = self.gives_up.borrow();
        if given_up.is_empty() {
            return;
        }
        let is_lost = |change: &Change| at_work(change).is_some_and(|run| given_up.contains(&run.message_id));
        for at in (0..changes.len())
            .rev()
            .filter(|at| is_lost(&changes[*at]))
            .collect::<Vec<_>>()
        {
            changes.remove(at);
            refuse(waiting.remove(at), Trouble::Damaged);
        }
    }

    /// Forgets the runs that have ended: it matters no more that something of them was lost.
    fn has_ended(&self, changes: &[Change]) {
        self.gives_up.send_if_modified(|runs| {
            let before = runs.len();
            for change in changes {
                if let Change::End { run, .. } | Change::GiveUp { run, .. } = change {
                    runs.remove(&run.message_id);
                }
            }
            runs.len() < before
        });
    }
}

/// The run that has produced something, unless this is its end.
fn at_work(change: &Change) -> Option<RunKey> {
    match change {
        Change::Append { run, .. }
        | Change::Store { run, .. }
        | Change::Keep { run, .. }
        | Change::KeepOpaque { run, .. }
        | Change::Summarise { run, .. }
        | Change::Attach { run, .. }
        | Change::Pause { run, .. } => Some(*run),
        // Nothing depends on how it called its model.
        _ => None,
    }
}
