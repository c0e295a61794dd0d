//! Every kind of model server: the same runs ([`runs`]), and what is the same or separate between them
//! ([`across`]).

mod across;
mod runs;

use std::sync::Arc;

use parlor_base::settings::{EndpointKind, Secret, Settings};
use parlor_tools::{Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use upstream::{Script, Upstream, When};

use crate::support::{
    Parlor, joined_deltas, last_model_call, raw_model_calls, read_json, set_kind, string_field,
};

/// A server with one endpoint of a kind.
struct Fixture {
    folder: tempfile::TempDir,
    upstream: Upstream,
    parlor: Parlor,
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    /// A name that tells calls apart.
    name: String,
}

/// A tool whose call ends when two of its calls are running.
#[derive(Clone)]
struct TogetherTool(Arc<Barrier>);

impl Tool for TogetherTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("together");
    const DESCRIPTION: &'static str = "Waits for another one.";
    const LABEL: &'static str = "Waiting";
    const DONE: &'static str = "Waited";

    async fn run(&self, input: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.wait().await;
        Ok(format!("{} is done", input.name).into())
    }
}

/// A tool that a user must approve.
struct CarefulTool;

impl Tool for CarefulTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("careful");
    const DESCRIPTION: &'static str = "Changes something.";
    const LABEL: &'static str = "Changing";
    const DONE: &'static str = "Changed";
    const NEEDS_APPROVAL: bool = true;

    async fn run(&self, input: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok(format!("{} is changed", input.name).into())
    }
}

async fn start(kind: EndpointKind) -> Fixture {
    start_with(kind, |_| {}).await
}

/// Like [`start`], with other settings.
async fn start_with(kind: EndpointKind, change: impl FnOnce(&mut Settings)) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_again_with(kind, &folder, &upstream, change).await;
    Fixture {
        folder,
        upstream,
        parlor,
    }
}

async fn start_again(kind: EndpointKind, folder: &tempfile::TempDir, upstream: &Upstream) -> Parlor {
    start_again_with(kind, folder, upstream, |_| {}).await
}

async fn start_again_with(
    kind: EndpointKind,
    folder: &tempfile::TempDir,
    upstream: &Upstream,
    change: impl FnOnce(&mut Settings),
) -> Parlor {
    let tools = ToolRegistry::default()
        .with_tool(TogetherTool(Arc::new(Barrier::new(2))))
        .with_tool(CarefulTool);
    Parlor::start_with_tools(folder.path(), upstream, tools, |settings| {
        set_kind(&mut settings.endpoints[0], kind, upstream);
        change(settings);
    })
    .await
}

/// Returns the script of two parallel calls after some thinking.
fn parallel_calls() -> Script {
    Script::new()
        .think("Let me ")
        .think("look.")
        .text("One moment.")
        .tool_call("c1", "together", "{\"name\":\"one\"}")
        .tool_call("c2", "together", "{\"name\":\"two\"}")
        .finish("tool_calls")
}

/// Returns the names of the called tools and the outputs in a request.
fn calls_and_outputs(kind: EndpointKind, call: &Value) -> (usize, Vec<String>) {
    let turns = |field: &str| call[field].as_array().cloned().unwrap_or_default();
    let parts = |turns: Vec<Value>, field: &str| -> Vec<Value> {
        let parts = turns
            .into_iter()
            .filter_map(|turn| turn[field].as_array().cloned());
        parts.flatten().collect()
    };
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match kind {
        EndpointKind::OpenAi => {
            let messages = turns("messages");
            let outputs = messages.iter().filter(|message| message["role"] == "tool");
            let outputs = outputs.map(|message| text(&message["content"])).collect();
            (parts(messages, "tool_calls").len(), outputs)
        }
        EndpointKind::OpenAiResponses => {
            let of_type = |kind: &str| {
                turns("input")
                    .into_iter()
                    .filter(|item| item["type"] == kind)
                    .collect::<Vec<_>>()
            };
            let outputs = of_type("function_call_output");
            let outputs = outputs.iter().map(|item| text(&item["output"])).collect();
            (of_type("function_call").len(), outputs)
        }
        EndpointKind::Anthropic => {
            let blocks = parts(turns("messages"), "content");
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use").count();
            let outputs = blocks.iter().filter(|block| block["type"] == "tool_result");
            (calls, outputs.map(|block| text(&block["content"])).collect())
        }
        EndpointKind::Gemini => {
            let parts = parts(turns("contents"), "parts");
            let calls = parts
                .iter()
                .filter(|part| part["functionCall"].is_object())
                .count();
            let outputs = parts.iter().filter(|part| part["functionResponse"].is_object());
            let output = |part: &Value| text(&part["functionResponse"]["response"]["output"]);
            (calls, outputs.map(output).collect())
        }
    }
}

/// Returns what a request has of the thinking before the calls.
fn returned_thinking(kind: EndpointKind, call: &Value) -> Value {
    match kind {
        EndpointKind::OpenAi => {
            let messages = call["messages"].as_array().unwrap();
            messages
                .iter()
                .find(|message| message["tool_calls"].is_array())
                .unwrap()["reasoning_content"]
                .clone()
        }
        EndpointKind::OpenAiResponses => {
            let items = call["input"].as_array().unwrap();
            items.iter().find(|item| item["type"] == "reasoning").unwrap()["encrypted_content"].clone()
        }
        EndpointKind::Anthropic => {
            let messages = call["messages"].as_array().unwrap();
            let answer = messages
                .iter()
                .find(|message| message["role"] == "assistant")
                .unwrap();
            answer["content"][0]["signature"].clone()
        }
        // Only signatures return.
        EndpointKind::Gemini => {
            let contents = call["contents"].as_array().unwrap().iter();
            let mut parts = contents.flat_map(|content| content["parts"].as_array().unwrap());
            let call = parts.find(|part| part["functionCall"].is_object()).unwrap();
            call["thoughtSignature"].clone()
        }
    }
}
