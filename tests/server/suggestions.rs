//! Suggestions of the model, over HTTP: actions, values, and the interaction type of a message.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{
    Parlor, joined_deltas, last_messages, last_system_prompt, parlor_answering, read_json, string_field,
};

/// An answer that suggests values and actions.
const SUGGESTING_ANSWER: &str = r#"What now?
SUGGESTED_VALUES: [{"label": "Go on", "value": "Please go on"}]
SUGGESTED_ACTIONS: [
  {"label": "Save it", "action": "save", "handler": "server", "data": {"id": 7, "tags": ["a"]}, "style": "primary"},
  {"label": "Copy", "action": "copy_answer", "handler": "client"},
  {"label": "Wipe", "action": "format_disk", "handler": "client", "style": "warning"}]"#;

/// Creates a conversation whose last answer has suggestions. Returns the ids of both.
async fn create_suggestion(upstream: &Upstream, parlor: &Parlor) -> (String, String) {
    upstream.add_script(
        When::user_contains("suggest"),
        Script::new().text(SUGGESTING_ANSWER),
    );
    let events = parlor.turn(None, "suggest something").await;
    assert_eq!(joined_deltas(&events, "text_delta"), "What now?");
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
        "unknown page actions are not suggested"
    );
    (
        string_field(&events[0], "conversation_id"),
        string_field(&events[0], "expected_assistant_message_id"),
    )
}

#[tokio::test]
async fn pressed_action_starts_one_turn_with_data() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Saved.")).await;
    let (conversation, _) = create_suggestion(&upstream, &parlor).await;
    let pressed = json!({
        "message": "Save it", "conversation_id": conversation, "interaction_type": "action_executed",
        "action": "save", "data": { "tags": ["a"], "id": 7 },
    });
    let events = parlor.chat(&pressed).await.read_to_end().await;
    let saved = &events[0];
    assert_eq!(
        (&saved["interaction_type"], &saved["action"], &saved["text"]),
        (&json!("action_executed"), &json!("save"), &json!("Save it"))
    );
    let message = string_field(saved, "user_message_id");
    let stored = parlor.get_json(&format!("/api/messages/{message}")).await.1;
    assert_eq!(stored["message"]["interaction_type"], "action_executed");
    // The model learns of the interaction from the system prompt; the message is the label of the button.
    let told = r#" UTC, "Save it": the button of your action "save" with the data {"id":7,"tags":["a"]}"#;
    let prompt_then = last_system_prompt(&upstream);
    let line = prompt_then.lines().find(|line| line.ends_with(told));
    assert!(
        line.is_some_and(|line| line.starts_with("- message 2, ")),
        "{prompt_then}"
    );
    assert_eq!(
        last_messages(&upstream).last().unwrap(),
        &("user".into(), "Save it".into())
    );

    // The suggestion is used up.
    let again = parlor.post("/api/chat/stream", &pressed).send().await.unwrap();
    assert_eq!(again.status(), 409);
    assert_eq!(read_json(again).await["code"], "action_spent");
    parlor.turn(Some(&conversation), "Thanks").await;
    let told_then = last_system_prompt(&upstream);
    assert!(told_then.contains(told), "{told_then}");
    parlor.turn(Some(&conversation), "Bye").await;
    assert_eq!(
        last_system_prompt(&upstream),
        told_then,
        "a server that remembers the prompt can use it"
    );
}

#[tokio::test]
async fn rejects_actions_that_were_not_offered() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Well.")).await;
    let (conversation, _) = create_suggestion(&upstream, &parlor).await;
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
async fn rejects_values_that_were_not_suggested() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Well.")).await;
    for (message, kind) in [("Please go on", "value_selected"), ("Please stop", "text_input")] {
        let (conversation, _) = create_suggestion(&upstream, &parlor).await;
        let chosen = json!({ "message": message, "conversation_id": conversation, "interaction_type": "value_selected" });
        let events = parlor.chat(&chosen).await.read_to_end().await;
        assert_eq!(events[0]["interaction_type"], kind, "{message}");
        let is_told = last_system_prompt(&upstream).contains("chosen from your suggestions");
        assert_eq!(is_told, kind == "value_selected");
    }
}

async fn take_action(parlor: &Parlor, conversation: &str, message: &str, index: usize) -> u16 {
    let intent = json!({ "intent": {
        "intent_id": Uuid::now_v7(), "conversation_id": conversation, "message_id": message, "index": index,
    } });
    let taken = parlor.post("/rpc/take_action", &intent).send().await.unwrap();
    taken.status().as_u16()
}

#[tokio::test]
async fn taken_action_is_spent_everywhere() {
    let (folder, upstream, parlor) = parlor_answering(Script::new().text("Well.")).await;
    let (conversation, answer) = create_suggestion(&upstream, &parlor).await;
    let mut stream = parlor.follow("/api/events").await;
    assert_eq!(
        take_action(&parlor, &conversation, &answer, 0).await,
        404,
        "it is the server's"
    );
    assert_eq!(
        take_action(&parlor, &conversation, &answer, 2).await,
        404,
        "there is none"
    );
    let (other, _) = create_suggestion(&upstream, &parlor).await;
    assert_eq!(
        take_action(&parlor, &other, &answer, 1).await,
        404,
        "it is not there"
    );
    assert_eq!(take_action(&parlor, &conversation, &answer, 1).await, 200);
    let event = stream.next_of_type("action_taken").await;
    assert_eq!(
        (&event["message_id"], &event["index"]),
        (&json!(answer), &json!(1))
    );
    assert_eq!(
        take_action(&parlor, &conversation, &answer, 1).await,
        200,
        "twice is once"
    );

    parlor.stop().await;
    let parlor = Parlor::start(folder.path(), &upstream).await;
    let transcript = parlor.transcript(&conversation).await;
    let actions = &transcript["messages"][1]["suggested_actions"];
    assert_eq!(
        (&actions[0]["taken"], &actions[1]["taken"]),
        (&Value::Null, &json!(true))
    );
    parlor.turn(Some(&conversation), "Thanks").await;
    assert_eq!(
        parlor.next_event(&event).await["text"],
        "Thanks",
        "it was one event"
    );
}
