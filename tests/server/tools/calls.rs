//! The results of tool calls, as the model and the user see them.

use std::borrow::Cow;

use async_trait::async_trait;
use parking_lot::Mutex;
use parlor_model::{ToolInput, ToolPlan, ToolSpec};
use parlor_tools::{AnyTool, OpenItems, ToolRunOptions, any_tool};
use upstream::When;

use super::*;
use crate::support::{joined_deltas, model_calls};

/// A tool that logs when its calls begin and end. The first one ends when the test says so.
struct LoggedTool {
    log: Arc<Mutex<Vec<String>>>,
    go_on: Arc<Notify>,
}

impl Tool for LoggedTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("logged");
    const DESCRIPTION: &'static str = "Logs its calls.";
    const LABEL: &'static str = "Logging";
    const DONE: &'static str = "Logged";

    async fn run(&self, input: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        self.log.lock().push(format!("{} begins", input.name));
        if input.name == "one" {
            self.go_on.notified().await;
        }
        self.log.lock().push(format!("{} ends", input.name));
        Ok(format!("{} is done", input.name).into())
    }
}

/// A tool whose calls are a sequence.
struct SequentialTool(Arc<dyn AnyTool>);

#[async_trait]
impl AnyTool for SequentialTool {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.0.spec()
    }

    fn run_options(&self) -> ToolRunOptions {
        self.0.run_options()
    }

    fn plan(&self, arguments: &str, open: OpenItems<'_>) -> Result<ToolPlan, String> {
        self.0.plan(arguments, open)
    }

    fn sequence(&self, _arguments: &str) -> Option<Cow<'_, str>> {
        Some("a server".into())
    }

    async fn run(&self, input: ToolInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        self.0.run(input, call).await
    }
}

#[tokio::test]
async fn calls_of_a_sequence_keep_their_order() {
    let (log, go_on) = (Arc::<Mutex<Vec<String>>>::default(), Arc::new(Notify::new()));
    let tool = LoggedTool {
        log: log.clone(),
        go_on: go_on.clone(),
    };
    let tool = Arc::new(SequentialTool(any_tool(tool)));
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_dyn_tool(tool)).await;
    upstream.add_script(
        When::any(),
        call_script("logged", &["one", "two", "three"]).finish("tool_calls"),
    );
    upstream.add_script(When::tool_gave("three is done"), Script::new().text("Done."));
    let mut run = start_turn(&parlor).await;
    for _ in 0..3 {
        run.next_of_type("tool_start").await;
    }
    go_on.notify_one();
    run.next_of_type("complete").await;
    let expected = [
        "one begins",
        "one ends",
        "two begins",
        "two ends",
        "three begins",
        "three ends",
    ];
    assert_eq!(*log.lock(), expected);
}

#[tokio::test]
async fn parallel_calls_return_their_outputs() {
    let (_folder, upstream, parlor) =
        start_with_tools(ToolRegistry::default().with_tool(BarrierTool(Barrier::new(2)))).await;
    upstream.add_script(
        When::any(),
        call_script("together", &["one", "two"]).finish("tool_calls"),
    );
    upstream.add_script(
        When::tool_gave("two is done"),
        Script::new().text("Both are done."),
    );
    let events = start_turn(&parlor).await.read_to_end().await;
    assert_eq!(joined_deltas(&events, "text_delta"), "Both are done.");
    assert_eq!(events.last().unwrap()["type"], "complete");

    let starts = events_of_type(&events, "tool_start");
    let summary = |event: &Value| {
        json!([
            event["index"],
            event["tool"],
            event["input"],
            event["label"],
            event["detail"]
        ])
    };
    assert_eq!(
        starts.into_iter().map(summary).collect::<Vec<_>>(),
        [
            json!([0, "together", {"name": "one"}, "Waiting", "one"]),
            json!([1, "together", {"name": "two"}, "Waiting", "two"]),
        ]
    );
    let mut ends: Vec<Value> = events_of_type(&events, "tool_complete")
        .into_iter()
        .map(|event| json!([event["index"], event["status"], event["label"], event["output"]]))
        .collect();
    ends.sort_by_key(|end| end[0].as_u64());
    assert_eq!(
        ends,
        [
            json!([0, "complete", "Waited", "one is done"]),
            json!([1, "complete", "Waited", "two is done"]),
        ]
    );
    let [first, second] = &model_calls(&upstream)[..] else {
        panic!("two calls of the model")
    };
    let function = &first["tools"][0]["function"];
    assert_eq!(
        (
            &function["name"],
            &function["parameters"]["properties"]["name"]["description"]
        ),
        (&json!("together"), &json!("A name that tells calls apart."))
    );
    let call = |id: &str, name: &str| {
        let arguments = json!({ "name": name }).to_string();
        json!({"id": id, "type": "function", "function": {"name": "together", "arguments": arguments}})
    };
    assert_eq!(
        second["messages"],
        json!([
            {"role": "user", "content": "Do it"},
            {"role": "assistant", "tool_calls": [call("call00001", "one"), call("call00002", "two")]},
            {"role": "tool", "tool_call_id": "call00001", "content": "one is done"},
            {"role": "tool", "tool_call_id": "call00002", "content": "two is done"},
        ])
    );
}

/// Joins the deltas of a stream.
fn join_deltas(events: &[Value]) -> String {
    let deltas = events_of_type(events, "text_delta").into_iter();
    deltas
        .map(|event| event["text"].as_str().expect("a text"))
        .collect()
}

#[tokio::test]
async fn joined_deltas_equal_the_message() {
    let (_folder, upstream, parlor) =
        start_with_tools(ToolRegistry::default().with_tool(BarrierTool(Barrier::new(2)))).await;
    let both = call_script("together", &["one", "two"]).finish("tool_calls");
    upstream.add_script(When::any(), both);
    let said = Script::new().text("Both are [[to").text("ol:0]] done.");
    upstream.add_script(When::tool_gave("two is done"), said);
    let events = start_turn(&parlor).await.read_to_end().await;
    let message = events.last().unwrap()["payload"]["message"].as_str().unwrap();
    assert_eq!(message, "[[tool:0]]\n\n[[tool:1]]\n\nBoth are [[tool\\:0]] done.");
    assert_eq!(join_deltas(&events), message);
    let marks: Vec<_> = events
        .iter()
        .filter(|event| event.get("marker").is_some())
        .collect();
    let expected = [json!([0, "[[tool:0]]"]), json!([1, "[[tool:1]]"])];
    let found: Vec<_> = marks
        .iter()
        .map(|mark| json!([mark["marker"], mark["text"]]))
        .collect();
    assert_eq!(found, expected);
    assert!(marks.iter().all(|mark| mark.get("offset").is_none()));
    for (index, mark) in marks.iter().enumerate() {
        let end = events_of_type(&events, "tool_complete")
            .into_iter()
            .find(|end| end["index"] == index)
            .expect("it ends");
        assert!(mark["position"].as_u64() >= end["position"].as_u64());
    }

    // A reader that reconnects later gets the rest.
    let run = events.last().unwrap()["message_id"].as_str().unwrap();
    let mut positions: Vec<u64> = events
        .iter()
        .filter_map(|event| event["position"].as_u64())
        .collect();
    positions.dedup();
    for position in &positions[..positions.len() - 1] {
        let seen: Vec<Value> = events
            .iter()
            .filter(|event| event["position"].as_u64() <= Some(*position))
            .cloned()
            .collect();
        let path = format!("/api/runs/{run}/events?after={position}");
        let rest = parlor.follow(&path).await.read_to_end().await;
        assert_eq!(
            join_deltas(&seen) + &join_deltas(&rest),
            message,
            "after {position}"
        );
    }
}

/// Clients read an event from one line, as docs/http.md promises.
#[tokio::test]
async fn pretty_printed_arguments_are_one_line() {
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
    let arguments = "{\n  \"name\":\r\n\t\"fine\"\n}\n";
    upstream.add_script(When::any(), Script::new().tool_call("id0", "failing", arguments));
    upstream.add_script(When::tool_gave("fine"), Script::new().text("Done."));
    let body = json!({ "message": "Do it", "model": "test/any" });
    let response = parlor.post("/api/chat/stream", &body).send().await.unwrap();
    // Proxies that compress let it pass.
    assert_eq!(response.headers()["content-encoding"], "identity");
    let stream = response.text().await.unwrap();
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events: Vec<Value> = data.map(|data| serde_json::from_str(data).unwrap()).collect();
    assert_eq!(
        events_of_type(&events, "tool_start")[0]["input"],
        json!({ "name": "fine" })
    );
    assert!(stream.contains(r#""input":{"name":"fine"}"#), "{stream}");
}

#[tokio::test]
async fn tool_results_stay_in_the_conversation() {
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
    upstream.add_script(When::any(), Script::new().text("You are welcome."));
    let look = Script::new()
        .text("Let me look.")
        .tool_call("id0", "failing", r#"{"name":"fine"}"#);
    upstream.add_script(When::user_contains("Do it"), look);
    upstream.add_script_times(
        1,
        When::tool_gave("fine"),
        Script::new().think("Hm.").text("There it is."),
    );
    let events = start_turn(&parlor).await.read_to_end().await;
    let message = &events.last().unwrap()["payload"]["message"];
    assert_eq!(message, "Let me look.\n\n[[tool:0]]\n\nThere it is.");
    let next = json!({
        "message": "Thanks", "model": "test/any", "conversation_id": events[0]["conversation_id"],
    });
    parlor.chat(&next).await.read_to_end().await;
    let shown = &model_calls(&upstream).pop().unwrap()["messages"];
    let roles: Vec<_> = shown
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(shown[1]["content"], "Let me look.");
    assert_eq!(shown[3]["content"], "There it is.");
}

#[tokio::test]
async fn tool_errors_go_to_the_model() {
    let cases = [
        (r#"{"name":"error"}"#, "The thing is not there. Name another one."),
        (r#"{"name":"panic"}"#, "A fault in the tool broke it off."),
        (r#"{"name":"slow"}"#, "longer than 0.3 seconds"),
        (r#"{"name":7}"#, "do not fit the schema: invalid type"),
        (r#"{}"#, "missing field `name`"),
        (r#"{"name":"#, "The arguments are not JSON"),
    ];
    for (arguments, told) in cases {
        let (_folder, upstream, parlor) =
            start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
        upstream.add_script(When::any(), Script::new().tool_call("id0", "failing", arguments));
        upstream.add_script(When::tool_gave(""), Script::new().text("I see."));
        let events = start_turn(&parlor).await.read_to_end().await;
        let ended = events_of_type(&events, "tool_complete");
        assert_eq!(ended[0]["status"], "failed", "{arguments}");
        let output = ended[0]["output"].as_str().unwrap();
        assert!(output.contains(told), "{arguments}: {output}");
        let given = &model_calls(&upstream)[1]["messages"][2];
        assert_eq!(
            (&given["role"], &given["content"]),
            (&json!("tool"), &json!(output))
        );
        assert_eq!(joined_deltas(&events, "text_delta"), "I see.");
        parlor.stop().await;
    }
}

#[tokio::test]
async fn truncates_long_tool_output() {
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
    upstream.add_script(When::any(), call_script("failing", &["huge"]));
    upstream.add_script(When::tool_gave("cut off"), Script::new().text("Much."));
    let events = start_turn(&parlor).await.read_to_end().await;
    let output = events_of_type(&events, "tool_complete")[0]["output"]
        .as_str()
        .unwrap();
    assert!(output.len() < 1100, "{}", output.len());
    assert!(output.ends_with(&format!("[{} more bytes were cut off here.]", (50 << 20) - 1000)));
    assert_eq!(joined_deltas(&events, "text_delta"), "Much.");
}

#[tokio::test]
async fn model_must_answer_after_max_tool_rounds() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let tools = ToolRegistry::default().with_tool(FailingTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.agent.max_iterations = 2;
    })
    .await;
    upstream.add_script(When::any(), Script::new().text("All that I know."));
    upstream.add_script_times(2, When::any(), call_script("failing", &["fine"]));
    let events = start_turn(&parlor).await.read_to_end().await;
    assert_eq!(joined_deltas(&events, "text_delta"), "All that I know.");
    let offered: Vec<bool> = model_calls(&upstream)
        .iter()
        .map(|call| call["tools"].is_array())
        .collect();
    assert_eq!(offered, [true, true, false]);
}

/// serde_json passes it on without parsing it, and the page cannot parse it. It would break the log of all
/// conversations.
#[tokio::test]
async fn lone_surrogate_in_arguments_is_harmless() {
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
    upstream.add_script(
        When::any(),
        Script::new().tool_call("id0", "failing", r#"{"name":"\ud83d"}"#),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("I see."));
    let events = start_turn(&parlor).await.read_to_end().await;
    assert_eq!(joined_deltas(&events, "text_delta"), "I see.");
    let id = events[0]["conversation_id"].as_str().unwrap();
    let page = parlor.get(&format!("/c/{id}")).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("I see."));
    let next = json!({ "message": "Go on", "model": "test/any", "conversation_id": id });
    assert_eq!(
        parlor.chat(&next).await.read_to_end().await.last().unwrap()["type"],
        "complete"
    );
}

/// serde_json's limit is 128 levels.
#[tokio::test]
async fn deeply_nested_arguments_are_shown() {
    let (_folder, upstream, parlor) = start_with_tools(ToolRegistry::default().with_tool(FailingTool)).await;
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    let arguments = format!(r#"{{"name":{deep}}}"#);
    upstream.add_script(When::any(), Script::new().tool_call("id0", "failing", &arguments));
    upstream.add_script(When::tool_gave(""), Script::new().text("I see."));
    let request = json!({ "message": "Do it", "model": "test/any" });
    let stream = parlor.post("/api/chat/stream", &request).send().await.unwrap();
    let body = stream.text().await.unwrap();
    let last = body.lines().rfind(|line| line.starts_with("data:")).unwrap();
    assert!(
        last.contains(r#""type":"complete""#) && last.contains(&deep),
        "the contract's last event has it"
    );
    let id = last
        .split(r#""message_id":""#)
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    let message = parlor.get(&format!("/api/messages/{id}")).send().await.unwrap();
    assert_eq!(message.status(), 200);
    assert!(message.text().await.unwrap().contains(&deep));
    let page = parlor.get("/").send().await.unwrap();
    assert_eq!(page.status(), 200);
}
