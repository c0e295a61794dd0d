//! The order of roles in what the model gets, which the templates of some models demand.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, raw_model_calls, string_field};

/// Asserts that user and model take turns in each request, and that tool outputs are between words of the model.
fn assert_roles_alternate(upstream: &Upstream) {
    for call in raw_model_calls(upstream) {
        let mut before = "system".to_owned();
        for message in call["messages"].as_array().unwrap() {
            let has_calls = message["tool_calls"]
                .as_array()
                .is_some_and(|calls| !calls.is_empty());
            let role = string_field(message, "role");
            let is_allowed = match role.as_str() {
                "user" => matches!(&*before, "system" | "assistant"),
                "assistant" => matches!(&*before, "user" | "tool"),
                "tool" => matches!(&*before, "calls" | "tool"),
                _ => before == "system",
            };
            assert!(is_allowed, "{role} after {before}: {call}");
            before = if has_calls { "calls".into() } else { role };
        }
        assert!(matches!(&*before, "user" | "tool"), "{call}");
    }
}

/// A conversation of which the first turn has ended somehow.
async fn ask_after(scripts: Vec<(When, Script)>, is_stopped: bool) -> (Vec<Value>, Upstream) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Well."));
    for (when, script) in scripts {
        upstream.add_script(when, script);
    }
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    let mut turn = parlor
        .chat(&json!({ "message": "first", "model": "test/any" }))
        .await;
    let saved = turn.next().await.unwrap();
    if is_stopped {
        let stop = format!("/api/runs/{}/stop", string_field(&saved, "message_id"));
        assert_eq!(parlor.post(&stop, &json!({})).send().await.unwrap().status(), 200);
    }
    turn.read_to_end().await;
    let conversation = string_field(&saved, "conversation_id");
    for question in ["second", "third"] {
        let body = json!({ "message": question, "model": "test/any", "conversation_id": conversation });
        parlor.chat(&body).await.read_to_end().await;
    }
    let last = raw_model_calls(&upstream).pop().unwrap();
    (last["messages"].as_array().unwrap().clone(), upstream)
}

#[tokio::test]
async fn unfinished_turns_keep_roles_alternating() {
    let first = || When::user_contains("first");
    let calculate = || {
        Script::new()
            .tool_call("id0", "calculate", r#"{"expression":"6*7"}"#)
            .finish("tool_calls")
    };
    let refused = || Script::new().status(400, json!({ "error": { "message": "no" } }), &[]);
    for (name, scripts, is_stopped, said) in [
        (
            "stopped",
            vec![(first(), Script::new().gate("never"))],
            true,
            "(The person stopped this answer here.)",
        ),
        (
            "refused",
            vec![(first(), refused())],
            false,
            "(This answer failed here.)",
        ),
        (
            "failed after a tool",
            vec![(first(), calculate()), (When::tool_gave("= 42"), refused())],
            false,
            "(This answer failed here.)",
        ),
        (
            "withheld",
            vec![(first(), Script::new().finish("content_filter"))],
            false,
            "(This answer was withheld by a content filter.)",
        ),
    ] {
        let (messages, upstream) = ask_after(scripts, is_stopped).await;
        assert_roles_alternate(&upstream);
        let told = messages.iter().any(|message| message["content"] == said);
        assert!(told, "{name}: {messages:?}");
    }
}
