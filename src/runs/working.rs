//! The tools that a run has at work: begun once that is committed, heard while they are at it, and always told of how they ended.

use std::{collections::HashMap, future::pending, sync::Arc};

use tokio::{
    sync::mpsc,
    task::{Id, JoinSet},
};

use crate::{
    agent::{Done, Input},
    journal::Journal,
    protocol::{PayloadRef, ToolProgress},
    storage::RunKey,
    tools::{self, AnyTool, ToolError},
};

/// How many reports of tools may wait to be heard. What comes beyond that is not worth waiting for.
const REPORTS: usize = 64;

/// The tools of one run at work. They are ended when this is dropped.
pub(super) struct Working {
    run: RunKey,
    journal: Journal,
    /// The most bytes that what a tool makes for the panel may have.
    payload_bytes: usize,
    tasks: JoinSet<Result<Given, ToolError>>,
    /// The calls that they perform: each one's index, and what the person reads when it has ended.
    calls: HashMap<Id, (usize, String)>,
    /// How tools say how far they are.
    reporter: mpsc::Sender<(usize, ToolProgress)>,
    reports: mpsc::Receiver<(usize, ToolProgress)>,
}

/// What the model is told, and what was made for the panel.
type Given = (String, Option<PayloadRef>);

impl Working {
    pub fn new(run: RunKey, journal: Journal, payload_bytes: usize) -> Self {
        let (reporter, reports) = mpsc::channel(REPORTS);
        Self {
            run,
            journal,
            payload_bytes,
            tasks: JoinSet::new(),
            calls: HashMap::new(),
            reporter,
            reports,
        }
    }

    /// Begins a call. `tool` is what was offered by that name.
    pub fn begin(&mut self, index: usize, name: String, tool: Option<Arc<dyn AnyTool>>, arguments: String) {
        let label = tool
            .as_ref()
            .map_or_else(|| name.clone(), |tool| tool.terms().done.into_owned());
        let (run, journal) = (self.run, self.journal.clone());
        let payload_bytes = self.payload_bytes;
        let reporter = self.reporter.clone();
        let task = self.tasks.spawn(async move {
            // What it does may have consequences: first it has to be known that it began.
            journal.committed(run).await.map_err(ToolError::new)?;
            let tool = tool.ok_or_else(|| ToolError(format!("There is no tool “{name}” any more.")))?;
            let whose = (run.user_id, run.conversation_id, run.message_id);
            let report = |said| {
                let _ = reporter.try_send((index, said));
            };
            let result = tools::execute(tool, &arguments, whose, report).await?;
            let mut text = result.text;
            let made = match result.payload.map(|made| made.named_within(payload_bytes)) {
                Some(Ok(made)) => made,
                Some(Err(too_large)) => {
                    text.push_str(&format!("\n\n({too_large})"));
                    return Ok((text, None));
                }
                None => return Ok((text, None)),
            };
            text.push_str(&format!(
                "\n\n(The person sees this as {}: {}.)",
                made.payload_id, made.summary
            ));
            let payload = made.reference();
            journal.keep(run, made).await;
            Ok((text, Some(payload)))
        });
        self.calls.insert(task.id(), (index, label));
    }

    /// The next thing that one of them does. Waits for ever if there is none.
    pub async fn happens(&mut self) -> Input {
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
        let (output, payload) = match given {
            Ok((text, payload)) => (Ok(text), payload),
            Err(error) => (Err(error.0), None),
        };
        Input::ToolEnded {
            index,
            done: Done {
                label,
                output,
                payload,
            },
        }
    }

    /// Ends them all, and waits until they have.
    pub async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
    }
}
