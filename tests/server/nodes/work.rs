//! The work of nodes: approvals from any node, jobs and planned times once, sessions of Python.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use parlor_tools::{Tool, ToolContext, ToolError, ToolKind, ToolResult};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::*;
use crate::{
    jobs,
    python::conversations::{activities, ask, output, start_in},
    schedules::{TestClock, Timed, daily},
    support::TEST_TIMEOUT,
    tools::{ApprovalTool, Named},
};

/// A tool that works until the test lets it end.
struct WaitingTool(Arc<Semaphore>);

impl Tool for WaitingTool {
    type Input = Named;

    const KIND: ToolKind = ToolKind::plain("waiting");
    const DESCRIPTION: &'static str = "Waits.";
    const LABEL: &'static str = "Waiting";
    const DONE: &'static str = "Waited";

    async fn run(&self, _: Named, _: ToolContext) -> Result<ToolResult, ToolError> {
        let _permit = self.0.acquire().await;
        Ok("waited".to_owned().into())
    }
}

async fn allow(parlor: &Parlor, run: &str) {
    let allow = json!({ "index": 0, "answer": "allow" });
    let path = format!("/api/runs/{run}/approvals");
    let answered = timeout(TEST_TIMEOUT, parlor.post(&path, &allow).send()).await;
    assert_eq!(answered.expect("in time").unwrap().status(), 204);
}

#[tokio::test]
async fn an_approval_is_answered_at_another_node() {
    let (ran, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let tools = || {
        ToolRegistry::default()
            .with_tool(ApprovalTool(ran.clone()))
            .with_tool(WaitingTool(gate.clone()))
    };
    let pair = Pair::start_with(tools).await;
    let asking = || Script::new().tool_call("id0", "asking", r#"{"name":"it"}"#);
    pair.upstream.add_script(When::user_contains("pause"), asking());
    pair.upstream.add_script(
        When::user_contains("active"),
        asking().tool_call("id1", "waiting", r#"{"name":"it"}"#),
    );
    pair.upstream
        .add_script(When::tool_gave(""), Script::new().text("Done."));

    // No node works on a run that waits: the one that gets the answer goes on.
    let mut turn = pair.first.chat(&message("pause")).await;
    let run = string_field(&turn.next_of_type("waiting").await, "message_id");
    allow(&pair.second, &run).await;
    let events = turn.read_to_end().await;
    assert_eq!(
        event_types(&events).last().copied(),
        Some("complete"),
        "{events:?}"
    );
    assert_eq!(ran.load(SeqCst), 1);

    // The node that works on a run, because of its other call, gets the answer of the other one.
    let mut turn = pair.first.chat(&message("active")).await;
    let run = string_field(&turn.next_of_type("approval_requested").await, "message_id");
    allow(&pair.second, &run).await;
    let done = turn.next_of_type("tool_complete").await;
    assert_eq!((done["index"].as_u64(), ran.load(SeqCst)), (Some(0), 2));
    gate.add_permits(1);
    let events = turn.read_to_end().await;
    assert_eq!(
        event_types(&events).last().copied(),
        Some("complete"),
        "{events:?}"
    );
    assert_eq!(ran.load(SeqCst), 2);
}

#[tokio::test]
async fn a_planned_time_is_sent_by_one_node() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Nothing much."));
    let is_node = node_of(folder.path()).await;
    let clock = TestClock::at("2026-03-02T07:00:00Z");
    let first = Timed::start(folder.path(), &upstream, &clock, &is_node).await;
    let second = Timed::start(folder.path(), &upstream, &clock, &is_node).await;
    let id = first.save(daily("News", "08:00", "UTC")).await;
    for (day, count) in [("2026-03-02T08:00:00Z", 1), ("2026-03-03T08:00:00Z", 2)] {
        clock.set(day);
        tokio::join!(first.send_due(), second.send_due());
        assert_eq!(second.titles().await.len(), count, "{day}");
        second.ended(&id).await;
    }
    first.stop().await;
    second.stop().await;
}

#[tokio::test]
async fn a_job_goes_on_at_another_node() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    jobs::add_pubmed(&upstream);
    jobs::add_answers(&upstream);
    upstream.add_script_times(1, When::user_contains("Ships sail"), Script::new().gate("never"));
    let is_node = node_of(folder.path()).await;
    let first = jobs::start_in(folder.path(), &upstream, &is_node).await;
    let second = jobs::start_in(folder.path(), &upstream, &is_node).await;
    let stream = jobs::save_stream(&first).await;
    let id = jobs::begin(&first, &jobs::report_of(&stream)).await;
    upstream.wait_for_gate("never").await;
    first.stop().await;
    let job = jobs::wait_for(&second, &id, "complete").await;
    assert_eq!(job["result"]["articles"].as_array().unwrap().len(), 3, "{job}");
    // The finished steps were not repeated; the one that was cut off was.
    assert_eq!(crate::support::raw_model_calls(&upstream).len(), 5);
}

#[tokio::test]
async fn a_job_is_stopped_from_another_node() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    jobs::add_pubmed(&upstream);
    upstream.add_script(When::any(), Script::new().gate("never"));
    let is_node = node_of(folder.path()).await;
    let first = jobs::start_in(folder.path(), &upstream, &is_node).await;
    let second = jobs::start_in(folder.path(), &upstream, &is_node).await;
    let stream = jobs::save_stream(&first).await;
    let id = jobs::begin(&first, &jobs::report_of(&stream)).await;
    upstream.wait_for_gate("never").await;
    let (status, job) = jobs::post(&second, &format!("/api/jobs/{id}/stop"), &json!({})).await;
    assert_eq!((status, &job["status"]), (200, &json!("stopped")));
    upstream.wait_until_closed().await;
    let (_, job) = first.get_json(&format!("/api/jobs/{id}")).await;
    assert_eq!(job["status"], "stopped");
}

#[tokio::test]
async fn a_session_of_python_is_restored_at_another_node() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let is_node = node_of(folder.path()).await;
    let start = || start_in(folder.path(), &upstream, &is_node);
    let (first, second) = (start().await, start().await);
    let begun = ask(&first, &upstream, None, "x = [1]").await;
    let conversation = string_field(&begun[0], "conversation_id");
    let id = Some(&*conversation);
    let there = ask(&second, &upstream, id, "x.append(2)\nprint(x)").await;
    assert_eq!(output(&there), "[1, 2]");
    let is_restored = |events: &[Value]| {
        let shown = activities(events);
        shown.iter().any(|text| text.starts_with("Restoring session"))
    };
    assert!(is_restored(&there), "{there:?}");
    // The session that the first node still has is not the conversation's any more.
    let here = ask(&first, &upstream, id, "print(x, 'back')").await;
    assert_eq!(output(&here), "[1, 2] back");
    // One that goes on where it is is not restored.
    let again = ask(&first, &upstream, id, "print(x, 'again')").await;
    assert_eq!(output(&again), "[1, 2] again");
    assert!(!is_restored(&again), "{again:?}");
}
