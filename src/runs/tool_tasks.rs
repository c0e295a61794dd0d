//! The tools that a run has at work: begun once that is committed, heard while they are at it, and always told of how they ended.

use std::{collections::HashMap, future::pending, sync::Arc};

use tokio::{
    sync::mpsc,
    task::{Id, JoinSet},
};

use crate::{
    agent::Input,
    journal::Journal,
    model::{ToolArtifacts, ToolOutcome},
    protocol::ToolProgress,
    secrets::Secrets,
    settings::Limits,
    storage::{RunKey, StoredAttachment},
    tools::{self, AnyTool, ToolError, ToolResult},
};

/// How many reports of tools may wait to be heard. What comes beyond that is not worth waiting for.
const MAX_QUEUED_REPORTS: usize = 64;

/// The tools of one run at work. They are ended when this is dropped.
pub(super) struct ToolTasks {
    run: RunKey,
    journal: Journal,
    /// How much of what a tool makes is kept.
    limits: Limits,
    /// Not to be in an error of a tool.
    secrets: Arc<Secrets>,
    tasks: JoinSet<Result<StoredToolResult, ToolError>>,
    /// The calls that they perform: each one's index, and what the person reads when it has ended.
    calls: HashMap<Id, (usize, String)>,
    /// How tools say how far they are.
    reporter: mpsc::Sender<(usize, ToolProgress)>,
    reports: mpsc::Receiver<(usize, ToolProgress)>,
}

/// What the model is told, and what was made for the person.
type StoredToolResult = (String, ToolArtifacts);

impl ToolTasks {
    pub fn new(run: RunKey, journal: Journal, limits: Limits, secrets: Arc<Secrets>) -> Self {
        let (reporter, reports) = mpsc::channel(MAX_QUEUED_REPORTS);
        Self {
            run,
            journal,
            limits,
            secrets,
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            reporter,
            reports,
        }
    }

    /// Begins a call. `tool` is what was offered by that name.
    pub fn start(&mut self, index: usize, name: String, tool: Option<Arc<dyn AnyTool>>, arguments: String) {
        let label = tool
            .as_ref()
            .map_or_else(|| name.clone(), |tool| tool.run_options().done_label.into_owned());
        let (run, journal) = (self.run, self.journal.clone());
        let limits = self.limits.clone();
        let reporter = self.reporter.clone();
        let task = self.tasks.spawn(async move {
            // What it does may have consequences: first it has to be known that it began.
            journal.flush(run).await.map_err(ToolError::new)?;
            let tool = tool.ok_or_else(|| ToolError(format!("There is no tool “{name}” any more.")))?;
            let whose = (run.user_id, run.conversation_id, run.message_id);
            let report = |said| {
                let _ = reporter.try_send((index, said));
            };
            let result = tools::execute(tool, &arguments, whose, report).await?;
            Ok(store_tool_result(result, run, &journal, &limits).await)
        });
        self.calls.insert(task.id(), (index, label));
    }

    /// The next thing that one of them does. Waits for ever if there is none.
    pub async fn next_input(&mut self) -> Input {
        let (id, given) = tokio::select! {
            Some((index, progress)) = self.reports.recv() => return Input::ToolProgress { index, progress },
            Some(ended) = self.tasks.join_next_with_id() => match ended {
                Ok(ended) => ended,
                // The model is told, and the run goes on.
                Err(error) => {
                    tracing::error!(%error, "a tool's task broke");
                    (error.id(), Err(ToolError::new("A fault in the tool broke it off.")))
                }
            },
            else => return pending().await,
        };
        let Some((index, label)) = self.calls.remove(&id) else {
            return pending().await;
        };
        let (output, made) = match given {
            Ok((text, made)) => (Ok(text), made),
            Err(error) => (Err(self.secrets.redact(&error.0)), ToolArtifacts::default()),
        };
        Input::ToolEnded {
            index,
            done: ToolOutcome {
                label,
                output,
                artifacts: made,
            },
        }
    }

    /// Ends them all, and waits until they have.
    pub async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
    }
}

/// Keeps what a tool has made for the person, and tells the model what they see of it.
async fn store_tool_result(
    result: ToolResult,
    run: RunKey,
    journal: &Journal,
    limits: &Limits,
) -> StoredToolResult {
    let (mut text, mut made) = (result.text, ToolArtifacts::default());
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
            made.payload = Some(payload.to_ref());
            journal.store_payload(run, payload).await;
        }
        Some(Err(too_large)) => tell(too_large),
        None => {}
    }
    let left_out = result.attachments.len().saturating_sub(limits.attachments);
    for attachment in result.attachments.into_iter().take(limits.attachments) {
        match attachment.into_attachment(limits.attachment_bytes) {
            Ok((attachment, data)) => {
                made.attachments.push(attachment.clone());
                journal
                    .store_attachment(run, StoredAttachment { attachment, data })
                    .await;
            }
            Err(too_large) => tell(too_large),
        }
    }
    if !made.attachments.is_empty() {
        let names: Vec<&str> = made.attachments.iter().map(|file| &*file.name).collect();
        tell(format!("The person is shown {}.", names.join(", ")));
    }
    if left_out > 0 {
        tell(format!(
            "{left_out} more files were not kept: {} are the most (setting limits.attachments).",
            limits.attachments
        ));
    }
    (text, made)
}
