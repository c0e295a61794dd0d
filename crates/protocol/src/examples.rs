//! Examples of every kind of event, for tests of properties that all of them share.

#![allow(clippy::expect_used, clippy::wildcard_imports, reason = "only tests use it")]

use super::*;

/// `kinds! { pattern => [examples], }`: a kind without examples does not compile, and an example under
/// another kind's pattern fails.
macro_rules! kinds {
    ($($kind:pat => [$($example:expr),+ $(,)?],)*) => {
        /// At least one event of every kind, each with all optional fields set.
        pub fn of_every_kind() -> Vec<EventBody> {
            let mut all = Vec::new();
            $(
                let examples = [$($example),+];
                assert!(examples.iter().all(|example| matches!(example, $kind)), "{examples:?}");
                all.extend(examples);
            )*
            all
        }

        const _: fn(&EventBody) = |body| match body {
            $($kind => {})*
        };
    };
}

kinds! {
    EventBody::ConversationCreated { .. } => [EventBody::ConversationCreated { title: text(), created_at: AT }],
    EventBody::ConversationRenamed { .. } => [EventBody::ConversationRenamed { title: text() }],
    EventBody::ModelChosen { .. } => [EventBody::ModelChosen { model: text() }],
    EventBody::ParametersChosen { .. } => [
        EventBody::ParametersChosen { parameters: parameters() },
        EventBody::ParametersChosen { parameters: Parameters::default() },
    ],
    EventBody::ConversationRead => [EventBody::ConversationRead],
    EventBody::ConversationDeleted => [EventBody::ConversationDeleted],
    EventBody::LeafSelected { .. } => [EventBody::LeafSelected { leaf_id: MessageId::new() }],
    EventBody::MessageQueued { .. } => [EventBody::MessageQueued {
        queued: QueuedMessage { id: MessageId::new(), text: text(), files: vec![attachment()], created_at: AT },
    }],
    EventBody::QueueChanged { .. } => [EventBody::QueueChanged {
        queued_ids: vec![MessageId::new(), MessageId::new()],
        held: true,
    }],
    EventBody::MessageHidden { .. } => [
        EventBody::MessageHidden { hidden_id: MessageId::new(), leaf_id: None },
        EventBody::MessageHidden { hidden_id: MessageId::new(), leaf_id: Some(MessageId::new()) },
    ],
    EventBody::MessageRestored { .. } => [EventBody::MessageRestored { leaf_id: MessageId::new() }],
    EventBody::UserMessageSaved { .. } => [
        user_message_saved(None, Interaction::TextInput),
        user_message_saved(Some(MessageId::new()), Interaction::ValueSelected),
        user_message_saved(None, button_interaction(None)),
        user_message_saved(None, button_interaction(Some(r#"{"a": "\""}"#))),
    ],
    EventBody::RunStarted { .. } => [EventBody::RunStarted {
        parent_id: MessageId::new(),
        model: text(),
        created_at: AT,
    }],
    EventBody::RunContinued { .. } => [EventBody::RunContinued { created_at: AT }],
    EventBody::Status { .. } => [EventBody::Status { message: text() }],
    EventBody::Thinking { .. } => [EventBody::Thinking { node: 0, part: 1, offset: 2, text: text(), took_ms: 1200 }],
    EventBody::TextDelta { .. } => [EventBody::TextDelta { node: 0, part: 1, offset: 2, text: text() }],
    EventBody::ApprovalRequested(_) => [
        EventBody::ApprovalRequested(requested_call(None)),
        EventBody::ApprovalRequested(requested_call(Some(text()))),
    ],
    EventBody::ApprovalAnswered { .. } => [EventBody::ApprovalAnswered {
        index: 2,
        tool_use_id: text(),
        allowed: true,
    }],
    EventBody::ToolStart { .. } => [
        EventBody::ToolStart { call: requested_call(None), started_at: AT },
        EventBody::ToolStart { call: requested_call(Some(text())), started_at: AT },
    ],
    EventBody::ToolProgress { .. } => [EventBody::ToolProgress {
        index: 2,
        tool_use_id: text(),
        tool: text(),
        progress: progress(),
    }],
    EventBody::ToolComplete { .. } => [
        tool_complete(None, Vec::new()),
        tool_complete(Some(payload()), vec![attachment()]),
    ],
    EventBody::Waiting { .. } => [EventBody::Waiting { worked_ms: 7 }],
    EventBody::PayloadMade { .. } => [EventBody::PayloadMade { node: 0, part: 1, payload: payload() }],
    EventBody::FileMade { .. } => [EventBody::FileMade { node: 0, part: 1, file: attachment() }],
    EventBody::SuggestedValues { .. } => [EventBody::SuggestedValues {
        values: vec![SuggestedValue { label: text(), value: text() }],
    }],
    EventBody::SuggestedActions { .. } => [EventBody::SuggestedActions {
        actions: vec![action(None), action(Some(r#"{"a": 0.5}"#.into()))],
    }],
    EventBody::ActionTaken { .. } => [EventBody::ActionTaken { index: 1 }],
    EventBody::PayloadJudged { .. } => [
        EventBody::PayloadJudged { payload_id: text(), verdict: Verdict::Accepted },
        EventBody::PayloadJudged { payload_id: text(), verdict: Verdict::Rejected },
    ],
    EventBody::Sources { .. } => [EventBody::Sources { sources: vec![source()] }],
    EventBody::Usage(_) => [
        EventBody::Usage(usage()),
        EventBody::Usage(Usage { estimated: false, window: None, ..usage() }),
    ],
    EventBody::LiteratureChanged { .. } => [EventBody::LiteratureChanged {
        change: RawJson::parse_or_quote(r#"{"article_removed":"11"}"#),
    }],
    EventBody::TextWasThinking { .. } => [EventBody::TextWasThinking { node: 1 }],
    EventBody::Complete { .. } => [
        EventBody::Complete { ended_at: AT, worked_ms: 1, finish_reason: None },
        EventBody::Complete { ended_at: AT, worked_ms: 1, finish_reason: Some(FinishReason::Length) },
    ],
    EventBody::Cancelled { .. } => [EventBody::Cancelled { ended_at: AT, worked_ms: 2 }],
    EventBody::Error { .. } => [EventBody::Error {
        status: RunStatus::Failed,
        error: RunError { code: text(), message: text(), hint: String::new() },
        message: text(),
        ended_at: AT,
        worked_ms: 3,
        finish_reason: Some(FinishReason::Other(text())),
    }],
    EventBody::SettingsChanged => [EventBody::SettingsChanged],
    EventBody::Empty => [EventBody::Empty],
    EventBody::Damaged => [EventBody::Damaged],
}

const AT: Timestamp = Timestamp(1);

fn text() -> String {
    "text".into()
}

/// An event of a user's log as the server writes it, with the conversation and the run that it belongs to.
pub fn logged_event(body: EventBody) -> Event {
    let conversation_id = match body {
        EventBody::SettingsChanged | EventBody::LiteratureChanged { .. } => ConversationId::NONE,
        _ => ConversationId::new(),
    };
    let is_of_run = !matches!(
        body,
        EventBody::ConversationCreated { .. }
            | EventBody::ConversationRenamed { .. }
            | EventBody::ModelChosen { .. }
            | EventBody::ParametersChosen { .. }
            | EventBody::ConversationRead
            | EventBody::ConversationDeleted
            | EventBody::LeafSelected { .. }
            | EventBody::PayloadJudged { .. }
            | EventBody::MessageQueued { .. }
            | EventBody::MessageHidden { .. }
            | EventBody::MessageRestored { .. }
            | EventBody::QueueChanged { .. }
            | EventBody::LiteratureChanged { .. }
            | EventBody::SettingsChanged
            | EventBody::Empty
    );
    Event {
        position: Position(7),
        conversation_id,
        message_id: is_of_run.then(MessageId::new),
        body,
    }
}

fn user_message_saved(parent_id: Option<MessageId>, interaction: Interaction) -> EventBody {
    EventBody::UserMessageSaved {
        user_message_id: MessageId::new(),
        expected_assistant_message_id: MessageId::new(),
        parent_id,
        text: text(),
        files: match parent_id {
            Some(_) => vec![attachment()],
            None => Vec::new(),
        },
        interaction,
        created_at: AT,
    }
}

fn tool_complete(payload: Option<PayloadRef>, attachments: Vec<Attachment>) -> EventBody {
    EventBody::ToolComplete {
        index: 2,
        tool_use_id: text(),
        tool: text(),
        label: text(),
        status: ToolStatus::Failed,
        output: text(),
        payload,
        attachments,
        ended_at: AT,
    }
}

pub fn requested_call(detail: Option<String>) -> RequestedCall {
    RequestedCall {
        node: 0,
        part: 1,
        index: 2,
        tool_use_id: "1".into(),
        tool: "tool".into(),
        input: RawJson::parse_or_quote(r#"{"a": [0.5, "}"]}"#),
        label: "Doing".into(),
        detail,
    }
}

pub fn progress() -> ToolProgress {
    ToolProgress {
        stage: "searching".into(),
        message: "Found 15 articles".into(),
        progress: Some(Fraction::from_ratio(1, 3)),
        data: Some(RawJson::parse_or_quote("[1.5]")),
    }
}

pub fn attachment() -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: "map.png".into(),
        media_type: "image/png".into(),
        bytes: 70,
        width: Some(8),
        height: None,
        text_bytes: None,
        problem: None,
    }
}

pub fn payload() -> PayloadRef {
    PayloadRef {
        payload_id: "abc12345".into(),
        kind: "table".into(),
        summary: "Table (3)".into(),
        preview_rows: Some(3),
    }
}

pub fn source() -> CitedSource {
    CitedSource {
        number: 2,
        title: "title".into(),
        url: "https://example.org".into(),
    }
}

pub fn usage() -> Usage {
    Usage {
        input_tokens: 10,
        output_tokens: 2,
        estimated: true,
        estimate: 9,
        window: Some(100),
        totals: TokenTotals {
            calls: 2,
            input_tokens: 20,
            output_tokens: 4,
            thinking_tokens: 1,
            estimated_calls: 1,
            cost: Dollars(1_500_000),
            ..TokenTotals::default()
        },
    }
}

pub fn button_interaction(data: Option<&str>) -> Interaction {
    Interaction::ActionExecuted {
        action: "save".into(),
        data: data.map(Into::into),
    }
}

fn action(data: Option<String>) -> SuggestedAction {
    SuggestedAction {
        label: text(),
        action: text(),
        handler: ActionHandler::Client,
        taken: data.is_some(),
        data,
        style: ActionStyle::Warning,
    }
}

fn parameters() -> Parameters {
    let input = ParameterInput {
        temperature: "0.7".into(),
        thinking_level: "low".into(),
        thinking_budget: String::new(),
        max_completion_tokens: "1000".into(),
    };
    Parameters::parse(&input).expect("the example parameters are valid")
}
