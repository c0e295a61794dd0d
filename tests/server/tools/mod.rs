//! Tools in a real run: the loop over HTTP, with tools that wait, fail, never end or need approval. This
//! module has those tools.

mod approvals;
mod calls;
mod interruptions;

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use parlor_tools::{NewPayload, Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};
use upstream::{Script, Upstream};

use crate::support::{Parlor, parlor_with_tools};

#[derive(Deserialize, JsonSchema)]
pub struct Named {
    /// A name that tells calls apart.
    name: String,
}

/// A tool whose call ends when two of its calls are running.
struct BarrierTool(Barrier);

impl Tool for BarrierTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("together");
    const DESCRIPTION: &'static str = "Waits for another one.";
    const LABEL: &'static str = "Waiting";
    const DONE: &'static str = "Waited";

    fn detail(&self, input: &Named) -> Option<String> {
        Some(input.name.clone())
    }

    async fn run(&self, input: Named, call: ToolContext) -> Result<ToolResult, ToolError> {
        call.progress
            .report("waiting", format!("{} is here", input.name), None);
        self.0.wait().await;
        Ok(format!("{} is done", input.name).into())
    }
}

/// The state of a tool that never ends.
#[derive(Default)]
struct EndlessToolState {
    start_count: AtomicUsize,
    started: Notify,
    drop_count: AtomicUsize,
}

struct EndlessTool(Arc<EndlessToolState>);

impl Tool for EndlessTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("endless");
    const DESCRIPTION: &'static str = "Never ends.";
    const LABEL: &'static str = "Going on";
    const DONE: &'static str = "Went on";

    async fn run(&self, _: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        struct Guard(Arc<EndlessToolState>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.drop_count.fetch_add(1, SeqCst);
            }
        }
        let _guard = Guard(self.0.clone());
        self.0.start_count.fetch_add(1, SeqCst);
        self.0.started.notify_one();
        std::future::pending().await
    }
}

/// A tool that fails in the requested way.
pub struct FailingTool;

impl Tool for FailingTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("failing");
    const DESCRIPTION: &'static str = "Fails.";
    const LABEL: &'static str = "Trying";
    const DONE: &'static str = "Tried";
    const TIMEOUT: Duration = Duration::from_millis(300);
    const OUTPUT_BYTES: usize = 1000;

    async fn run(&self, input: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        match input.name.as_str() {
            "error" => Err(ToolError::new("The thing is not there. Name another one.")),
            "panic" => panic!("as asked"),
            "slow" => std::future::pending().await,
            "huge" => Ok("ä".repeat(25 << 20).into()),
            _ => Ok("fine".to_owned().into()),
        }
    }
}

/// A tool that needs approval. It counts its runs.
pub struct ApprovalTool(pub Arc<AtomicUsize>);

impl Tool for ApprovalTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("asking");
    const DESCRIPTION: &'static str = "Changes something.";
    const LABEL: &'static str = "Changing";
    const DONE: &'static str = "Changed";
    const NEEDS_APPROVAL: bool = true;

    async fn run(&self, input: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.fetch_add(1, SeqCst);
        Ok(format!("{} is changed", input.name).into())
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Made {
    kind: String,
    data: Value,
}

/// A tool that creates the requested payload, with this output.
pub struct PayloadTool(pub &'static str);

impl Tool for PayloadTool {
    type Input = Made;

    const KIND: ToolKind = ToolKind::plain("make");
    const FINDS_SOURCES: bool = true;
    const DESCRIPTION: &'static str = "Makes something.";
    const LABEL: &'static str = "Making";
    const DONE: &'static str = "Made";

    async fn run(&self, Made { kind, data }: Made, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult {
            text: self.0.into(),
            payload: Some(NewPayload { kind, data }),
            ..ToolResult::default()
        })
    }
}

/// Starts a server with these tools.
async fn start_with_tools(tools: ToolRegistry) -> (tempfile::TempDir, Upstream, Parlor) {
    parlor_with_tools(tools, |_| {}).await
}

fn call_script(tool: &str, names: &[&str]) -> Script {
    names
        .iter()
        .enumerate()
        .fold(Script::new(), |script, (index, name)| {
            script.tool_call(format!("id{index}"), tool, json!({ "name": name }).to_string())
        })
}

async fn start_turn(parlor: &Parlor) -> crate::support::EventStream {
    parlor
        .chat(&json!({ "message": "Do it", "model": "test/any" }))
        .await
}

fn events_of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}
