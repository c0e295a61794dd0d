//! Payloads that the model writes, over HTTP, and the user's verdicts.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{
    EventStream, Parlor, event_types, joined_deltas, last_messages, last_system_prompt, parlor_answering,
    read_json, string_field,
};

const QUESTION: &str = "Write a letter";

async fn get_payload(parlor: &Parlor, conversation: &str, payload: &str) -> Value {
    let path = format!("/api/conversations/{conversation}/payloads/{payload}");
    parlor.get_json(&path).await.1
}

/// Returns the ids of the payloads that the model wrote in a turn.
fn payload_ids(events: &[Value]) -> Vec<String> {
    let made = events.iter().filter(|event| event["type"] == "payload_made");
    made.map(|event| string_field(&event["payload"], "payload_id"))
        .collect()
}

fn document_block(id: Option<&str>, text: &str) -> String {
    let document = match id {
        Some(id) => json!({ "id": id, "text": text }),
        None => json!({ "title": "Letter", "text": text }),
    };
    format!("DOCUMENT: {document}")
}

/// Creates a conversation with a letter. Returns both ids.
async fn create_letter(upstream: &Upstream, parlor: &Parlor) -> (String, String) {
    let said = format!("Here it is:\n\n{}\n\nGood?", document_block(None, "Dear Ann"));
    upstream.add_script(When::user_contains(QUESTION), Script::new().text(said));
    let events = parlor.turn(None, QUESTION).await;
    let conversation = string_field(&events[0], "conversation_id");
    let made = payload_ids(&events);
    assert_eq!(made.len(), 1);
    (conversation, made[0].clone())
}

#[tokio::test]
async fn model_payload_is_separated_from_text() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let half = "Here it is:\n\nDOCUMENT: {\"title\": \"Letter\", ";
    let script = Script::new().text(half).text("\"text\": \"Dear Ann\"}\n\nGood?");
    upstream.add_script(When::user_contains(QUESTION), script);
    let events = parlor.turn(None, QUESTION).await;
    let kinds = [
        "user_message_saved",
        "run_started",
        "status",
        "text_delta",
        "status",
        "payload_made",
        "text_delta",
        "complete",
    ];
    assert_eq!(event_types(&events), kinds);
    assert_eq!(events[4]["message"], "Writing a document...");
    let made = &events[5];
    assert_eq!((&made["node"], &made["part"]), (&json!(0), &json!(1)));
    assert_eq!(made["payload"]["summary"], "Text document: Letter");
    let last = events.last().unwrap();
    assert_eq!(last["payload"]["message"], "Here it is:\n\nGood?");
    let expected = json!({
        "payload_id": made["payload"]["payload_id"],
        "type": "text_document",
        "summary": "Text document: Letter",
        "data": { "title": "Letter", "text": "Dear Ann" },
    });
    assert_eq!(last["payload"]["custom_payload"], expected);

    let (conversation, run) = (
        string_field(last, "conversation_id"),
        string_field(last, "message_id"),
    );
    let stored = parlor.get_json(&format!("/api/messages/{run}")).await.1;
    let parts = json!([
        { "type": "text", "text": "Here it is:" },
        { "type": "payload", "payload": made["payload"] },
        { "type": "text", "text": "Good?" },
    ]);
    assert_eq!(stored["message"]["nodes"][0]["parts"], parts);
    let payload_id = string_field(&made["payload"], "payload_id");
    assert_eq!(get_payload(&parlor, &conversation, &payload_id).await, expected);

    // In later turns the model sees the list and the text that it wrote.
    parlor.turn(Some(&conversation), "Thanks").await;
    let listed = format!("- {payload_id} (text_document): Text document: Letter");
    assert!(
        last_system_prompt(&upstream).contains(&listed),
        "{}",
        last_system_prompt(&upstream)
    );
    let written = r#"DOCUMENT: {"text":"Dear Ann","title":"Letter"}"#;
    assert_eq!(
        last_messages(&upstream)[1].1,
        format!("Here it is:\n\n{written}\n\nGood?")
    );
}

#[tokio::test]
async fn prompt_lists_payloads_of_the_current_branch() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let (conversation, letter) = create_letter(&upstream, &parlor).await;
    let listed =
        |upstream: &Upstream| last_system_prompt(upstream).contains(&format!("- {letter} (text_document)"));
    parlor.turn(Some(&conversation), "Thanks").await;
    assert!(listed(&upstream));
    // The regenerated answer has no payload.
    upstream.add_script(When::user_contains(QUESTION), Script::new().text("No letter."));
    let first = parlor.transcript(&conversation).await["messages"][1]["id"].clone();
    let again = parlor.post(
        &format!("/api/runs/{}/regenerate", first.as_str().unwrap()),
        &json!({}),
    );
    EventStream::open(again).await.read_to_end().await;
    assert!(!listed(&upstream), "{}", last_system_prompt(&upstream));
    parlor.turn(Some(&conversation), "Thanks").await;
    assert!(!listed(&upstream), "{}", last_system_prompt(&upstream));
}

#[tokio::test]
async fn mismatched_payload_stays_text() {
    for said in [
        r#"DOCUMENT: {"title": "no text"}"#,
        r#"TABLE: {"columns": ["a"], "rows": 1}"#,
        r#"QUERY_SUGGESTION: {"query": "not of this page"}"#,
        r#"`TABLE: {"columns": ["a"], "rows": []}`"#,
        "TABLE: ",
    ] {
        let (_folder, _upstream, parlor) = parlor_answering(Script::new().text(said)).await;
        let events = parlor.turn(None, "Go").await;
        assert_eq!(joined_deltas(&events, "text_delta"), said);
        assert_eq!(payload_ids(&events), Vec::<String>::new());
        assert_eq!(events.last().unwrap()["payload"]["custom_payload"], Value::Null);
    }
}

#[tokio::test]
async fn document_versions_survive_a_restart() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let (conversation, first) = create_letter(&upstream, &parlor).await;
    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let said = document_block(Some(&first), "Dear Bob");
    upstream.add_script(When::user_contains("Bob"), Script::new().text(said));
    let events = parlor.turn(Some(&conversation), "To Bob, please").await;
    let second = payload_ids(&events).remove(0);
    assert_ne!(first, second);
    let versions = json!([{ "text": "Dear Ann" }, { "text": "Dear Bob" }]);
    let kept = get_payload(&parlor, &conversation, &second).await;
    assert_eq!(
        kept["data"],
        json!({ "title": "Letter", "of": first, "versions": versions })
    );
    let view = format!("/rpc/payload?conversation_id={conversation}&payload_id={second}");
    let view = parlor.get_json(&view).await.1;
    assert_eq!(view["is_proposal"], true);
    assert_eq!(
        view["body"]["document"]["versions"][1]["changes"][0]["change"],
        "removed"
    );
}

#[tokio::test]
async fn version_of_unknown_document_starts_a_new_one() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let (conversation, first) = create_letter(&upstream, &parlor).await;
    let said = document_block(Some("abcd1234"), "Dear Bob");
    upstream.add_script(When::user_contains("Bob"), Script::new().text(said));
    let events = parlor.turn(Some(&conversation), "To Bob, please").await;
    let second = payload_ids(&events).remove(0);
    let view = format!("/rpc/payload?conversation_id={conversation}&payload_id={second}");
    assert_ne!(parlor.get_json(&view).await.1["is_proposal"], true);
    parlor.turn(Some(&conversation), "Thanks").await;
    let told = last_system_prompt(&upstream);
    for line in [
        format!("- {first} (text_document): Text document: Letter"),
        format!("- {second} (text_document): Text document (a new one, no version of abcd1234)"),
    ] {
        assert!(told.lines().any(|told| told == line), "{line}: {told}");
    }
}

#[tokio::test]
async fn continue_does_not_repeat_payloads() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text(" It is short.")).await;
    let said = format!("See:\n\n{}", document_block(None, "Dear Ann"));
    upstream.add_script(When::user_contains(QUESTION), Script::new().text(said).cut());
    upstream.add_script(
        When::user_contains("was cut off"),
        Script::new().text("It is short."),
    );
    let events = parlor.turn(None, QUESTION).await;
    let run = string_field(&events[0], "expected_assistant_message_id");
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    let go_on = parlor.post(&format!("/api/runs/{run}/continue"), &json!({}));
    assert_eq!(go_on.send().await.unwrap().status(), 200);
    let rest = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .read_to_end()
        .await;
    let whole = &rest.last().unwrap()["payload"];
    assert_eq!(whole["message"], "See:\n\nIt is short.");
    assert_eq!(whole["custom_payload"]["data"]["text"], "Dear Ann");
    assert!(
        last_messages(&upstream)[1]
            .1
            .ends_with(r#"DOCUMENT: {"text":"Dear Ann","title":"Letter"}"#)
    );
}

async fn post_verdict(
    parlor: &Parlor,
    conversation: &str,
    payload: &str,
    verdict: &str,
    key: Uuid,
) -> (u16, Value) {
    let path = format!("/api/conversations/{conversation}/payloads/{payload}/verdict");
    let request = parlor.post(&path, &json!({ "verdict": verdict }));
    let response = request
        .header("idempotency-key", key.to_string())
        .send()
        .await
        .unwrap();
    (response.status().as_u16(), read_json(response).await)
}

#[tokio::test]
async fn verdict_is_logged_stored_and_sent() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let (conversation, first) = create_letter(&upstream, &parlor).await;
    let said = document_block(Some(&first), "Dear Bob");
    upstream.add_script(When::user_contains("Bob"), Script::new().text(said));
    let second = payload_ids(&parlor.turn(Some(&conversation), "To Bob").await).remove(0);
    let mut stream = parlor.follow("/api/events").await;

    let key = Uuid::now_v7();
    let accepted = (200, json!({ "payload_id": second, "verdict": "accepted" }));
    assert_eq!(
        post_verdict(&parlor, &conversation, &second, "accepted", key).await,
        accepted
    );
    let event = stream.next_of_type("payload_judged").await;
    assert_eq!(
        (&event["payload_id"], &event["verdict"]),
        (&json!(second), &json!("accepted"))
    );
    // A second, different verdict: the first one counts, and nothing else happens.
    assert_eq!(
        post_verdict(&parlor, &conversation, &second, "accepted", key).await,
        accepted
    );
    let other = Uuid::now_v7();
    assert_eq!(
        post_verdict(&parlor, &conversation, &second, "rejected", other).await,
        accepted
    );
    let (status, problem) = post_verdict(&parlor, &conversation, &second, "rejected", key).await;
    assert_eq!((status, &problem["code"]), (409, &json!("intent_reused")));

    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let verdicts = json!([{ "payload_id": second, "verdict": "accepted" }]);
    assert_eq!(parlor.transcript(&conversation).await["verdicts"], verdicts);
    assert_eq!(
        get_payload(&parlor, &conversation, &second).await["verdict"],
        "accepted"
    );
    assert_eq!(
        get_payload(&parlor, &conversation, &first).await["verdict"],
        Value::Null
    );
    parlor.turn(Some(&conversation), "Thanks").await;
    assert_eq!(
        parlor.next_event(&event).await["text"],
        "Thanks",
        "it was one event"
    );
    let told = format!("- {second} (text_document): Text document: Letter (2). The person accepted it.");
    assert!(
        last_system_prompt(&upstream).contains(&told),
        "{}",
        last_system_prompt(&upstream)
    );
}

#[tokio::test]
async fn only_proposals_accept_verdicts() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Yes.")).await;
    let (conversation, letter) = create_letter(&upstream, &parlor).await;
    let status = async |conversation: &str, payload: &str, verdict: &str| {
        post_verdict(&parlor, conversation, payload, verdict, Uuid::now_v7())
            .await
            .0
    };
    assert_eq!(
        status(&conversation, &letter, "accepted").await,
        400,
        "a first version"
    );
    assert_eq!(status(&conversation, "unknown1", "accepted").await, 404);
    assert_eq!(
        status(&Uuid::now_v7().to_string(), &letter, "accepted").await,
        404
    );
    assert_eq!(status("what", &letter, "accepted").await, 404);
    assert!(status(&conversation, &letter, "perhaps").await >= 400);
    assert_eq!(parlor.transcript(&conversation).await["verdicts"], json!([]));
}
