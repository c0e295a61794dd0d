//! The behaviour of runs with every kind of model server.

use std::sync::Arc;

use parlor::{
    settings::{EndpointKind, Secret},
    tools::{Tool, ToolContext, ToolError, ToolRegistry, ToolResult},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Barrier;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

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
    /// Which one.
    name: String,
}

/// A tool whose call ends when two of its calls are running.
#[derive(Clone)]
struct TogetherTool(Arc<Barrier>);

impl Tool for TogetherTool {
    type Input = Named;

    const NAME: &'static str = "together";
    const DESCRIPTION: &'static str = "Waits for another one.";
    const LABEL: &'static str = "Waiting";
    const DONE: &'static str = "Waited";

    async fn run(&self, input: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.wait().await;
        Ok(format!("{} is done", input.name).into())
    }
}

async fn start(kind: EndpointKind) -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_again(kind, &folder, &upstream).await;
    Fixture {
        folder,
        upstream,
        parlor,
    }
}

async fn start_again(kind: EndpointKind, folder: &tempfile::TempDir, upstream: &Upstream) -> Parlor {
    let tools = ToolRegistry::default().with_tool(TogetherTool(Arc::new(Barrier::new(2))));
    Parlor::start_with_tools(folder.path(), upstream, tools, |settings| {
        set_kind(&mut settings.endpoints[0], kind, upstream);
    })
    .await
}

/// Continues the answer of these events, and returns all events of its run.
async fn continue_run(parlor: &Parlor, events: &[Value]) -> Vec<Value> {
    let intent = json!({ "intent": {
        "intent_id": Uuid::now_v7(),
        "conversation_id": events[0]["conversation_id"],
        "message_id": events[0]["message_id"],
    } });
    let response = parlor.post("/rpc/continue_run", &intent).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let run = string_field(&events[0], "message_id");
    parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
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
        // Only signatures return, and the scripted server has none.
        EndpointKind::Gemini => Value::Null,
    }
}

#[tokio::test]
async fn streams_and_remembers_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        let answer = Script::new()
            .think("Hm.")
            .text("Hello")
            .text(", world")
            .finish("stop");
        upstream.add_script(When::user_contains("greet"), answer);
        upstream.add_script(When::user_contains("again"), Script::new().text("Sure."));
        let events = parlor.turn(None, "greet me").await;
        let last = events.last().unwrap();
        assert_eq!(last["payload"]["message"], "Hello, world", "{kind:?}: {last}");
        assert_eq!(last["finish_reason"], "stop", "{kind:?}");
        assert_eq!(joined_deltas(&events, "thinking"), "Hm.", "{kind:?}");
        let usage = events.iter().find(|event| event["type"] == "usage").unwrap();
        assert_eq!(
            (&usage["input_tokens"], &usage["estimated"]),
            (&json!(10), &Value::Null),
            "{kind:?}: {usage}"
        );
        let conversation = string_field(&events[0], "conversation_id");
        let next = parlor.turn(Some(&conversation), "again").await;
        assert_eq!(next.last().unwrap()["payload"]["message"], "Sure.", "{kind:?}");
        let sent = last_model_call(upstream).to_string();
        assert!(
            sent.contains("greet me") && sent.contains("Hello, world"),
            "{kind:?}: {sent}"
        );
    }
}

#[tokio::test]
async fn stop_keeps_the_text_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::any(), Script::new().text("half").gate("never"));
        let mut stream = parlor.chat(&json!({ "message": "x", "model": "test/any" })).await;
        let delta = stream.next_of_type("text_delta").await;
        let stop = format!("/api/runs/{}/stop", string_field(&delta, "message_id"));
        let stopped = read_json(parlor.post(&stop, &json!({})).send().await.unwrap()).await;
        assert_eq!(stopped["status"], "stopped", "{kind:?}");
        let last = stream.read_to_end().await.pop().unwrap();
        assert_eq!(last["payload"]["message"], "half", "{kind:?}: {last}");
        upstream.wait_until_closed().await;
    }
}

#[tokio::test]
async fn continues_after_a_cut_and_a_restart_with_every_kind() {
    for kind in EndpointKind::ALL {
        let fixture = start(kind).await;
        let cut = Script::new().think("Rayleigh.").text("Because the sk").cut();
        fixture
            .upstream
            .add_script(When::user_contains("cut off"), Script::new().text("y scatters."));
        fixture.upstream.add_script_times(1, When::any(), cut);
        let events = fixture.parlor.turn(None, "Why?").await;
        assert_eq!(events.last().unwrap()["status"], "interrupted", "{kind:?}");
        let Fixture {
            folder,
            upstream,
            parlor,
        } = fixture;
        parlor.stop().await;
        let parlor = start_again(kind, &folder, &upstream).await;
        let rest = continue_run(&parlor, &events).await;
        assert_eq!(
            rest.last().unwrap()["payload"]["message"],
            "Because the sky scatters.",
            "{kind:?}"
        );
        // The signed thinking precedes the text that it led to.
        let sent = last_model_call(&upstream);
        assert!(sent.to_string().contains("Because the sk"), "{kind:?}: {sent}");
        if kind == EndpointKind::Anthropic {
            assert_eq!(returned_thinking(kind, &sent), "signature-0");
        }
    }
}

#[tokio::test]
async fn runs_parallel_calls_and_returns_thinking_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::user_contains("Look"), parallel_calls());
        upstream.add_script(When::tool_gave("two is done"), Script::new().text("Both."));
        let events = parlor.turn(None, "Look").await;
        let last = events.last().unwrap();
        assert_eq!(last["type"], "complete", "{kind:?}: {last}");
        assert_eq!(
            last["payload"]["message"], "One moment.\n\n[[tool:0]]\n\n[[tool:1]]\n\nBoth.",
            "{kind:?}"
        );
        let sent = last_model_call(upstream);
        assert_eq!(
            calls_and_outputs(kind, &sent),
            (2, vec!["one is done".into(), "two is done".into()]),
            "{kind:?}: {sent}"
        );
        let expected = match kind {
            EndpointKind::OpenAi => json!("Let me look."),
            EndpointKind::OpenAiResponses => json!("encrypted-0"),
            EndpointKind::Anthropic => json!("signature-0"),
            EndpointKind::Gemini => Value::Null,
        };
        assert_eq!(returned_thinking(kind, &sent), expected, "{kind:?}: {sent}");
    }
}

#[tokio::test]
async fn forces_a_tool_with_every_kind() {
    for kind in EndpointKind::ALL {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::any(), Script::new().text("Fine."));
        let body = json!({ "message": "Hi", "model": "test/any", "force_tools": ["together"] });
        parlor.chat(&body).await.read_to_end().await;
        let sent = last_model_call(upstream);
        let (field, expected) = match kind {
            EndpointKind::OpenAi => (
                "tool_choice",
                json!({ "type": "function", "function": { "name": "together" } }),
            ),
            EndpointKind::OpenAiResponses => {
                ("tool_choice", json!({ "type": "function", "name": "together" }))
            }
            EndpointKind::Anthropic => ("tool_choice", json!({ "type": "tool", "name": "together" })),
            EndpointKind::Gemini => (
                "toolConfig",
                json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["together"] } }),
            ),
        };
        assert_eq!(sent[field], expected, "{kind:?}");
    }
}

#[tokio::test]
async fn answers_without_tools_at_the_limit_with_every_kind() {
    for kind in EndpointKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let tools = ToolRegistry::default().with_tool(TogetherTool(Arc::new(Barrier::new(2))));
        let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
            set_kind(&mut settings.endpoints[0], kind, &upstream);
            settings.agent.max_iterations = 1;
        })
        .await;
        upstream.add_script(When::user_contains("Look"), parallel_calls());
        upstream.add_script(When::tool_gave("is done"), Script::new().text("Enough."));
        let events = parlor.turn(None, "Look").await;
        assert_eq!(events.last().unwrap()["type"], "complete", "{kind:?}");
        let sent = last_model_call(&upstream);
        // Anthropic's API rejects calls of tools that the request does not have.
        match kind {
            EndpointKind::Anthropic => assert_eq!(sent["tool_choice"], json!({ "type": "none" })),
            _ => assert_eq!(sent["tools"], Value::Null, "{kind:?}"),
        }
    }
}

#[tokio::test]
async fn runs_no_cut_call_with_every_kind() {
    // A call of Gemini comes as a whole.
    for kind in [
        EndpointKind::OpenAi,
        EndpointKind::OpenAiResponses,
        EndpointKind::Anthropic,
    ] {
        let Fixture {
            folder: _folder,
            upstream,
            parlor,
        } = start(kind).await;
        let cut = Script::new().tool_call("c1", "together", "").finish("length");
        upstream.add_script(When::any(), cut);
        upstream.add_script(When::tool_gave("was not run"), Script::new().text("Fine."));
        let events = parlor.turn(None, "Hi").await;
        assert_eq!(events.last().unwrap()["type"], "complete", "{kind:?}");
        assert_eq!(raw_model_calls(&upstream).len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn retries_an_overloaded_server_inside_a_success() {
    for (kind, error) in [
        (
            EndpointKind::Anthropic,
            json!({ "type": "overloaded_error", "message": "Overloaded" }),
        ),
        (
            EndpointKind::Gemini,
            json!({ "code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE" }),
        ),
        (
            EndpointKind::OpenAiResponses,
            json!({ "code": "server_error", "message": "The server had an error" }),
        ),
    ] {
        let Fixture { upstream, parlor, .. } = &start(kind).await;
        upstream.add_script(When::any(), Script::new().text("at last"));
        upstream.add_script_times(1, When::any(), Script::new().error_object(error));
        let events = parlor.turn(None, "x").await;
        assert_eq!(
            events.last().unwrap()["payload"]["message"],
            "at last",
            "{kind:?}"
        );
        assert_eq!(raw_model_calls(upstream).len(), 2, "{kind:?}");
    }
}

#[tokio::test]
async fn one_conversation_goes_over_all_providers() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let tools = ToolRegistry::default().with_tool(TogetherTool(Arc::new(Barrier::new(2))));
    let names = EndpointKind::ALL.map(EndpointKind::as_str);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        let first = settings.endpoints[0].clone();
        settings.endpoints = EndpointKind::ALL
            .into_iter()
            .map(|kind| {
                let mut endpoint = first.clone();
                endpoint.name = kind.as_str().into();
                set_kind(&mut endpoint, kind, &upstream);
                endpoint
            })
            .collect();
    })
    .await;
    upstream.add_script(When::user_contains("Look"), parallel_calls());
    upstream.add_script(When::tool_gave("two is done"), Script::new().text("Both."));
    let mut conversation = None;
    for round in 0..2 {
        for (index, kind) in EndpointKind::ALL.into_iter().enumerate() {
            let body = json!({ "message": "Look", "conversation_id": conversation, "model": format!("{}/any", names[index]) });
            let events = parlor.chat(&body).await.read_to_end().await;
            let last = events.last().unwrap();
            assert_eq!(last["type"], "complete", "{kind:?}: {last}");
            conversation = Some(string_field(&events[0], "conversation_id"));
            let sent = last_model_call(&upstream);
            let turns = round * EndpointKind::ALL.len() + index + 1;
            let (calls, outputs) = calls_and_outputs(kind, &sent);
            assert_eq!((calls, outputs.len()), (2 * turns, 2 * turns), "{kind:?}");
            // What only one provider understands is sent to no other.
            let sent = sent.to_string();
            let counts = ["\"signature\":\"signature-", "\"encrypted_content\":\"encrypted-"]
                .map(|data| sent.matches(data).count());
            let expected = match kind {
                EndpointKind::Anthropic => [round + 1, 0],
                EndpointKind::OpenAiResponses => [0, round + 1],
                _ => [0, 0],
            };
            assert_eq!(counts, expected, "{kind:?}: {sent}");
        }
    }
}

#[tokio::test]
async fn lists_models_with_the_key_of_every_kind() {
    for kind in EndpointKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.require_key("key-0123456789");
        let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
            set_kind(&mut settings.endpoints[0], kind, &upstream);
            settings.endpoints[0].api_key = Some(Secret("key-0123456789".into()));
        })
        .await;
        let (status, list) = parlor.get_json("/api/models").await;
        assert_eq!(status, 200, "{kind:?}");
        assert!(list.to_string().contains("test/echo"), "{kind:?}: {list}");
        let events = parlor
            .chat(&json!({ "message": "x", "model": "test/echo" }))
            .await
            .read_to_end()
            .await;
        assert_eq!(events.last().unwrap()["payload"]["message"], "x", "{kind:?}");
    }
}

#[tokio::test]
async fn diagnostics_are_the_same_for_every_kind() {
    for kind in EndpointKind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let tools = ToolRegistry::default().with_tool(TogetherTool(Arc::new(Barrier::new(2))));
        let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
            set_kind(&mut settings.endpoints[0], kind, &upstream);
            settings.endpoints[0].api_key = Some(Secret("key-0123456789".into()));
        })
        .await;
        upstream.add_script(When::user_contains("Look"), parallel_calls());
        upstream.add_script(
            When::tool_gave("two is done"),
            Script::new().text("Both, says key-0123456789."),
        );
        let parameters = json!({ "temperature": 0.5, "max_completion_tokens": 500 });
        let body = json!({ "message": "Look", "model": "test/any" });
        let events = parlor.chat(&body).await.read_to_end().await;
        let conversation = string_field(&events[0], "conversation_id");
        let response = parlor
            .client
            .put(format!(
                "{}/api/conversations/{conversation}/parameters",
                parlor.url
            ))
            .header("content-type", "application/json")
            .header("idempotency-key", Uuid::now_v7().to_string())
            .body(parameters.to_string());
        assert_eq!(response.send().await.unwrap().status(), 200);
        let events = parlor.turn(Some(&conversation), "Look").await;
        let run = string_field(&events[0], "message_id");
        let (status, report) = parlor.get_json(&format!("/api/messages/{run}/diagnostics")).await;
        assert_eq!(status, 200, "{kind:?}");
        assert_eq!(report["tools"], json!(["together"]), "{kind:?}");
        assert_eq!(
            (&report["temperature"], &report["max_tokens"]),
            (&json!(0.5), &json!(500)),
            "{kind:?}: {report}"
        );
        assert!(!report["system_prompt"].as_str().unwrap().is_empty(), "{kind:?}");
        let roles: Vec<&str> = report["messages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["role"].as_str().unwrap())
            .collect();
        let turn = ["user", "assistant", "tool", "tool"];
        assert_eq!(roles, [&turn[..], &["assistant"], &turn].concat(), "{kind:?}");
        assert_eq!(report["calls"][1]["goes_on"], true, "{kind:?}");
        assert!(!report.to_string().contains("key-0123456789"), "{kind:?}");
        assert!(!report.to_string().contains("signature-0"), "{kind:?}");
        assert!(
            report["address"]
                .as_str()
                .unwrap()
                .starts_with("http://127.0.0.1"),
            "{kind:?}"
        );
    }
}
