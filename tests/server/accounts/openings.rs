//! The assistant offers to open nothing of another person.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{Browser, with_passwords};
use crate::support::{Parlor, string_field};

#[tokio::test]
async fn open_offers_nothing_of_another_person() {
    let (folder, upstream) = (tempfile::tempdir().unwrap(), Upstream::start().await);
    let mut parlor = Parlor::start_built_in(folder.path(), &upstream, with_passwords).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;

    // Ann has a stream and a conversation with a table.
    parlor.client = ann.signed_in_client();
    let id = Uuid::now_v7();
    let stream = json!({ "stream": { "id": id, "name": "Tides", "query": "tides", "instructions": "" } });
    let saved = parlor.post("/rpc/save_stream", &stream).send().await.unwrap();
    assert_eq!(saved.status(), 200);
    upstream.add_script(
        When::user_contains("A table"),
        Script::new().text(r#"TABLE: {"columns": ["a"], "rows": [[1]]}"#),
    );
    let events = ask(&parlor, "A table").await;
    let made = events.iter().find(|event| event["type"] == "payload_made");
    let payload = string_field(&made.expect("a payload")["payload"], "payload_id");

    let openings = [
        (
            json!({ "page": "edit_stream", "stream_id": id }),
            "There is no such stream",
        ),
        (
            json!({ "page": "literature", "stream_id": id }),
            "There is no such stream",
        ),
        (
            json!({ "payload_id": payload }),
            "the conversation has no such payload",
        ),
    ];
    for (data, reason) in &openings {
        let action = json!([{ "label": "See", "action": "open", "handler": "client", "data": data }]);
        let said = format!("Look.\nSUGGESTED_ACTIONS: {action}");
        upstream.add_script(When::user_contains("What is there?"), Script::new().text(&said));
        parlor.client = ben.signed_in_client();
        let events = ask(&parlor, "What is there?").await;
        assert_eq!(offered(&events), 0, "{data}");
        let run = events[0]["message_id"].as_str().unwrap();
        let (_, diagnostics) = parlor.get_json(&format!("/api/messages/{run}/diagnostics")).await;
        let left_out = diagnostics["calls"][0]["response"]["left_out"].to_string();
        assert!(left_out.contains(reason), "{data}: {left_out}");
    }
    // The same is offered to its owner.
    let (data, _) = &openings[0];
    let action = json!([{ "label": "See", "action": "open", "handler": "client", "data": data }]);
    let said = format!("Look.\nSUGGESTED_ACTIONS: {action}");
    upstream.add_script(When::user_contains("What is there?"), Script::new().text(&said));
    parlor.client = ann.signed_in_client();
    assert_eq!(offered(&ask(&parlor, "What is there?").await), 1);
}

async fn ask(parlor: &Parlor, message: &str) -> Vec<Value> {
    let request = json!({ "message": message, "model": "test/any" });
    parlor.chat(&request).await.read_to_end().await
}

/// The number of offered actions.
fn offered(events: &[Value]) -> usize {
    let suggested = events.iter().find(|event| event["type"] == "suggested_actions");
    suggested.map_or(0, |event| event["actions"].as_array().unwrap().len())
}
