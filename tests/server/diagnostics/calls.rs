//! The model calls of an answer in its diagnostics: summary calls, retries, and the calls from before it was
//! continued.

use parlor_base::settings::{MetadataMode, Price};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{final_event, get_diagnostics};
use crate::{
    support::{EventStream, Parlor, parlor_answering, raw_model_calls, string_field},
    tools::FailingTool,
};

#[tokio::test]
async fn summary_is_counted_as_a_separate_call() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine.").done());
    upstream.add_script(When::user_contains("Person: "), Script::new().text("In short."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.endpoints[0].context_window = Some(3000);
        settings.history.answer_tokens = 500;
        settings.history.metadata = MetadataMode::Never;
        let price = Price {
            input: parlor_protocol::Dollars(1_000_000_000),
            output: parlor_protocol::Dollars(2_000_000_000),
            ..Price::default()
        };
        settings.models.prices = [("test/any".to_owned(), price)].into();
    })
    .await;
    let conversation = Uuid::now_v7();
    let mut summarized = Vec::new();
    for turn in 0..6 {
        let request = json!({
            "message": format!("turn {turn} {}", "word ".repeat(400)), "model": "test/any", "conversation_id": conversation,
        });
        let last = parlor.chat(&request).await.read_to_end().await.pop().unwrap();
        let made = get_diagnostics(&parlor, &last["message_id"]).await;
        if made["calls"].as_array().unwrap().len() > 1 {
            summarized.push((string_field(&last, "message_id"), made));
        }
    }
    let (message, made) = &summarized[0];
    let calls: Vec<(&Value, &Value, &Value)> = made["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (&call["purpose"], &call["status"], &call["response"]["text"]))
        .collect();
    let call = |purpose, text| (json!(purpose), json!("complete"), json!(text));
    let expected = [call("summary", "In short."), call("answer", "Fine.")];
    assert!(
        calls.into_iter().eq(expected.iter().map(|(a, b, c)| (a, b, c))),
        "{made:#}"
    );
    let summary = &made["calls"][0];
    assert!(
        summary["messages"].to_string().contains("Person: turn 0"),
        "{summary}"
    );
    assert_eq!(
        made["usage"], summary["usage"],
        "the server has counted this call alone"
    );
    assert!(summary["cost"].as_f64() > Some(0.0), "{summary}");
    // Both calls count in the totals of the answer.
    let stored = parlor.get_json(&format!("/api/messages/{message}")).await.1;
    let totals = &stored["message"]["usage"]["totals"];
    assert_eq!(totals["calls"], 2);
    assert!(totals["cost"].as_f64() > summary["cost"].as_f64(), "{totals}");
    assert_eq!(made["raw_llm_response"], "Fine.", "that is what was answered");
    assert!(made["messages"].to_string().contains("In short."), "{made:#}");
    assert!(
        !made["system_prompt"]
            .as_str()
            .unwrap()
            .contains("Write the summary")
    );
}

#[tokio::test]
async fn keeps_the_newest_of_many_calls() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let tools = parlor_tools::ToolRegistry::default().with_tool(FailingTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.agent.max_iterations = 100;
    })
    .await;
    upstream.add_script(When::any(), Script::new().text("At last."));
    let again = Script::new().tool_call("1", "failing", "{}").finish("tool_calls");
    upstream.add_script_times(75, When::any(), again);
    let last = final_event(&parlor, "Go").await;
    let made = get_diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(made["calls"].as_array().unwrap().len(), 64);
    let sent = raw_model_calls(&upstream).pop().unwrap();
    assert_eq!(made["system_prompt"], sent["messages"][0]["content"]);
    assert_eq!(made["tools"], json!(["failing"]));
    assert_eq!(
        made["messages"].as_array().unwrap()[..],
        sent["messages"].as_array().unwrap()[1..]
    );
}

#[tokio::test]
async fn retried_call_is_listed_once() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Now.")).await;
    let busy = Script::new().status(
        503,
        json!({ "error": { "message": "busy" } }),
        &[("retry-after", "0")],
    );
    upstream.add_script_times(2, When::any(), busy);
    let last = final_event(&parlor, "Go").await;
    let made = get_diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(
        (&made["retries"], made["calls"].as_array().unwrap().len()),
        (&json!(2), 1)
    );
    let failures = made["calls"][0]["failures"].as_array().unwrap();
    assert!(
        failures[0]["error"]["message"].as_str().unwrap().contains("busy"),
        "{failures:?}"
    );
    assert_eq!(made["calls"][0]["status"], "complete");
}

#[tokio::test]
async fn continue_keeps_calls_and_regenerate_starts_over() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("the rest")).await;
    upstream.add_script_times(1, When::any(), Script::new().text("half ").gate("never"));
    let mut stream = parlor
        .chat(&json!({ "message": "Go", "model": "test/any" }))
        .await;
    let run = string_field(&stream.next_of_type("text_delta").await, "message_id");
    parlor
        .post(&format!("/api/runs/{run}/stop"), &json!({}))
        .send()
        .await
        .unwrap();
    stream.next_of_type("cancelled").await;
    let go_on = parlor.post(&format!("/api/runs/{run}/continue?diagnostics=true"), &json!({}));
    let last = EventStream::open(go_on).await.read_to_end().await.pop().unwrap();
    let made = &last["payload"]["diagnostics"];
    assert_eq!(made["raw_llm_response"], "half \n\nthe rest");
    let calls = made["calls"].as_array().unwrap();
    let statuses: Vec<_> = calls.iter().map(|call| &call["status"]).collect();
    assert_eq!(statuses, ["stopped", "complete"]);

    let again = parlor.post(&format!("/api/runs/{run}/regenerate"), &json!({}));
    let last = EventStream::open(again).await.read_to_end().await.pop().unwrap();
    assert_ne!(last["message_id"], json!(run), "a sibling");
    assert_eq!(
        last["payload"].get("diagnostics"),
        None,
        "the client did not request them"
    );
    let made = get_diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(made["calls"].as_array().unwrap().len(), 1);
}
