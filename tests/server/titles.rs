//! Titles by the model. The scripted server is local, so they are on only where a test says so.

use parlor_base::settings::TitleMode;
use serde_json::{Value, json};
use upstream::{CapturedRequest, Script, Upstream, When};

use crate::support::{Parlor, string_field};

async fn start(upstream: &Upstream) -> (tempfile::TempDir, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    upstream.add_script(When::any(), Script::new().text("In **Oslo**."));
    let parlor = Parlor::start_with(folder.path(), upstream, |settings| {
        settings.titles.mode = TitleMode::Always;
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
