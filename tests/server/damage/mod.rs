//! Any JSON as a tool's arguments, and unreadable rows: damage affects only the damaged item.

mod streams;
mod tables;

use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, ConnectOptions, sqlite::SqliteConnectOptions};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    support::{Parlor, last_model_call, parlor_answering, parlor_with_tools, read_json, string_field},
    tools::PayloadTool,
};

/// JSON of every kind, and almost JSON.
const ARGUMENT_SAMPLES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1.5",
    "-1E-7",
    "123456789012345678901234567890",
    "18446744073709551615",
    "\"\"",
    "\"null\"",
    "\"\\u0000\\u2028\"",
    "[]",
    "[null]",
    "[[[[]]]]",
    "{}",
    "{\"a\":null}",
    "{\"a\":1,\"a\":2}",
    "{\"\":{\"a\":[0.1,true,null,\"]\"]}}",
    "{\"q\":\"\\ud83d\"}",
    "\"\\udc00\"",
    "{\"q\":\"\\ud83d\\ude00\"}",
    " null ",
    "",
    "nul",
    "{",
    "[1,]",
    "{\"a\":}",
    "\u{feff}null",
];

/// Changes the database directly while the server runs.
async fn execute_sql(folder: &tempfile::TempDir, sql: impl Into<String>) {
    let mut database = SqliteConnectOptions::new()
        .filename(folder.path().join("parlor.db"))
        .connect()
        .await
        .expect("the database opens");
    let changed = sqlx::query(AssertSqlSafe(sql.into()))
        .execute(&mut database)
        .await;
    assert_ne!(changed.expect("it is changed").rows_affected(), 0);
}

/// Returns all events of the log, up to the last one.
async fn read_log_until(parlor: &Parlor, last: &Value) -> Vec<Value> {
    let mut stream = parlor.follow("/api/events?after=0").await;
    let mut events = Vec::new();
    while events
        .last()
        .is_none_or(|event: &Value| event["position"] != last["position"])
    {
        events.push(stream.next().await.expect("the log continues"));
    }
    events
}

async fn post(parlor: &Parlor, path: &str, body: &Value) -> (u16, Value) {
    let response = parlor.post(path, body).send().await.expect("a response");
    (response.status().as_u16(), read_json(response).await)
}

#[tokio::test]
async fn log_stays_readable_with_any_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let mut parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    upstream.add_script(When::user_contains("again"), Script::new().text("Again."));
    upstream.add_script(When::tool_gave(""), Script::new().text("Done."));
    let mut last = Value::Null;
    for arguments in ARGUMENT_SAMPLES {
        upstream.add_script_times(
            1,
            When::user_contains("time"),
            Script::new().tool_call("id0", "current_time", *arguments),
        );
        let events = parlor.turn(None, "What time is it?").await;
        let end = events.last().expect("an end");
        assert_eq!(
            (&end["type"], &end["payload"]["message"]),
            (&json!("complete"), &json!("[[tool:0]]\n\nDone.")),
            "{arguments}"
        );
        let conversation = string_field(end, "conversation_id");
        let (status, message) = parlor
            .get_json(&format!("/api/messages/{}", string_field(end, "message_id")))
            .await;
        let call = &message["message"]["nodes"][0]["parts"][0];
        assert_eq!(
            (status, &call["type"]),
            (200, &json!("tool_call")),
            "{arguments}: {message}"
        );
        let next = parlor.turn(Some(&conversation), "And again?").await;
        last = next.last().expect("an end").clone();
        assert_eq!(last["type"], "complete", "{arguments}");
        assert_eq!(
            parlor.transcript(&conversation).await["messages"]
                .as_array()
                .map(Vec::len),
            Some(4),
            "{arguments}"
        );
    }
    let log = read_log_until(&parlor, &last).await;
    parlor.stop().await;
    parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    let again = read_log_until(&parlor, &last).await;
    assert_eq!(again, log);
    assert!(again.iter().all(|event| event["type"] != "damaged"));
}

/// Compares text: the tests' own parser does not support such numbers.
#[tokio::test]
async fn preserves_numbers_beyond_floats() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Done.")).await;
    upstream.add_script_times(1, When::any(), Script::new().tool_call("id0", "look", "1e400"));
    let ask = json!({ "message": "Look", "model": "test/any" });
    let response = parlor.post("/api/chat/stream", &ask).send().await.unwrap();
    let events = response.text().await.unwrap();
    assert!(events.contains(r#""input":1e400"#), "{events}");
    let end = events.rsplit("data: ").next().unwrap();
    assert!(end.contains(r#""type":"complete""#), "{end}");
    let (_, id) = end.split_once(r#""message_id":""#).unwrap();
    let message = parlor
        .get(&format!("/api/messages/{}", &id[..36]))
        .send()
        .await
        .unwrap();
    assert_eq!(message.status(), 200);
    assert!(message.text().await.unwrap().contains(r#""input":1e400"#));
}

#[tokio::test]
async fn log_stays_readable_with_any_tool_data() {
    let (_folder, upstream, parlor) = parlor_with_tools(
        ToolRegistry::default().with_tool(PayloadTool("Here it is.")),
        |_| {},
    )
    .await;
    upstream.add_script(When::tool_gave("Here it is."), Script::new().text("Done."));
    for data in [
        "null",
        "true",
        "-0",
        "1e300",
        "\"\"",
        "[]",
        "{}",
        "[null,{\"a\":null}]",
    ] {
        let input = format!(r#"{{"kind":"odd","data":{data}}}"#);
        upstream.add_script_times(
            1,
            When::user_contains("it"),
            Script::new().tool_call("id0", "make", input),
        );
        let events = parlor.turn(None, "Make it").await;
        let end = events.last().expect("an end");
        assert_eq!(end["type"], "complete", "{data}");
        let expected: Value = serde_json::from_str(data).unwrap();
        assert_eq!(end["payload"]["custom_payload"]["data"], expected, "{data}");
        let log = read_log_until(&parlor, end).await;
        assert!(log.iter().all(|event| event["type"] != "damaged"));
    }
}

#[tokio::test]
async fn stops_a_run_with_null_arguments() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new().tool_call("id0", "current_time", "null"),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("It is").gate("never"));
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |_| {}).await;
    let mut stream = parlor
        .chat(&json!({ "message": "What time is it?", "model": "test/any" }))
        .await;
    let run = string_field(&stream.next_of_type("text_delta").await, "message_id");
    let (status, stopped) = post(&parlor, &format!("/api/runs/{run}/stop"), &json!({})).await;
    assert_eq!((status, &stopped["status"]), (200, &json!("stopped")));
    assert_eq!(stream.read_to_end().await.last().unwrap()["type"], "cancelled");
}

#[tokio::test]
async fn conversation_with_damaged_messages_stays_usable() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let first = parlor.turn(None, "First").await;
    let conversation = string_field(&first[0], "conversation_id");
    let answer = string_field(&first[0], "message_id");
    let second = parlor.turn(Some(&conversation), "Second").await;
    let transcript = parlor.transcript(&conversation).await;
    let question = string_field(&transcript["messages"][0], "id");
    execute_sql(
        &folder,
        format!("UPDATE messages SET body = 'x' || body WHERE id IN ('{question}', '{answer}')"),
    )
    .await;

    let damaged = parlor.transcript(&conversation).await;
    for index in [2, 3] {
        assert_eq!(damaged["messages"][index], transcript["messages"][index]);
    }
    assert_eq!(damaged["messages"][0]["role"], "damaged");
    for (id, path) in [(&question, "/role"), (&answer, "/error/code")] {
        let (status, found) = parlor.get_json(&format!("/api/messages/{id}")).await;
        assert_eq!(status, 200);
        let says = found["message"].pointer(path).and_then(Value::as_str);
        assert!(says.is_some_and(|says| says.starts_with("damaged")), "{found}");
    }
    let page = parlor.get(&format!("/c/{conversation}")).send().await.unwrap();
    let page = page.text().await.unwrap();
    for id in [&question, &answer] {
        assert!(
            page.contains(&format!("This message is damaged and can't be shown. Id {id}")),
            "{id}"
        );
    }

    // The next turn has the rest of the history.
    let third = parlor.turn(Some(&conversation), "Third").await;
    assert_eq!(third.last().unwrap()["type"], "complete");
    let shown = last_model_call(&upstream)["messages"].to_string();
    for words in ["is damaged and can't be read", "Second", "Fine.", "Third"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    // An unreadable message cannot be continued, but it can be regenerated, stopped and deleted.
    let intent = |message: &str| json!({ "intent": { "intent_id": Uuid::now_v7(), "conversation_id": conversation, "message_id": message } });
    assert_eq!(post(&parlor, "/rpc/continue_run", &intent(&answer)).await.0, 409);
    assert_eq!(
        post(&parlor, &format!("/api/runs/{answer}/stop"), &json!({}))
            .await
            .0,
        200
    );
    parlor.regenerate(&first).await;
    assert_eq!(second[0]["conversation_id"], first[0]["conversation_id"]);
    let delete = json!({ "conversation_id": conversation });
    assert_eq!(post(&parlor, "/rpc/delete_conversation", &delete).await.0, 200);
    assert_eq!(parlor.get_json(&format!("/api/messages/{question}")).await.0, 404);
}

#[tokio::test]
async fn every_reader_skips_a_damaged_event() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let events = parlor.turn(None, "First").await;
    let (run, end) = (string_field(&events[0], "message_id"), events.last().unwrap());
    execute_sql(
        &folder,
        format!(
            "UPDATE events SET event = '{{' WHERE position = {}",
            end["position"]
        ),
    )
    .await;
    let next = parlor.turn(None, "Second").await;
    let log = read_log_until(&parlor, next.last().unwrap()).await;
    let damaged: Vec<_> = log.iter().filter(|event| event["type"] == "damaged").collect();
    let expected = json!({
        "position": end["position"], "conversation_id": end["conversation_id"], "message_id": run, "type": "damaged",
    });
    assert_eq!(damaged, [&expected]);
    // The stream of its run ends with it, and has the answer.
    let of_run = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    let last = of_run.last().unwrap();
    assert_eq!(
        (&last["type"], &last["payload"]["message"]),
        (&json!("damaged"), &json!("Fine."))
    );
}

#[tokio::test]
async fn conversation_without_an_owner_is_named_and_deletable() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let first = parlor.turn(None, "First").await;
    let conversation = string_field(&first[0], "conversation_id");
    let sound = string_field(&parlor.turn(None, "Second").await[0], "conversation_id");
    execute_sql(
        &folder,
        format!(
            "PRAGMA foreign_keys = OFF; UPDATE conversations SET user_id = 'none' WHERE id = '{conversation}'"
        ),
    )
    .await;
    let is_named = |(status, error): (u16, Value)| {
        let said = error.to_string();
        assert_eq!((status, &error["code"]), (500, &json!("internal")), "{error}");
        assert!(
            said.contains("is damaged") && said.contains(&conversation),
            "{error}"
        );
        assert!(!said.contains("try again"), "{error}");
    };
    is_named(
        parlor
            .get_json(&format!("/api/conversations/{conversation}"))
            .await,
    );
    let send = json!({ "message": "More", "conversation_id": conversation, "model": "test/any" });
    is_named(post(&parlor, "/api/chat/stream", &send).await);
    let (status, list) = parlor.get_json("/api/conversations").await;
    assert_eq!(
        (status, list["conversations"].as_array().map(Vec::len)),
        (200, Some(1))
    );
    assert_eq!(
        parlor.turn(Some(&sound), "More").await.last().unwrap()["type"],
        "complete"
    );
    let delete = json!({ "conversation_id": conversation });
    assert_eq!(post(&parlor, "/rpc/delete_conversation", &delete).await.0, 200);
    assert_eq!(
        parlor
            .get_json(&format!("/api/conversations/{conversation}"))
            .await
            .0,
        404
    );
    let answer = string_field(&first[0], "message_id");
    assert_eq!(parlor.get_json(&format!("/api/messages/{answer}")).await.0, 404);
}
