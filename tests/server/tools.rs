//! Tools in a real run: the loop over HTTP, with tools that wait, fail, never end, or have to be allowed.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use parlor::tools::{Call, Registry, Tool, ToolError, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::{Barrier, Notify};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, SOON, calls, text, types};

#[derive(Deserialize, JsonSchema)]
pub struct Named {
    /// Which one.
    name: String,
}

/// Ends when two of its calls are at work.
struct Together(Barrier);

impl Tool for Together {
    type Input = Named;

    const NAME: &'static str = "together";
    const DESCRIPTION: &'static str = "Waits for another one.";
    const LABEL: &'static str = "Waiting";
    const DONE: &'static str = "Waited";

    fn detail(&self, input: &Named) -> Option<String> {
        Some(input.name.clone())
    }

    async fn run(&self, input: Named, call: Call) -> Result<ToolResult, ToolError> {
        call.progress
            .say("waiting", format!("{} is here", input.name), None);
        self.0.wait().await;
        Ok(format!("{} is done", input.name).into())
    }
}

/// What has become of a tool that never ends.
#[derive(Default)]
struct Fate {
    begun: AtomicUsize,
    begins: Notify,
    dropped: AtomicUsize,
}

struct Endless(Arc<Fate>);

impl Tool for Endless {
    type Input = Named;

    const NAME: &'static str = "endless";
    const DESCRIPTION: &'static str = "Never ends.";
    const LABEL: &'static str = "Going on";
    const DONE: &'static str = "Went on";

    async fn run(&self, _: Named, _: Call) -> Result<ToolResult, ToolError> {
        struct Guard(Arc<Fate>);
        impl Drop for Guard {
            fn drop(&mut self) {
                self.0.dropped.fetch_add(1, SeqCst);
            }
        }
        let _guard = Guard(self.0.clone());
        self.0.begun.fetch_add(1, SeqCst);
        self.0.begins.notify_one();
        std::future::pending().await
    }
}

/// Fails in the way that it is asked to.
pub struct Failing;

impl Tool for Failing {
    type Input = Named;

    const NAME: &'static str = "failing";
    const DESCRIPTION: &'static str = "Fails.";
    const LABEL: &'static str = "Trying";
    const DONE: &'static str = "Tried";
    const TIMEOUT: Duration = Duration::from_millis(300);
    const OUTPUT_BYTES: usize = 1000;

    async fn run(&self, input: Named, _: Call) -> Result<ToolResult, ToolError> {
        match input.name.as_str() {
            "error" => Err(ToolError::new("The thing is not there. Name another one.")),
            "panic" => panic!("as asked"),
            "slow" => std::future::pending().await,
            "huge" => Ok("ä".repeat(25 << 20).into()),
            _ => Ok("fine".to_owned().into()),
        }
    }
}

/// Counts how often it is allowed to run.
pub struct Asking(pub Arc<AtomicUsize>);

impl Tool for Asking {
    type Input = Named;

    const NAME: &'static str = "asking";
    const DESCRIPTION: &'static str = "Changes something.";
    const LABEL: &'static str = "Changing";
    const DONE: &'static str = "Changed";
    const NEEDS_APPROVAL: bool = true;

    async fn run(&self, input: Named, _: Call) -> Result<ToolResult, ToolError> {
        self.0.fetch_add(1, SeqCst);
        Ok(format!("{} is changed", input.name).into())
    }
}

/// A server with these tools.
async fn with(tools: Registry) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |_| {}).await;
    (folder, upstream, parlor)
}

fn asks(tool: &str, names: &[&str]) -> Script {
    names
        .iter()
        .enumerate()
        .fold(Script::new(), |script, (index, name)| {
            script.tool_call(format!("id{index}"), tool, json!({ "name": name }).to_string())
        })
}

async fn ask(parlor: &Parlor) -> crate::support::Stream {
    parlor
        .chat(&json!({ "message": "Do it", "model": "test/any" }))
        .await
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[tokio::test]
async fn the_calls_of_an_answer_run_together_and_the_model_is_given_what_they_gave() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Together(Barrier::new(2)))).await;
    upstream.script(
        When::any(),
        asks("together", &["one", "two"]).finish("tool_calls"),
    );
    upstream.script(
        When::tool_gave("two is done"),
        Script::new().text("Both are done."),
    );
    let events = ask(&parlor).await.rest().await;
    assert_eq!(text(&events, "text_delta"), "Both are done.");
    assert_eq!(events.last().unwrap()["type"], "complete");

    let starts = of_type(&events, "tool_start");
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
    let mut ends: Vec<Value> = of_type(&events, "tool_complete")
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
    let [first, second] = &calls(&upstream)[..] else {
        panic!("two calls of the model")
    };
    let function = &first["tools"][0]["function"];
    assert_eq!(
        (
            &function["name"],
            &function["parameters"]["properties"]["name"]["description"]
        ),
        (&json!("together"), &json!("Which one."))
    );
    let call = |id: &str, name: &str| {
        let arguments = json!({ "name": name }).to_string();
        json!({"id": id, "type": "function", "function": {"name": "together", "arguments": arguments}})
    };
    assert_eq!(
        second["messages"],
        json!([
            {"role": "user", "content": "Do it"},
            {"role": "assistant", "tool_calls": [call("id0", "one"), call("id1", "two")]},
            {"role": "tool", "tool_call_id": "id0", "content": "one is done"},
            {"role": "tool", "tool_call_id": "id1", "content": "two is done"},
        ])
    );
}

#[tokio::test]
async fn what_a_tool_did_is_part_of_the_conversation_from_then_on() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Failing)).await;
    upstream.script(When::any(), Script::new().text("You are welcome."));
    let look = Script::new()
        .text("Let me look.")
        .tool_call("id0", "failing", r#"{"name":"fine"}"#);
    upstream.script(When::user_contains("Do it"), look);
    upstream.script_times(
        1,
        When::tool_gave("fine"),
        Script::new().think("Hm.").text("There it is."),
    );
    let events = ask(&parlor).await.rest().await;
    let message = &events.last().unwrap()["payload"]["message"];
    assert_eq!(message, "Let me look.\n\n[[tool:0]]\n\nThere it is.");
    let next = json!({
        "message": "Thanks", "model": "test/any", "conversation_id": events[0]["conversation_id"],
    });
    parlor.chat(&next).await.rest().await;
    let shown = &calls(&upstream).pop().unwrap()["messages"];
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
async fn what_goes_wrong_with_a_tool_is_told_to_the_model_and_the_run_goes_on() {
    let cases = [
        (r#"{"name":"error"}"#, "The thing is not there. Name another one."),
        (r#"{"name":"panic"}"#, "A fault in the tool broke it off."),
        (r#"{"name":"slow"}"#, "longer than 0.3 seconds"),
        (r#"{"name":7}"#, "do not fit the schema: invalid type"),
        (r#"{}"#, "missing field `name`"),
        (r#"{"name":"#, "The arguments are not JSON"),
    ];
    for (arguments, told) in cases {
        let (_folder, upstream, parlor) = with(Registry::default().with(Failing)).await;
        upstream.script(When::any(), Script::new().tool_call("id0", "failing", arguments));
        upstream.script(When::tool_gave(""), Script::new().text("I see."));
        let events = ask(&parlor).await.rest().await;
        let ended = of_type(&events, "tool_complete");
        assert_eq!(ended[0]["status"], "failed", "{arguments}");
        let output = ended[0]["output"].as_str().unwrap();
        assert!(output.contains(told), "{arguments}: {output}");
        let given = &calls(&upstream)[1]["messages"][2];
        assert_eq!(
            (&given["role"], &given["content"]),
            (&json!("tool"), &json!(output))
        );
        assert_eq!(text(&events, "text_delta"), "I see.");
        parlor.stop().await;
    }
}

#[tokio::test]
async fn a_tool_that_says_too_much_is_cut_short() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Failing)).await;
    upstream.script(When::any(), asks("failing", &["huge"]));
    upstream.script(When::tool_gave("cut off"), Script::new().text("Much."));
    let events = ask(&parlor).await.rest().await;
    let output = of_type(&events, "tool_complete")[0]["output"].as_str().unwrap();
    assert!(output.len() < 1100, "{}", output.len());
    assert!(output.ends_with(&format!("[{} more bytes were cut off here.]", (50 << 20) - 1000)));
    assert_eq!(text(&events, "text_delta"), "Much.");
}

#[tokio::test]
async fn a_stop_ends_a_tool_that_is_at_work() {
    let fate = Arc::new(Fate::default());
    let (_folder, upstream, parlor) = with(Registry::default().with(Endless(fate.clone()))).await;
    upstream.script(
        When::any(),
        Script::new()
            .text("I begin.")
            .tool_call("id0", "endless", r#"{"name":"x"}"#),
    );
    let mut stream = ask(&parlor).await;
    let started = stream.until("tool_start").await;
    tokio::time::timeout(SOON, fate.begins.notified()).await.unwrap();
    let stop = json!({ "message_id": started["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    assert_eq!(
        fate.dropped.load(SeqCst),
        1,
        "nothing of it goes on when the stop is answered"
    );
    let rest = stream.rest().await;
    assert_eq!(types(&rest), ["cancelled"]);
    let path = format!("/api/messages/{}", started["message_id"].as_str().unwrap());
    let message = crate::support::json(parlor.get(&path).send().await.unwrap()).await;
    assert_eq!(
        message["message"]["nodes"][0]["parts"][1]["status"], "stopped",
        "{message}"
    );
    assert_eq!(calls(&upstream).len(), 1);
}

#[tokio::test]
async fn what_a_restart_interrupts_is_continued_and_what_has_ended_is_not_done_again() {
    let fate = Arc::new(Fate::default());
    let tools = || Registry::default().with(Endless(fate.clone())).with(Failing);
    let (folder, upstream, parlor) = with(tools()).await;
    let script = asks("failing", &["fine"]).tool_call("id1", "endless", r#"{"name":"x"}"#);
    upstream.script(When::any(), script);
    let mut stream = ask(&parlor).await;
    let ended = stream.until("tool_complete").await;
    assert_eq!(ended["output"], "fine");
    tokio::time::timeout(SOON, fate.begins.notified()).await.unwrap();
    parlor.stop().await;

    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools(), |_| {}).await;
    upstream.script(
        When::tool_gave("outcome"),
        Script::new().text("I looked at what I have."),
    );
    let intent = json!({ "intent": {
        "intent_id": Uuid::now_v7(),
        "conversation_id": ended["conversation_id"],
        "message_id": ended["message_id"],
    } });
    let continued = parlor.post("/rpc/continue_run", &intent).send().await.unwrap();
    assert_eq!(continued.status(), 200);
    let path = format!("/api/runs/{}/events", ended["message_id"].as_str().unwrap());
    let events = parlor.follow(&path).await.rest().await;
    assert_eq!(events.last().unwrap()["type"], "complete", "{events:?}");
    assert_eq!(
        fate.begun.load(SeqCst),
        1,
        "what has no known end is not run again"
    );
    let shown = &calls(&upstream)[1]["messages"];
    assert_eq!(shown[2]["content"], "fine");
    assert!(
        shown[3]["content"]
            .as_str()
            .unwrap()
            .contains("outcome of this call is unknown"),
        "{shown}"
    );
}

#[tokio::test]
async fn an_answer_that_broke_off_in_the_arguments_of_a_tool_goes_on() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Failing)).await;
    upstream.script(When::any(), asks("failing", &["fine"]));
    upstream.script(When::tool_gave("fine"), Script::new().text("Found."));
    let broken = Script::new()
        .text("Let me look.")
        .tool_call("id0", "failing", r#"{"na"#)
        .cut();
    upstream.script_times(1, When::any(), broken);
    let events = ask(&parlor).await.rest().await;
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    assert_eq!(
        of_type(&events, "tool_start").len(),
        0,
        "what was not asked for whole is not begun"
    );
    let path = format!("/api/runs/{}/continue", events[0]["message_id"].as_str().unwrap());
    let more = parlor.post(&path, &json!({})).send().await.unwrap();
    assert_eq!(more.status(), 200);
    let body = more.text().await.unwrap();
    assert!(
        body.contains(r#""message":"Let me look.\n\n[[tool:0]]\n\nFound.""#),
        "{body}"
    );
    let asked = calls(&upstream);
    assert_eq!(asked.len(), 3);
    assert_eq!(
        asked[1]["messages"][1],
        json!({"role": "assistant", "content": "Let me look."})
    );
    assert!(
        asked[1]["messages"][2]["content"]
            .as_str()
            .unwrap()
            .contains("cut off")
    );
    // What is shown in the end is one conversation, with the call in its place.
    let roles: Vec<_> = asked[2]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
}

#[tokio::test]
async fn a_model_that_only_uses_tools_has_to_answer_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let tools = Registry::default().with(Failing);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.agent.max_iterations = 2;
    })
    .await;
    upstream.script(When::any(), Script::new().text("All that I know."));
    upstream.script_times(2, When::any(), asks("failing", &["fine"]));
    let events = ask(&parlor).await.rest().await;
    assert_eq!(text(&events, "text_delta"), "All that I know.");
    let offered: Vec<bool> = calls(&upstream)
        .iter()
        .map(|call| call["tools"].is_array())
        .collect();
    assert_eq!(offered, [true, true, false]);
}

#[tokio::test]
async fn a_call_that_has_to_be_allowed_waits_through_a_restart_and_runs_once() {
    let ran = Arc::new(AtomicUsize::new(0));
    let tools = || Registry::default().with(Asking(ran.clone()));
    let (folder, upstream, parlor) = with(tools()).await;
    upstream.script(When::any(), asks("asking", &["it"]));
    upstream.script(When::tool_gave("it is changed"), Script::new().text("Done."));
    let mut stream = ask(&parlor).await;
    let asked = stream.until("approval_requested").await;
    assert_eq!(asked["input"], json!({"name": "it"}));
    stream.until("waiting").await;
    drop(stream);
    parlor.stop().await;

    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools(), |_| {}).await;
    let id = asked["message_id"].as_str().unwrap();
    let message =
        crate::support::json(parlor.get(&format!("/api/messages/{id}")).send().await.unwrap()).await;
    assert_eq!(
        message["message"]["status"], "waiting",
        "a restart changes nothing: {message}"
    );
    let allow = json!({ "message_id": id, "index": 0, "answer": "allow" });
    let answers = (0..3).map(|_| parlor.post("/rpc/answer_approval", &allow).send());
    for answer in futures::future::join_all(answers).await {
        assert_eq!(answer.unwrap().status(), 200);
    }
    let events = parlor
        .follow(&format!("/api/runs/{id}/events"))
        .await
        .rest()
        .await;
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nDone."
    );
    let deny = json!({ "message_id": id, "index": 0, "answer": "deny" });
    assert_eq!(
        parlor
            .post("/rpc/answer_approval", &deny)
            .send()
            .await
            .unwrap()
            .status(),
        200
    );
    assert_eq!(ran.load(SeqCst), 1, "the first answer counts, once");
}

#[tokio::test]
async fn what_is_not_allowed_is_not_done_and_the_model_is_told() {
    let ran = Arc::new(AtomicUsize::new(0));
    let (_folder, upstream, parlor) = with(Registry::default().with(Asking(ran.clone())).with(Failing)).await;
    let script = asks("asking", &["it"]).tool_call("id1", "failing", r#"{"name":"fine"}"#);
    upstream.script(When::any(), script);
    upstream.script(When::tool_gave(""), Script::new().text("As you wish."));
    let mut stream = ask(&parlor).await;
    let waiting = stream.until("waiting").await;
    let id = waiting["message_id"].as_str().unwrap();
    let deny = json!({ "index": 0, "answer": "deny" });
    let path = format!("/api/runs/{id}/approvals");
    assert_eq!(parlor.post(&path, &deny).send().await.unwrap().status(), 204);
    let events = stream.rest().await;
    assert_eq!(types(&events)[..2], ["approval_answered", "tool_complete"]);
    assert_eq!(events[1]["status"], "denied");
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\n[[tool:1]]\n\nAs you wish."
    );
    assert_eq!(ran.load(SeqCst), 0);
    let shown = &calls(&upstream)[1]["messages"];
    assert!(
        shown[2]["content"].as_str().unwrap().contains("did not allow"),
        "{shown}"
    );
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_can_be_stopped() {
    let (_folder, upstream, parlor) = with(Registry::default().with(Asking(Arc::default()))).await;
    upstream.script(When::any(), asks("asking", &["it"]));
    let mut stream = ask(&parlor).await;
    let waiting = stream.until("waiting").await;
    let stop = json!({ "message_id": waiting["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    assert_eq!(types(&stream.rest().await), ["cancelled"]);
    let next = json!({ "message": "x", "model": "test/any", "conversation_id": waiting["conversation_id"] });
    assert_eq!(
        parlor.chat(&next).await.next().await.unwrap()["type"],
        "user_message_saved"
    );
}
