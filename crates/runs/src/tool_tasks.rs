//! The tool calls that a run has in progress. A call starts once its start is committed, its
//! progress is reported, and its end always is.

use std::{collections::HashMap, future::pending, sync::Arc};

use tokio::{
    sync::{mpsc, oneshot},
    task::{Id, JoinSet},
};
use tracing::Instrument;
use uuid::Uuid;

use crate::agent::Input;
use parlor_base::{metrics::runs::ToolOutcome as CountedOutcome, secrets::Secrets, settings::Limits};
use parlor_files::Files;
use parlor_journal::Journal;
use parlor_model::{ToolArtifacts, ToolInput, ToolOutcome};
use parlor_pages::payloads::PayloadViews;
use parlor_protocol::{Attachment, PageContext, TokenTotals, ToolProgress, attachment::files_note};
use parlor_storage::{FileLocation, RunKey, StoredFile};
use parlor_tools as tools;
use parlor_tools::{AnyTool, CallOrigin, FileLimits, NewAttachment, ToolError, ToolResult, UsageMeter};

/// Maximum number of queued progress reports. Further reports are dropped.
const MAX_QUEUED_REPORTS: usize = 64;

/// The tool calls of one run in progress. Dropping this aborts them.
pub(super) struct ToolTasks {
    run: RunKey,
    /// The page that the user had open when they asked.
    page: Option<Arc<PageContext>>,
    /// The files of the user's messages on the branch.
    attached: Arc<[Attachment]>,
    journal: Journal,
    files: Files,
    views: PayloadViews,
    /// Limits of stored tool results.
    limits: Limits,
    /// Redacted from tool errors.
    secrets: Arc<Secrets>,
    tasks: JoinSet<Result<StoredToolResult, ToolError>>,
    calls: HashMap<Id, RunningCall>,
    /// For each sequence of calls, closed when its latest call has ended: the next one waits for it.
    last_calls: HashMap<String, oneshot::Receiver<()>>,
    /// The channel for the tools' progress.
    reporter: mpsc::Sender<(usize, ToolProgress)>,
    reports: mpsc::Receiver<(usize, ToolProgress)>,
}

/// The output or the error for the model, and the artifacts for the user.
type StoredToolResult = (Result<String, String>, ToolArtifacts);

/// A call in progress.
struct RunningCall {
    index: usize,
    /// The label shown when the call has ended.
    label: String,
    usage: UsageMeter,
}

impl ToolTasks {
    pub fn new(
        run: RunKey,
        page: Option<Arc<PageContext>>,
        attached: Arc<[Attachment]>,
        journal: Journal,
        files: Files,
        limits: Limits,
        secrets: Arc<Secrets>,
    ) -> Self {
        let (reporter, reports) = mpsc::channel(MAX_QUEUED_REPORTS);
        Self {
            run,
            page,
            attached,
            journal,
            files,
            views: PayloadViews::default(),
            limits,
            secrets,
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            last_calls: HashMap::new(),
            reporter,
            reports,
        }
    }

    /// Sets the views of the payloads of all pages.
    pub fn with_views(mut self, views: PayloadViews) -> Self {
        self.views = views;
        self
    }

    /// Starts a call. `tool` is the offered tool of that name.
    pub fn start(&mut self, index: usize, name: String, tool: Option<Arc<dyn AnyTool>>, input: ToolInput) {
        let label = tool
            .as_ref()
            .map_or_else(|| name.clone(), |tool| tool.run_options().done_label.into_owned());
        let (run, journal, files) = (self.run, self.journal.clone(), self.files.clone());
        let (limits, page, attached) = (self.limits.clone(), self.page.clone(), self.attached.clone());
        let (views, reporter) = (self.views.clone(), self.reporter.clone());
        let usage = UsageMeter::default();
        let call = RunningCall {
            index,
            label,
            usage: usage.clone(),
        };
        let turn = tool
            .as_ref()
            .and_then(|tool| tool.sequence(input.arguments()))
            .map(|sequence| self.take_turn(sequence.into_owned()));
        let work = async move {
            // The call may have side effects: its start has to be committed first.
            journal.flush(run).await.map_err(ToolError::new)?;
            // Held to the end of the call.
            let _ended = match turn {
                Some((before, ended)) => {
                    if let Some(before) = before {
                        // It is closed, not sent.
                        let _ = before.await;
                    }
                    Some(ended)
                }
                None => None,
            };
            let tool = tool.ok_or_else(|| ToolError(format!("There is no tool “{name}” any more.")))?;
            let origin = CallOrigin {
                user_id: run.user_id,
                conversation_id: run.conversation_id,
                run: run.message_id,
                index,
                page,
                files: attached,
                usage,
            };
            let report = |progress| {
                let _ = reporter.try_send((index, progress));
            };
            let own_limits = tool.run_options().file_limits;
            let result = tools::execute(tool, input, origin, report).await?;
            let are_files_needed = own_limits.is_some();
            let file_limits = own_limits.unwrap_or(FileLimits {
                max_count: limits.attachments,
                max_bytes: limits.attachment_bytes,
                count_setting: "limits.attachments",
                bytes_setting: "limits.attachment_bytes",
            });
            let mut stored = ResultStore {
                run,
                journal: &journal,
                files: &files,
                views: &views,
                payload_bytes: limits.payload_bytes,
                file_limits,
                notes: Vec::new(),
            };
            stored.store(result, are_files_needed).await
        };
        let task = self.tasks.spawn(work.in_current_span());
        self.calls.insert(task.id(), call);
    }

    /// Puts a call behind the latest one of its sequence. Returns the end of that, and what to drop at its own.
    fn take_turn(&mut self, sequence: String) -> (Option<oneshot::Receiver<()>>, oneshot::Sender<()>) {
        let (ended, end) = oneshot::channel();
        (self.last_calls.insert(sequence, end), ended)
    }

    /// Returns the next input from a tool. Waits forever if there is no call.
    pub async fn next_input(&mut self) -> Input {
        let (id, result) = tokio::select! {
            Some((index, progress)) = self.reports.recv() => return Input::ToolProgress { index, progress },
            Some(ended) = self.tasks.join_next_with_id() => match ended {
                Ok(ended) => ended,
                // The model is given the error, and the run continues.
                Err(error) => {
                    tracing::error!(%error, "a tool's task failed");
                    (error.id(), Err(ToolError::new("A fault in the tool broke it off.")))
                }
            },
            else => return pending().await,
        };
        let Some(RunningCall { index, label, usage }) = self.calls.remove(&id) else {
            return pending().await;
        };
        let (output, artifacts) = match result {
            Ok(stored) => stored,
            Err(error) => (Err(error.0), ToolArtifacts::default()),
        };
        let counted = match &output {
            Ok(_) => CountedOutcome::Complete,
            Err(_) => CountedOutcome::Failed,
        };
        self.journal.metrics().runs.count_tool_calls(counted, 1);
        let output = output.map_err(|error| self.secrets.redact(&error));
        Input::ToolEnded {
            index,
            done: ToolOutcome {
                label,
                output,
                artifacts,
                usage: usage.total(),
            },
        }
    }

    /// Aborts all calls and waits until they have ended. Returns their use of models, which no end reports.
    pub async fn shut_down(&mut self) -> TokenTotals {
        self.tasks.shutdown().await;
        let metrics = self.journal.metrics();
        metrics
            .runs
            .count_tool_calls(CountedOutcome::Aborted, self.calls.len());
        let unreported = self.calls.drain().filter_map(|(_, call)| call.usage.total());
        unreported.fold(TokenTotals::default(), TokenTotals::plus)
    }
}

/// Stores the result of a call.
struct ResultStore<'a> {
    run: RunKey,
    journal: &'a Journal,
    files: &'a Files,
    views: &'a PayloadViews,
    payload_bytes: usize,
    file_limits: FileLimits,
    /// Notes for the model about the artifacts.
    notes: Vec<String>,
}

impl ResultStore<'_> {
    /// Stores the artifacts that a tool made for the user, and adds their description to the model's output.
    ///
    /// # Errors
    ///
    /// If the result has files that are needed, and none of them could be kept.
    async fn store(
        &mut self,
        result: ToolResult,
        are_files_needed: bool,
    ) -> Result<StoredToolResult, ToolError> {
        let (mut text, has_failed, mut artifacts) =
            (result.text, result.has_failed, ToolArtifacts::default());
        match result
            .payload
            .map(|payload| payload.into_payload(self.payload_bytes))
        {
            Some(Ok(payload)) => {
                let shown = self.views.to_ref(&payload);
                text.push_str(&shown.model_note());
                artifacts.payload = Some(shown);
                self.journal.store_payload(self.run, payload).await;
            }
            Some(Err(too_large)) => self.notes.push(too_large),
            None => {}
        }
        let are_files_lost = are_files_needed && !result.attachments.is_empty();
        artifacts.attachments = self.store_files(result.attachments).await;
        if are_files_lost && artifacts.attachments.is_empty() {
            return Err(ToolError(self.notes.join(" ")));
        }
        artifacts.attachments.extend(result.known_files);
        if !artifacts.attachments.is_empty() {
            self.notes.push(files_note(&artifacts.attachments));
        }
        for note in &self.notes {
            text.push_str(&format!("\n\n({note})"));
        }
        let output = if has_failed { Err(text) } else { Ok(text) };
        Ok((output, artifacts))
    }

    /// Stores files within the limits, and returns those that were kept.
    async fn store_files(&mut self, files: Vec<NewAttachment>) -> Vec<Attachment> {
        let left_out = files.len().saturating_sub(self.file_limits.max_count);
        let mut kept = Vec::new();
        for file in files.into_iter().take(self.file_limits.max_count) {
            match self.store_file(file).await {
                Ok(file) => kept.push(file),
                Err(why) => self.notes.push(why),
            }
        }
        if left_out > 0 {
            self.notes.push(format!(
                "{left_out} more files were not kept: at most {} are allowed (setting {}).",
                self.file_limits.max_count, self.file_limits.count_setting
            ));
        }
        kept
    }

    /// Stores a file.
    ///
    /// # Errors
    ///
    /// The message for the model.
    async fn store_file(&self, file: NewAttachment) -> Result<Attachment, String> {
        let (attachment, data) = file.into_attachment(&self.file_limits)?;
        let location = FileLocation {
            user_id: self.run.user_id,
            conversation_id: self.run.conversation_id,
            stored_name: Uuid::new_v4(),
        };
        let not_stored = "A file could not be stored just now. The person does not see it.";
        let file = StoredFile { attachment, location };
        let written = self.files.write_tool_file(file, &data).await.map_err(|error| {
            tracing::error!(%error, "a file of a tool can't be written");
            not_stored
        })?;
        Ok(written.commit_for_run(self.run).await.map_err(|error| {
            // The conversation was deleted meanwhile, or storage failed.
            tracing::warn!(%error, "a file of a tool is not kept");
            not_stored
        })?)
    }
}
