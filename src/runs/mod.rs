//! Runs: starts them, drives each to its end whoever is watching, stops them, and ends what a crash left
//! unfinished.
//!
//! What a run does next is the agent's to say; this module performs it. What a run has produced is the
//! journal's; this module remembers only which runs are at work.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use futures::FutureExt;
use tokio::{
    sync::oneshot,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use self::at_work::{AtWork, Place};
use crate::{
    journal::{Journal, JournalError},
    pages::{ContextError, Pages},
    protocol::{
        ConversationId, IntentId, MessageId, Parameters, RunStatus, UserId,
        intent::{Continue, Regenerate, SendMessage, Started},
    },
    providers::Models,
    settings::{Agent, History, Limits, Settings, Timeouts},
    storage::{Change, Looking, Outcome, Refusal, RunKey, Start, Storage, StorageError, Trouble},
    tools::Registry,
};

mod allowed;
mod approval;
mod at_work;
mod awaited;
mod context;
mod driver;
mod history;
mod meter;
mod recorder;
mod recovery;
mod stop;
mod summary;
mod working;
mod workshop;

pub use stop::StopError;

#[cfg(test)]
mod recovery_tests;
#[cfg(test)]
mod stop_tests;
#[cfg(test)]
mod tests;

/// How long to wait when the database can't be read.
const READ_AGAIN: Duration = Duration::from_secs(1);

/// Why a run was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the message is empty")]
    Empty,
    #[error("the message has {length} bytes; the limit (limits.message_bytes) is {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("there is no tool {name}; there are: {}", offered.join(", "))]
    UnknownTool { name: String, offered: Vec<String> },
    #[error("{0}")]
    Parameters(String),
    #[error("the server is stopping")]
    ShuttingDown,
    #[error(transparent)]
    Context(#[from] ContextError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

fn unavailable(error: StorageError) -> JournalError {
    tracing::error!(%error, "storage");
    JournalError::Unavailable(error.trouble())
}

/// What a change that starts a run has started.
fn started(outcome: Outcome) -> Result<Started, StartError> {
    match outcome {
        Outcome::Started { started, .. } => Ok(started),
        Outcome::Done | Outcome::Deleted { .. } | Outcome::Forgotten => {
            Err(JournalError::Refused(Refusal::NotFound).into())
        }
    }
}

impl Inner {
    /// Waits until it is known which tools there are, but for so long as the settings say. Says whether it is.
    async fn tools_settled(&self) -> bool {
        let limit = Duration::from_secs_f64(self.timeouts.mcp_start_seconds);
        timeout(limit, self.tools.settled()).await.is_ok()
    }

    /// Reads what a run can't go on or end without, and tries again until that works. Nothing if the server goes down before.
    async fn insist<T, F>(&self, what: &str, read: impl Fn() -> F) -> Option<T>
    where
        F: Future<Output = Result<T, StorageError>>,
    {
        loop {
            match read().await {
                Ok(read) => return Some(read),
                Err(error) => tracing::error!(%error, "{what} can't be read; trying again"),
            }
            tokio::select! {
                () = self.shutdown.cancelled() => return None,
                () = sleep(READ_AGAIN) => {}
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
    tools: Registry,
    pages: Pages,
    agent: Agent,
    history: History,
    limits: Limits,
    timeouts: Timeouts,
    /// What calls of models are written down by.
    recording: Arc<recorder::Terms>,
    /// Of which conversations no summary could be had a while ago.
    unsummarised: summary::Failures,
    /// A run is in here from before its start is committed until after its end is.
    at_work: AtWork,
    /// The server goes down: nothing new is begun.
    closed: AtomicBool,
    /// Cancelled when what is at work has ended, or has had its time.
    shutdown: CancellationToken,
}

impl Runs {
    pub fn new(
        storage: Arc<dyn Storage>,
        journal: Journal,
        models: Arc<Models>,
        tools: Registry,
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
            history: settings.history.clone(),
            limits: settings.limits.clone(),
            timeouts: settings.timeouts.clone(),
            recording: Arc::new(recorder::Terms::of(settings)),
            unsummarised: summary::Failures::new(settings.history.summary_again_seconds),
            at_work: AtWork::default(),
            closed: AtomicBool::new(false),
            shutdown: CancellationToken::new(),
        }))
    }

    /// Saves a message and starts the run that answers it; the same intent again gives the same run.
    ///
    /// `fingerprint` is the request as it came, to tell it from another with the same id. All of it happens in a task of its own: who
    /// asked may go away at any moment, and what they have sent is sent.
    pub async fn send(
        &self,
        user_id: UserId,
        intent: SendMessage,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        let runs = self.clone();
        let sending = tokio::spawn(async move { runs.send_now(user_id, intent, fingerprint).await });
        let broke = JournalError::Unavailable(Trouble::Other);
        sending.await.map_err(|_| broke)?
    }

    async fn send_now(
        &self,
        user_id: UserId,
        intent: SendMessage,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        let (length, limit) = (intent.text.len(), self.0.limits.message_bytes);
        if intent.text.trim().is_empty() {
            return Err(StartError::Empty);
        }
        if length > limit {
            return Err(StartError::TooLong { length, limit });
        }
        let (start, model) = match self.start_of(user_id, &intent, &fingerprint).await {
            Ok(start) => start,
            // What the message names may have gone since: the same intent again is no reason to look for it.
            Err(error) => {
                let before = self.before(user_id, intent.intent_id, &fingerprint).await?;
                return before.ok_or(error);
            }
        };
        let conversation_id = intent.conversation_id;
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.0.models.foresee(&model);
        let change = Change::Send {
            user_id,
            intent,
            start,
        };
        started(self.begin(run, change).await?)
    }

    /// How the run starts that answers a message, and with which model.
    async fn start_of(
        &self,
        user_id: UserId,
        intent: &SendMessage,
        fingerprint: &str,
    ) -> Result<(Start, String), StartError> {
        let parameters = intent.parameters.as_ref().map(Parameters::read).transpose();
        let parameters = parameters.map_err(StartError::Parameters)?;
        let (start, model) = self
            .starting(
                user_id,
                intent.conversation_id,
                intent.model.as_deref(),
                fingerprint.to_owned(),
            )
            .await?;
        let looking = self.0.pages.look(user_id, intent.context.as_ref()).await?;
        self.check_tools(&intent.force_tools, looking.as_ref()).await?;
        let start = Start {
            looking: looking.map(Box::new),
            parameters,
            ..start
        };
        Ok((start, model))
    }

    /// Starts a run that answers once more what a message answered.
    pub async fn regenerate(
        &self,
        user_id: UserId,
        intent: Regenerate,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        let conversation_id = intent.conversation_id;
        let (start, model) = self
            .starting(user_id, conversation_id, intent.model.as_deref(), fingerprint)
            .await?;
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.0.models.foresee(&model);
        let change = Change::Regenerate {
            user_id,
            intent,
            start,
        };
        started(self.begin(run, change).await?)
    }

    /// Goes on with an answer that did not come to its end.
    pub async fn go_on(
        &self,
        user_id: UserId,
        intent: Continue,
        fingerprint: String,
    ) -> Result<Started, StartError> {
        self.check_open()?;
        let run = RunKey {
            user_id,
            conversation_id: intent.conversation_id,
            message_id: intent.message_id,
        };
        let change = Change::Continue {
            user_id,
            intent,
            fingerprint,
        };
        started(self.begin(run, change).await?)
    }

    /// Whether models are offered a tool now on every page.
    pub fn offers(&self, name: &str) -> bool {
        let here = self.0.pages.resolve(None);
        self.0.tools.offer_with(&here.tools).get(name).is_some()
    }

    /// What models are offered now where the person is.
    fn tools_on(&self, looking: Option<&Looking>) -> Vec<String> {
        let here = self.0.pages.resolve(looking.map(|looking| &looking.context));
        self.0.tools.offer_with(&here.tools).names()
    }

    /// What this intent has started, if it came before.
    async fn before(
        &self,
        user_id: UserId,
        intent_id: IntentId,
        fingerprint: &str,
    ) -> Result<Option<Started>, StartError> {
        let done = self.0.storage.intent(user_id, intent_id).await;
        match done.map_err(unavailable)? {
            Some(done) => Ok(done.again(fingerprint).map_err(JournalError::from)?),
            None => Ok(None),
        }
    }

    /// Whether these are offered where the person is. One that is not may be a tool that is still to come, as it is for the run.
    async fn check_tools(&self, wanted: &[String], looking: Option<&Looking>) -> Result<(), StartError> {
        let Err(_) = self.are_offered(wanted, looking) else {
            return Ok(());
        };
        tokio::select! {
            _ = self.0.tools_settled() => self.are_offered(wanted, looking),
            () = self.0.shutdown.cancelled() => Err(StartError::ShuttingDown),
        }
    }

    fn are_offered(&self, wanted: &[String], looking: Option<&Looking>) -> Result<(), StartError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let offered = self.tools_on(looking);
        match wanted.iter().find(|name| !offered.contains(name)) {
            Some(name) => Err(StartError::UnknownTool {
                name: name.clone(),
                offered,
            }),
            None => Ok(()),
        }
    }

    fn check_open(&self) -> Result<(), StartError> {
        if self.0.closed.load(Relaxed) {
            return Err(StartError::ShuttingDown);
        }
        Ok(())
    }

    async fn starting(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        model: Option<&str>,
        fingerprint: String,
    ) -> Result<(Start, String), StartError> {
        self.check_open()?;
        // Left empty where another one is known. If there is none, the call says why.
        let mut default_model = String::new();
        let model = match model {
            Some(model) => Some(model.to_owned()),
            None => {
                let own = self.0.storage.model(user_id, conversation_id).await;
                own.map_err(unavailable)?
            }
        };
        if model.is_none() {
            default_model = self.0.models.list().await.default.unwrap_or_default();
        }
        let model = model.unwrap_or_else(|| default_model.clone());
        let start = Start {
            looking: None,
            run: MessageId::new(),
            default_model,
            parameters: None,
            fingerprint,
        };
        Ok((start, model))
    }

    /// Makes the change that starts a run, or has it go on, and drives the run to its end.
    ///
    /// All of it happens in a task of its own: who asked may go away at any moment, and a run that is committed must be driven
    /// all the same. The run can be stopped from before it is committed on, since whoever hears of it may stop it.
    async fn begin(&self, run: RunKey, change: Change) -> Result<Outcome, StartError> {
        let (answer, answered) = oneshot::channel();
        let runs = self.clone();
        tokio::spawn(async move {
            let mut place = runs.0.at_work.enter(run);
            let outcome = runs.0.journal.submit(change).await;
            let begun = matches!(outcome, Ok(Outcome::Started { again: false, .. }));
            // Who asked may have gone.
            let _ = answer.send(outcome);
            if !begun {
                return;
            }
            // A run that is continued the moment that its end is committed: its driver is still tidying up.
            let mut place = loop {
                match place.take().or_else(|| runs.0.at_work.enter(run)) {
                    Some(place) => break place,
                    None => runs.0.at_work.ended(run.message_id).await,
                }
            };
            runs.drive(run, &mut place).await;
            drop(place);
            crash_point!("runs::left");
        });
        let gone = JournalError::Unavailable(Trouble::Other);
        Ok(answered.await.map_err(|_| gone)??)
    }

    async fn drive(&self, run: RunKey, place: &mut Place) {
        let driven = AssertUnwindSafe(driver::drive(&self.0, run, place))
            .catch_unwind()
            .await;
        if driven.is_err() {
            tracing::error!(run = %run.message_id, "the driver of a run panicked");
            let fault = recovery::broke_off("internal", "A fault in Parlor broke the answer off.");
            self.end_undriven(run, RunStatus::Interrupted, Some(fault)).await;
        }
    }

    /// Deletes a conversation of a user with all that is in it, and stops its run. What is gone already stays gone.
    pub async fn delete(&self, user_id: UserId, conversation_id: ConversationId) -> Result<(), StartError> {
        let change = Change::Delete {
            user_id,
            conversation_id,
        };
        if let Outcome::Deleted {
            active_run: Some(run),
        } = self.0.journal.submit(change).await?
        {
            // What it still says is dropped by the storage; this only spares the model the work.
            self.0.at_work.stop(user_id, run);
        }
        Ok(())
    }
}
