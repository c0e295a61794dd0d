//! A person's answer to a run that asks whether a tool call may begin.

use super::{Runs, StartError};
use crate::{
    journal::JournalError,
    protocol::UserId,
    storage::{Approval, Change, Refusal, RunKey},
};

impl Runs {
    /// Answers whether a tool call of a user's run may begin, and has the run go on. What was answered before, or has ended
    /// meanwhile, stays as it was: the first answer counts.
    ///
    /// # Errors
    ///
    /// If there is no such call, or storage does not work. Then the run still asks.
    pub async fn answer(&self, user_id: UserId, approval: Approval) -> Result<(), StartError> {
        let Approval { run, index, allowed } = approval;
        loop {
            self.check_open()?;
            // At work with other calls meanwhile, it takes the answer itself.
            if self.0.at_work.answer(user_id, run, index, allowed).await {
                return Ok(());
            }
            let Some(stored) = self
                .0
                .storage
                .run(user_id, run)
                .await
                .map_err(super::unavailable)?
            else {
                return Err(JournalError::Refused(Refusal::NotFound).into());
            };
            let RunKey { conversation_id, .. } = stored.key;
            let key = RunKey {
                user_id,
                conversation_id,
                message_id: run,
            };
            match self.begin(key, Change::Answer { user_id, approval }).await {
                // Between the two it has come to work again.
                Err(StartError::Journal(JournalError::Refused(Refusal::RunActive))) => {
                    tokio::task::yield_now().await;
                }
                answered => return answered.map(|_| ()),
            }
        }
    }
}
