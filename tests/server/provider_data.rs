//! Provider data: stored, returned to that provider, and shown to nobody else.

use parlor_base::settings::Settings;
use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::{
    support::{Parlor, last_model_call, raw_model_calls, string_field},
    tools::FailingTool,
};

const SIGNATURE: &str = "Cs4BAc/+7w==";

/// Returns a script of Gemini's compatibility endpoint that calls a tool.
fn signed_call_script() -> Script {
    let extra = json!({"google": {"thought_signature": SIGNATURE}});
    let call = json!({
        "index": 0, "id": "function-call-1", "type": "function", "extra_content": extra,
        "function": {"name": "failing", "arguments": "{\"name\":\"fine\"}"},
    });
    let chunk = json!({"choices": [{"index": 0, "delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "stop"}]});
    Script::new()
        .raw(format!("data: {chunk}\n\ndata: [DONE]\n\n"))
        .end()
}

/// Returns a script of OpenRouter, whose models send their thinking as details.
fn reasoning_details_script(text: &str) -> Script {
    let details = json!([{"type": "reasoning.encrypted", "data": SIGNATURE, "format": "openai-responses-v1", "index": 0}]);
    let chunk = json!({"choices": [{"index": 0, "delta": {"content": text, "reasoning_details": details}, "finish_reason": "stop"}]});
    Script::new()
        .raw(format!("data: {chunk}\n\ndata: [DONE]\n\n"))
        .end()
}

async fn start(folder: &tempfile::TempDir, upstream: &Upstream) -> Parlor {
    start_with(folder, upstream, |_| {}).await
}

async fn start_with(
    folder: &tempfile::TempDir,
    upstream: &Upstream,
    change: impl FnOnce(&mut Settings),
) -> Parlor {
    let tools = ToolRegistry::default().with_tool(FailingTool);
    Parlor::start_with_tools(folder.path(), upstream, tools, |settings| {
        let mut other = settings.endpoints[0].clone();
        other.name = "other".into();
        settings.endpoints.push(other);
        change(settings);
    })
    .await
}

/// Returns the assistant's messages of a call, as they were sent.
fn assistant_messages(call: &Value) -> Vec<Value> {
    let messages = call["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["role"] == "assistant")
        .cloned()
        .collect()
}

fn signature_of(message: &Value) -> &Value {
    &message["tool_calls"][0]["extra_content"]["google"]["thought_signature"]
}

#[tokio::test]
async fn signature_returns_only_to_its_endpoint() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::user_contains("Do it"), signed_call_script());
    upstream.add_script(When::tool_gave("fine"), Script::new().text("Done."));
    upstream.add_script(When::user_contains("And now"), Script::new().text("Nothing."));
    let parlor = start(&folder, &upstream).await;
    let events = parlor.turn(None, "Do it").await;
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nDone."
    );

    // In the tool loop, with the call's own id: the data may refer to it.
    let sent = last_model_call(&upstream);
    assert_eq!(signature_of(&assistant_messages(&sent)[0]), SIGNATURE, "{sent}");
    assert_eq!(
        assistant_messages(&sent)[0]["tool_calls"][0]["id"],
        "function-call-1"
    );
    assert_eq!(
        sent["messages"].as_array().unwrap().last().unwrap()["tool_call_id"],
        "function-call-1"
    );

    // In a later turn, after a restart.
    parlor.stop().await;
    let parlor = start(&folder, &upstream).await;
    let conversation = string_field(&events[0], "conversation_id");
    parlor.turn(Some(&conversation), "And now?").await;
    assert_eq!(
        signature_of(&assistant_messages(&last_model_call(&upstream))[0]),
        SIGNATURE
    );

    // Another endpoint gets none of the data.
    let other = json!({"message": "And now there?", "conversation_id": conversation, "model": "other/any"});
    parlor.chat(&other).await.read_to_end().await;
    let sent = last_model_call(&upstream);
    assert_eq!(
        assistant_messages(&sent)[0]["tool_calls"][0]["function"]["name"],
        "failing"
    );
    assert!(!sent.to_string().contains(SIGNATURE), "{sent}");

    // No client sees the data, through any URL.
    let run = string_field(&events[0], "message_id");
    let log = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    let mut seen = vec![json!(events), json!(log), parlor.transcript(&conversation).await];
    for path in [
        format!("/api/messages/{run}"),
        format!("/api/messages/{run}/diagnostics"),
        format!("/api/conversations/{conversation}"),
        format!("/rpc/diagnostics?message_id={run}"),
    ] {
        let (status, body) = parlor.get_json(&path).await;
        assert_eq!(status, 200, "{path}: {body}");
        seen.push(body);
    }
    for shown in seen {
        assert!(!shown.to_string().contains(SIGNATURE), "{shown}");
    }
}

#[tokio::test]
async fn continued_run_keeps_provider_data() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::user_contains("Do it"), signed_call_script());
    upstream.add_script(When::tool_gave("fine"), Script::new().text("I fou").cut());
    upstream.add_script(When::user_contains("cut off"), Script::new().text("nd it."));
    let parlor = start(&folder, &upstream).await;
    let events = parlor.turn(None, "Do it").await;
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    parlor.stop().await;
    let parlor = start(&folder, &upstream).await;
    let rest = parlor.continue_run(&events).await;
    assert_eq!(
        rest.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nI found it."
    );
    assert_eq!(
        signature_of(&assistant_messages(&last_model_call(&upstream))[0]),
        SIGNATURE
    );
}

#[tokio::test]
async fn reasoning_details_accompany_their_answer() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::user_contains("Why"), reasoning_details_script("Therefore."));
    upstream.add_script(When::user_contains("Really"), Script::new().text("Yes."));
    let parlor = start(&folder, &upstream).await;
    let events = parlor.turn(None, "Why?").await;
    let conversation = string_field(&events[0], "conversation_id");
    parlor.turn(Some(&conversation), "Really?").await;
    let sent = assistant_messages(&last_model_call(&upstream));
    assert_eq!(sent[0]["reasoning_details"][0]["data"], SIGNATURE, "{sent:?}");
}

#[tokio::test]
async fn omits_oversized_data_with_a_note() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::user_contains("Why"), reasoning_details_script("Therefore."));
    upstream.add_script(When::user_contains("Really"), Script::new().text("Yes."));
    let parlor = start_with(&folder, &upstream, |settings| settings.limits.opaque_bytes = 20).await;
    let events = parlor.turn(None, "Why?").await;
    assert_eq!(events.last().unwrap()["payload"]["message"], "Therefore.");
    let run = string_field(&events[0], "message_id");
    let (_, made) = parlor.get_json(&format!("/api/messages/{run}/diagnostics")).await;
    let note = made["calls"][0]["response"]["unread"][0]["what"]
        .as_str()
        .unwrap();
    assert!(note.contains("limits.opaque_bytes"), "{note}");
    parlor
        .turn(Some(&string_field(&events[0], "conversation_id")), "Really?")
        .await;
    assert_eq!(raw_model_calls(&upstream).len(), 2);
    assert!(!last_model_call(&upstream).to_string().contains(SIGNATURE));
}
