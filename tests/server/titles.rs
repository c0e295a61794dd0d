//! Titles by the model: at once, and by local models while they are idle, as the scripted server is one.

use std::time::Duration;

use parlor_base::settings::TitleMode;
use serde_json::{Value, json};
use upstream::{CapturedRequest, Script, Upstream, When};

use crate::support::{Parlor, string_field};

async fn start(upstream: &Upstream) -> (tempfile::TempDir, Parlor) {
    start_in_mode(upstream, TitleMode::Always).await
}

async fn start_in_mode(upstream: &Upstream, mode: TitleMode) -> (tempfile::TempDir, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    upstream.add_script(When::any(), Script::new().text("In **Oslo**."));
    let parlor = Parlor::start_with(folder.path(), upstream, |settings| {
        settings.titles.mode = mode;
        settings.titles.idle = Duration::ZERO;
    })
    .await;
    (folder, parlor)
}

/// The request for a title has both messages.
fn title_request() -> When {
    When::user_contains("Assistant: In **Oslo**.")
}

fn is_title(request: &CapturedRequest) -> bool {
    request.body.to_string().contains("Assistant: In **Oslo**.")
}

async fn title(parlor: &Parlor, conversation: &str) -> Value {
    let found = parlor
        .get_json(&format!("/api/conversations/{conversation}"))
        .await;
    found.1["title"].clone()
}

#[tokio::test]
async fn model_titles_the_first_exchange() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start(&upstream).await;
    upstream.add_script(
        title_request(),
        Script::new().text("\"**Where Oslo is.**\"\n\nMore"),
    );
    let last = parlor.turn(None, "Where is it?").await.pop().unwrap();
    let conversation = string_field(&last, "conversation_id");
    let mut log = parlor.follow("/api/events?after=0").await;
    let renamed = log.next_of_type("conversation_renamed").await;
    assert_eq!(
        (&renamed["title"], &renamed["conversation_id"]),
        (&json!("Where Oslo is"), &json!(conversation))
    );
    assert_eq!(title(&parlor, &conversation).await, "Where Oslo is");

    // Its tokens count, and the diagnostics show the call.
    let message = string_field(&last, "message_id");
    let stored = parlor.get_json(&format!("/api/messages/{message}")).await.1;
    assert_eq!(stored["message"]["usage"]["totals"]["calls"], 2);
    let report = parlor
        .get_json(&format!("/api/messages/{message}/diagnostics"))
        .await
        .1;
    let purposes: Vec<_> = report["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| &call["purpose"])
        .collect();
    assert_eq!(purposes, ["answer", "title"]);
    assert_eq!(
        report["messages"].as_array().unwrap().last().unwrap()["content"],
        "Where is it?"
    );

    // It is made once.
    parlor.turn(Some(&conversation), "Thanks").await;
    parlor.turn(Some(&conversation), "Thanks again").await;
    assert_eq!(title(&parlor, &conversation).await, "Where Oslo is");
    parlor.stop().await;
    let requests = upstream.requests();
    let asked = requests
        .iter()
        .filter(|request| request.path.ends_with("/chat/completions"))
        .count();
    assert_eq!(asked, 4);
}

/// Starts a conversation whose title, Oslo, waits for the gate.
async fn begin_title(upstream: &Upstream, parlor: &Parlor) -> String {
    upstream.add_script(title_request(), Script::new().gate("title").text("Oslo"));
    let last = parlor.turn(None, "Where is it?").await.pop().unwrap();
    upstream.wait_for_gate("title").await;
    string_field(&last, "conversation_id")
}

#[tokio::test]
async fn own_title_is_never_replaced() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start(&upstream).await;
    let conversation = begin_title(&upstream, &parlor).await;
    let path = format!("{}/api/conversations/{conversation}", parlor.url);
    let request = parlor
        .client
        .patch(path)
        .header("content-type", "application/json");
    let own = request
        .body(json!({ "title": "Mine" }).to_string())
        .send()
        .await
        .unwrap();
    assert_eq!(own.status(), 200);
    let mut log = parlor.follow("/api/events?after=0").await;
    assert_eq!(log.next_of_type("conversation_renamed").await["title"], "Mine");
    upstream.open_gate("title");
    // The call is counted with the change that would rename.
    assert_eq!(log.next_of_type("usage").await["totals"]["calls"], 2);
    assert_eq!(title(&parlor, &conversation).await, "Mine");
}

#[tokio::test]
async fn one_title_is_made_at_a_time() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start(&upstream).await;
    let conversation = begin_title(&upstream, &parlor).await;
    parlor.turn(Some(&conversation), "And now?").await;
    upstream.open_gate("title");
    let mut log = parlor.follow("/api/events?after=0").await;
    assert_eq!(log.next_of_type("conversation_renamed").await["title"], "Oslo");
    let asked = upstream
        .requests()
        .iter()
        .filter(|request| is_title(request))
        .count();
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn files_only_message_is_titled() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start(&upstream).await;
    upstream.add_script(title_request(), Script::new().text("A map"));
    let upload = parlor
        .client
        .post(format!("{}/api/files?name=notes.txt", parlor.url));
    let file: Value = upload.body("Oslo").send().await.unwrap().json().await.unwrap();
    let turn = json!({
        "message": "", "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any",
    });
    let events = parlor.chat(&turn).await.read_to_end().await;
    assert_eq!(events.last().unwrap()["type"], "complete");
    let mut log = parlor.follow("/api/events?after=0").await;
    assert_eq!(log.next_of_type("conversation_renamed").await["title"], "A map");
}

#[tokio::test]
async fn failed_title_is_made_after_a_later_answer() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start(&upstream).await;
    upstream.add_script(title_request(), Script::new().text("Oslo"));
    upstream.add_script_times(
        1,
        title_request(),
        Script::new().gate("title").status(400, Value::Null, &[]),
    );
    let last = parlor.turn(None, "Where is it?").await.pop().unwrap();
    let conversation = string_field(&last, "conversation_id");
    upstream.wait_for_gate("title").await;
    upstream.open_gate("title");
    parlor.turn(Some(&conversation), "And now?").await;
    let mut log = parlor.follow("/api/events?after=0").await;
    assert_eq!(log.next_of_type("conversation_renamed").await["title"], "Oslo");
}

/// The request for the title of a conversation that begins with this question.
fn title_of(question: &str) -> When {
    When::user_contains(format!("Person: {question}"))
}

fn title_count(upstream: &Upstream, question: &str) -> usize {
    let start = format!("Person: {question}");
    let requests = upstream.requests();
    let of_question = requests
        .iter()
        .filter(|request| request.body.to_string().contains(&start));
    of_question.count()
}

/// Waits until a conversation is renamed.
async fn renamed(parlor: &Parlor, conversation: &str) -> Value {
    let mut log = parlor.follow("/api/events?after=0").await;
    loop {
        let event = log.next_of_type("conversation_renamed").await;
        if event["conversation_id"] == conversation {
            return event["title"].clone();
        }
    }
}

#[tokio::test]
async fn local_model_writes_titles_while_idle() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start_in_mode(&upstream, TitleMode::Auto).await;
    upstream.add_script(
        When::user_contains("Hold"),
        Script::new().gate("held").text("Held"),
    );
    upstream.add_script(title_of("Where is it?"), Script::new().text("Where Oslo is"));
    let hold = json!({ "message": "Hold", "model": "test/any" });
    let held = parlor.chat(&hold).await;
    upstream.wait_for_gate("held").await;
    let last = parlor.turn(None, "Where is it?").await.pop().unwrap();
    let conversation = string_field(&last, "conversation_id");
    parlor.turn(Some(&conversation), "And now?").await;
    assert_eq!(title_count(&upstream, "Where is it?"), 0, "the model is busy");
    assert_eq!(title(&parlor, &conversation).await, "Where is it?");
    upstream.open_gate("held");
    held.read_to_end().await;
    assert_eq!(renamed(&parlor, &conversation).await, "Where Oslo is");
    assert_eq!(title_count(&upstream, "Where is it?"), 1);
}

#[tokio::test]
async fn local_title_makes_room_for_answers() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start_in_mode(&upstream, TitleMode::Auto).await;
    let question = "Where is it?";
    upstream.add_script(title_of(question), Script::new().text("Where Oslo is"));
    let cut = Script::new().text("Wro").gate("title").text("ng");
    upstream.add_script_times(1, title_of(question), cut);
    let last = parlor.turn(None, question).await.pop().unwrap();
    let conversation = string_field(&last, "conversation_id");
    upstream.wait_for_gate("title").await;
    // The gate stays closed: only a title that is given up lets the next one begin.
    parlor.turn(None, "Another question").await;
    assert_eq!(renamed(&parlor, &conversation).await, "Where Oslo is");
    assert_eq!(title_count(&upstream, question), 2);
    let message = string_field(&last, "message_id");
    let stored = parlor.get_json(&format!("/api/messages/{message}")).await.1;
    let totals = &stored["message"]["usage"]["totals"];
    assert_eq!(
        (&totals["calls"], &totals["estimated_calls"]),
        (&json!(3), &json!(1))
    );
}

#[tokio::test]
async fn failed_local_title_keeps_the_first_words() {
    let upstream = Upstream::start().await;
    let (_folder, parlor) = start_in_mode(&upstream, TitleMode::Auto).await;
    let essay = "The conversation is about a place that the person wants to find. ".repeat(5);
    upstream.add_script(title_of("Where is it?"), Script::new().text(&essay));
    let last = parlor.turn(None, "Where is it?").await.pop().unwrap();
    let conversation = string_field(&last, "conversation_id");
    let mut log = parlor.follow("/api/events?after=0").await;
    // The answer's, then that of both calls.
    while log.next_of_type("usage").await["totals"]["calls"] != 2 {}
    assert_eq!(title(&parlor, &conversation).await, "Where is it?");
}
