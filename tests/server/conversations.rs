//! Conversations over HTTP: listing, reading, messages, renaming, deleting.

use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, TEST_TIMEOUT, parlor_answering, raw_model_calls, read_json, string_field};

async fn patch(parlor: &Parlor, path: &str, body: &Value) -> (u16, Value) {
    let request = parlor.client.patch(format!("{}{path}", parlor.url));
    let request = request
        .header("content-type", "application/json")
        .body(body.to_string());
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    (status, read_json(response).await)
}

/// Runs a turn and returns its last event.
async fn final_event(parlor: &Parlor, message: &str, conversation: Option<&str>) -> Value {
    parlor.turn(conversation, message).await.pop().unwrap()
}

#[tokio::test]
async fn list_is_paged_by_newest_activity() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let mut begun = Vec::new();
    for n in 0..5 {
        begun.push(string_field(
            &final_event(&parlor, &format!("question {n}"), None).await,
            "conversation_id",
        ));
    }
    final_event(&parlor, "once more", Some(&begun[1])).await;
    let expected = [1, 4, 3, 2, 0].map(|n| begun[n].clone());
    let (mut read, mut before) = (Vec::new(), String::new());
    loop {
        let (_, page) = parlor
            .get_json(&format!("/api/conversations?limit=2{before}"))
            .await;
        let conversations = page["conversations"].as_array().unwrap();
        assert!(conversations.len() <= 2);
        read.extend(
            conversations
                .iter()
                .map(|conversation| string_field(conversation, "id")),
        );
        before = format!("&before={}", conversations.last().unwrap()["activity"]);
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(read, expected);
    for query in ["limit=0", "limit=x", "before=-1", "limit=99999999999999999999"] {
        assert_eq!(
            parlor.get_json(&format!("/api/conversations?{query}")).await.0,
            400,
            "{query}"
        );
    }
    assert_eq!(
        parlor.get_json("/api/conversations?limit=100000").await.0,
        200,
        "never more than the setting"
    );
}

#[tokio::test]
async fn gets_renames_and_deletes_a_conversation() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let last = final_event(&parlor, "What is it?", None).await;
    let path = format!("/api/conversations/{}", string_field(&last, "conversation_id"));
    let (_, found) = parlor.get_json(&path).await;
    assert_eq!(
        (&found["title"], &found["model"]),
        (&json!("What is it?"), &json!("test/any"))
    );
    assert_eq!(
        (&found["active_run"], &found["waiting"]),
        (&Value::Null, &json!(false))
    );

    let (status, renamed) = patch(&parlor, &path, &json!({ "title": "  It \n is " })).await;
    assert_eq!((status, &renamed["title"]), (200, &json!("It is")));
    assert_eq!(parlor.get_json(&path).await.1, renamed);
    for (body, expected) in [
        (json!({ "title": " " }), 400),
        (json!({ "title": "\u{200b} \u{202e}" }), 400),
        (json!({ "title": 7 }), 400),
        (json!({}), 400),
        (json!({ "title": "x", "model": "y" }), 400),
        (json!({ "title": "x".repeat(201) }), 413),
    ] {
        assert_eq!(patch(&parlor, &path, &body).await.0, expected, "{body}");
    }
    assert_eq!(
        parlor.get_json(&path).await.1["title"],
        "It is",
        "nothing was changed"
    );

    let delete = || parlor.client.delete(format!("{}{path}", parlor.url)).send();
    for _ in 0..2 {
        assert_eq!(delete().await.unwrap().status(), 204, "deleting again succeeds");
    }
    assert_eq!(parlor.get_json(&path).await.0, 404);
    assert_eq!(parlor.get_json(&format!("{path}/messages")).await.0, 404);
    assert_eq!(patch(&parlor, &path, &json!({ "title": "x" })).await.0, 404);
    assert_eq!(
        parlor
            .get_json(&format!("/api/messages/{}", string_field(&last, "message_id")))
            .await
            .0,
        404
    );
}

#[tokio::test]
async fn messages_are_paged_from_the_end() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("answer")).await;
    let conversation = Uuid::now_v7().to_string();
    for n in 0..4 {
        final_event(&parlor, &format!("question {n}"), Some(&conversation)).await;
    }
    let path = format!("/api/conversations/{conversation}/messages");
    let (mut read, mut before) = (Vec::new(), String::new());
    loop {
        let (_, page) = parlor.get_json(&format!("{path}?limit=3{before}")).await;
        let mut messages = page["messages"].as_array().unwrap().clone();
        messages.append(&mut read);
        read = messages;
        match page["next_before"].as_str() {
            Some(next) => before = format!("&before={next}"),
            None => break,
        }
    }
    let whole = parlor.get_json(&path).await.1;
    assert_eq!(json!(read), whole["messages"]);
    let questions: Vec<_> = read
        .iter()
        .filter_map(|message| message["text"].as_str())
        .collect();
    assert_eq!(
        questions,
        ["question 0", "question 1", "question 2", "question 3"]
    );

    // A message of another conversation, or none, returns nothing.
    let other = final_event(&parlor, "elsewhere", None).await;
    for before in [string_field(&other, "message_id"), Uuid::now_v7().to_string()] {
        assert_eq!(
            parlor.get_json(&format!("{path}?before={before}")).await.0,
            404,
            "{before}"
        );
    }
    assert_eq!(parlor.get_json(&format!("{path}?before=7")).await.0, 400);
}

#[tokio::test]
async fn lists_the_models() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    // Before the server starts, since it requests the list at once.
    upstream.list_models(200, json!({ "data": [{ "id": "small" }, { "id": "large" }] }));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let model = |name: &str| json!({ "id": format!("test/{name}"), "name": name, "endpoint": "test" });
    let expected = json!({
        "models": [model("large"), model("small")],
        "default": "test/large",
        "problems": [],
        "can_search": false,
        "can_connect": true,
        "can_bring_keys": false,
    });
    assert_eq!(parlor.get_json("/api/models").await, (200, expected));
}

#[tokio::test]
async fn branch_becomes_a_conversation_once() {
    let (_folder, _upstream, parlor) = parlor_answering(Script::new().text("x")).await;
    let first = final_event(&parlor, "first", None).await;
    let conversation = string_field(&first, "conversation_id");
    final_event(&parlor, "second", Some(&conversation)).await;
    let branch = async |message: &str, key: &str| {
        let request = parlor.post(&format!("/api/messages/{message}/branch"), &json!({}));
        let response = request.header("idempotency-key", key).send().await.unwrap();
        (response.status().as_u16(), read_json(response).await)
    };
    let (answer, key) = (string_field(&first, "message_id"), Uuid::now_v7().to_string());
    let (status, made) = branch(&answer, &key).await;
    assert_eq!(
        (status, &made["id"], &made["title"]),
        (200, &json!(key), &json!("first (branch)"))
    );
    assert_eq!(branch(&answer, &key).await, (200, made), "again");
    let other = branch(&Uuid::now_v7().to_string(), &key).await;
    assert_eq!((other.0, &other.1["code"]), (409, &json!("intent_reused")));
    let unknown = branch(&Uuid::now_v7().to_string(), &Uuid::now_v7().to_string()).await;
    assert_eq!(unknown.0, 404);

    let last = final_event(&parlor, "third", Some(&key)).await;
    let page = parlor
        .get_json(&format!("/api/conversations/{key}/messages"))
        .await;
    let texts: Vec<_> = page.1["messages"].as_array().unwrap().iter().collect();
    let questions: Vec<_> = texts
        .iter()
        .filter_map(|message| message["text"].as_str())
        .collect();
    assert_eq!(questions, ["first", "third"]);
    assert_eq!(texts.last().unwrap()["id"], last["message_id"]);
    assert_ne!(texts[1]["id"], json!(answer), "copies have ids of their own");
}

#[tokio::test]
async fn deleted_answer_leaves_its_question_to_be_answered_with_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Well."));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let first = final_event(&parlor, "first", None).await;
    let conversation = string_field(&first, "conversation_id");
    parlor.turn(Some(&conversation), "second").await;
    let path = format!("/api/messages/{}", string_field(&first, "message_id"));
    let delete = parlor.client.delete(format!("{}{path}", parlor.url));
    assert_eq!(delete.send().await.unwrap().status(), 204);
    let shown = parlor.transcript(&conversation).await;
    assert_eq!(shown["messages"].as_array().unwrap().len(), 1);
    parlor.turn(Some(&conversation), "third").await;
    let call = raw_model_calls(&upstream).pop().unwrap();
    let said: Vec<_> = call["messages"].as_array().unwrap().iter().collect();
    let roles: Vec<_> = said.iter().map(|message| string_field(message, "role")).collect();
    assert_eq!(roles, ["system", "user"]);
    let question = said[1]["content"].to_string();
    assert!(
        question.contains("first") && question.contains("third"),
        "{question}"
    );
    assert!(!question.contains("second"), "{question}");
}

#[tokio::test]
async fn deleted_message_is_erased_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("x"));
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let first = final_event(&parlor, "first", None).await;
    let conversation = string_field(&first, "conversation_id");
    let second = parlor.turn(Some(&conversation), "second").await;
    let question = string_field(&second[0], "user_message_id");
    let path = format!("/api/messages/{question}");
    let delete = async |parlor: &Parlor, path: &str| {
        let request = parlor.client.delete(format!("{}{path}", parlor.url));
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(delete(&parlor, &path).await, 204);
    let message_count = async |parlor: &Parlor| {
        let shown = parlor.transcript(&conversation).await;
        shown["messages"].as_array().unwrap().len()
    };
    assert_eq!(message_count(&parlor).await, 2);
    // The server ends before it erases the message.
    assert_eq!(parlor.get_json(&path).await.0, 200);
    parlor.stop().await;
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.timeouts.undo = std::time::Duration::ZERO;
    })
    .await;
    let erased = async {
        while parlor.get_json(&path).await.0 != 404 {
            tokio::task::yield_now().await;
        }
    };
    timeout(TEST_TIMEOUT, erased).await.expect("it is erased");
    assert_eq!(message_count(&parlor).await, 2);
    let mut log = parlor.follow("/api/events?after=0").await;
    assert_eq!(
        log.next_of_type("empty").await["conversation_id"],
        json!(conversation)
    );
}
