use proptest::prelude::*;

use super::super::{examples::*, json::any_json, *};
use super::Fields;

fn user_message(interaction: Interaction) -> MessageBody {
    MessageBody::User {
        text: "hi".into(),
        files: Vec::new(),
        interaction,
    }
}

#[test]
fn missing_interaction_means_typed_and_unknown_is_rejected() {
    let read = |json: &str| serde_json::from_str::<MessageBody>(json);
    let old = read(r#"{"role":"user","text":"hi"}"#).unwrap();
    assert_eq!(old, user_message(Interaction::TextInput));
    assert!(read(r#"{"role":"user","text":"hi","interaction_type":"thought"}"#).is_err());
    assert!(read(r#"{"role":"user","text":"hi","interaction_type":"action_executed"}"#).is_err());
}

#[test]
fn every_event_round_trips() {
    for body in of_every_kind() {
        let event = logged_event(body);
        let written = serde_json::to_vec(&event).unwrap();
        assert_eq!(serde_json::from_slice::<Event>(&written).unwrap(), event);
        assert_eq!(json::parse(&written), Ok(event));
    }
}

#[test]
fn every_message_round_trips() {
    let parts = vec![
        Part::Thinking { text: "why".into() },
        Part::Text { text: "what".into() },
        Part::Payload { payload: payload() },
        Part::File { file: attachment() },
        Part::ToolCall(Box::new(ToolCall {
            tool_use_id: "1".into(),
            index: 0,
            tool: "tool".into(),
            input: RawJson::parse_or_quote("{}"),
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
    let mut answer = AssistantMessage::new("endpoint/model");
    answer.nodes.push(Node { parts });
    answer.usage = Some(usage());
    answer.worked_ms = 12_345;
    answer.resumptions = 2;
    answer.sources.push(source());
    for body in [
        user_message(Interaction::TextInput),
        user_message(Interaction::ValueSelected),
        user_message(button_interaction(None)),
        user_message(button_interaction(Some(r#"{"a": "\""}"#))),
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
        assert_eq!(json::parse(&written), Ok(message));
    }
}

#[test]
fn every_notice_round_trips() {
    for notice in [
        StreamNotice::Reset,
        StreamNotice::Unavailable,
        StreamNotice::LogDamaged,
    ] {
        let written = serde_json::to_vec(&notice).unwrap();
        assert_eq!(serde_json::from_slice::<StreamNotice>(&written).unwrap(), notice);
        assert_eq!(json::parse(&written), Ok(notice));
    }
}

#[test]
fn personal_data_round_trips() {
    let token = |end| ApiToken {
        id: TokenId::new(),
        name: "script".into(),
        beginning: "parlor_1234".into(),
        created_at: Timestamp(1),
        expires_at: end,
        last_used_at: None,
    };
    let personal = PersonalData {
        instructions: "Be \"kind\".".into(),
        instructions_bytes: 10,
        remembers: true,
        searches_chats: true,
        retention_days: 30,
        max_retention_days: 365,
        memories: vec![Memory {
            id: MemoryId::new(),
            text: "likes tea".into(),
            created_at: Timestamp(2),
        }],
        tokens: vec![token(None), token(Some(Timestamp(3)))],
        unavailable_tools: vec![RunError {
            code: "python_unavailable".into(),
            message: "There is none.".into(),
            hint: String::new(),
        }],
    };
    let written = serde_json::to_vec(&personal).unwrap();
    assert_eq!(json::parse(&written), Ok(personal));
}

#[test]
fn news_round_trips() {
    let news = News {
        version: "1.2.3".into(),
        items: vec!["Chats <b> & more.".into(), "¬".into()],
    };
    let written = serde_json::to_vec(&news).unwrap();
    assert_eq!(json::parse(&written), Ok(news));
}

#[test]
fn only_user_events_omit_the_conversation() {
    let changed = Event {
        position: Position(7),
        conversation_id: ConversationId::NONE,
        message_id: None,
        body: EventBody::User(UserEvent::SettingsChanged),
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
fn names_missing_and_unknown_fields() {
    let read = |kind: &str| {
        let json =
            serde_json::json!({ "position": 1, "conversation_id": ConversationId::new(), "type": kind });
        serde_json::from_value::<Event>(json).unwrap_err().to_string()
    };
    assert_eq!(read("status"), "the field `message` is missing");
    assert_eq!(read("news"), "`news` is not known");
}

/// Parses with the server's reader and with the page's, and asserts that both agree.
fn parse_with_both_readers<T: serde::de::DeserializeOwned + PartialEq + std::fmt::Debug>(
    written: &[u8],
) -> T {
    let strict = serde_json::from_slice::<T>(written).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(json::parse::<T>(written).as_ref(), Ok(&strict));
    strict
}

fn read_event(body: EventBody) -> EventBody {
    let written = serde_json::to_vec(&logged_event(body)).unwrap();
    parse_with_both_readers::<Event>(&written).body
}

/// Removes `null`, which is the same as absent for optional fields.
fn without_nulls(json: &RawJson) -> Option<RawJson> {
    Some(json.clone()).filter(|json| json.as_str() != "null")
}

fuzzing::properties! {
    256;

    #[test]
    fn accepts_any_json_as_tool_input(json in any_json()) {
        let input = RawJson::parse_or_quote(&json);
        let request = RequestedCall { input: input.clone(), ..requested_call(None) };
        for body in [
            EventBody::Run(RunEvent::ApprovalRequested(request.clone())),
            EventBody::Run(RunEvent::ToolStart { call: request, started_at: Timestamp(1) }),
        ] {
            prop_assert_eq!(read_event(body.clone()), body);
        }
        let call = ToolCall { input: input.clone(), output: Some(json), ..ToolCall::for_test("tool", ToolStatus::Complete) };
        let part = Part::ToolCall(Box::new(call.clone()));
        prop_assert_eq!(parse_with_both_readers::<Part>(&serde_json::to_vec(&part).unwrap()), part.clone());
        let mut answer = AssistantMessage::new("x/m");
        answer.nodes.push(Node { parts: vec![part] });
        let body = MessageBody::Assistant(answer);
        prop_assert_eq!(parse_with_both_readers::<MessageBody>(&serde_json::to_vec(&body).unwrap()), body);
        // The arguments are split without a loss.
        if let Ok(strict) = serde_json::from_str::<Fields>(input.as_str()) {
            prop_assert_eq!(call.arguments(), strict.into_entries());
        }
    }

    #[test]
    fn accepts_any_json_in_progress_and_changes(json in any_json()) {
        let any = RawJson::parse_or_quote(&json);
        let body = EventBody::User(UserEvent::LiteratureChanged { change: any.clone() });
        prop_assert_eq!(read_event(body.clone()), body);
        let with = |data| EventBody::Run(RunEvent::ToolProgress {
            index: 0,
            tool_use_id: "1".into(),
            tool: "tool".into(),
            progress: ToolProgress { data, ..progress() },
        });
        prop_assert_eq!(read_event(with(Some(any.clone()))), with(without_nulls(&any)));
    }
}

#[test]
fn null_counts_as_missing_for_optional_fields() {
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
fn damaged_message_is_marked() {
    let message = Message {
        id: MessageId::new(),
        parent_id: None,
        created_at: Timestamp(1),
        body: MessageBody::Damaged,
    };
    assert_eq!(
        parse_with_both_readers::<Message>(&serde_json::to_vec(&message).unwrap()),
        message
    );
    let json = serde_json::json!({ "position": 7, "type": "damaged" });
    let read = parse_with_both_readers::<Event>(json.to_string().as_bytes());
    assert_eq!(
        (read.body, read.conversation_id),
        (EventBody::Placeholder(Placeholder::Damaged), ConversationId::NONE)
    );
    let id = MessageId::new();
    let answer = AssistantMessage::damaged(id, RunStatus::Complete);
    let body = MessageBody::Assistant(answer);
    assert_eq!(
        parse_with_both_readers::<MessageBody>(&serde_json::to_vec(&body).unwrap()),
        body
    );
}
