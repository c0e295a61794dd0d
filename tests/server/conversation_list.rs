//! The list of conversations: pinned, archived, deleted and restored.

use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use upstream::{Script, Upstream, When};

use crate::{
    support::{Parlor, TEST_TIMEOUT, parlor_with_tools, string_field},
    tools::PayloadTool,
};

async fn begin(parlor: &Parlor, message: &str) -> String {
    let events = parlor.turn(None, message).await;
    string_field(events.last().unwrap(), "conversation_id")
}

/// Changes conversations. Returns the status and the response.
async fn change_all(parlor: &Parlor, ids: &[&str], change: &str) -> (u16, Value) {
    let body = json!({ "conversation_ids": ids, "change": change });
    let request = parlor.post("/rpc/change_conversations", &body);
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

async fn change(parlor: &Parlor, ids: &[&str], change: &str) -> u16 {
    change_all(parlor, ids, change).await.0
}

async fn titles(parlor: &Parlor, query: &str) -> Vec<String> {
    let (_, page) = parlor.get_json(&format!("/api/conversations{query}")).await;
    let listed = page["conversations"].as_array().unwrap();
    listed
        .iter()
        .map(|listed| string_field(listed, "title"))
        .collect()
}

async fn found(parlor: &Parlor, query: &str) -> usize {
    let (_, hits) = parlor.get_json(&format!("/api/search?q={query}")).await;
    hits["hits"].as_array().unwrap().len()
}

#[tokio::test]
async fn pins_and_archives_over_the_api() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.limits.pinned_conversations = 1;
    })
    .await;
    let old = begin(&parlor, "old").await;
    let new = begin(&parlor, "new").await;
    let patch = async |id: &str, body: Value| {
        let request = parlor
            .client
            .patch(format!("{}/api/conversations/{id}", parlor.url));
        let request = request
            .header("content-type", "application/json")
            .body(body.to_string());
        crate::support::read_json(request.send().await.unwrap()).await
    };
    let mut events = parlor.follow("/api/events").await;
    let pinned = patch(&old, json!({ "pinned": true, "title": "first" })).await;
    assert_eq!(
        (&pinned["pinned"], &pinned["archived"]),
        (&json!(true), &json!(false))
    );
    let placed = events.next_of_type("conversation_placed").await;
    assert_eq!(placed["conversation"]["pinned"], true);
    assert_eq!(titles(&parlor, "").await, ["first", "new"]);
    let archived = patch(&new, json!({ "archived": true })).await;
    assert_eq!(archived["archived"], true);
    assert_eq!(titles(&parlor, "").await, ["first"]);
    assert_eq!(titles(&parlor, "?archived=true").await, ["new"]);
    assert_eq!(found(&parlor, "new").await, 2, "the archive is searched");
    // What can't be changed changes nothing.
    let refused = patch(
        &new,
        json!({ "pinned": true, "archived": true, "title": "other" }),
    )
    .await;
    assert_eq!(refused["code"], "bad_request");
    let full = patch(&new, json!({ "pinned": true, "title": "other" })).await;
    assert_eq!(full["code"], "too_large");
    assert_eq!(titles(&parlor, "?archived=true").await, ["new"]);
    // Another message takes it out of the archive.
    parlor.turn(Some(&new), "more").await;
    assert_eq!(titles(&parlor, "").await, ["first", "new"]);
}

#[tokio::test]
async fn several_conversations_are_changed_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.limits.changed_conversations = 3;
    })
    .await;
    let mut ids = Vec::new();
    for title in ["a", "b", "c"] {
        ids.push(begin(&parlor, title).await);
    }
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    assert_eq!(change(&parlor, &ids, "mark_read").await, 200);
    let (_, page) = parlor.get_json("/api/conversations").await;
    assert!(
        page["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .all(|listed| listed["unseen"] == false)
    );
    assert_eq!(change(&parlor, &ids[..2], "archive").await, 200);
    assert_eq!(titles(&parlor, "").await, ["c"]);
    assert_eq!(change(&parlor, &ids, "unarchive").await, 200);
    // One of them does not exist; the others are changed, unless they are so already.
    let unknown = uuid::Uuid::now_v7().to_string();
    assert_eq!(change(&parlor, &[&unknown], "archive").await, 404);
    assert_eq!(change(&parlor, &[ids[1]], "archive").await, 200);
    let (status, changed) = change_all(&parlor, &[ids[0], ids[1], &unknown], "archive").await;
    assert_eq!((status, &changed["ids"]), (200, &json!([ids[0]])));
    let failure = string_field(&changed, "failure");
    assert!(
        failure.starts_with("1 of 3 conversations could not be changed."),
        "{failure}"
    );
    assert_eq!(titles(&parlor, "").await, ["c"]);
    assert_eq!(change(&parlor, &[ids[1]], "unarchive").await, 200);
    assert_eq!(
        change(&parlor, &[ids[0], ids[1], ids[2], ids[0]], "archive").await,
        413
    );
    parlor.turn(Some(ids[1]), "more").await;
    let marked = parlor
        .post("/rpc/mark_all_read", &json!({}))
        .send()
        .await
        .unwrap();
    assert_eq!(marked.status(), 200);
    let (_, page) = parlor.get_json("/api/conversations").await;
    assert!(
        page["conversations"]
            .as_array()
            .unwrap()
            .iter()
            .all(|listed| listed["unseen"] == false)
    );
}

#[tokio::test]
async fn a_deleted_conversation_is_stopped_and_restored() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::user_contains("walrus"),
        Script::new().text("A walrus").gate("never"),
    );
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let mut stream = parlor.chat(&json!({ "message": "walrus" })).await;
    let id = string_field(&stream.next_of_type("text_delta").await, "conversation_id");
    assert_eq!(change(&parlor, &[&id], "delete").await, 200);
    // Its stream ends.
    stream.read_to_end().await;
    let path = format!("/api/conversations/{id}");
    assert_eq!(parlor.get_json(&path).await.0, 404);
    assert_eq!(parlor.get_json(&format!("{path}/messages")).await.0, 404);
    assert_eq!(
        (titles(&parlor, "").await.len(), found(&parlor, "walrus").await),
        (0, 0)
    );
    let again = parlor.post(
        "/api/chat/batch",
        &json!({ "message": "more", "conversation_id": id }),
    );
    assert_eq!(again.send().await.unwrap().status(), 404);
    assert_eq!(change(&parlor, &[&id], "restore").await, 200);
    let (_, restored) = parlor.get_json(&path).await;
    assert_eq!(
        (&restored["title"], &restored["active_run"]),
        (&json!("walrus"), &Value::Null)
    );
    assert_eq!(
        found(&parlor, "walrus").await,
        3,
        "the title, the question and what was answered"
    );
}

#[tokio::test]
async fn nothing_of_a_deleted_conversation_is_served() {
    let tools = ToolRegistry::default().with_tool(PayloadTool("Here it is."));
    let (_folder, upstream, parlor) = parlor_with_tools(tools, |_| {}).await;
    let input = json!({ "kind": "text", "data": "A walrus" }).to_string();
    upstream.add_script(When::any(), Script::new().tool_call("id0", "make", input));
    upstream.add_script(When::tool_gave("Here it is."), Script::new().text("Done."));
    let events = parlor.turn(None, "walrus").await;
    let end = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    let [id, answer] = ["conversation_id", "message_id"].map(|field| string_field(end, field));
    let payload = string_field(&end["payload"], "payload_id");
    let paths = [
        format!("/api/conversations/{id}"),
        format!("/api/conversations/{id}/messages"),
        format!("/api/conversations/{id}/messages?before={answer}"),
        format!("/api/conversations/{id}/parameters"),
        format!("/api/conversations/{id}/payloads/{payload}"),
        format!("/api/messages/{answer}"),
        format!("/api/messages/{answer}/diagnostics"),
        format!("/api/runs/{answer}"),
        format!("/api/runs/{answer}/events"),
        format!("/rpc/conversation?conversation_id={id}"),
        format!("/rpc/older_messages?conversation_id={id}&before={answer}"),
        format!("/rpc/payload?conversation_id={id}&payload_id={payload}"),
        format!("/rpc/diagnostics?message_id={answer}"),
        format!("/rpc/token_totals?conversation_id={id}"),
    ];
    for (change_before, expected) in [(None, 200), (Some("delete"), 404), (Some("restore"), 200)] {
        if let Some(name) = change_before {
            assert_eq!(change(&parlor, &[&id], name).await, 200);
        }
        for path in &paths {
            let response = parlor.get(path).send().await.unwrap();
            assert_eq!(response.status(), expected, "{change_before:?} {path}");
        }
    }
}

#[tokio::test]
async fn a_deletion_is_finished_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.undo = std::time::Duration::from_secs(3600);
    })
    .await;
    let id = begin(&parlor, "walrus").await;
    assert_eq!(change(&parlor, &[&id], "delete").await, 200);
    parlor.stop().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.undo = std::time::Duration::ZERO;
    })
    .await;
    // It is erased in the background, from the log too.
    let erased = async {
        loop {
            let mut log = parlor.follow("/api/events?after=0").await;
            if log.next().await.unwrap()["type"] == "empty" {
                return;
            }
            sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, erased).await.expect("it is erased");
    assert_eq!(change(&parlor, &[&id], "restore").await, 404);
}

#[tokio::test]
async fn a_temporary_conversation_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let answer = Script::new().text("A walrus").gate("more");
    upstream.add_script(When::user_contains("walrus"), answer);
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.retention.temporary = std::time::Duration::from_millis(1);
        settings.retention.interval = std::time::Duration::from_millis(10);
    })
    .await;
    let id = uuid::Uuid::now_v7();
    let intent = json!({
        "intent_id": uuid::Uuid::now_v7(), "conversation_id": id, "user_message_id": uuid::Uuid::now_v7(),
        "text": "walrus", "model": "test/any", "temporary": true,
    });
    let sent = parlor.post("/rpc/send_message", &json!({ "intent": intent }));
    assert_eq!(sent.send().await.unwrap().status(), 200);
    upstream.wait_for_gate("more").await;
    // The running answer keeps it.
    let path = format!("/api/conversations/{id}");
    assert_eq!(parlor.get_json(&path).await.1["temporary"], true);
    assert_eq!(found(&parlor, "walrus").await, 0);
    upstream.open_gate("more");
    let ended = async {
        while parlor.get_json(&path).await.0 != 404 {
            sleep(std::time::Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, ended).await.expect("it is erased");
}
