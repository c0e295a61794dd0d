//! The start of runs: the checks before anything is stored, and the change that starts a run.

use std::sync::atomic::Ordering::Relaxed;

use tracing::Instrument;

use super::{
    CallRefusal, Permissions, Runs, journal_error, message_files::FileNotTaken, named_tools::with_code_tool,
};
use parlor_base::crash_point;
use parlor_journal::JournalError;
use parlor_pages::ContextError;
use parlor_protocol::{
    ConversationId, IntentId, MessageId, Parameters, ProjectId, UserId,
    intent::{SendMessage, StartedRun},
};
use parlor_providers::UnknownModel;
use parlor_storage::{
    Change, ChangeRejection, IntentChange, Outcome, PageContextSnapshot, Queues, RunKey, RunStart,
    StorageErrorKind, schedules::ScheduledStart,
};

/// The reason why a run was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the message is empty")]
    Empty,
    #[error("the message has {length} bytes; the limit (limits.message_bytes) is {limit}")]
    TooLong { length: usize, limit: usize },
    #[error("the message has {count} files; the limit (files.max_count) is {limit}")]
    TooManyFiles { count: usize, limit: usize },
    #[error("{} can't take {}", .0.model, .0.name)]
    FileNotTaken(FileNotTaken),
    #[error("there is no tool {name}; there are: {}", offered.join(", "))]
    UnknownTool { name: String, offered: Vec<String> },
    #[error("{}", .0.message)]
    UnknownModel(UnknownModel),
    #[error("{0}")]
    Parameters(String),
    #[error("{}", .0.reason())]
    Refused(CallRefusal),
    #[error("the server is stopping")]
    ShuttingDown,
    #[error(transparent)]
    Context(#[from] ContextError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// The way in which a message is sent.
enum Sending {
    AtOnce,
    /// While a run is active in the conversation, it waits for its end.
    MayWait,
    /// By a schedule, whose advance to the next planned time is committed with it.
    Scheduled(ScheduledStart),
}

/// Returns the run that a change has started, or that starts when its message leaves the queue.
pub(super) fn into_started(outcome: Outcome) -> Result<StartedRun, StartError> {
    match outcome {
        Outcome::Started { started, .. } | Outcome::Queued(started) => Ok(started),
        Outcome::Done
        | Outcome::Unchanged
        | Outcome::Deleted { .. }
        | Outcome::DataDeleted
        | Outcome::NoteConflict
        | Outcome::JobTaken { .. } => Err(JournalError::Rejected(ChangeRejection::NotFound).into()),
    }
}

impl Runs {
    /// Saves a message and starts the run that answers it. The same intent again returns the same
    /// run.
    ///
    /// `fingerprint` is the unchanged request; it distinguishes two requests with the same id.
    /// This runs in a task of its own: the caller may go away at any moment, and the message is
    /// still sent.
    pub async fn send(
        &self,
        user_id: UserId,
        intent: SendMessage,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        self.send_in_task(user_id, intent, fingerprint, Sending::AtOnce)
            .await
    }

    /// Sends a message as [`send`](Self::send) does, but while a run is active in the conversation, the message waits for
    /// its end. The returned run then begins later.
    pub async fn send_or_queue(
        &self,
        user_id: UserId,
        intent: SendMessage,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        self.send_in_task(user_id, intent, fingerprint, Sending::MayWait)
            .await
    }

    /// Sends the message of a schedule as [`send`](Self::send) does. The advance of the schedule to its next planned time is
    /// committed with it.
    ///
    /// # Errors
    ///
    /// As for a message of the user; `NotFound` if the schedule was changed meanwhile, or if the planned time has started a run.
    pub async fn send_scheduled(
        &self,
        user_id: UserId,
        intent: SendMessage,
        scheduled: ScheduledStart,
        fingerprint: String,
    ) -> Result<StartedRun, StartError> {
        self.send_in_task(user_id, intent, fingerprint, Sending::Scheduled(scheduled))
            .await
    }

    async fn send_in_task(
        &self,
        user_id: UserId,
        intent: SendMessage,
        fingerprint: String,
        sending: Sending,
    ) -> Result<StartedRun, StartError> {
        let runs = self.clone();
        let sent = async move { runs.send_new(user_id, intent, fingerprint, sending).await };
        // The lines of the log name the request, too.
        let task = tokio::spawn(sent.in_current_span());
        let broke = JournalError::Unavailable(StorageErrorKind::Other);
        task.await.map_err(|_| broke)?
    }

    async fn send_new(
        &self,
        user_id: UserId,
        mut intent: SendMessage,
        fingerprint: String,
        sending: Sending,
    ) -> Result<StartedRun, StartError> {
        self.check_text(&intent.text, !intent.files.is_empty())?;
        let (start, model) = match self.prepare_send(user_id, &mut intent, &fingerprint).await {
            Ok(start) => start,
            Err(error) => {
                return self
                    .find_previous(user_id, intent.intent_id, &fingerprint, error)
                    .await;
            }
        };
        let (conversation_id, intent_id) = (intent.conversation_id, intent.intent_id);
        let run = RunKey {
            user_id,
            conversation_id,
            message_id: start.run,
        };
        self.0.models.of_user(user_id).prefetch_context_window(&model);
        let is_scheduled = matches!(sending, Sending::Scheduled(_));
        let change = match sending {
            Sending::AtOnce => IntentChange::SendMessage { intent, start },
            Sending::MayWait => IntentChange::QueueMessage {
                intent,
                start,
                limits: self.queue_limits(),
            },
            Sending::Scheduled(scheduled) => {
                crash_point!("schedule::sending");
                IntentChange::RunSchedule {
                    intent,
                    start,
                    scheduled,
                }
            }
        };
        let started = self.start_run(run, Change::Intent { user_id, change }).await;
        if is_scheduled {
            crash_point!("schedule::sent");
        }
        let outcome = match started {
            Err(error @ StartError::Refused(_)) => {
                return self.find_previous(user_id, intent_id, &fingerprint, error).await;
            }
            outcome => outcome?,
        };
        if matches!(outcome, Outcome::Queued(_)) {
            // The run may have ended meanwhile.
            tokio::spawn(self.send_queued(Queues::OfConversation(user_id, conversation_id)));
        }
        into_started(outcome)
    }

    /// Checks the text of a message. A message with files needs none.
    pub(super) fn check_text(&self, text: &str, has_files: bool) -> Result<(), StartError> {
        let (length, limit) = (text.len(), self.0.limits.message_bytes);
        if text.trim().is_empty() && !has_files {
            return Err(StartError::Empty);
        }
        if length > limit {
            return Err(StartError::TooLong { length, limit });
        }
        Ok(())
    }

    /// Prepares the start of the run that answers a message, with its model.
    async fn prepare_send(
        &self,
        user_id: UserId,
        intent: &mut SendMessage,
        fingerprint: &str,
    ) -> Result<(RunStart, String), StartError> {
        intent.model = self.find_named_model(user_id, intent.model.as_deref()).await?;
        let parameters = intent.parameters.as_ref().map(Parameters::parse).transpose();
        let parameters = parameters.map_err(StartError::Parameters)?;
        let (start, model) = self
            .prepare_start(
                user_id,
                intent.conversation_id,
                (intent.model.as_deref(), intent.project_id),
                fingerprint.to_owned(),
            )
            .await?;
        self.check_files(user_id, &intent.files, &model).await?;
        let page_context = self.0.pages.snapshot(user_id, intent.context.as_ref()).await?;
        self.check_tools(user_id, &intent.force_tools, page_context.as_ref())
            .await?;
        let start = RunStart {
            context_snapshot: page_context.map(Box::new),
            parameters,
            ..start
        };
        Ok((start, model))
    }

    pub(super) async fn check_call(&self, user_id: UserId, model: &str) -> Result<(), StartError> {
        let checked = self.0.check_call(user_id, model).await;
        checked.map_err(journal_error)?.map_err(StartError::Refused)
    }

    /// Returns the names of the tools that models are offered on the user's page.
    fn offered_tools(
        &self,
        permissions: &Permissions,
        page_context: Option<&PageContextSnapshot>,
    ) -> Vec<String> {
        let here = self
            .0
            .pages
            .resolve(page_context.map(|snapshot| &snapshot.context));
        let offer = self.0.tools.offer_with(&with_code_tool(here.tools));
        offer.only(|name| permissions.allows_tool(name)).names()
    }

    /// Returns the full name of the model that an intent names, if it names one.
    ///
    /// # Errors
    ///
    /// As [`find_model`](Self::find_model).
    pub async fn find_named_model(
        &self,
        user_id: UserId,
        name: Option<&str>,
    ) -> Result<Option<String>, StartError> {
        match name.filter(|name| !name.is_empty()) {
            Some(name) => self.find_model(user_id, name).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the run that this intent started before, or `error` if it started none. A repeated intent does not
    /// need what it refers to: the model or the page's objects may be gone since then.
    pub(super) async fn find_previous(
        &self,
        user_id: UserId,
        intent_id: IntentId,
        fingerprint: &str,
        error: StartError,
    ) -> Result<StartedRun, StartError> {
        let started = self.started_run(user_id, intent_id, fingerprint).await?;
        started.ok_or(error)
    }

    /// Returns the run that this intent started before, if it started one.
    ///
    /// # Errors
    ///
    /// If another request had the same id, or the database can't be read.
    pub async fn started_run(
        &self,
        user_id: UserId,
        intent_id: IntentId,
        fingerprint: &str,
    ) -> Result<Option<StartedRun>, StartError> {
        let done = self.0.storage.completed_intent(user_id, intent_id).await;
        match done.map_err(journal_error)? {
            Some(done) => Ok(done.replay(fingerprint).map_err(JournalError::from)?),
            None => Ok(None),
        }
    }

    /// Checks that these tools are offered on the user's page. A missing one may belong to a
    /// source that is still connecting, as for the run itself.
    ///
    /// # Errors
    ///
    /// If one is not offered.
    pub async fn check_tools(
        &self,
        user_id: UserId,
        wanted: &[String],
        page_context: Option<&PageContextSnapshot>,
    ) -> Result<(), StartError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let permissions = self.permissions(user_id).await.map_err(journal_error)?;
        let Err(_) = self.check_offered(&permissions, wanted, page_context) else {
            return Ok(());
        };
        tokio::select! {
            _ = self.0.wait_for_tool_sources() => self.check_offered(&permissions, wanted, page_context),
            () = self.0.shutdown.cancelled() => Err(StartError::ShuttingDown),
        }
    }

    fn check_offered(
        &self,
        permissions: &Permissions,
        wanted: &[String],
        page_context: Option<&PageContextSnapshot>,
    ) -> Result<(), StartError> {
        let offered = self.offered_tools(permissions, page_context);
        match wanted.iter().find(|name| !offered.contains(name)) {
            Some(name) => Err(StartError::UnknownTool {
                name: name.clone(),
                offered,
            }),
            None => Ok(()),
        }
    }

    pub(super) fn check_open(&self) -> Result<(), StartError> {
        if self.0.is_closed.load(Relaxed) {
            return Err(StartError::ShuttingDown);
        }
        Ok(())
    }

    pub(super) async fn prepare_start(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        (model, project_id): (Option<&str>, Option<ProjectId>),
        fingerprint: String,
    ) -> Result<(RunStart, String), StartError> {
        self.check_open()?;
        // Empty where another default is known. Without any default, the call reports why.
        let mut default_model = String::new();
        let model = match model {
            Some(model) => Some(model.to_owned()),
            None => {
                let own = self.0.storage.conversation_model(user_id, conversation_id).await;
                own.map_err(journal_error)?
            }
        };
        if model.is_none() {
            let permissions = self.permissions(user_id).await.map_err(journal_error)?;
            let list = self.allowed_models(&permissions).await;
            let of_project = self.project_model(user_id, project_id).await?;
            default_model = of_project.or(list.default).unwrap_or_default();
        }
        let model = model.unwrap_or_else(|| default_model.clone());
        self.check_call(user_id, &model).await?;
        let start = RunStart {
            context_snapshot: None,
            run: MessageId::new(),
            default_model,
            parameters: None,
            fingerprint,
        };
        Ok((start, model))
    }

    /// Returns the model of a user's project, if it can be used at present: otherwise the default one answers.
    async fn project_model(
        &self,
        user_id: UserId,
        project_id: Option<ProjectId>,
    ) -> Result<Option<String>, StartError> {
        let Some(project_id) = project_id else {
            return Ok(None);
        };
        let found = self.0.storage.project(user_id, project_id).await;
        let named = found
            .map_err(journal_error)?
            .and_then(|listed| listed.project.model);
        Ok(match named {
            Some(name) => self.find_model(user_id, &name).await.ok(),
            None => None,
        })
    }
}
