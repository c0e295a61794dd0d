//! Messages that are sent while a run is active, over HTTP.

use parlor_base::settings::Settings;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{EventStream, Parlor, read_json, string_field};

/// A conversation whose first answer waits for the gate `first`.
struct BusyConversation {
    _folder: tempfile::TempDir,
    upstream: Upstream,
    parlor: Parlor,
    id: String,
    run: String,
    log: EventStream,
}

impl BusyConversation {
    async fn start(queued_messages: usize) -> Self {
        let script = Script::new().text("One").gate("first").text(", two.");
        Self::start_with(script, |settings| {
            settings.limits.queued_messages = queued_messages
        })
        .await
    }

    async fn start_with(script: Script, change: impl FnOnce(&mut Settings)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("Well."));
        upstream.add_script(When::user_contains("first"), script);
        let parlor = Parlor::start_built_in(folder.path(), &upstream, change).await;
        let mut log = parlor.follow("/api/events").await;
        let mut turn = parlor
            .chat(&json!({ "message": "first", "model": "test/any" }))
            .await;
        let saved = turn.next().await.unwrap();
        log.next_of_type("text_delta").await;
        Self {
            _folder: folder,
            upstream,
            parlor,
            id: string_field(&saved, "conversation_id"),
            run: string_field(&saved, "message_id"),
            log,
        }
    }

    async fn post(&self, path: &str, text: &str, queue: bool, key: Uuid) -> (u16, Value) {
        let body = json!({ "message": text, "conversation_id": self.id, "queue": queue });
        let request = self
            .parlor
            .post(path, &body)
            .header("idempotency-key", key.to_string());
        let response = request.send().await.unwrap();
        (response.status().as_u16(), read_json(response).await)
    }

    /// Queues a message and returns its id.
    async fn queue(&self, text: &str) -> String {
        let (status, queued) = self.post("/api/chat/stream", text, true, Uuid::now_v7()).await;
        assert_eq!((status, &queued["status"]), (202, &json!("queued")), "{queued}");
        string_field(&queued, "user_message_id")
    }

    async fn change(&self, change: Value) -> u16 {
        let body = json!({ "conversation_id": self.id, "change": change });
        let response = self.parlor.post("/rpc/change_queue", &body).send().await.unwrap();
        response.status().as_u16()
    }

    async fn wait_for_ends(&mut self, count: usize) {
        for _ in 0..count {
            self.log.next_of_type("complete").await;
        }
    }

    async fn queued_texts(&self) -> Vec<String> {
        let transcript = self.parlor.transcript(&self.id).await;
        let queued = transcript["queue"]["messages"].as_array().unwrap().iter();
        queued.map(|queued| string_field(queued, "text")).collect()
    }

    /// Returns the texts of the user's messages, in their order.
    async fn sent_texts(&self) -> Vec<String> {
        let transcript = self.parlor.transcript(&self.id).await;
        let messages = transcript["messages"].as_array().unwrap().iter();
        let questions = messages.filter(|message| message["role"] == "user");
        questions.map(|message| string_field(message, "text")).collect()
    }
}

#[tokio::test]
async fn queued_messages_are_sent_in_order() {
    let mut busy = BusyConversation::start(20).await;
    let (status, refused) = busy
        .post("/api/chat/stream", "second", false, Uuid::now_v7())
        .await;
    assert_eq!((status, &refused["code"]), (409, &json!("run_active")));
    let key = Uuid::now_v7();
    let queued = busy.post("/api/chat/batch", "second", true, key).await;
    assert_eq!((queued.0, &queued.1["status"]), (202, &json!("queued")));
    // Repeated, it is still one message.
    assert_eq!(busy.post("/api/chat/batch", "second", true, key).await, queued);
    busy.queue("third").await;
    assert_eq!(busy.queued_texts().await, ["second", "third"]);
    let answer = string_field(&queued.1, "message_id");
    let path = format!("/api/messages/{answer}");
    assert_eq!(busy.parlor.get_json(&path).await.0, 404, "it has not begun");

    busy.upstream.open_gate("first");
    busy.wait_for_ends(3).await;
    assert_eq!(busy.sent_texts().await, ["first", "second", "third"]);
    assert!(busy.queued_texts().await.is_empty());
    let (status, found) = busy.parlor.get_json(&path).await;
    assert_eq!((status, &found["message"]["status"]), (200, &json!("complete")));
    let last = busy.upstream.requests().pop().unwrap().body.to_string();
    assert!(last.contains("second") && last.contains("third"), "{last}");
}

/// Returns what the model got in its last request, as pairs of role and text, from the user's first message on.
fn last_conversation(upstream: &Upstream) -> Vec<(String, String)> {
    let request = upstream.requests().pop().unwrap().body;
    let messages = request["messages"].as_array().unwrap().iter();
    let text = |message: &Value| {
        let called = message["tool_calls"][0]["function"]["name"].as_str();
        let text = message["content"]
            .as_str()
            .map(|text| text.lines().last().unwrap_or_default());
        called.or(text).unwrap_or_default().to_owned()
    };
    messages
        .map(|message| (string_field(message, "role"), text(message)))
        .filter(|(role, _)| role != "system")
        .collect()
}

#[tokio::test]
async fn steering_message_follows_the_present_tool() {
    for steer in [true, false] {
        let script =
            Script::new()
                .text("One")
                .gate("first")
                .tool_call("id0", "calculate", r#"{"expression":"6*7"}"#);
        let mut busy = BusyConversation::start_with(script, |settings| settings.agent.steer = steer).await;
        busy.upstream
            .add_script(When::tool_gave("= 42"), Script::new().text("It is 42."));
        busy.upstream
            .add_script(When::user_contains("second"), Script::new().text("Well."));
        busy.queue("second").await;
        busy.upstream.open_gate("first");
        busy.wait_for_ends(2).await;
        assert_eq!(busy.sent_texts().await, ["first", "second"]);
        assert!(busy.queued_texts().await.is_empty());
        let expected: &[(&str, &str)] = match steer {
            true => &[
                ("user", "first"),
                ("assistant", "calculate"),
                ("tool", "6*7 = 42"),
                (
                    "assistant",
                    "(This answer ended here for the person's next message.)",
                ),
                ("user", "second"),
            ],
            false => &[
                ("user", "first"),
                ("assistant", "calculate"),
                ("tool", "6*7 = 42"),
                ("assistant", "It is 42."),
                ("user", "second"),
            ],
        };
        let sent = last_conversation(&busy.upstream);
        let sent: Vec<_> = sent.iter().map(|(role, text)| (&**role, &**text)).collect();
        assert_eq!(sent, expected);
        let first = busy
            .parlor
            .get_json(&format!("/api/messages/{}", busy.run))
            .await
            .1;
        let reason = if steer { "steered" } else { "stop" };
        assert_eq!(
            (&first["message"]["status"], &first["message"]["finish_reason"]),
            (&json!("complete"), &json!(reason))
        );
    }
}

#[tokio::test]
async fn stopped_run_holds_the_queue_until_released() {
    let mut busy = BusyConversation::start(20).await;
    busy.queue("second").await;
    let stop = format!("/api/runs/{}/stop", busy.run);
    assert_eq!(
        busy.parlor.post(&stop, &json!({})).send().await.unwrap().status(),
        200
    );
    let held = busy.log.next_of_type("queue_changed").await;
    assert_eq!(held["held"], true);
    assert_eq!(busy.parlor.transcript(&busy.id).await["queue"]["held"], true);
    assert_eq!(busy.sent_texts().await, ["first"]);
    assert_eq!(busy.change(json!({ "change": "release" })).await, 200);
    busy.wait_for_ends(1).await;
    assert_eq!(busy.sent_texts().await, ["first", "second"]);
}

#[tokio::test]
async fn repeated_request_of_a_removed_message_fails() {
    let busy = BusyConversation::start(20).await;
    let key = Uuid::now_v7();
    let queued = busy.post("/api/chat/batch", "second", true, key).await.1;
    let remove = json!({ "change": "remove", "message_id": queued["user_message_id"] });
    assert_eq!(busy.change(remove).await, 200);
    for path in ["/api/chat/batch", "/api/chat/stream"] {
        let (status, problem) = busy.post(path, "second", true, key).await;
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")));
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("removed from the queue"), "{problem}");
    }
    busy.queue("third").await;
    assert_eq!(busy.queued_texts().await, ["third"]);
}

#[tokio::test]
async fn queue_is_edited_moved_and_shortened() {
    let mut busy = BusyConversation::start(20).await;
    let (a, b, c) = (
        busy.queue("a").await,
        busy.queue("b").await,
        busy.queue("c").await,
    );
    let edit = json!({ "change": "edit", "message_id": b, "text": "better" });
    assert_eq!(busy.change(edit).await, 200);
    let no_text = json!({ "change": "edit", "message_id": b, "text": " " });
    assert_eq!(busy.change(no_text).await, 400);
    assert_eq!(
        busy.change(json!({ "change": "move", "message_id": c, "before": a }))
            .await,
        200
    );
    assert_eq!(
        busy.change(json!({ "change": "remove", "message_id": a })).await,
        200
    );
    assert_eq!(busy.queued_texts().await, ["c", "better"]);
    busy.upstream.open_gate("first");
    busy.wait_for_ends(3).await;
    assert_eq!(busy.sent_texts().await, ["first", "c", "better"]);
    // It was sent, so it can't be changed.
    let late = json!({ "change": "edit", "message_id": b, "text": "late" });
    assert_eq!(busy.change(late).await, 404);
}

#[tokio::test]
async fn full_queue_rejects_a_message() {
    let busy = BusyConversation::start(1).await;
    busy.queue("second").await;
    let (status, full) = busy.post("/api/chat/batch", "third", true, Uuid::now_v7()).await;
    assert_eq!((status, &full["code"]), (413, &json!("too_large")));
    assert!(
        full["detail"]
            .as_str()
            .unwrap()
            .contains("limits.queued_messages"),
        "{full}"
    );
    assert_eq!(busy.queued_texts().await, ["second"]);
}

#[tokio::test]
async fn failed_run_holds_the_queue() {
    let mut busy = BusyConversation::start(20).await;
    busy.upstream.add_script(
        When::user_contains("second"),
        Script::new()
            .text("It")
            .error_object(json!({ "message": "out of memory" })),
    );
    busy.queue("second").await;
    busy.queue("third").await;
    busy.upstream.open_gate("first");
    busy.log.next_of_type("error").await;
    let held = busy.log.next_of_type("queue_changed").await;
    assert_eq!(held["held"], true);
    assert_eq!(busy.queued_texts().await, ["third"]);
}
