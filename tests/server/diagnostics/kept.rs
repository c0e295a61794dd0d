//! What is kept of how answers were made: nothing secret, so much, for so long, and for nobody else.

use parlor::{
    protocol::UserId,
    settings::Secret,
    storage::{Storage, sqlite::Sqlite},
};
use serde_json::json;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{diagnostics, status, turn};
use crate::{
    support::{Parlor, answering, id, said},
    tools::Failing,
};

const KEY: &str = "sk-never-to-be-seen-0123456789";
const TOKEN: &str = "tok-0987654321-never-to-be-seen";

#[tokio::test]
async fn no_secret_is_ever_in_it_whoever_says_it() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (head, tail) = KEY.split_at(9);
    let echoes = Script::new()
        .think(format!("My key is {head}"))
        .think(tail)
        .text(format!("You sent Bearer {head}"))
        .text(tail)
        .text(format!(" and {TOKEN} to https://me:pass1234@host/"))
        .tool_call("id0", "failing", json!({ "name": KEY }).to_string());
    upstream.script(When::any(), echoes);
    upstream.script_times(
        1,
        When::any(),
        Script::new().status(503, format!("Not with {KEY}!"), &[("retry-after", "0")]),
    );
    upstream.script(
        When::tool_gave(""),
        Script::new().status(400, format!("{TOKEN} is blocked"), &[]),
    );
    let tools = parlor::tools::Registry::default().with(Failing);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.endpoints[0].api_key = Some(Secret(KEY.into()));
        let header = ("X-Auth-Token".to_owned(), Secret(TOKEN.into()));
        settings.endpoints[0].headers.insert(header.0, header.1);
    })
    .await;
    let question = format!("What about {KEY} and http://ann:s3cr3t-word@wiki/?");
    let request = json!({ "message": question, "model": "test/any", "diagnostics": true });
    let last = parlor.chat(&request).await.rest().await.pop().unwrap();
    let requests = upstream.requests().into_iter();
    let mut calls = requests.filter(|request| request.body["messages"].is_array());
    let sent = calls.next_back().unwrap().headers;
    assert!(
        sent["authorization"].contains(KEY) && sent["x-auth-token"] == TOKEN,
        "they were sent"
    );

    let made = diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(last["payload"]["diagnostics"], made);
    let view = parlor.get(&format!(
        "/rpc/diagnostics?message_id={}",
        id(&last, "message_id")
    ));
    let view = view.send().await.unwrap().text().await.unwrap();
    for shown in [made.to_string(), view] {
        for secret in [KEY, TOKEN, "pass1234", "s3cr3t-word", &KEY[4..], &TOKEN[4..]] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
        assert!(
            shown.contains("You sent Bearer •••") && shown.contains("My key is •••"),
            "{shown}"
        );
    }
    assert_eq!(made["calls"][0]["retries"], 1);
    assert!(
        made["calls"][0]["response"]["tool_calls"][0]["arguments"]
            .as_str()
            .unwrap()
            .contains("•••")
    );
    assert_eq!(made["calls"][1]["status"], "failed");
}

#[tokio::test]
async fn a_restart_in_the_middle_keeps_what_was_sent() {
    let (folder, upstream, parlor) = answering(Script::new().text("half").gate("never")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "Go", "model": "test/any" }))
        .await;
    let delta = stream.until("text_delta").await;
    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let made = diagnostics(&parlor, &delta["message_id"]).await;
    assert_eq!(
        (&made["status"], &made["calls"][0]["status"]),
        (&json!("interrupted"), &json!("interrupted"))
    );
    assert_eq!(said(&made["messages"][0]), "Go");
}

#[tokio::test]
async fn much_is_cut_and_only_the_newest_answers_have_any() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().text("é".repeat(3000)));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.limits.diagnostics_bytes = 2001;
        settings.limits.diagnostics_answers = 2;
    })
    .await;
    let mut answers = Vec::new();
    let conversation = Uuid::now_v7();
    for n in 0..3 {
        let message = format!("question {n}");
        let request = json!({ "message": message, "model": "test/any", "conversation_id": conversation });
        let last = parlor.chat(&request).await.rest().await.pop().unwrap();
        answers.push(last["message_id"].clone());
    }
    let statuses = [
        status(&parlor, &answers[0]).await,
        status(&parlor, &answers[1]).await,
        status(&parlor, &answers[2]).await,
    ];
    assert_eq!(statuses, [404, 200, 200]);
    let made = diagnostics(&parlor, &answers[2]).await;
    let raw = made["raw_llm_response"].as_str().unwrap();
    assert_eq!(
        (raw.len(), &made["calls"][0]["response"]["cut"]),
        (2000, &json!(true))
    );
    // The newest are kept: the question at least.
    let messages = made["messages"].as_array().unwrap();
    assert_eq!(said(messages.last().unwrap()), "question 2");
    assert!(messages[0]["omitted"].as_u64().is_some(), "{messages:?}");
    assert!(made.to_string().len() < 30_000);
}

#[tokio::test]
async fn nobody_else_has_them() {
    let (folder, _upstream, parlor) = answering(Script::new().text("Rumpelstilzchen")).await;
    let answer = id(&turn(&parlor, "Who?").await, "message_id").parse().unwrap();
    parlor.stop().await;
    let storage = Sqlite::open(folder.path()).await.unwrap();
    let calls = async |user| storage.model_calls(user, answer).await.unwrap();
    assert_eq!(calls(UserId::LOCAL).await.len(), 1);
    assert_eq!(calls(UserId(Uuid::from_u128(2))).await, []);
}

#[tokio::test]
async fn with_their_conversation_they_are_gone() {
    let (folder, _upstream, parlor) = answering(Script::new().text("Rumpelstilzchen")).await;
    let last = turn(&parlor, "Who?").await;
    let (answer, question) = (&last["message_id"], &last["payload"]["user_message_id"]);
    assert_eq!(status(&parlor, answer).await, 200);
    assert_eq!(
        status(&parlor, question).await,
        404,
        "nobody made a person's message"
    );
    assert_eq!(status(&parlor, &json!(Uuid::now_v7())).await, 404);
    let path = format!("/api/conversations/{}", id(&last, "conversation_id"));
    let url = format!("{}{path}", parlor.url);
    assert_eq!(parlor.client.delete(url).send().await.unwrap().status(), 204);
    assert_eq!(status(&parlor, answer).await, 404);
    let view = parlor.get(&format!(
        "/rpc/diagnostics?message_id={}",
        id(&last, "message_id")
    ));
    assert_eq!(view.send().await.unwrap().status(), 404);
    parlor.stop().await;
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        let word = b"Rumpelstilzchen";
        assert!(
            !bytes.windows(word.len()).any(|bytes| bytes == word),
            "nor are they in the files"
        );
    }
}
