//! What a model offers besides text, over HTTP: what it writes for the panel, proposals, actions, and how a message was said.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, Stream, answering, id, json, prompt, shown, text, types};

const QUESTION: &str = "Write a letter";

async fn payload(parlor: &Parlor, conversation: &str, payload: &str) -> Value {
    let path = format!("/api/conversations/{conversation}/payloads/{payload}");
    parlor.get_json(&path).await.1
}

async fn transcript(parlor: &Parlor, conversation: &str) -> Value {
    let path = format!("/rpc/conversation?conversation_id={conversation}");
    parlor.get_json(&path).await.1
}

/// The ids of what the model wrote for the panel in a turn.
fn made(events: &[Value]) -> Vec<String> {
    let made = events.iter().filter(|event| event["type"] == "payload_made");
    made.map(|event| id(&event["payload"], "payload_id")).collect()
}

fn document(id: Option<&str>, text: &str) -> String {
    let document = match id {
        Some(id) => json!({ "id": id, "text": text }),
        None => json!({ "title": "Letter", "text": text }),
    };
    format!("DOCUMENT: {document}")
}

/// A conversation with a letter in it, and the letter's id.
async fn with_letter(upstream: &Upstream, parlor: &Parlor) -> (String, String) {
    let said = format!("Here it is:\n\n{}\n\nGood?", document(None, "Dear Ann"));
    upstream.script(When::user_contains(QUESTION), Script::new().text(said));
    let events = parlor.turn(None, QUESTION).await;
    let conversation = id(&events[0], "conversation_id");
    let made = made(&events);
    assert_eq!(made.len(), 1);
    (conversation, made[0].clone())
}

#[tokio::test]
async fn what_the_model_writes_for_the_panel_stands_in_its_place_and_is_no_text() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Yes.")).await;
    let half = "Here it is:\n\nDOCUMENT: {\"title\": \"Letter\", ";
    let script = Script::new().text(half).text("\"text\": \"Dear Ann\"}\n\nGood?");
    upstream.script(When::user_contains(QUESTION), script);
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
    assert_eq!(types(&events), kinds);
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

    let (conversation, run) = (id(last, "conversation_id"), id(last, "message_id"));
    let stored = parlor.get_json(&format!("/api/messages/{run}")).await.1;
    let parts = json!([
        { "type": "text", "text": "Here it is:" },
        { "type": "payload", "payload": made["payload"] },
        { "type": "text", "text": "Good?" },
    ]);
    assert_eq!(stored["message"]["nodes"][0]["parts"], parts);
    let payload_id = id(&made["payload"], "payload_id");
    assert_eq!(payload(&parlor, &conversation, &payload_id).await, expected);

    // In later turns the model sees that it is there, and what it wrote.
    parlor.turn(Some(&conversation), "Thanks").await;
    let listed = format!("- {payload_id} (text_document): Text document: Letter");
    assert!(prompt(&upstream).contains(&listed), "{}", prompt(&upstream));
    let written = r#"DOCUMENT: {"text":"Dear Ann","title":"Letter"}"#;
    assert_eq!(
        shown(&upstream)[1].1,
        format!("Here it is:\n\n{written}\n\nGood?")
    );
}

#[tokio::test]
async fn the_model_is_told_of_what_was_made_on_the_branch_that_it_goes_on_with() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Fine.")).await;
    let (conversation, letter) = with_letter(&upstream, &parlor).await;
    let listed = |upstream: &Upstream| prompt(upstream).contains(&format!("- {letter} (text_document)"));
    parlor.turn(Some(&conversation), "Thanks").await;
    assert!(listed(&upstream));
    // Answered once more, nothing was made there.
    upstream.script(When::user_contains(QUESTION), Script::new().text("No letter."));
    let first = transcript(&parlor, &conversation).await["messages"][1]["id"].clone();
    let again = parlor.post(
        &format!("/api/runs/{}/regenerate", first.as_str().unwrap()),
        &json!({}),
    );
    Stream::of(again).await.rest().await;
    assert!(!listed(&upstream), "{}", prompt(&upstream));
    parlor.turn(Some(&conversation), "Thanks").await;
    assert!(!listed(&upstream), "{}", prompt(&upstream));
}

#[tokio::test]
async fn what_does_not_fit_its_type_is_text_as_it_came() {
    for said in [
        r#"DOCUMENT: {"title": "no text"}"#,
        r#"TABLE: {"columns": ["a"], "rows": 1}"#,
        r#"QUERY_SUGGESTION: {"query": "not of this page"}"#,
        r#"`TABLE: {"columns": ["a"], "rows": []}`"#,
        "TABLE: ",
    ] {
        let (_folder, _upstream, parlor) = answering(Script::new().text(said)).await;
        let events = parlor.turn(None, "Go").await;
        assert_eq!(text(&events, "text_delta"), said);
        assert_eq!(made(&events), Vec::<String>::new());
        assert_eq!(events.last().unwrap()["payload"]["custom_payload"], Value::Null);
    }
}

#[tokio::test]
async fn a_new_version_of_a_document_has_those_before_it_also_after_a_restart() {
    let (folder, upstream, parlor) = answering(Script::new().text("Yes.")).await;
    let (conversation, first) = with_letter(&upstream, &parlor).await;
    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let said = document(Some(&first), "Dear Bob");
    upstream.script(When::user_contains("Bob"), Script::new().text(said));
    let events = parlor.turn(Some(&conversation), "To Bob, please").await;
    let second = made(&events).remove(0);
    assert_ne!(first, second);
    let versions = json!([{ "text": "Dear Ann" }, { "text": "Dear Bob" }]);
    let kept = payload(&parlor, &conversation, &second).await;
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
async fn what_was_written_before_an_answer_broke_off_is_not_written_again() {
    let (_folder, upstream, parlor) = answering(Script::new().text(" It is short.")).await;
    let said = format!("See:\n\n{}", document(None, "Dear Ann"));
    upstream.script(When::user_contains(QUESTION), Script::new().text(said).cut());
    upstream.script(
        When::user_contains("was cut off"),
        Script::new().text("It is short."),
    );
    let events = parlor.turn(None, QUESTION).await;
    let run = id(&events[0], "expected_assistant_message_id");
    assert_eq!(events.last().unwrap()["status"], "interrupted");
    let go_on = parlor.post(&format!("/api/runs/{run}/continue"), &json!({}));
    assert_eq!(go_on.send().await.unwrap().status(), 200);
    let rest = parlor
        .follow(&format!("/api/runs/{run}/events"))
        .await
        .rest()
        .await;
    let whole = &rest.last().unwrap()["payload"];
    assert_eq!(whole["message"], "See:\n\nIt is short.");
    assert_eq!(whole["custom_payload"]["data"]["text"], "Dear Ann");
    assert!(
        shown(&upstream)[1]
            .1
            .ends_with(r#"DOCUMENT: {"text":"Dear Ann","title":"Letter"}"#)
    );
}

/// What happened next after an event.
async fn next(parlor: &Parlor, event: &Value) -> Value {
    let path = format!("/api/events?after={}", event["position"]);
    parlor.follow(&path).await.next().await.expect("an event")
}

async fn say_verdict(
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
    (response.status().as_u16(), json(response).await)
}

#[tokio::test]
async fn a_verdict_is_an_event_is_kept_and_is_told_to_the_model() {
    let (folder, upstream, parlor) = answering(Script::new().text("Yes.")).await;
    let (conversation, first) = with_letter(&upstream, &parlor).await;
    let said = document(Some(&first), "Dear Bob");
    upstream.script(When::user_contains("Bob"), Script::new().text(said));
    let second = made(&parlor.turn(Some(&conversation), "To Bob").await).remove(0);
    let mut stream = parlor.follow("/api/events").await;

    let key = Uuid::now_v7();
    let accepted = (200, json!({ "payload_id": second, "verdict": "accepted" }));
    assert_eq!(
        say_verdict(&parlor, &conversation, &second, "accepted", key).await,
        accepted
    );
    let event = stream.until("payload_judged").await;
    assert_eq!(
        (&event["payload_id"], &event["verdict"]),
        (&json!(second), &json!("accepted"))
    );
    // Once more, and another mind: the first counts, and nothing more happens.
    assert_eq!(
        say_verdict(&parlor, &conversation, &second, "accepted", key).await,
        accepted
    );
    let other = Uuid::now_v7();
    assert_eq!(
        say_verdict(&parlor, &conversation, &second, "rejected", other).await,
        accepted
    );
    let (status, problem) = say_verdict(&parlor, &conversation, &second, "rejected", key).await;
    assert_eq!((status, &problem["code"]), (409, &json!("intent_reused")));

    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let verdicts = json!([{ "payload_id": second, "verdict": "accepted" }]);
    assert_eq!(transcript(&parlor, &conversation).await["verdicts"], verdicts);
    assert_eq!(
        payload(&parlor, &conversation, &second).await["verdict"],
        "accepted"
    );
    assert_eq!(
        payload(&parlor, &conversation, &first).await["verdict"],
        Value::Null
    );
    parlor.turn(Some(&conversation), "Thanks").await;
    assert_eq!(next(&parlor, &event).await["text"], "Thanks", "it was one event");
    let told = format!("- {second} (text_document): Text document: Letter (2). The person accepted it.");
    assert!(prompt(&upstream).contains(&told), "{}", prompt(&upstream));
}

#[tokio::test]
async fn only_proposals_can_be_judged_and_only_where_they_are() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Yes.")).await;
    let (conversation, letter) = with_letter(&upstream, &parlor).await;
    let status = async |conversation: &str, payload: &str, verdict: &str| {
        say_verdict(&parlor, conversation, payload, verdict, Uuid::now_v7())
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
    assert_eq!(transcript(&parlor, &conversation).await["verdicts"], json!([]));
}

/// An answer that suggests values and actions.
const SUGGESTS: &str = r#"What now?
SUGGESTED_VALUES: [{"label": "Go on", "value": "Please go on"}]
SUGGESTED_ACTIONS: [
  {"label": "Save it", "action": "save", "handler": "server", "data": {"id": 7, "tags": ["a"]}, "style": "primary"},
  {"label": "Copy", "action": "copy_answer", "handler": "client"},
  {"label": "Wipe", "action": "format_disk", "handler": "client", "style": "warning"}]"#;

/// A conversation whose last answer suggests something: its id, and the answer's.
async fn suggesting(upstream: &Upstream, parlor: &Parlor) -> (String, String) {
    upstream.script(When::user_contains("suggest"), Script::new().text(SUGGESTS));
    let events = parlor.turn(None, "suggest something").await;
    assert_eq!(text(&events, "text_delta"), "What now?");
    let suggested = events.iter().find(|event| event["type"] == "suggested_actions");
    let names: Vec<&Value> = suggested.expect("actions")["actions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| &action["action"])
        .collect();
    assert_eq!(
        names,
        ["save", "copy_answer"],
        "what no page does is not suggested"
    );
    (
        id(&events[0], "conversation_id"),
        id(&events[0], "expected_assistant_message_id"),
    )
}

#[tokio::test]
async fn an_action_comes_back_as_a_turn_with_its_data_once() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Saved.")).await;
    let (conversation, _) = suggesting(&upstream, &parlor).await;
    let pressed = json!({
        "message": "Save it", "conversation_id": conversation, "interaction_type": "action_executed",
        "action": "save", "data": { "tags": ["a"], "id": 7 },
    });
    let events = parlor.chat(&pressed).await.rest().await;
    let saved = &events[0];
    assert_eq!(
        (&saved["interaction_type"], &saved["action"], &saved["text"]),
        (&json!("action_executed"), &json!("save"), &json!("Save it"))
    );
    let message = id(saved, "user_message_id");
    let stored = parlor.get_json(&format!("/api/messages/{message}")).await.1;
    assert_eq!(stored["message"]["interaction_type"], "action_executed");
    // The model knows it from where only Parlor writes; the message is what the button says.
    let told = r#" UTC, "Save it": the button of your action "save" with the data {"id":7,"tags":["a"]}"#;
    let prompt_then = prompt(&upstream);
    let line = prompt_then.lines().find(|line| line.ends_with(told));
    assert!(
        line.is_some_and(|line| line.starts_with("- message 2, ")),
        "{prompt_then}"
    );
    assert_eq!(
        shown(&upstream).last().unwrap(),
        &("user".into(), "Save it".into())
    );

    // It is spent.
    let again = parlor.post("/api/chat/stream", &pressed).send().await.unwrap();
    assert_eq!(again.status(), 409);
    assert_eq!(json(again).await["code"], "action_spent");
    parlor.turn(Some(&conversation), "Thanks").await;
    let told_then = prompt(&upstream);
    assert!(told_then.contains(told), "{told_then}");
    parlor.turn(Some(&conversation), "Bye").await;
    assert_eq!(
        prompt(&upstream),
        told_then,
        "a server that remembers the prompt can use it"
    );
}

#[tokio::test]
async fn what_was_not_offered_cannot_be_pressed() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Well.")).await;
    let (conversation, _) = suggesting(&upstream, &parlor).await;
    let data = json!({ "id": 7, "tags": ["a"] });
    let never_offered = [
        json!({ "action": "save" }),
        json!({ "action": "save", "data": { "id": 8, "tags": ["a"] } }),
        json!({ "action": "pay", "data": data }),
        json!({ "action": "copy_answer" }),
    ];
    for mut request in never_offered {
        request["message"] = json!("Save it");
        request["conversation_id"] = json!(conversation);
        request["interaction_type"] = json!("action_executed");
        let refused = parlor.post("/api/chat/stream", &request).send().await.unwrap();
        assert_eq!(refused.status(), 409, "{request}");
    }
    // Nor in a conversation that has no answer yet.
    let nowhere = json!({ "message": "Save it", "interaction_type": "action_executed", "action": "save", "data": data });
    assert_eq!(
        parlor
            .post("/api/chat/stream", &nowhere)
            .send()
            .await
            .unwrap()
            .status(),
        409
    );
    let odd = json!({ "message": "x", "interaction_type": "thought" });
    assert_eq!(
        parlor
            .post("/api/chat/stream", &odd)
            .send()
            .await
            .unwrap()
            .status(),
        400
    );
}

#[tokio::test]
async fn a_value_is_chosen_only_if_it_was_suggested() {
    let (_folder, upstream, parlor) = answering(Script::new().text("Well.")).await;
    for (message, kind) in [("Please go on", "value_selected"), ("Please stop", "text_input")] {
        let (conversation, _) = suggesting(&upstream, &parlor).await;
        let chosen = json!({ "message": message, "conversation_id": conversation, "interaction_type": "value_selected" });
        let events = parlor.chat(&chosen).await.rest().await;
        assert_eq!(events[0]["interaction_type"], kind, "{message}");
        let is_told = prompt(&upstream).contains("chosen from your suggestions");
        assert_eq!(is_told, kind == "value_selected");
    }
}

async fn take(parlor: &Parlor, conversation: &str, message: &str, index: usize) -> u16 {
    let intent = json!({ "intent": {
        "intent_id": Uuid::now_v7(), "conversation_id": conversation, "message_id": message, "index": index,
    } });
    let taken = parlor.post("/rpc/take_action", &intent).send().await.unwrap();
    taken.status().as_u16()
}

#[tokio::test]
async fn an_action_that_the_page_has_done_is_spent_for_everybody() {
    let (folder, upstream, parlor) = answering(Script::new().text("Well.")).await;
    let (conversation, answer) = suggesting(&upstream, &parlor).await;
    let mut stream = parlor.follow("/api/events").await;
    assert_eq!(
        take(&parlor, &conversation, &answer, 0).await,
        404,
        "it is the server's"
    );
    assert_eq!(
        take(&parlor, &conversation, &answer, 2).await,
        404,
        "there is none"
    );
    let (other, _) = suggesting(&upstream, &parlor).await;
    assert_eq!(take(&parlor, &other, &answer, 1).await, 404, "it is not there");
    assert_eq!(take(&parlor, &conversation, &answer, 1).await, 200);
    let event = stream.until("action_taken").await;
    assert_eq!(
        (&event["message_id"], &event["index"]),
        (&json!(answer), &json!(1))
    );
    assert_eq!(
        take(&parlor, &conversation, &answer, 1).await,
        200,
        "twice is once"
    );

    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let transcript = transcript(&parlor, &conversation).await;
    let actions = &transcript["messages"][1]["suggested_actions"];
    assert_eq!(
        (&actions[0]["taken"], &actions[1]["taken"]),
        (&Value::Null, &json!(true))
    );
    parlor.turn(Some(&conversation), "Thanks").await;
    assert_eq!(next(&parlor, &event).await["text"], "Thanks", "it was one event");
}
