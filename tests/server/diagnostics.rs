//! How answers are made, as their diagnostics tell it.

use parlor::{
    protocol::UserId,
    settings::{Price, Secret},
    storage::{Storage, sqlite::Sqlite},
};
use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::{
    support::{Parlor, SOON, answering, calls_as_sent, id, last_call, said},
    tools::Failing,
};

const KEY: &str = "sk-never-to-be-seen-0123456789";
const TOKEN: &str = "tok-0987654321-never-to-be-seen";

async fn diagnostics(parlor: &Parlor, message_id: &Value) -> Value {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    let (status, made) = parlor.get_json(&path).await;
    assert_eq!(status, 200);
    made
}

async fn status(parlor: &Parlor, message_id: &Value) -> u16 {
    let path = format!("/api/messages/{}/diagnostics", message_id.as_str().unwrap());
    parlor.get_json(&path).await.0
}

/// A turn, and its last event.
async fn turn(parlor: &Parlor, message: &str) -> Value {
    parlor.turn(None, message).await.pop().unwrap()
}

fn kinds(timeline: &Value) -> Vec<&str> {
    let entries = timeline.as_array().unwrap().iter();
    entries.map(|entry| entry["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn it_is_all_there_what_was_sent_what_came_back_and_when() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let values = r#"SUGGESTED_VALUES: [{"label": "More", "value": "Tell me more"}]"#;
    upstream.script(
        When::any(),
        Script::new()
            .think("Hm.")
            .text("Let me look.")
            .tool_call("id0", "failing", r#"{"name":"fine"}"#),
    );
    upstream.script(
        When::tool_gave("fine"),
        Script::new().text("There it is.\n").text(values),
    );
    let tools = parlor::tools::Registry::default().with(Failing);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        let price = Price {
            input: 1.0,
            output: 2.0,
        };
        settings.models.prices.insert("test/any".into(), price);
        settings.agent.instructions = "Be kind.".into();
    })
    .await;
    let last = turn(&parlor, "Do it").await;
    assert_eq!(
        last["payload"]["message"],
        "Let me look.\n\n[[tool:0]]\n\nThere it is."
    );
    let made = diagnostics(&parlor, &last["message_id"]).await;

    let sent = last_call(&upstream);
    assert_eq!(
        made["messages"].as_array().unwrap()[..],
        sent["messages"].as_array().unwrap()[1..],
        "as they were sent"
    );
    let prompt = made["system_prompt"].as_str().unwrap();
    assert!(prompt.contains("Be kind."), "{prompt}");
    assert_eq!(made["tool_definitions"], sent["tools"]);
    let raw = format!("Let me look.\n\nThere it is.\n{values}");
    assert_eq!(
        (
            &made["model"],
            &made["tools"],
            &made["raw_llm_response"],
            &made["max_iterations"]
        ),
        (&json!("test/any"), &json!(["failing"]), &json!(raw), &json!(5))
    );
    assert_eq!(
        (&made["address"], &made["status"]),
        (&json!(upstream.url()), &json!("complete"))
    );
    assert_eq!(made["parameters"]["stream"], true);
    // The scripted server counts 10 tokens in, and one out for each delta.
    assert_eq!(made["usage"], json!({ "input_tokens": 20, "output_tokens": 5 }));
    assert_eq!(made["cost"], 30e-6);
    let first = made["first_token_ms"].as_u64().expect("a time");
    assert!(first <= made["duration_ms"].as_u64().expect("a time"));
    assert_eq!(
        kinds(&made["timeline"]),
        [
            "run_started",
            "status",
            "thinking",
            "text_delta",
            "status",
            "usage",
            "tool_start",
            "tool_complete",
            "status",
            "text_delta",
            "suggested_values",
            "usage",
            "complete",
        ]
    );

    let [one, two] = made["calls"].as_array().unwrap().as_slice() else {
        panic!("{}", made["calls"]);
    };
    assert_eq!(
        one["response"],
        json!({
            "thinking": "Hm.", "text": "Let me look.", "cut": false,
            "tool_calls": [{ "id": "id0", "name": "failing", "arguments": r#"{"name":"fine"}"# }],
        })
    );
    assert_eq!(
        (&one["finish_reason"], &two["finish_reason"]),
        (&json!("tool_calls"), &json!("stop"))
    );
    // What is the same again is there once.
    assert_eq!((&one["goes_on"], &two["goes_on"]), (&json!(false), &json!(true)));
    let new: Vec<_> = two["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| &message["role"])
        .collect();
    assert_eq!(new, ["assistant", "tool"]);
}

#[tokio::test]
async fn what_was_sent_is_what_there_was_room_for_and_how_the_model_was_asked() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().text("Fine.").done());
    let tools = parlor::tools::Registry::default().with(Failing);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.endpoints[0].context_window = Some(3000);
        settings.history.summarise = false;
    })
    .await;
    let conversation = Uuid::now_v7();
    let mut last = Value::Null;
    for turn in 0..5 {
        let request = json!({
            "message": format!("turn {turn} {}", "word ".repeat(400)), "model": "test/any", "conversation_id": conversation,
            "force_tools": ["failing"], "parameters": { "temperature": 0.7, "max_completion_tokens": 500 },
        });
        last = parlor.chat(&request).await.rest().await.pop().unwrap();
    }
    let made = diagnostics(&parlor, &last["message_id"]).await;
    let sent = last_call(&upstream);
    assert!(!sent.to_string().contains("turn 0"), "there is no room for all");
    assert_eq!(
        made["messages"].as_array().unwrap()[..],
        sent["messages"].as_array().unwrap()[1..]
    );
    assert_eq!(made["system_prompt"], sent["messages"][0]["content"]);
    assert_eq!(
        (&made["temperature"], &made["max_tokens"]),
        (&json!(0.7), &json!(500))
    );
    assert_eq!(
        made["parameters"]["tool_choice"],
        json!({"type": "function", "function": {"name": "failing"}})
    );
    assert_eq!(made["parameters"]["tool_choice"], sent["tool_choice"]);
}

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
async fn while_the_run_is_at_work_there_is_what_there_is() {
    let (_folder, upstream, parlor) = answering(Script::new().text("half").gate("rest").text(" whole")).await;
    let request = json!({ "message": "Go", "model": "test/any" });
    let mut stream = parlor.chat(&request).await;
    let delta = stream.until("text_delta").await;
    let made = diagnostics(&parlor, &delta["message_id"]).await;
    assert_eq!(
        (&made["status"], &made["calls"][0]["status"]),
        (&json!("running"), &json!("running"))
    );
    assert_eq!(made["messages"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&made["messages"][0]["role"], said(&made["messages"][0])),
        (&json!("user"), "Go")
    );
    assert_eq!(
        (&made["duration_ms"], &made["usage"]),
        (&Value::Null, &Value::Null)
    );
    upstream.release("rest");
    stream.until("complete").await;
    let made = diagnostics(&parlor, &delta["message_id"]).await;
    assert_eq!(
        (&made["status"], &made["raw_llm_response"]),
        (&json!("complete"), &json!("half whole"))
    );
}

#[tokio::test]
async fn a_call_is_there_while_the_model_has_said_nothing_yet() {
    let (_folder, upstream, parlor) = answering(Script::new().gate("first").text("Now.")).await;
    let mut stream = parlor
        .chat(&json!({ "message": "Go", "model": "test/any" }))
        .await;
    let started = stream.until("run_started").await;
    upstream.reached("first").await;
    let path = format!("/api/messages/{}/diagnostics", id(&started, "message_id"));
    let written = async {
        loop {
            match parlor.get_json(&path).await {
                (200, made) => break made,
                (status, _) => assert_eq!(status, 404),
            }
        }
    };
    let made = timeout(SOON, written).await.expect("it is written down");
    let [call] = made["calls"].as_array().unwrap().as_slice() else {
        panic!("{made:#}");
    };
    assert_eq!(
        (&call["status"], &call["response"]["text"], &made["messages"]),
        (
            &json!("running"),
            &json!(""),
            &last_call(&upstream)["messages"].as_array().unwrap()[1..].into()
        )
    );
    upstream.release("first");
    stream.until("complete").await;
    let whole = diagnostics(&parlor, &started["message_id"]).await;
    assert_eq!(
        (&whole["messages"], &whole["raw_llm_response"]),
        (&made["messages"], &json!("Now."))
    );
}

#[tokio::test]
async fn a_part_that_the_server_refuses_was_not_sent() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Now.").done()).await;
    let refusal = json!({ "error": { "message": "unknown field stream_options" } });
    upstream.script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    let last = turn(&parlor, "Go").await;
    let made = diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(made["parameters"], json!({ "stream": true }));
    let sent = calls_as_sent(&upstream);
    assert!(sent[0].get("stream_options").is_some() && sent[1].get("stream_options").is_none());
    assert_eq!(made["calls"].as_array().unwrap().len(), 1);
    assert_eq!(made["system_prompt"], sent[1]["messages"][0]["content"]);
}

#[tokio::test]
async fn a_summary_is_a_call_of_its_own_that_counts() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().text("Fine.").done());
    upstream.script(When::user_contains("Person: "), Script::new().text("In short."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        settings.endpoints[0].context_window = Some(3000);
        settings.history.answer_tokens = 500;
        settings.history.metadata = false;
        let price = Price {
            input: 1.0,
            output: 2.0,
        };
        settings.models.prices = [("test/any".to_owned(), price)].into();
    })
    .await;
    let conversation = Uuid::now_v7();
    let mut summarised = Vec::new();
    for turn in 0..6 {
        let request = json!({
            "message": format!("turn {turn} {}", "word ".repeat(400)), "model": "test/any", "conversation_id": conversation,
        });
        let last = parlor.chat(&request).await.rest().await.pop().unwrap();
        let made = diagnostics(&parlor, &last["message_id"]).await;
        if made["calls"].as_array().unwrap().len() > 1 {
            summarised.push(made);
        }
    }
    let made = &summarised[0];
    let calls: Vec<(&Value, &Value, &Value)> = made["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (&call["purpose"], &call["status"], &call["response"]["text"]))
        .collect();
    let call = |purpose, text| (json!(purpose), json!("complete"), json!(text));
    let expected = [call("summary", "In short."), call("answer", "Fine.")];
    assert!(
        calls.into_iter().eq(expected.iter().map(|(a, b, c)| (a, b, c))),
        "{made:#}"
    );
    let summary = &made["calls"][0];
    assert!(
        summary["messages"].to_string().contains("Person: turn 0"),
        "{summary}"
    );
    assert_eq!(
        made["usage"], summary["usage"],
        "the server has counted this call alone"
    );
    assert!(summary["cost"].as_f64() > Some(0.0), "{summary}");
    assert_eq!(made["raw_llm_response"], "Fine.", "that is what was answered");
    assert!(made["messages"].to_string().contains("In short."), "{made:#}");
    assert!(
        !made["system_prompt"]
            .as_str()
            .unwrap()
            .contains("Write the summary")
    );
}

#[tokio::test]
async fn of_very_many_calls_the_newest_are_kept_and_understood() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let tools = parlor::tools::Registry::default().with(Failing);
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, tools, |settings| {
        settings.agent.max_iterations = 100;
    })
    .await;
    upstream.script(When::any(), Script::new().text("At last."));
    let again = Script::new().tool_call("1", "failing", "{}").finish("tool_calls");
    upstream.script_times(75, When::any(), again);
    let last = turn(&parlor, "Go").await;
    let made = diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(made["calls"].as_array().unwrap().len(), 64);
    let sent = calls_as_sent(&upstream).pop().unwrap();
    assert_eq!(made["system_prompt"], sent["messages"][0]["content"]);
    assert_eq!(made["tools"], json!(["failing"]));
    assert_eq!(
        made["messages"].as_array().unwrap()[..],
        sent["messages"].as_array().unwrap()[1..]
    );
}

#[tokio::test]
async fn a_call_that_was_made_again_is_one_call_and_says_so() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Now.")).await;
    let busy = Script::new().status(
        503,
        json!({ "error": { "message": "busy" } }),
        &[("retry-after", "0")],
    );
    upstream.script_times(2, When::any(), busy);
    let last = turn(&parlor, "Go").await;
    let made = diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(
        (&made["retries"], made["calls"].as_array().unwrap().len()),
        (&json!(2), 1)
    );
    let failures = made["calls"][0]["failures"].as_array().unwrap();
    assert!(
        failures[0]["error"]["message"].as_str().unwrap().contains("busy"),
        "{failures:?}"
    );
    assert_eq!(made["calls"][0]["status"], "complete");
}

#[tokio::test]
async fn what_is_continued_has_all_calls_and_what_is_regenerated_its_own() {
    let (_folder, upstream, parlor) = answering(Script::new().text("the rest")).await;
    upstream.script_times(1, When::any(), Script::new().text("half ").gate("never"));
    let mut stream = parlor
        .chat(&json!({ "message": "Go", "model": "test/any" }))
        .await;
    let run = id(&stream.until("text_delta").await, "message_id");
    parlor
        .post(&format!("/api/runs/{run}/stop"), &json!({}))
        .send()
        .await
        .unwrap();
    stream.until("cancelled").await;
    let go_on = parlor.post(&format!("/api/runs/{run}/continue?diagnostics=true"), &json!({}));
    let last = crate::support::Stream::of(go_on)
        .await
        .rest()
        .await
        .pop()
        .unwrap();
    let made = &last["payload"]["diagnostics"];
    assert_eq!(made["raw_llm_response"], "half \n\nthe rest");
    let calls = made["calls"].as_array().unwrap();
    let statuses: Vec<_> = calls.iter().map(|call| &call["status"]).collect();
    assert_eq!(statuses, ["stopped", "complete"]);

    let again = parlor.post(&format!("/api/runs/{run}/regenerate"), &json!({}));
    let last = crate::support::Stream::of(again)
        .await
        .rest()
        .await
        .pop()
        .unwrap();
    assert_ne!(last["message_id"], json!(run), "a sibling");
    assert_eq!(
        last["payload"].get("diagnostics"),
        None,
        "nobody has asked for them"
    );
    let made = diagnostics(&parlor, &last["message_id"]).await;
    assert_eq!(made["calls"].as_array().unwrap().len(), 1);
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
