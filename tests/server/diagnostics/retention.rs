//! The storage of diagnostics: no secrets, limits of size and number, and access by the owner only.

use parlor_base::settings::Secret;
use parlor_protocol::UserId;
use parlor_storage::{Storage, sqlite::SqliteStorage};
use serde_json::json;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use super::{diagnostics_status, final_event, get_diagnostics};
use crate::{
    support::{Parlor, message_text, parlor_answering, string_field},
    tools::FailingTool,
};

const SECRET_KEY: &str = "sk-never-to-be-seen-0123456789";
const SECRET_TOKEN: &str = "tok-0987654321-never-to-be-seen";

#[tokio::test]
async fn secrets_are_always_redacted() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let (head, tail) = SECRET_KEY.split_at(9);
    let echoes = Script::new()
        .think(format!("My key is {head}"))
        .think(tail)
        .text(format!("You sent Bearer {head}"))
        .text(tail)
        .text(format!(" and {SECRET_TOKEN} to https://me:pass1234@host/"))
        .tool_call("id0", "failing", json!({ "name": SECRET_KEY }).to_string());
    upstream.add_script(When::any(), echoes);
    upstream.add_script_times(
        1,
        When::any(),
        Script::new().status(503, format!("Not with {SECRET_KEY}!"), &[("retry-after", "0")]),
    );
    upstream.add_script(
        When::tool_gave(""),
        Script::new().status(400, format!("{SECRET_TOKEN} is blocked"), &[]),
    );
    let tools = parlor_tools::ToolRegistry::default().with_tool(FailingTool);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.endpoints[0].api_key = Some(Secret(SECRET_KEY.into()));
        let header = ("X-Auth-Token".to_owned(), Secret(SECRET_TOKEN.into()));
        settings.endpoints[0].headers.insert(header.0, header.1);
    })
    .await;
    let question = format!("What about {SECRET_KEY} and http://ann:s3cr3t-word@wiki/?");
    let request = json!({ "message": question, "model": "test/any", "diagnostics": true });
    let last = parlor.chat(&request).await.read_to_end().await.pop().unwrap();
    let requests = upstream.requests().into_iter();
    let mut calls = requests.filter(|request| request.body["messages"].is_array());
    let sent = calls.next_back().unwrap().headers;
    assert!(
        sent["authorization"].contains(SECRET_KEY) && sent["x-auth-token"] == SECRET_TOKEN,
        "they were sent"
    );

    let made = get_diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(last["payload"]["diagnostics"], made);
    let view = parlor.get(&format!(
        "/rpc/diagnostics?message_id={}",
        string_field(&last, "message_id")
    ));
    let view = view.send().await.unwrap().text().await.unwrap();
    for shown in [made.to_string(), view] {
        for secret in [
            SECRET_KEY,
            SECRET_TOKEN,
            "pass1234",
            "s3cr3t-word",
            &SECRET_KEY[4..],
            &SECRET_TOKEN[4..],
        ] {
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
async fn restart_keeps_the_sent_request() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("half").gate("never")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "Go", "model": "test/any" }))
        .await;
    let delta = stream.next_of_type("text_delta").await;
    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let made = get_diagnostics(&parlor, &delta["message_id"]).await;
    assert_eq!(
        (&made["status"], &made["calls"][0]["status"]),
        (&json!("interrupted"), &json!("interrupted"))
    );
    assert_eq!(message_text(&made["messages"][0]), "Go");
}

#[tokio::test]
async fn truncates_data_and_drops_old_answers() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("é".repeat(3000)));
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
        let last = parlor.chat(&request).await.read_to_end().await.pop().unwrap();
        answers.push(last["message_id"].clone());
    }
    let statuses = [
        diagnostics_status(&parlor, &answers[0]).await,
        diagnostics_status(&parlor, &answers[1]).await,
        diagnostics_status(&parlor, &answers[2]).await,
    ];
    assert_eq!(statuses, [404, 200, 200]);
    let made = get_diagnostics(&parlor, &answers[2]).await;
    let raw = made["raw_llm_response"].as_str().unwrap();
    assert_eq!(
        (raw.len(), &made["calls"][0]["response"]["cut"]),
        (2000, &json!(true))
    );
    // The newest messages are kept: at least the question.
    let messages = made["messages"].as_array().unwrap();
    assert_eq!(message_text(messages.last().unwrap()), "question 2");
    assert!(messages[0]["omitted"].as_u64().is_some(), "{messages:?}");
    assert!(made.to_string().len() < 30_000);
}

#[tokio::test]
async fn diagnostics_are_private() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("Rumpelstilzchen")).await;
    let answer = string_field(&final_event(&parlor, "Who?").await, "message_id")
        .parse()
        .unwrap();
    parlor.stop().await;
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let calls = async |user| storage.model_calls(user, answer).await.unwrap();
    assert_eq!(calls(UserId::LOCAL).await.len(), 1);
    assert_eq!(calls(UserId(Uuid::from_u128(2))).await, []);
}

#[tokio::test]
async fn deleted_with_their_conversation() {
    let (folder, _upstream, parlor) = parlor_answering(Script::new().text("Rumpelstilzchen")).await;
    let last = final_event(&parlor, "Who?").await;
    let (answer, question) = (&last["message_id"], &last["payload"]["user_message_id"]);
    assert_eq!(diagnostics_status(&parlor, answer).await, 200);
    assert_eq!(
        diagnostics_status(&parlor, question).await,
        404,
        "a user's message has no diagnostics"
    );
    assert_eq!(diagnostics_status(&parlor, &json!(Uuid::now_v7())).await, 404);
    let path = format!("/api/conversations/{}", string_field(&last, "conversation_id"));
    let url = format!("{}{path}", parlor.url);
    assert_eq!(parlor.client.delete(url).send().await.unwrap().status(), 204);
    assert_eq!(diagnostics_status(&parlor, answer).await, 404);
    let view = parlor.get(&format!(
        "/rpc/diagnostics?message_id={}",
        string_field(&last, "message_id")
    ));
    assert_eq!(view.send().await.unwrap().status(), 404);
    parlor.stop().await;
    let entries = std::fs::read_dir(folder.path()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    for file in paths.filter(|path| path.is_file()) {
        let bytes = std::fs::read(file).unwrap();
        let word = b"Rumpelstilzchen";
        assert!(
            !bytes.windows(word.len()).any(|bytes| bytes == word),
            "nor are they in the files"
        );
    }
}
