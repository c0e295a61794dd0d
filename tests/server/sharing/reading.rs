//! The data that the readers of a share get, and those that they never get.

use reqwest::Client;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{Share, page, read_shared};
use crate::{
    files::png,
    support::{Parlor, last_system_prompt, string_field},
};

/// The texts that are shared.
const SHOWN: [&str; 5] = [
    "shown-question",
    "shown-answer",
    "shown-cell",
    "shown-live",
    "shown.png",
];

/// The texts that only the owner may read, by the place where they are planted: `canary-` and this.
const HIDDEN: [&str; 9] = [
    "thinking",
    "input",
    "instructions",
    // Also as the output of a tool.
    "memory",
    "version",
    "deleted",
    "elsewhere",
    "place",
    "failure",
];

/// Returns an image with a text in its metadata.
fn marked_image() -> Vec<u8> {
    let mut marked = png(4, 3);
    let chunk = [&b"tEXt"[..], b"Comment\0canary-place"].concat();
    let mut crc = flate2::Crc::new();
    crc.update(&chunk);
    let length = u32::try_from(chunk.len() - 4).unwrap().to_be_bytes();
    marked.splice(33..33, [&length[..], &chunk, &crc.sum().to_be_bytes()].concat());
    marked
}

/// Returns everything that a share serves, as one text.
async fn everything(parlor: &Parlor, share: &Share, state: &Value) -> String {
    let reader = Client::new();
    let (status, shown) = page(parlor, &reader, &share.path).await;
    assert_eq!(status, 200);
    let mut found = shown + &state.to_string();
    for message in state["transcript"]["messages"].as_array().expect("messages") {
        for file in message["files"].as_array().into_iter().flatten() {
            let path = format!("{}{}/files/{}", parlor.url, share.path, string_field(file, "id"));
            let response = reader.get(path).send().await.unwrap();
            assert_eq!(response.status(), 200);
            found += &String::from_utf8_lossy(&response.bytes().await.unwrap());
        }
        let parts = message["nodes"].as_array().into_iter().flatten();
        let parts = parts.flat_map(|node| node["parts"].as_array().expect("parts"));
        for payload in parts.filter(|part| part["type"] == "payload") {
            let id = string_field(&payload["payload"], "payload_id");
            for is_preview in [true, false] {
                let request = reader.post(format!("{}/rpc/shared_payload", parlor.url));
                let request = request.header("content-type", "application/json");
                let body = json!({ "key": share.key(), "payload_id": id, "is_preview": is_preview });
                let response = request.body(body.to_string()).send().await.unwrap();
                assert_eq!(response.status(), 200);
                found += &response.text().await.unwrap();
            }
            let path = format!("{}{}/payloads/{id}/file", parlor.url, share.path);
            let response = reader.get(path).send().await.unwrap();
            assert_eq!(response.status(), 200);
            found += &response.text().await.unwrap();
        }
    }
    found
}

fn memory_calls(id: &str) -> Script {
    Script::new()
        .think("canary-thinking")
        .tool_call(id, "remember", json!({ "text": "canary-input" }).to_string())
        .tool_call(
            format!("{id}b"),
            "recall",
            json!({ "query": "canary" }).to_string(),
        )
}

#[tokio::test]
async fn readers_get_nothing_that_is_the_owners_alone() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    let post = async |path: &str, body: Value| {
        let response = parlor.post(path, &body).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
    };
    post("/rpc/save_instructions", json!({ "text": "canary-instructions" })).await;
    let memory =
        json!({ "id": Uuid::now_v7(), "text": "canary-memory", "created_at": 1_700_000_000_000_u64 });
    post("/rpc/restore_memory", json!({ "memory": memory })).await;
    upstream.add_script(When::any(), Script::new().text("canary-elsewhere"));
    parlor.turn(None, "canary-elsewhere").await;

    // A question with a file, and an answer with thinking, tools and a payload; before it, another version of the answer.
    let (_, file) = parlor.upload("shown.png", None, marked_image()).await;
    let conversation = string_field(&file, "conversation_id");
    upstream.add_script(
        When::user_contains("shown-question"),
        Script::new().text("canary-version"),
    );
    let question = json!({
        "message": "shown-question", "files": [file["id"]], "conversation_id": conversation, "model": "test/any",
    });
    let turn = parlor.chat(&question).await.read_to_end().await;
    upstream.add_script(When::user_contains("shown-question"), memory_calls("a"));
    let table = json!({ "title": "T", "columns": ["a"], "rows": [["shown-cell"]] });
    upstream.add_script(
        When::tool_gave(""),
        Script::new()
            .think("canary-thinking")
            .text(format!("shown-answer\n\nTABLE: {table}\n\nEnd.")),
    );
    parlor.regenerate(&turn).await;
    // A deleted message.
    upstream.add_script(
        When::user_contains("canary-deleted"),
        Script::new().text("canary-deleted"),
    );
    let deleted = parlor.turn(Some(&conversation), "canary-deleted").await;
    let id = string_field(&deleted[0], "user_message_id");
    post(
        "/rpc/set_message_deleted",
        json!({ "conversation_id": conversation, "message_id": id, "is_deleted": true }),
    )
    .await;

    let share = Share::create(&parlor, &conversation, None, true).await;
    let reader = Client::new();
    let mut stream = share.follow(&parlor, &reader).await;
    let mut found = stream.next().await.expect("the state").to_string();
    // The same live, and a failure.
    upstream.add_script(When::user_contains("shown-live"), memory_calls("c"));
    upstream.add_script(When::tool_gave(""), Script::new().text("shown-end"));
    parlor.turn(Some(&conversation), "shown-live").await;
    let frames = stream.until("complete").await;
    assert!(
        frames
            .iter()
            .any(|frame| frame["event"]["type"] == "tool_complete"),
        "{frames:?}"
    );
    found += &json!(frames).to_string();
    let refusal = json!({ "error": { "message": "canary-failure" } });
    upstream.add_script(
        When::user_contains("shown-live"),
        Script::new().status(400, refusal, &[]),
    );
    parlor.turn(Some(&conversation), "shown-live again").await;
    found += &json!(stream.until("error").await).to_string();

    let (status, state) = read_shared(&parlor, &reader, share.key()).await;
    assert_eq!(status, 200);
    found += &everything(&parlor, &share, &state).await;
    for shown in SHOWN {
        assert!(found.contains(shown), "{shown} is not shared");
    }
    for hidden in HIDDEN {
        assert!(!found.contains(&format!("canary-{hidden}")), "{hidden} is shared");
    }
    let prompt = last_system_prompt(&upstream);
    for line in prompt.lines().filter(|line| line.len() > 20) {
        assert!(
            !found.contains(line),
            "a part of the system prompt is shared: {line}"
        );
    }
    for field in ["parameters\":{\"t", "usage", "thinking_level", "test/any"] {
        assert!(!state.to_string().contains(field), "{field} is shared: {state}");
    }

    // The owner has all of it.
    let own = parlor.transcript(&conversation).await.to_string();
    for hidden in ["thinking", "input", "memory", "failure"] {
        assert!(
            own.contains(&format!("canary-{hidden}")),
            "{hidden} was not planted"
        );
    }
    let file = parlor
        .get(&format!("/api/files/{}", string_field(&file, "id")))
        .send()
        .await
        .unwrap();
    let file = file.bytes().await.unwrap();
    assert!(file.windows(12).any(|bytes| bytes == b"canary-place"));
}

#[tokio::test]
async fn nothing_of_another_conversation_is_reachable() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let table = json!({ "title": "T", "columns": ["a"], "rows": [["cell"]] });
    upstream.add_script(When::any(), Script::new().text(format!("TABLE: {table}")));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    let mut turns = Vec::new();
    for name in ["here.txt", "there.txt"] {
        let (_, file) = parlor.upload(name, None, "text").await;
        let turn = json!({
            "message": name, "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any",
        });
        let events = parlor.chat(&turn).await.read_to_end().await;
        let made = events
            .iter()
            .find(|event| event["type"] == "payload_made")
            .expect("a payload");
        let payload = string_field(&made["payload"], "payload_id");
        turns.push((
            string_field(&file, "conversation_id"),
            string_field(&file, "id"),
            payload,
        ));
    }
    let share = Share::create(&parlor, &turns[0].0, None, false).await;
    let reader = Client::new();
    for (index, expected) in [(0, 200), (1, 404)] {
        let (_, file, payload) = &turns[index];
        for path in [format!("/files/{file}"), format!("/payloads/{payload}/file")] {
            let url = format!("{}{}{path}", parlor.url, share.path);
            let response = reader.get(url).send().await.unwrap();
            assert_eq!(response.status().as_u16(), expected, "{path}");
            if expected == 200 {
                let how = response.headers()["content-disposition"].to_str().unwrap();
                assert!(how.starts_with("attachment"), "{path}: {how}");
            }
        }
    }
}

#[tokio::test]
async fn hostile_texts_stay_texts() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let hostile = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>";
    upstream.add_script(When::any(), Script::new().text(hostile));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let conversation = string_field(&parlor.turn(None, hostile).await[0], "conversation_id");
    let rename = json!({ "conversation_id": conversation, "title": hostile });
    let renamed = parlor
        .post("/rpc/rename_conversation", &rename)
        .send()
        .await
        .unwrap();
    assert_eq!(renamed.status(), 200);
    let share = Share::create(&parlor, &conversation, None, true).await;
    let (status, shown) = page(&parlor, &Client::new(), &share.path).await;
    assert_eq!(status, 200);
    assert!(shown.contains("&lt;script&gt;alert(1)"), "it is shown as text");
    for markup in ["<script>alert", "<img src=x", "</title></script>"] {
        assert!(!shown.contains(markup), "{markup}");
    }
}

#[tokio::test]
async fn a_snapshot_stays_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Then."));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let conversation = string_field(&parlor.turn(None, "Hello").await[0], "conversation_id");
    let share = Share::create(&parlor, &conversation, None, false).await;
    let reader = Client::new();
    let before = read_shared(&parlor, &reader, share.key()).await;
    parlor.turn(Some(&conversation), "More").await;
    let rename = json!({ "conversation_id": conversation, "title": "Another" });
    parlor
        .post("/rpc/rename_conversation", &rename)
        .send()
        .await
        .unwrap();
    assert_eq!(read_shared(&parlor, &reader, share.key()).await, before);
    assert_eq!(
        before.1["transcript"]["messages"]
            .as_array()
            .expect("messages")
            .len(),
        2
    );

    let (gate, script) = ("half", Script::new().text("On ").gate("half").text("and on."));
    upstream.add_script(When::user_contains("Slowly"), script);
    let turn = json!({ "message": "Slowly", "conversation_id": conversation, "model": "test/any" });
    let mut running = parlor.chat(&turn).await;
    running.next_of_type("text_delta").await;
    let request = json!({ "conversation_id": conversation, "readers": null, "is_live": false });
    let refused = parlor.post("/rpc/create_share", &request).send().await.unwrap();
    assert_eq!(refused.status(), 409, "half an answer is no snapshot");
    upstream.open_gate(gate);
    running.read_to_end().await;
    Share::create(&parlor, &conversation, None, false).await;
}
