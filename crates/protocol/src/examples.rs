//! Examples of every kind of event, for tests of properties that all of them share.

#![allow(clippy::expect_used, clippy::wildcard_imports, reason = "only tests use it")]

use super::*;

/// At least one event of every kind, each with all optional fields set.
pub fn of_every_kind() -> Vec<EventBody> {
    let families = [conversation_events(), run_events(), user_events(), placeholders()];
    families.concat()
}

/// `kinds! { examples() -> Family; pattern => [examples], }`: a kind without examples does not compile, and an example
/// under another kind's pattern fails.
macro_rules! kinds {
    ($examples:ident() -> $family:ident; $($kind:pat => [$($example:expr),+ $(,)?],)*) => {
        fn $examples() -> Vec<EventBody> {
            let mut all = Vec::new();
            $(
                let examples = [$($example),+];
                assert!(examples.iter().all(|example| matches!(example, $kind)), "{examples:?}");
                all.extend(examples.map(EventBody::from));
            )*
            all
        }

        const _: fn(&$family) = |event| match event {
            $($kind => {})*
        };
    };
}

kinds! {
    conversation_events() -> ConversationEvent;
    ConversationEvent::ConversationCreated { .. } => [
        ConversationEvent::ConversationCreated { title: text(), created_at: AT, temporary: false, project_id: None },
        ConversationEvent::ConversationCreated { title: text(), created_at: AT, temporary: true, project_id: Some(ProjectId::new()) },
    ],
    ConversationEvent::ConversationPlaced { .. } => [
        ConversationEvent::ConversationPlaced { conversation: listed_conversation(true) },
        ConversationEvent::ConversationPlaced { conversation: listed_conversation(false) },
    ],
    ConversationEvent::ConversationRenamed { .. } => [ConversationEvent::ConversationRenamed { title: text() }],
    ConversationEvent::ModelChosen { .. } => [ConversationEvent::ModelChosen { model: text() }],
    ConversationEvent::ParametersChosen { .. } => [
        ConversationEvent::ParametersChosen { parameters: parameters() },
        ConversationEvent::ParametersChosen { parameters: Parameters::default() },
    ],
    ConversationEvent::ConversationRead => [ConversationEvent::ConversationRead],
    ConversationEvent::ConversationDeleted => [ConversationEvent::ConversationDeleted],
    ConversationEvent::LeafSelected { .. } => [ConversationEvent::LeafSelected { leaf_id: MessageId::new() }],
    ConversationEvent::MessageQueued { .. } => [ConversationEvent::MessageQueued {
        queued: QueuedMessage { id: MessageId::new(), text: text(), files: vec![attachment()], created_at: AT },
    }],
    ConversationEvent::QueueChanged { .. } => [ConversationEvent::QueueChanged {
        queued_ids: vec![MessageId::new(), MessageId::new()],
        held: true,
    }],
    ConversationEvent::MessageHidden { .. } => [
        ConversationEvent::MessageHidden { hidden_id: MessageId::new(), leaf_id: None },
        ConversationEvent::MessageHidden { hidden_id: MessageId::new(), leaf_id: Some(MessageId::new()) },
    ],
    ConversationEvent::MessageRestored { .. } => [ConversationEvent::MessageRestored { leaf_id: MessageId::new() }],
    ConversationEvent::UserMessageSaved { .. } => [
        user_message_saved(None, Interaction::TextInput),
        user_message_saved(Some(MessageId::new()), Interaction::ValueSelected),
        user_message_saved(None, button_interaction(None)),
        user_message_saved(None, button_interaction(Some(r#"{"a": "\""}"#))),
        user_message_saved(None, scheduled_interaction()),
    ],
    ConversationEvent::FilesDeleted { .. } => [
        ConversationEvent::FilesDeleted { file_ids: vec![AttachmentId::new(), AttachmentId::new()] },
    ],
    ConversationEvent::PayloadJudged { .. } => [
        ConversationEvent::PayloadJudged { payload_id: text(), verdict: Verdict::Accepted, accepted_fields: vec![text()] },
        ConversationEvent::PayloadJudged { payload_id: text(), verdict: Verdict::Rejected, accepted_fields: vec![] },
    ],
}

kinds! {
    run_events() -> RunEvent;
    RunEvent::RunStarted { .. } => [RunEvent::RunStarted {
        parent_id: MessageId::new(),
        model: text(),
        created_at: AT,
    }],
    RunEvent::RunContinued { .. } => [RunEvent::RunContinued { created_at: AT }],
    RunEvent::RunResumed { .. } => [RunEvent::RunResumed { resumed_at: AT }],
    RunEvent::Status { .. } => [RunEvent::Status { message: text() }],
    RunEvent::Thinking { .. } => [RunEvent::Thinking { node: 0, part: 1, offset: 2, text: text(), took_ms: 1200 }],
    RunEvent::TextDelta { .. } => [RunEvent::TextDelta { node: 0, part: 1, offset: 2, text: text() }],
    RunEvent::ApprovalRequested(_) => [
        RunEvent::ApprovalRequested(requested_call(None)),
        RunEvent::ApprovalRequested(requested_call(Some(text()))),
    ],
    RunEvent::ApprovalAnswered { .. } => [RunEvent::ApprovalAnswered {
        index: 2,
        tool_use_id: text(),
        allowed: true,
    }],
    RunEvent::ToolStart { .. } => [
        RunEvent::ToolStart { call: requested_call(None), started_at: AT },
        RunEvent::ToolStart { call: requested_call(Some(text())), started_at: AT },
    ],
    RunEvent::ToolProgress { .. } => [RunEvent::ToolProgress {
        index: 2,
        tool_use_id: text(),
        tool: text(),
        progress: progress(),
    }],
    RunEvent::ToolComplete { .. } => [
        tool_complete(None, Vec::new()),
        tool_complete(Some(payload()), vec![attachment()]),
    ],
    RunEvent::Waiting { .. } => [RunEvent::Waiting { worked_ms: 7 }],
    RunEvent::PayloadMade { .. } => [RunEvent::PayloadMade { node: 0, part: 1, payload: payload() }],
    RunEvent::FileMade { .. } => [RunEvent::FileMade { node: 0, part: 1, file: attachment() }],
    RunEvent::SuggestedValues { .. } => [RunEvent::SuggestedValues {
        values: vec![SuggestedValue { label: text(), value: text() }],
    }],
    RunEvent::SuggestedActions { .. } => [RunEvent::SuggestedActions {
        actions: vec![action(None), action(Some(r#"{"a": 0.5}"#.into()))],
    }],
    RunEvent::ActionTaken { .. } => [RunEvent::ActionTaken { index: 1 }],
    RunEvent::Sources { .. } => [RunEvent::Sources { sources: vec![source()] }],
    RunEvent::Usage(_) => [
        RunEvent::Usage(usage()),
        RunEvent::Usage(Usage { estimated: false, window: None, ..usage() }),
    ],
    RunEvent::TextWasThinking { .. } => [RunEvent::TextWasThinking { node: 1 }],
    RunEvent::Complete { .. } => [
        RunEvent::Complete { ended_at: AT, worked_ms: 1, finish_reason: None, is_quiet: true },
        RunEvent::Complete { ended_at: AT, worked_ms: 1, finish_reason: Some(FinishReason::Length), is_quiet: false },
    ],
    RunEvent::Cancelled { .. } => [RunEvent::Cancelled { ended_at: AT, worked_ms: 2 }],
    RunEvent::Error { .. } => [RunEvent::Error {
        status: RunStatus::Failed,
        error: RunError { code: text(), message: text(), hint: String::new() },
        message: text(),
        ended_at: AT,
        worked_ms: 3,
        finish_reason: Some(FinishReason::Other(text())),
    }],
}

kinds! {
    user_events() -> UserEvent;
    UserEvent::LiteratureChanged { .. } => [UserEvent::LiteratureChanged {
        change: RawJson::parse_or_quote(r#"{"article_removed":"11"}"#),
    }],
    UserEvent::JobChanged { .. } => [UserEvent::JobChanged {
        change: RawJson::parse_or_quote(r#"{"deleted":"aaaaaaaa-0000-7000-8000-000000000001"}"#),
    }],
    UserEvent::ProjectChanged { .. } => [
        UserEvent::ProjectChanged { project_id: ProjectId::new(), deleted: false },
        UserEvent::ProjectChanged { project_id: ProjectId::new(), deleted: true },
    ],
    UserEvent::SettingsChanged => [UserEvent::SettingsChanged],
    UserEvent::ModelsChanged => [UserEvent::ModelsChanged],
}

kinds! {
    placeholders() -> Placeholder;
    Placeholder::Empty => [Placeholder::Empty],
    Placeholder::Damaged => [Placeholder::Damaged],
}

const AT: Timestamp = Timestamp(1);

fn text() -> String {
    "text".into()
}

/// An event of a user's log as the server writes it, with the conversation and the run that it belongs to.
pub fn logged_event(body: EventBody) -> Event {
    let (has_conversation, has_message) = match &body {
        EventBody::Conversation(event) => (true, matches!(event, ConversationEvent::UserMessageSaved { .. })),
        EventBody::Run(_) | EventBody::Placeholder(Placeholder::Damaged) => (true, true),
        EventBody::Placeholder(Placeholder::Empty) => (true, false),
        EventBody::User(_) => (false, false),
    };
    Event {
        position: Position(7),
        conversation_id: if has_conversation {
            ConversationId::new()
        } else {
            ConversationId::NONE
        },
        message_id: has_message.then(MessageId::new),
        body,
    }
}

pub(crate) fn user_message_saved(
    parent_id: Option<MessageId>,
    interaction: Interaction,
) -> ConversationEvent {
    ConversationEvent::UserMessageSaved {
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

fn tool_complete(payload: Option<PayloadRef>, attachments: Vec<Attachment>) -> RunEvent {
    RunEvent::ToolComplete {
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
        passage: Some(Passage::Found(FoundPassage {
            text: "Salt rises.".into(),
            place: "page 3".into(),
        })),
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

fn scheduled_interaction() -> Interaction {
    Interaction::Scheduled(Box::new(ScheduledMessage {
        schedule_id: ScheduleId::new(),
        title: text(),
        planned_at: AT,
        missed: 2,
        only_new: true,
        run_limit: Some(Dollars(1_500_000)),
    }))
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

/// A conversation as the list shows it, with all marks or with none.
fn listed_conversation(is_marked: bool) -> ListedConversation {
    ListedConversation {
        id: ConversationId::new(),
        title: text(),
        updated_at: AT,
        activity: Position(7),
        active_run: is_marked.then(MessageId::new),
        waiting: is_marked,
        unseen: is_marked,
        pinned: is_marked,
        archived: is_marked,
        temporary: is_marked,
        project_id: is_marked.then(ProjectId::new),
    }
}
