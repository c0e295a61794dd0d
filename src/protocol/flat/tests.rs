use proptest::prelude::*;

use super::super::{examples::*, json::tests::any_json, *};
use super::Fields;

fn said(interaction: Interaction) -> MessageBody {
    MessageBody::User {
        text: "hi".into(),
        interaction,
    }
}

#[test]
fn what_says_nothing_of_it_was_typed_and_what_is_not_known_is_refused() {
    let read = |json: &str| serde_json::from_str::<MessageBody>(json);
    let old = read(r#"{"role":"user","text":"hi"}"#).unwrap();
    assert_eq!(old, said(Interaction::TextInput));
    assert!(read(r#"{"role":"user","text":"hi","interaction_type":"thought"}"#).is_err());
    assert!(read(r#"{"role":"user","text":"hi","interaction_type":"action_executed"}"#).is_err());
}

#[test]
fn every_event_reads_back_as_what_was_written() {
    for body in of_every_kind() {
        let event = logged(body);
        let written = serde_json::to_vec(&event).unwrap();
        assert_eq!(serde_json::from_slice::<Event>(&written).unwrap(), event);
        assert_eq!(json::read(&written), Ok(event));
    }
}

#[test]
fn every_message_reads_back_as_what_was_written() {
    let parts = vec![
        Part::Thinking { text: "why".into() },
        Part::Text { text: "what".into() },
        Part::Payload { payload: payload() },
        Part::ToolCall(Box::new(ToolCall {
            tool_use_id: "1".into(),
            index: 0,
            tool: "tool".into(),
            input: Json::or_string("{}"),
            label: "Doing".into(),
            detail: Some("this".into()),
            status: ToolStatus::Running,
            progress: Some(progress()),
            output: Some("that".into()),
            payload: Some(payload()),
            attachments: vec![attachment(), attachment()],
            started_at: Some(Timestamp(1)),
            ended_at: None,
        })),
    ];
    let mut answer = AssistantMessage::started("endpoint/model");
    answer.nodes.push(Node { parts });
    answer.usage = Some(usage());
    answer.worked_ms = 12_345;
    answer.sources.push(source());
    for body in [
        said(Interaction::TextInput),
        said(Interaction::ValueSelected),
        said(pressed(None)),
        said(pressed(Some(r#"{"a": "\""}"#))),
        MessageBody::Assistant(answer),
    ] {
        let message = Message {
            id: MessageId::new(),
            parent_id: None,
            created_at: Timestamp(1),
            body,
        };
        let written = serde_json::to_vec(&message.body).unwrap();
        assert_eq!(
            serde_json::from_slice::<MessageBody>(&written).unwrap(),
            message.body
        );
        let written = serde_json::to_vec(&message).unwrap();
        assert_eq!(serde_json::from_slice::<Message>(&written).unwrap(), message);
        assert_eq!(json::read(&written), Ok(message));
    }
}

#[test]
fn every_notice_reads_back_as_what_was_written() {
    for notice in [Notice::Reset, Notice::Unavailable] {
        let written = serde_json::to_vec(&notice).unwrap();
        assert_eq!(serde_json::from_slice::<Notice>(&written).unwrap(), notice);
        assert_eq!(json::read(&written), Ok(notice));
    }
}

#[test]
fn what_a_person_has_set_reads_back_as_what_was_written() {
    let token = |end| ApiToken {
        id: TokenId::new(),
        name: "script".into(),
        beginning: "parlor_1234".into(),
        created_at: Timestamp(1),
        expires_at: end,
        last_used_at: None,
    };
    let personal = Personal {
        instructions: "Be \"kind\".".into(),
        instructions_bytes: 10,
        remembers: true,
        memories: vec![Memory {
            id: MemoryId::new(),
            text: "likes tea".into(),
            created_at: Timestamp(2),
        }],
        tokens: vec![token(None), token(Some(Timestamp(3)))],
    };
    let written = serde_json::to_vec(&personal).unwrap();
    assert_eq!(json::read(&written), Ok(personal));
}

#[test]
fn only_what_concerns_no_conversation_names_none() {
    let changed = Event {
        position: Position(7),
        conversation_id: ConversationId::NONE,
        message_id: None,
        body: EventBody::SettingsChanged,
    };
    let json = serde_json::json!({ "position": 7, "type": "settings_changed" });
    assert_eq!(serde_json::to_value(&changed).unwrap(), json);
    let gone = serde_json::json!({ "position": 7, "type": "empty" });
    let read: Event = serde_json::from_value(gone.clone()).unwrap();
    assert_eq!(read.conversation_id, ConversationId::NONE);
    assert_eq!(serde_json::to_value(&read).unwrap(), gone);
    let json = serde_json::json!({ "position": 7, "type": "conversation_read" });
    let error = serde_json::from_value::<Event>(json).unwrap_err();
    assert_eq!(error.to_string(), "the field `conversation_id` is missing");
}

#[test]
fn what_is_missing_or_unknown_is_named() {
    let read = |kind: &str| {
        let json =
            serde_json::json!({ "position": 1, "conversation_id": ConversationId::new(), "type": kind });
        serde_json::from_value::<Event>(json).unwrap_err().to_string()
    };
    assert_eq!(read("status"), "the field `message` is missing");
    assert_eq!(read("news"), "`news` is not known");
}

/// Reads as the server does, and as the page does, which must come to the same.
fn read_both<T: serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(written: &[u8]) -> T {
    let strict = serde_json::from_slice::<T>(written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(json::read::<T>(written).as_ref(), Ok(&strict));
    strict
}

fn read_event(body: EventBody) -> EventBody {
    let written = serde_json::to_vec(&logged(body)).unwrap();
    read_both::<Event>(&written).body
}

/// A field that says `null` says nothing, if it may be missing.
fn said_of(json: &Json) -> Option<Json> {
    Some(json.clone()).filter(|json| json.as_str() != "null")
}

fuzzing::properties! {
    256;

    #[test]
    fn any_json_is_a_tools_input(json in any_json()) {
        let input = Json::or_string(&json);
        let asked = AskedCall { input: input.clone(), ..asked_call(None) };
        for body in [
            EventBody::ApprovalRequested(asked.clone()),
            EventBody::ToolStart { call: asked, started_at: Timestamp(1) },
        ] {
            prop_assert_eq!(read_event(body.clone()), body);
        }
        let call = ToolCall { input: input.clone(), output: Some(json), ..ToolCall::of("tool", ToolStatus::Complete) };
        let part = Part::ToolCall(Box::new(call.clone()));
        prop_assert_eq!(read_both::<Part>(&serde_json::to_vec(&part).unwrap()), part.clone());
        let mut answer = AssistantMessage::started("x/m");
        answer.nodes.push(Node { parts: vec![part] });
        let body = MessageBody::Assistant(answer);
        prop_assert_eq!(read_both::<MessageBody>(&serde_json::to_vec(&body).unwrap()), body);
        // Arguments are taken apart without a loss.
        if let Ok(strict) = serde_json::from_str::<Fields>(input.as_str()) {
            prop_assert_eq!(call.arguments(), strict.all());
        }
    }

    #[test]
    fn any_json_is_progress_and_a_change(json in any_json()) {
        let any = Json::or_string(&json);
        let body = EventBody::LiteratureChanged { change: any.clone() };
        prop_assert_eq!(read_event(body.clone()), body);
        let with = |data| EventBody::ToolProgress {
            index: 0,
            tool_use_id: "1".into(),
            tool: "tool".into(),
            progress: ToolProgress { data, ..progress() },
        };
        prop_assert_eq!(read_event(with(Some(any.clone()))), with(said_of(&any)));
    }
}

#[test]
fn null_is_missing_only_where_something_may_be() {
    let read = |json: &str| serde_json::from_str::<Message>(json).map_err(|error| error.to_string());
    let id = MessageId::new();
    let message = format!(r#"{{"id":"{id}","parent_id":null,"created_at":1,"role":"user","text":"hi"}}"#);
    assert_eq!(read(&message).unwrap().parent_id, None);
    let without = message.replace("\"hi\"", "null");
    assert!(
        read(&without)
            .unwrap_err()
            .contains("the field `text` can't be read")
    );
}

#[test]
fn what_is_damaged_says_so() {
    let message = Message {
        id: MessageId::new(),
        parent_id: None,
        created_at: Timestamp(1),
        body: MessageBody::Damaged,
    };
    assert_eq!(
        read_both::<Message>(&serde_json::to_vec(&message).unwrap()),
        message
    );
    let json = serde_json::json!({ "position": 7, "type": "damaged" });
    let read = read_both::<Event>(json.to_string().as_bytes());
    assert_eq!(
        (read.body, read.conversation_id),
        (EventBody::Damaged, ConversationId::NONE)
    );
    let id = MessageId::new();
    let answer = AssistantMessage::damaged(id, RunStatus::Complete);
    let body = MessageBody::Assistant(answer);
    assert_eq!(
        read_both::<MessageBody>(&serde_json::to_vec(&body).unwrap()),
        body
    );
}
