//! Runs: starts them, drives each to its end whoever is watching, stops them, and ends what a crash left
//! unfinished.
//!
//! What a run does next is the agent's to say; this module performs it. What a run has produced is the
//! journal's; this module remembers only which runs are at work.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use futures::FutureExt;
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use self::active_runs::{ActiveRuns, RunSlot};
use crate::{
    agent, clock,
    journal::{Journal, JournalError},
    pages::Pages,
    protocol::{
        AssistantMessage, ConversationId, EventBody, RunError, RunStatus, UserId, transcript::apply_to_run,
    },
    providers::Models,
    settings::{AgentSettings, HistorySettings, Limits, PromptSettings, Settings, Timeouts},
    storage::{Change, Outcome, RunKey, Storage, StorageError, StorageErrorKind},
    tools::ToolRegistry,
};

mod active_runs;
mod approval;
mod approved_tools;
mod driver;
mod history;
mod page_payloads;
mod pending_model_call;
mod recorder;
mod recovery;
mod request_builder;
mod start;
mod stop;
mod summary;
mod token_meter;
mod tool_tasks;

pub use start::StartError;
pub use stop::StopError;

#[cfg(test)]
mod recovery_tests;
#[cfg(test)]
mod stop_tests;
#[cfg(test)]
mod tests;

/// How long to wait when the database can't be read.
const READ_RETRY_DELAY: Duration = Duration::from_secs(1);

fn journal_error(error: StorageError) -> JournalError {
    tracing::error!(%error, "storage");
    JournalError::Unavailable(error.kind())
}

/// Reasons for which something was not read.
enum ReadError {
    ShuttingDown,
    Damaged,
}

impl Inner {
    /// Ends a run that a damaged database keeps from going on, so that nobody waits for it: with its last event and its message, as
    /// far as they can be stored. Does nothing to a run that is gone.
    async fn end_damaged_run(&self, run: RunKey, message: Option<AssistantMessage>) {
        let status = RunStatus::Failed;
        // That something is missing says more.
        let damage = message.as_ref().and_then(|message| message.error.clone());
        let error = damage
            .filter(RunError::is_damage)
            .unwrap_or_else(agent::database_damaged);
        let event = EventBody::run_ended(status, Some(error), clock::now(), 0);
        let with_message = message.map(|mut message| {
            // Whatever end it may have come to could not be stored.
            message.status = RunStatus::Running;
            apply_to_run(&mut message, &event);
            message
        });
        let mut messages = vec![None];
        messages.extend(with_message.map(|message| Some(Box::new(message))));
        for events in [vec![event], Vec::new()] {
            for message in messages.iter().rev() {
                let give_up = Change::AbandonRun {
                    run,
                    events: events.clone(),
                    status,
                    message: message.clone(),
                };
                match self.journal.submit(give_up).await {
                    Err(JournalError::Unavailable(StorageErrorKind::Damaged)) => {}
                    Ok(_) | Err(_) => return,
                }
            }
        }
        tracing::error!(run = %run.message_id, "the end of an answer could not be stored: the database is damaged");
    }

    /// Waits until it is known which tools there are, but for so long as the settings say. Says whether it is.
    async fn wait_for_tool_sources(&self) -> bool {
        let limit = Duration::from_secs_f64(self.timeouts.mcp_start_seconds);
        timeout(limit, self.tools.wait_until_settled()).await.is_ok()
    }

    /// Reads what a run can't go on or end without, and tries again until that works.
    ///
    /// # Errors
    ///
    /// If the server goes down before, or the database is damaged: then no other try helps.
    async fn retry_read<T, F>(&self, what: &str, read: impl Fn() -> F) -> Result<T, ReadError>
    where
        F: Future<Output = Result<T, StorageError>>,
    {
        loop {
            match read().await {
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == StorageErrorKind::Damaged || error.is_row_damage() => {
                    tracing::error!(%error, "{what} can't be read: it is damaged");
                    return Err(ReadError::Damaged);
                }
                Err(error) => tracing::error!(%error, "{what} can't be read; trying again"),
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return Err(ReadError::ShuttingDown),
                () = sleep(READ_RETRY_DELAY) => {}
            }
        }
    }
}

/// All runs of this process.
#[derive(Clone)]
pub struct Runs(Arc<Inner>);

struct Inner {
    storage: Arc<dyn Storage>,
    journal: Journal,
    models: Arc<Models>,
    tools: ToolRegistry,
    pages: Pages,
    agent: AgentSettings,
    prompt: PromptSettings,
    history: HistorySettings,
    limits: Limits,
    timeouts: Timeouts,
    /// What calls of models are written down by.
    recorder_settings: Arc<recorder::RecorderSettings>,
    /// Of which conversations no summary could be had a while ago.
    summary_failures: summary::SummaryFailures,
    /// A run is in here from before its start is committed until after its end is.
    active: ActiveRuns,
    /// The server goes down: nothing new is begun.
    is_closed: AtomicBool,
    /// Cancelled when what is at work has ended, or has had its time.
    shutdown: CancellationToken,
}

impl Runs {
    pub fn new(
        storage: Arc<dyn Storage>,
        journal: Journal,
        models: Arc<Models>,
        tools: ToolRegistry,
        pages: Pages,
        settings: &Settings,
    ) -> Self {
        Self(Arc::new(Inner {
            storage,
            journal,
            models,
            tools,
            pages,
            agent: settings.agent.clone(),
            prompt: settings.prompt.clone(),
            history: settings.history.clone(),
            limits: settings.limits.clone(),
            timeouts: settings.timeouts.clone(),
            recorder_settings: Arc::new(recorder::RecorderSettings::from_settings(settings)),
            summary_failures: summary::SummaryFailures::new(settings.history.summary_again_seconds),
            active: ActiveRuns::default(),
            is_closed: AtomicBool::new(false),
            shutdown: CancellationToken::new(),
        }))
    }

    /// Whether models are offered a tool now on every page.
    pub fn is_tool_offered(&self, name: &str) -> bool {
        let here = self.0.pages.resolve(None);
        self.0.tools.offer_with(&here.tools).get(name).is_some()
    }

    /// Reasons for which tools that the settings name are not there.
    pub fn tool_problems(&self) -> Vec<crate::protocol::RunError> {
        self.0.tools.problems()
    }

    /// Makes the change that starts a run, or has it go on, and drives the run to its end.
    ///
    /// All of it happens in a task of its own: who asked may go away at any moment, and a run that is committed must be driven
    /// all the same. The run can be stopped from before it is committed on, since whoever hears of it may stop it.
    async fn start_run(&self, run: RunKey, change: Change) -> Result<Outcome, StartError> {
        let (answer, answered) = oneshot::channel();
        let runs = self.clone();
        tokio::spawn(async move {
            // Stops from before are none of this one, even if they have not returned yet.
            let before = runs.0.active.latest_stop();
            let mut place = runs.0.active.enter_after(run, before);
            let outcome = runs.0.journal.submit(change).await;
            let has_started = matches!(outcome, Ok(Outcome::Started { again: false, .. }));
            // Who asked may have gone.
            let _ = answer.send(outcome);
            if !has_started {
                return;
            }
            // A run that is continued the moment that its end is committed: its driver is still tidying up.
            let mut place = loop {
                match place.take().or_else(|| runs.0.active.enter_after(run, before)) {
                    Some(place) => break place,
                    None => runs.0.active.wait_until_ended(run.message_id).await,
                }
            };
            runs.drive_run(run, &mut place).await;
            drop(place);
            crash_point!("runs::left");
        });
        let gone = JournalError::Unavailable(StorageErrorKind::Other);
        Ok(answered.await.map_err(|_| gone)??)
    }

    async fn drive_run(&self, run: RunKey, place: &mut RunSlot) {
        let driven = AssertUnwindSafe(driver::drive(&self.0, run, place))
            .catch_unwind()
            .await;
        if driven.is_err() {
            tracing::error!(run = %run.message_id, "the driver of a run panicked");
            let fault = recovery::interrupted_error("internal", "A fault in Parlor broke the answer off.");
            self.end_abandoned_run(run, RunStatus::Interrupted, Some(fault))
                .await;
        }
    }

    /// Deletes a conversation of a user with all that is in it, and stops its run. What is gone already stays gone.
    pub async fn delete(&self, user_id: UserId, conversation_id: ConversationId) -> Result<(), StartError> {
        let change = Change::DeleteConversation {
            user_id,
            conversation_id,
        };
        if let Outcome::Deleted {
            active_run: Some(run),
        } = self.0.journal.submit(change).await?
        {
            // What it still says is dropped by the storage; this only spares the model the work.
            drop(self.0.active.stop(user_id, run));
        }
        Ok(())
    }
}
