//! Payloads of tools, over HTTP.

use parlor_protocol::UserId;
use parlor_storage::{Storage, sqlite::SqliteStorage};
use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    support::{Parlor, parlor_with_tools, read_json},
    tools::PayloadTool,
};

async fn with_limit(limit: usize) -> (tempfile::TempDir, Upstream, Parlor) {
    let tools = ToolRegistry::default().with_tool(PayloadTool("Here it is."));
    parlor_with_tools(tools, |settings| settings.limits.payload_bytes = limit).await
}

/// Has the tool create a payload. Returns the conversation and the event of the call's end.
async fn make_payload(upstream: &Upstream, parlor: &Parlor, kind: &str, data: &Value) -> (String, Value) {
    let input = json!({ "kind": kind, "data": data }).to_string();
    upstream.add_script(When::any(), Script::new().tool_call("id0", "make", input));
    upstream.add_script(When::tool_gave("Here it is."), Script::new().text("Done."));
    let events = parlor.turn(None, "Make it").await;
    let end = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .expect("an end");
    (end["conversation_id"].as_str().unwrap().to_owned(), end.clone())
}

/// Returns the URLs of a payload: as it was created, as the panel shows it, and as a file.
fn payload_paths(conversation: &str, payload: &str) -> [String; 3] {
    [
        format!("/api/conversations/{conversation}/payloads/{payload}"),
        format!("/rpc/payload?conversation_id={conversation}&payload_id={payload}"),
        format!("/api/conversations/{conversation}/payloads/{payload}/file"),
    ]
}

async fn get_status(parlor: &Parlor, path: &str) -> (u16, Value) {
    let (status, body) = parlor.get_json(path).await;
    (status, body["code"].clone())
}

#[tokio::test]
async fn shows_payloads_with_old_type_names() {
    let (_folder, upstream, parlor) = with_limit(1 << 20).await;
    let data = json!({ "query": "q", "results": [{ "title": "T", "url": "https://a.b/" }] });
    let (conversation, end) = make_payload(&upstream, &parlor, "web_results", &data).await;
    let id = end["payload"]["payload_id"].as_str().unwrap();
    let [raw, view, _] = payload_paths(&conversation, id).map(|path| parlor.get(&path));
    assert_eq!(
        read_json(raw.send().await.unwrap()).await["type"],
        "web_search_results"
    );
    let view = read_json(view.send().await.unwrap()).await;
    assert_eq!(view["body"]["results"]["results"][0]["title"], "T", "{view}");
    let message = format!("/api/messages/{}", end["message_id"].as_str().unwrap());
    let message = parlor.get_json(&message).await.1;
    let made = &message["message"]["nodes"][0]["parts"][0]["payload"];
    assert_eq!(made["type"], "web_search_results", "{message}");
}

#[tokio::test]
async fn serves_payload_raw_and_as_view() {
    let (_folder, upstream, parlor) = with_limit(1 << 20).await;
    let data = json!({ "title": "Übersicht 1", "columns": ["a"], "rows": [[1.5], ["<b>x</b>"]] });
    let (conversation, end) = make_payload(&upstream, &parlor, "table", &data).await;
    let payload = end["payload"].clone();
    assert_eq!(
        (&payload["type"], &payload["summary"]),
        (&json!("table"), &json!("Table: Übersicht 1 (2)"))
    );

    let id = payload["payload_id"].as_str().unwrap();
    let [raw, view, file] = payload_paths(&conversation, id).map(|path| parlor.get(&path));
    let expected =
        json!({ "payload_id": id, "type": "table", "summary": "Table: Übersicht 1 (2)", "data": data });
    assert_eq!(read_json(raw.send().await.unwrap()).await, expected);
    let expected = json!({ "summary": "Table: Übersicht 1 (2)", "body": { "table": {
        "title": "Übersicht 1",
        "columns": [{ "name": "a", "numeric": false }],
        "rows": [["1.5"], ["<b>x</b>"]],
        "missing": "",
    } } });
    assert_eq!(read_json(view.send().await.unwrap()).await, expected);
    let file = file.send().await.unwrap();
    let header = |name: &str| file.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/csv; charset=utf-8; header=present");
    assert_eq!(
        header("content-disposition"),
        "attachment; filename=\"_bersicht 1.csv\"; filename*=UTF-8''%C3%9Cbersicht%201%2Ecsv"
    );
    assert_eq!(file.text().await.unwrap(), "\u{feff}a\r\n1.5\r\n<b>x</b>\r\n");
}

#[tokio::test]
async fn payload_is_private_and_deleted_with_conversation() {
    let (folder, upstream, parlor) = with_limit(1 << 20).await;
    let (conversation, end) = make_payload(&upstream, &parlor, "table", &json!([])).await;
    let payload = end["payload"]["payload_id"].as_str().unwrap().to_owned();
    let (other, end) = make_payload(&upstream, &parlor, "table", &json!([])).await;
    let of_other = end["payload"]["payload_id"].as_str().unwrap();
    let not_found = (404, json!("not_found"));
    let unknown = Uuid::now_v7().to_string();
    for (conversation, payload) in [
        (conversation.as_str(), "unknown1"),
        (&conversation, "%27%20OR%201=1"),
        (&other, &payload),
        (&unknown, &payload),
    ] {
        for path in payload_paths(conversation, payload) {
            assert_eq!(get_status(&parlor, &path).await, not_found, "{path}");
        }
    }
    let [raw, ..] = payload_paths("what", &payload);
    assert_eq!(get_status(&parlor, &raw).await, not_found);

    for path in payload_paths(&other, of_other) {
        assert_eq!(get_status(&parlor, &path).await, (200, Value::Null), "{path}");
    }
    let delete = json!({ "conversation_id": other });
    let deleted = parlor
        .post("/rpc/delete_conversation", &delete)
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 200);
    for path in payload_paths(&other, of_other) {
        assert_eq!(get_status(&parlor, &path).await, not_found, "{path}");
    }

    parlor.stop().await;
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let conversation = conversation.parse().unwrap();
    let found = async |user| storage.payload(user, conversation, &payload).await.unwrap();
    assert!(found(UserId::LOCAL).await.is_some());
    assert_eq!(found(UserId(Uuid::from_u128(2))).await, None);
}

#[tokio::test]
async fn drops_oversized_payload_and_tells_the_model() {
    let (_folder, upstream, parlor) = with_limit(1000).await;
    let (_, end) = make_payload(&upstream, &parlor, "table", &json!("x".repeat(1000))).await;
    assert_eq!(
        (&end["status"], &end["payload"]),
        (&json!("complete"), &Value::Null)
    );
    let output = end["output"].as_str().unwrap();
    assert!(
        output.contains("has 1002 bytes and was not kept: at most 1000 are allowed"),
        "{output}"
    );
    let (_, end) = make_payload(&upstream, &parlor, "table", &json!("x".repeat(998))).await;
    assert!(end["payload"].is_object(), "{end}");
}
