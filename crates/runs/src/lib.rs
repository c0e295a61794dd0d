//! Runs: starts them, drives each to its end whether or not anybody watches, stops them, and ends
//! those that a crash left unfinished. With other nodes on the database, each works on its own ([`nodes`]).
//!
//! The [`agent`] decides a run's next step; this module performs it. The journal keeps a run's output;
//! this module keeps only the list of active runs. [`diagnostics`] are the records of a run's model calls.
//! [`mod@jobs`] are work with a plan of steps, of which [`mod@reports`] has two kinds.

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
use tracing::Instrument;

use self::{
    active_runs::{ActiveRuns, RunSlot, TooManyRuns},
    named_tools::with_code_tool,
};
use parlor_base::{
    clock, crash_point,
    settings::{
        AccountSettings, AgentSettings, HistorySettings, ImageSettings, Limits, ProjectSettings,
        PromptSettings, Settings, Timeouts,
    },
};
use parlor_files::Files;
use parlor_journal::{Journal, JournalError};
use parlor_pages::Pages;
use parlor_protocol::{
    AssistantMessage, ConversationId, RunError, RunEvent, RunStatus, Timestamp, UserId,
    model_list::ModelInfo, transcript::apply_to_run,
};
use parlor_providers::Models;
use parlor_storage::{
    Change, ChangeRejection, ConversationChange, Outcome, Queues, RunChange, RunKey, RunOutput, Storage,
    StorageError, StorageErrorKind,
};
use parlor_tools::ToolRegistry;

mod active_runs;
pub mod agent;
mod api_error;
mod approval;
mod approved_tools;
mod call_refusal;
pub mod diagnostics;
mod driver;
mod history;
pub mod jobs;
mod log_span;
mod message_files;
mod named_tools;
mod nodes;
mod page_payloads;
mod pending_model_call;
mod permissions;
mod queue;
mod recorder;
mod recovery;
pub mod reports;
mod request_builder;
mod rerun;
mod resumption;
mod retry;
mod side_call;
mod start;
mod stop;
mod summary;
mod title;
mod title_text;
mod token_meter;
mod tool_choice;
mod tool_tasks;

pub use api_error::invalid_parameters;
pub use call_refusal::CallRefusal;
pub use message_files::FileNotTaken;
pub use permissions::Permissions;
pub use start::StartError;
pub use stop::StopError;

#[cfg(test)]
mod tests;

/// The delay before another read when the database can't be read.
const READ_RETRY_DELAY: Duration = Duration::from_secs(1);

fn journal_error(error: StorageError) -> JournalError {
    tracing::error!(%error, "storage");
    JournalError::Unavailable(error.kind())
}

/// The reason why a read failed.
enum ReadError {
    ShuttingDown,
    Damaged,
}

impl Inner {
    /// Ends a run that can't continue because the database is damaged, so that nobody waits for it.
    /// Stores its last event and its message as far as possible. Has no effect on a run that no
    /// longer exists.
    async fn end_damaged_run(&self, run: RunKey, message: Option<AssistantMessage>) {
        let status = RunStatus::Failed;
        // An error about missing data says more.
        let damage = message.as_ref().and_then(|message| message.error.clone());
        let error = damage
            .filter(RunError::is_damage)
            .unwrap_or_else(agent::database_damaged);
        let event = RunEvent::run_ended(status, Some(error), clock::now(), 0);
        let with_message = message.map(|mut message| {
            // Its end, if it has one, could not be stored.
            message.status = RunStatus::Running;
            apply_to_run(&mut message, &event);
            message
        });
        let mut messages = vec![None];
        messages.extend(with_message.map(|message| Some(Box::new(message))));
        for events in [vec![event], Vec::new()] {
            for message in messages.iter().rev() {
                let give_up = Change::Output {
                    run,
                    output: RunOutput::AbandonRun {
                        events: events.clone(),
                        status,
                        message: message.clone(),
                    },
                };
                match self.journal.submit(give_up).await {
                    Err(JournalError::Unavailable(StorageErrorKind::Damaged)) => {}
                    Ok(_) | Err(_) => return,
                }
            }
        }
        tracing::error!(run = %run.message_id, "the end of an answer could not be stored: the database is damaged");
    }

    /// Waits until the tools of all sources are known, at most for the time in the settings.
    /// Returns `true` if they are known.
    async fn wait_for_tool_sources(&self) -> bool {
        let limit = self.timeouts.mcp_start;
        timeout(limit, self.tools.wait_until_settled()).await.is_ok()
    }

    /// Reads data that a run needs to continue or to end, and retries until that works.
    ///
    /// # Errors
    ///
    /// If the server shuts down before, or if the database is damaged: then a retry does not help.
    async fn retry_read<T, F>(&self, what: &str, read: impl Fn() -> F) -> Result<T, ReadError>
    where
        F: Future<Output = Result<T, StorageError>>,
    {
        loop {
            match read().await {
                Ok(read) => return Ok(read),
                Err(error) if error.kind() == StorageErrorKind::Damaged => {
                    tracing::error!(%error, "{what} can't be read: the database is damaged");
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
    files: Files,
    accounts: Arc<AccountSettings>,
    agent: AgentSettings,
    projects: ProjectSettings,
    prompt: PromptSettings,
    history: HistorySettings,
    images: ImageSettings,
    limits: Limits,
    timeouts: Timeouts,
    /// The settings for recording model calls.
    recorder_settings: Arc<recorder::RecorderSettings>,
    /// The conversations whose summary failed recently.
    summary_failures: summary::SummaryFailures,
    titles: title::Titles,
    /// The active runs. A run is in here from before its start is committed until after its end is
    /// committed.
    active: ActiveRuns,
    /// Set when the server shuts down: no new run is started.
    is_closed: AtomicBool,
    /// Cancelled when the active runs have ended, or when their time is over.
    shutdown: CancellationToken,
}

impl Runs {
    pub fn new(
        storage: Arc<dyn Storage>,
        journal: Journal,
        models: Arc<Models>,
        tools: ToolRegistry,
        pages: Pages,
        files: Files,
        settings: &Settings,
    ) -> Self {
        let secrets = models.secrets().clone();
        Self(Arc::new(Inner {
            storage,
            journal,
            models,
            tools,
            pages,
            files,
            accounts: Arc::new(settings.accounts.clone()),
            agent: settings.agent.clone(),
            projects: settings.projects.clone(),
            prompt: settings.prompt.clone(),
            history: settings.history.clone(),
            images: settings.images.clone(),
            limits: settings.limits.clone(),
            timeouts: settings.timeouts.clone(),
            recorder_settings: Arc::new(recorder::RecorderSettings::new(settings, secrets)),
            summary_failures: summary::SummaryFailures::new(settings.history.summary_retry),
            titles: title::Titles::from_settings(settings),
            active: ActiveRuns::default(),
            is_closed: AtomicBool::new(false),
            shutdown: CancellationToken::new(),
        }))
    }

    /// Returns `true` if a tool is offered to models now, on every page, for a user with these permissions.
    pub fn is_tool_offered(&self, permissions: &Permissions, name: &str) -> bool {
        let scope = self.0.pages.resolve(None);
        let is_there = || self.0.tools.offer_with(&scope.tools).get(name).is_some();
        permissions.allows_tool(name) && is_there()
    }

    /// Returns the tools that a user with these permissions has in any conversation, in their order: their names, and the labels of
    /// calls in progress.
    pub fn common_tools(&self, permissions: &Permissions) -> Vec<(String, String)> {
        let offer = self.0.tools.offer();
        let names = offer.only(|name| permissions.allows_tool(name)).names();
        let offer = self.0.tools.offer();
        let labelled = names.into_iter().filter_map(|name| {
            let label = offer.get(&name)?.label();
            Some((name, label))
        });
        labelled.collect()
    }

    /// Returns the reasons why tools are missing that nobody has asked for.
    pub fn unavailable_tools(&self) -> Vec<RunError> {
        let mut reasons = self.0.tools.unavailable();
        reasons.extend(self.0.models.image_model_problem(&self.0.images));
        reasons
    }

    /// Ends the sessions that tools keep for a user.
    pub fn end_sessions(&self, user_id: UserId) {
        if let Some(sessions) = self.0.tools.sessions() {
            sessions.end_of_user(user_id);
        }
    }

    /// Ends the session that tools keep for a conversation. The next call that needs it restores it.
    pub fn end_session(&self, conversation_id: ConversationId) {
        if let Some(sessions) = self.0.tools.sessions() {
            sessions.end(conversation_id);
        }
    }

    /// Returns the reasons why models don't get tools: those of their servers, refusals, and the tools that a user with these
    /// permissions has beyond the limits of these endpoints.
    pub fn tool_problems(&self, permissions: &Permissions, models: &[ModelInfo]) -> Vec<RunError> {
        let mut problems = self.0.tools.problems();
        let own_models = self.0.models.of_user(permissions.user_id());
        problems.extend(own_models.tool_problems());
        let scope = self.0.pages.resolve(None);
        let offer = self.0.tools.offer_with(&with_code_tool(scope.tools));
        let names = offer.only(|name| permissions.allows_tool(name)).names();
        problems.extend(tool_choice::limit_problems(&own_models, models, &names));
        problems
    }

    /// Commits the change that starts or resumes a run, and drives the run to its end.
    ///
    /// This runs in a task of its own: the caller may go away at any moment, and a committed run
    /// must still be driven. The run can be stopped from before its commit, since anybody who sees
    /// it may stop it.
    async fn start_run(&self, run: RunKey, change: Change) -> Result<Outcome, StartError> {
        let (answer, answered) = oneshot::channel();
        let runs = self.clone();
        let work = async move {
            // Earlier stops don't concern this run, even if they have not returned yet.
            let before = runs.0.active.latest_stop();
            let limit = runs.0.accounts.runs;
            let is_queued = matches!(change, Change::Run(RunChange::SendQueued { .. }));
            if let Err(error) = runs.leave_lost_run(run).await {
                let _ = answer.send(Err(error));
                return;
            }
            let mut slot = match runs.0.active.enter_limited(run, before, limit) {
                Ok(slot) => slot,
                Err(TooManyRuns { limit }) => {
                    let _ = answer.send(Err(StartError::Refused(CallRefusal::Runs { limit })));
                    return;
                }
            };
            let outcome = runs.0.journal.submit(change).await;
            let outcome = outcome.map_err(|error| match (error, limit) {
                // At other nodes.
                (JournalError::Rejected(ChangeRejection::TooManyRuns), Some(limit)) => {
                    StartError::Refused(CallRefusal::Runs { limit })
                }
                (error, _) => error.into(),
            });
            let has_started = matches!(outcome, Ok(Outcome::Started { again: false, .. }));
            if !has_started {
                let held_place = slot.take().is_some();
                // The caller may have gone away.
                let _ = answer.send(outcome);
                // A message in a queue may have found the place taken meanwhile. Those who send queues go on themselves.
                if held_place && limit.is_some() && !is_queued {
                    runs.send_queued(Queues::OfUser(run.user_id)).await;
                }
                return;
            }
            if slot.is_some() {
                runs.0.active.begin(run.message_id);
            }
            // The caller may have gone away.
            let _ = answer.send(outcome);
            // A run can be continued the moment its end is committed, while its driver still cleans
            // up.
            let mut slot = loop {
                match slot.take().or_else(|| runs.0.active.enter_after(run, before)) {
                    Some(slot) => break slot,
                    None => runs.0.active.wait_until_ended(run.message_id).await,
                }
            };
            runs.0.active.begin(run.message_id);
            let driven = runs.drive_run(run, &mut slot);
            driven.instrument(log_span::of_run(run)).await;
            drop(slot);
            crash_point!("runs::left");
            runs.make_title_later(run);
            // With a limit, messages in other conversations may have waited for this end too.
            let queues = match limit {
                Some(_) => Queues::OfUser(run.user_id),
                None => Queues::OfConversation(run.user_id, run.conversation_id),
            };
            runs.send_queued(queues).await;
        };
        // The lines of the log name the request, too.
        tokio::spawn(work.in_current_span());
        let unavailable = JournalError::Unavailable(StorageErrorKind::Other);
        answered.await.map_err(|_| unavailable)?
    }

    async fn drive_run(&self, run: RunKey, slot: &mut RunSlot) {
        let driven = AssertUnwindSafe(driver::drive(&self.0, run, slot))
            .catch_unwind()
            .await;
        if driven.is_err() {
            tracing::error!(run = %run.message_id, "the driver of a run panicked");
            let error = recovery::interrupted_error(
                "internal",
                "An internal error in Parlor interrupted the answer.",
            );
            self.end_abandoned_run(run, RunStatus::Interrupted, Some(error))
                .await;
        }
    }

    /// Deletes a conversation with all its data, and stops its run. Has no effect on one that is deleted already.
    pub async fn delete(&self, user_id: UserId, conversation_id: ConversationId) -> Result<(), StartError> {
        self.erase(user_id, conversation_id, ConversationChange::Delete)
            .await?;
        Ok(())
    }

    /// Deletes a user's conversation so that it can be restored, and stops its run. Has no effect on one that is deleted
    /// already.
    pub async fn trash(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        trashed_at: Timestamp,
    ) -> Result<(), JournalError> {
        let change = Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::Trash { trashed_at },
        };
        if let Outcome::Deleted {
            active_run: Some(run),
        } = self.0.journal.submit(change).await?
            && let Err(error) = self.stop(user_id, run).await
        {
            tracing::warn!(%error, "the answer of a deleted conversation could not be stopped");
        }
        Ok(())
    }

    /// Erases a conversation or a part of it by this change. Returns true, and stops its run, if all of it is erased.
    pub async fn erase(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        change: ConversationChange,
    ) -> Result<bool, JournalError> {
        let change = Change::Conversation {
            user_id,
            conversation_id,
            change,
        };
        let Outcome::Deleted { active_run } = self.0.journal.submit(change).await? else {
            return Ok(false);
        };
        if let Some(run) = active_run {
            // The storage drops the run's further output; the stop only saves work of the model.
            drop(self.0.active.stop(user_id, run));
        }
        if let Some(sessions) = self.0.tools.sessions() {
            sessions.forget(conversation_id);
        }
        Ok(true)
    }
}
