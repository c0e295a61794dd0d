//! The contents of diagnostics: the request, the response and the times.

use parlor_base::settings::Price;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{final_event, get_diagnostics, wait_for_diagnostics};
use crate::{
    support::{Parlor, last_model_call, message_text, parlor_answering, raw_model_calls},
    tools::FailingTool,
};

fn timeline_kinds(timeline: &Value) -> Vec<&str> {
    let entries = timeline.as_array().unwrap().iter();
    entries.map(|entry| entry["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn reports_request_response_and_timing() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let values = r#"SUGGESTED_VALUES: [{"label": "More", "value": "Tell me more"}]"#;
    upstream.add_script(
        When::any(),
        Script::new()
            .think("Hm.")
            .text("Let me look.")
            .tool_call("id0", "failing", r#"{"name":"fine"}"#),
    );
    upstream.add_script(
        When::tool_gave("fine"),
        Script::new().text("There it is.\n").text(values),
    );
    let tools = parlor_tools::ToolRegistry::default().with_tool(FailingTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        let price = Price {
            input: parlor_protocol::Dollars(1_000_000_000),
            output: parlor_protocol::Dollars(2_000_000_000),
            ..Price::default()
        };
        settings.models.prices.insert("test/any".into(), price);
        settings.agent.instructions = "Be kind.".into();
    })
    .await;
    let last = final_event(&parlor, "Do it").await;
    assert_eq!(
        last["payload"]["message"],
        "Let me look.\n\n[[tool:0]]\n\nThere it is."
    );
    let made = get_diagnostics(&parlor, &last["message_id"]).await;

    let sent = last_model_call(&upstream);
    assert_eq!(
        made["messages"].as_array().unwrap()[..],
        sent["messages"].as_array().unwrap()[1..],
        "as they were sent"
    );
    let prompt = made["system_prompt"].as_str().unwrap();
    assert!(prompt.contains("Be kind."), "{prompt}");
    assert_eq!(made["tool_definitions"], sent["tools"]);
    let raw = format!("Let me look.\n\nThere it is.\n{values}");
    assert_eq!(
        (
            &made["model"],
            &made["tools"],
            &made["raw_llm_response"],
            &made["max_iterations"]
        ),
        (&json!("test/any"), &json!(["failing"]), &json!(raw), &json!(25))
    );
    assert_eq!(
        (&made["address"], &made["status"]),
        (&json!(upstream.url()), &json!("complete"))
    );
    assert_eq!(made["parameters"]["stream"], true);
    // The scripted server counts 10 input tokens, and one output token for each delta.
    assert_eq!(made["usage"], json!({ "input_tokens": 20, "output_tokens": 5 }));
    assert_eq!(made["cost"], 30e-6);
    let first = made["first_token_ms"].as_u64().expect("a time");
    assert!(first <= made["duration_ms"].as_u64().expect("a time"));
    assert_eq!(
        timeline_kinds(&made["timeline"]),
        [
            "run_started",
            "status",
            "thinking",
            "text_delta",
            "status",
            "usage",
            "tool_start",
            "tool_complete",
            "status",
            "text_delta",
            "suggested_values",
            "usage",
            "complete",
        ]
    );

    let [one, two] = made["calls"].as_array().unwrap().as_slice() else {
        panic!("{}", made["calls"]);
    };
    assert_eq!(
        one["response"],
        json!({
            "thinking": "Hm.", "text": "Let me look.", "cut": false,
            "tool_calls": [{ "id": "id0", "name": "failing", "arguments": r#"{"name":"fine"}"# }],
        })
    );
    assert_eq!(
        (&one["finish_reason"], &two["finish_reason"]),
        (&json!("tool_calls"), &json!("stop"))
    );
    // Repeated data are stored once.
    assert_eq!((&one["goes_on"], &two["goes_on"]), (&json!(false), &json!(true)));
    let new: Vec<_> = two["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(new, ["assistant", "tool"]);
}

#[tokio::test]
async fn reports_truncation_and_parameters() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    let tools = parlor_tools::ToolRegistry::default().with_tool(FailingTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.endpoints[0].context_window = Some(3000);
        settings.history.summarize = false;
    })
    .await;
    let conversation = Uuid::now_v7();
    let mut last = Value::Null;
    for turn in 0..5 {
        let request = json!({
            "message": format!("turn {turn} {}", "word ".repeat(400)), "model": "test/any", "conversation_id": conversation,
            "force_tools": ["failing"], "parameters": { "temperature": 0.7, "max_completion_tokens": 500 },
        });
        last = parlor.chat(&request).await.read_to_end().await.pop().unwrap();
    }
    let made = get_diagnostics(&parlor, &last["message_id"]).await;
    let sent = last_model_call(&upstream);
    assert!(!sent.to_string().contains("turn 0"), "there is no room for all");
    assert_eq!(
        made["messages"].as_array().unwrap()[..],
        sent["messages"].as_array().unwrap()[1..]
    );
    assert_eq!(made["system_prompt"], sent["messages"][0]["content"]);
    assert_eq!(
        (&made["temperature"], &made["max_tokens"]),
        (&json!(0.7), &json!(500))
    );
    assert_eq!(
        made["parameters"]["tool_choice"],
        json!({"type": "function", "function": {"name": "failing"}})
    );
    assert_eq!(made["parameters"]["tool_choice"], sent["tool_choice"]);
}

#[tokio::test]
async fn running_answer_has_partial_diagnostics() {
    let (_folder, upstream, parlor) =
        parlor_answering(Script::new().text("half").gate("rest").text(" whole")).await;
    let request = json!({ "message": "Go", "model": "test/any" });
    let mut stream = parlor.chat(&request).await;
    let delta = stream.next_of_type("text_delta").await;
    let made = wait_for_diagnostics(&parlor, &delta["message_id"]).await;
    assert_eq!(
        (&made["status"], &made["calls"][0]["status"]),
        (&json!("running"), &json!("running"))
    );
    assert_eq!(made["messages"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&made["messages"][0]["role"], message_text(&made["messages"][0])),
        (&json!("user"), "Go")
    );
    assert_eq!(
        (&made["duration_ms"], &made["usage"]),
        (&Value::Null, &Value::Null)
    );
    upstream.open_gate("rest");
    stream.next_of_type("complete").await;
    let made = get_diagnostics(&parlor, &delta["message_id"]).await;
    assert_eq!(
        (&made["status"], &made["raw_llm_response"]),
        (&json!("complete"), &json!("half whole"))
    );
}

#[tokio::test]
async fn call_is_listed_before_the_first_token() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().gate("first").text("Now.")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "Go", "model": "test/any" }))
        .await;
    let started = stream.next_of_type("run_started").await;
    upstream.wait_for_gate("first").await;
    let made = wait_for_diagnostics(&parlor, &started["message_id"]).await;
    let [call] = made["calls"].as_array().unwrap().as_slice() else {
        panic!("{made:#}");
    };
    assert_eq!(
        (&call["status"], &call["response"]["text"], &made["messages"]),
        (
            &json!("running"),
            &json!(""),
            &last_model_call(&upstream)["messages"].as_array().unwrap()[1..].into()
        )
    );
    upstream.open_gate("first");
    stream.next_of_type("complete").await;
    let whole = get_diagnostics(&parlor, &started["message_id"]).await;
    assert_eq!(
        (&whole["messages"], &whole["raw_llm_response"]),
        (&made["messages"], &json!("Now."))
    );
}

#[tokio::test]
async fn rejected_part_is_not_reported_as_sent() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Now.").done()).await;
    let refusal = json!({ "error": { "message": "unknown field stream_options" } });
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let last = final_event(&parlor, "Go").await;
    let made = get_diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(made["parameters"], json!({ "stream": true }));
    let sent = raw_model_calls(&upstream);
    assert!(sent[0].get("stream_options").is_some() && sent[1].get("stream_options").is_none());
    assert_eq!(made["calls"].as_array().unwrap().len(), 1);
    assert_eq!(made["system_prompt"], sent[1]["messages"][0]["content"]);
}
