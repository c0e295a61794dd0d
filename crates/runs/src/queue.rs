//! The queues of conversations: a message sent while a run is active waits for its end.

use std::{collections::HashSet, sync::atomic::Ordering::Relaxed};

use futures::{FutureExt, future::BoxFuture};
use tokio::time::sleep;

use super::{READ_RETRY_DELAY, Runs, StartError};
use parlor_base::crash_point;
use parlor_journal::JournalError;
use parlor_protocol::{ConversationId, UserId, intent::QueueChange};
use parlor_storage::{
    Change, ChangeRejection, ConversationChange, QueueLimits, Queues, RunChange, StorageErrorKind,
};

impl Runs {
    pub(super) fn queue_limits(&self) -> QueueLimits {
        let limits = &self.0.limits;
        QueueLimits {
            messages: limits.queued_messages,
            bytes: limits.queued_bytes,
        }
    }

    /// Changes the queue of a conversation.
    pub async fn change_queue(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        change: QueueChange,
    ) -> Result<(), StartError> {
        if let QueueChange::Edit { text, .. } = &change {
            // A message with files needs no text.
            self.check_text(text, true)?;
        }
        let change = Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::Queue {
                change,
                limits: self.queue_limits(),
            },
        };
        let runs = self.clone();
        // In a task of its own: the caller may go away, and a released queue must be sent.
        let changing = tokio::spawn(async move {
            runs.0.journal.submit(change).await?;
            tokio::spawn(runs.send_queued(Queues::OfConversation(user_id, conversation_id)));
            Ok::<_, JournalError>(())
        });
        let broke = JournalError::Unavailable(StorageErrorKind::Other);
        Ok(changing.await.map_err(|_| broke)??)
    }

    /// Sends the messages in the queues of a user whose account is enabled again.
    pub fn resume_queues(&self, user_id: UserId) {
        tokio::spawn(self.send_queued(Queues::OfUser(user_id)));
    }

    /// Sends the first message of each of these queues, if no run is active there and the queue is not held. The end of its
    /// run sends the next one.
    ///
    /// Boxed, since the end of a run calls this, and this starts a run.
    pub(super) fn send_queued(&self, queues: Queues) -> BoxFuture<'static, ()> {
        let runs = self.clone();
        async move {
            let mut not_found = HashSet::new();
            while !runs.0.is_closed.load(Relaxed) {
                let read = || runs.0.storage.ready_messages(queues);
                let Ok(ready) = runs.0.retry_read("the queued messages", read).await else {
                    return;
                };
                crash_point!("queue::found", if !ready.is_empty());
                let mut is_again = false;
                for ready in ready {
                    let (run, user_message_id) = (ready.run, ready.user_message_id);
                    match runs
                        .start_run(run, Change::Run(RunChange::SendQueued { run, user_message_id }))
                        .await
                    {
                        Ok(_) => {}
                        // The end of that run, or of another one of the user, continues.
                        Err(
                            StartError::Journal(JournalError::Rejected(ChangeRejection::RunActive))
                            | StartError::Refused(_),
                        ) => {}
                        // It was removed meanwhile, or the queue is held: another one may be the first now.
                        Err(StartError::Journal(JournalError::Rejected(ChangeRejection::NotFound)))
                            if not_found.insert(user_message_id) =>
                        {
                            is_again = true;
                        }
                        Err(StartError::Journal(JournalError::Unavailable(kind)))
                            if kind != StorageErrorKind::Damaged =>
                        {
                            is_again = true;
                            sleep(READ_RETRY_DELAY).await;
                        }
                        Err(error) => tracing::error!(%error, "a queued message could not be sent"),
                    }
                }
                if !is_again {
                    break;
                }
            }
            // A message of another queue may have found the place taken that was given up here.
            if let Queues::OfConversation(user_id, _) = queues
                && runs.0.accounts.runs.is_some()
                && !not_found.is_empty()
            {
                runs.send_queued(Queues::OfUser(user_id)).await;
            }
        }
        .boxed()
    }
}
