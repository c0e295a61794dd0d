//! The tool calls that a run has in progress. A call starts once its start is committed, its
//! progress is reported, and its end always is.

use std::{collections::HashMap, future::pending, sync::Arc};

use tokio::{
    sync::mpsc,
    task::{Id, JoinSet},
};
use uuid::Uuid;

use crate::{
    agent::Input,
    files::Files,
    journal::Journal,
    model::{ToolArtifacts, ToolInput, ToolOutcome},
    protocol::{PageContext, ToolProgress},
    secrets::Secrets,
    settings::Limits,
    storage::{FileLocation, RunKey, StoredFile},
    tools::{self, AnyTool, CallOrigin, ToolError, ToolResult},
};

/// Maximum number of queued progress reports. Further reports are dropped.
const MAX_QUEUED_REPORTS: usize = 64;

/// The tool calls of one run in progress. Dropping this aborts them.
pub(super) struct ToolTasks {
    run: RunKey,
    /// The page that the user had open when they asked.
    page: Option<Arc<PageContext>>,
    journal: Journal,
    files: Files,
    /// Limits of stored tool results.
    limits: Limits,
    /// Redacted from tool errors.
    secrets: Arc<Secrets>,
    tasks: JoinSet<Result<StoredToolResult, ToolError>>,
    /// The calls by task: the index, and the label shown when the call has ended.
    calls: HashMap<Id, (usize, String)>,
    /// The channel for the tools' progress.
    reporter: mpsc::Sender<(usize, ToolProgress)>,
    reports: mpsc::Receiver<(usize, ToolProgress)>,
}

/// The output for the model, and the artifacts for the user.
type StoredToolResult = (String, ToolArtifacts);

impl ToolTasks {
    pub fn new(
        run: RunKey,
        page: Option<Arc<PageContext>>,
        journal: Journal,
        files: Files,
        limits: Limits,
        secrets: Arc<Secrets>,
    ) -> Self {
        let (reporter, reports) = mpsc::channel(MAX_QUEUED_REPORTS);
        Self {
            run,
            page,
            journal,
            files,
            limits,
            secrets,
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            reporter,
            reports,
        }
    }

    /// Starts a call. `tool` is the offered tool of that name.
    pub fn start(&mut self, index: usize, name: String, tool: Option<Arc<dyn AnyTool>>, input: ToolInput) {
        let label = tool
            .as_ref()
            .map_or_else(|| name.clone(), |tool| tool.run_options().done_label.into_owned());
        let (run, journal, files) = (self.run, self.journal.clone(), self.files.clone());
        let (limits, page) = (self.limits.clone(), self.page.clone());
        let reporter = self.reporter.clone();
        let task = self.tasks.spawn(async move {
            // The call may have side effects: its start has to be committed first.
            journal.flush(run).await.map_err(ToolError::new)?;
            let tool = tool.ok_or_else(|| ToolError(format!("There is no tool “{name}” any more.")))?;
            let origin = CallOrigin {
                user_id: run.user_id,
                conversation_id: run.conversation_id,
                run: run.message_id,
                page,
            };
            let report = |progress| {
                let _ = reporter.try_send((index, progress));
            };
            let result = tools::execute(tool, input, origin, report).await?;
            Ok(store_tool_result(result, run, &journal, &files, &limits).await)
        });
        self.calls.insert(task.id(), (index, label));
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
        let Some((index, label)) = self.calls.remove(&id) else {
            return pending().await;
        };
        let (output, artifacts) = match result {
            Ok((text, artifacts)) => (Ok(text), artifacts),
            Err(error) => (Err(self.secrets.redact(&error.0)), ToolArtifacts::default()),
        };
        Input::ToolEnded {
            index,
            done: ToolOutcome {
                label,
                output,
                artifacts,
            },
        }
    }

    /// Aborts all calls and waits until they have ended.
    pub async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
    }
}

/// Stores the artifacts that a tool made for the user, and adds their description to the model's
/// output.
async fn store_tool_result(
    result: ToolResult,
    run: RunKey,
    journal: &Journal,
    files: &Files,
    limits: &Limits,
) -> StoredToolResult {
    let (mut text, mut artifacts) = (result.text, ToolArtifacts::default());
    let mut tell = |what: String| text.push_str(&format!("\n\n({what})"));
    match result
        .payload
        .map(|payload| payload.into_payload(limits.payload_bytes))
    {
        Some(Ok(payload)) => {
            tell(format!(
                "The person sees this as {}: {}.",
                payload.payload_id, payload.summary
            ));
            artifacts.payload = Some(payload.to_ref());
            journal.store_payload(run, payload).await;
        }
        Some(Err(too_large)) => tell(too_large),
        None => {}
    }
    let left_out = result.attachments.len().saturating_sub(limits.attachments);
    for attachment in result.attachments.into_iter().take(limits.attachments) {
        match attachment.into_attachment(limits.attachment_bytes) {
            Ok((attachment, data)) => {
                let location = FileLocation {
                    user_id: run.user_id,
                    conversation_id: run.conversation_id,
                    stored_name: Uuid::new_v4(),
                };
                let file = StoredFile { attachment, location };
                match files.write_tool_file(file, &data).await {
                    Ok(file) => {
                        artifacts.attachments.push(file.attachment.clone());
                        journal.store_attachment(run, file).await;
                    }
                    Err(error) => {
                        tracing::error!(%error, "a file of a tool can't be written");
                        tell("A file could not be stored just now. The person does not see it.".into());
                    }
                }
            }
            Err(too_large) => tell(too_large),
        }
    }
    artifacts.attachments.extend(result.known_files);
    if !artifacts.attachments.is_empty() {
        let names: Vec<&str> = artifacts.attachments.iter().map(|file| &*file.name).collect();
        tell(format!("The person is shown {}.", names.join(", ")));
    }
    if left_out > 0 {
        tell(format!(
            "{left_out} more files were not kept: {} are the most (setting limits.attachments).",
            limits.attachments
        ));
    }
    (text, artifacts)
}
