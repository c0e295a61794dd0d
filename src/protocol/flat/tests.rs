use super::super::*;

fn asked_call(detail: Option<String>) -> AskedCall {
    AskedCall {
        node: 0,
        part: 1,
        index: 2,
        tool_use_id: "1".into(),
        tool: "tool".into(),
        input: Json::or_string(r#"{"a": [0.5, "}"]}"#),
        label: "Doing".into(),
        detail,
    }
}

fn progress() -> ToolProgress {
    ToolProgress {
        stage: "searching".into(),
        message: "Found 15 articles".into(),
        progress: Some(Fraction::of(1, 3)),
        data: Some(Json::or_string("[1.5]")),
    }
}

fn attachment() -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: "map.png".into(),
        media_type: "image/png".into(),
        bytes: 70,
    }
}

fn payload() -> PayloadRef {
    PayloadRef {
        payload_id: "abc12345".into(),
        kind: "table".into(),
        summary: "Table (3)".into(),
    }
}

fn parameters() -> Parameters {
    let asked = AskedParameters {
        temperature: "0.7".into(),
        thinking_level: "low".into(),
        max_completion_tokens: "1000".into(),
    };
    Parameters::read(&asked).unwrap()
}

fn usage() -> Usage {
    Usage {
        input_tokens: 10,
        output_tokens: 2,
        estimated: true,
        estimate: 9,
        window: Some(100),
    }
}

fn pressed(data: Option<&str>) -> Interaction {
    Interaction::ActionExecuted {
        action: "save".into(),
        data: data.map(Into::into),
    }
}

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
    let (id, at, text) = (MessageId::new(), Timestamp(1), String::from("text"));
    let error = RunError {
        code: "code".into(),
        message: text.clone(),
        hint: String::new(),
    };
    let bodies = [
        EventBody::ConversationCreated {
            title: text.clone(),
            created_at: at,
        },
        EventBody::ConversationRenamed { title: text.clone() },
        EventBody::ModelChosen { model: text.clone() },
        EventBody::ParametersChosen {
            parameters: parameters(),
        },
        EventBody::ConversationRead,
        EventBody::ConversationDeleted,
        EventBody::LeafSelected { leaf_id: id },
        EventBody::UserMessageSaved {
            user_message_id: id,
            expected_assistant_message_id: MessageId::new(),
            parent_id: None,
            text: text.clone(),
            interaction: pressed(Some("[1]")),
            created_at: at,
        },
        EventBody::RunStarted {
            parent_id: id,
            model: text.clone(),
            created_at: at,
        },
        EventBody::RunContinued { created_at: at },
        EventBody::Status {
            message: text.clone(),
        },
        EventBody::Thinking {
            node: 0,
            part: 1,
            offset: 2,
            text: text.clone(),
        },
        EventBody::TextDelta {
            node: 0,
            part: 1,
            offset: 2,
            text: text.clone(),
        },
        EventBody::ApprovalRequested(asked_call(None)),
        EventBody::ApprovalAnswered {
            index: 2,
            tool_use_id: text.clone(),
            allowed: true,
        },
        EventBody::ToolStart {
            call: asked_call(Some("this".into())),
            started_at: at,
        },
        EventBody::ToolProgress {
            index: 2,
            tool_use_id: text.clone(),
            tool: text.clone(),
            progress: progress(),
        },
        EventBody::ToolComplete {
            index: 2,
            tool_use_id: text.clone(),
            tool: text.clone(),
            label: text.clone(),
            status: ToolStatus::Failed,
            output: text.clone(),
            payload: Some(payload()),
            attachments: vec![attachment()],
            ended_at: at,
        },
        EventBody::Waiting { worked_ms: 7 },
        EventBody::SuggestedValues {
            values: vec![SuggestedValue {
                label: text.clone(),
                value: text.clone(),
            }],
        },
        EventBody::PayloadMade {
            node: 0,
            part: 1,
            payload: payload(),
        },
        EventBody::SuggestedActions { actions: Vec::new() },
        EventBody::ActionTaken { index: 1 },
        EventBody::PayloadJudged {
            payload_id: text.clone(),
            verdict: Verdict::Accepted,
        },
        EventBody::Sources {
            sources: vec![Source {
                number: 1,
                title: text.clone(),
                url: text.clone(),
            }],
        },
        EventBody::Usage(usage()),
        EventBody::LiteratureChanged {
            change: Json::or_string(r#"{"article_removed":"11"}"#),
        },
        EventBody::Complete {
            ended_at: at,
            worked_ms: 1,
        },
        EventBody::Cancelled {
            ended_at: at,
            worked_ms: 2,
        },
        EventBody::Error {
            status: RunStatus::Failed,
            error,
            message: text,
            ended_at: at,
            worked_ms: 3,
        },
        EventBody::SettingsChanged,
        EventBody::Empty,
    ];
    for body in bodies {
        // A body that is added has to be added above and in `try_from`.
        match &body {
            EventBody::ConversationCreated { .. }
            | EventBody::ConversationRenamed { .. }
            | EventBody::ModelChosen { .. }
            | EventBody::ParametersChosen { .. }
            | EventBody::ConversationRead
            | EventBody::ConversationDeleted
            | EventBody::LeafSelected { .. }
            | EventBody::UserMessageSaved { .. }
            | EventBody::RunStarted { .. }
            | EventBody::RunContinued { .. }
            | EventBody::Status { .. }
            | EventBody::Thinking { .. }
            | EventBody::TextDelta { .. }
            | EventBody::ApprovalRequested(_)
            | EventBody::ApprovalAnswered { .. }
            | EventBody::ToolStart { .. }
            | EventBody::ToolProgress { .. }
            | EventBody::ToolComplete { .. }
            | EventBody::Waiting { .. }
            | EventBody::PayloadMade { .. }
            | EventBody::SuggestedValues { .. }
            | EventBody::SuggestedActions { .. }
            | EventBody::ActionTaken { .. }
            | EventBody::PayloadJudged { .. }
            | EventBody::Sources { .. }
            | EventBody::Usage(_)
            | EventBody::LiteratureChanged { .. }
            | EventBody::Complete { .. }
            | EventBody::Cancelled { .. }
            | EventBody::Error { .. }
            | EventBody::SettingsChanged
            | EventBody::Empty => {}
        }
        let conversation_id = match body {
            EventBody::SettingsChanged | EventBody::LiteratureChanged { .. } => ConversationId::NONE,
            _ => ConversationId::new(),
        };
        let event = Event {
            position: Position(7),
            conversation_id,
            message_id: Some(id),
            body,
        };
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
            payload: None,
            attachments: vec![attachment(), attachment()],
            started_at: Some(Timestamp(1)),
            ended_at: None,
        })),
    ];
    let mut answer = AssistantMessage::started("endpoint/model");
    answer.nodes.push(Node { parts });
    answer.usage = Some(usage());
    answer.worked_ms = 12_345;
    answer.sources.push(Source {
        number: 2,
        title: "title".into(),
        url: "https://example.org".into(),
    });
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
