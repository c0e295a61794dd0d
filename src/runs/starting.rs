//! Starting runs: what is checked before anything is stored, and the change that starts one.

use std::sync::atomic::Ordering::Relaxed;

use super::{Runs, unavailable};
use crate::{
    journal::JournalError,
    pages::ContextError,
    protocol::{
        ConversationId, IntentId, MessageId, Parameters, UserId,
        intent::{Continue, Regenerate, SendMessage, Started},
    },
    storage::{Change, Looking, Outcome, Refusal, RunKey, Start, Trouble},
};

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

/// What a change that starts a run has started.
fn started(outcome: Outcome) -> Result<Started, StartError> {
    match outcome {
        Outcome::Started { started, .. } => Ok(started),
        Outcome::Done | Outcome::Deleted { .. } | Outcome::Forgotten | Outcome::NotedOtherwise => {
            Err(JournalError::Refused(Refusal::NotFound).into())
        }
    }
}

impl Runs {
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

    pub(super) fn check_open(&self) -> Result<(), StartError> {
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
}
