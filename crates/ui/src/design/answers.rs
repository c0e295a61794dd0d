//! The answers of the invented conversation.

use super::conversation::{MODEL, NOW, file};
use parlor_protocol::{
    ActionHandler, AssistantMessage, CitedSource, FinishReason, Fraction, Node, Part, PayloadRef, RawJson,
    RunStatus, SuggestedAction, SuggestedValue, Timestamp, ToolCall, ToolProgress, ToolStatus, Usage,
    suggestion::ActionStyle,
};

const RICH: &str = "# How tides work\n\nThe **moon** pulls the sea; the sun helps it *a little*: $F \\propto M / r^3$.\n\n\
    1. High water follows the moon.\n2. At *full* and *new* moon both pull together.\n   - [ ] Look at the table\n\n\
    | Port | Range |\n|:---|---:|\n| Saint-Malo | 12.0 m |\n| Kiel | 0.1 m |\n\n\
    ```python\ndef range_of(high, low):\n    return abs(high - low)  # in metres\n```\n\n\
    > [!NOTE]\n> Wind and pressure add their part.\n\nPress <kbd>Enter</kbd>, or read [the almanac](https://example.com).[1]\n";

pub(super) fn text_part(text: &str) -> Part {
    Part::Text { text: text.into() }
}

pub(super) fn ended(parts: Vec<Part>) -> AssistantMessage {
    AssistantMessage {
        status: RunStatus::Complete,
        finish_reason: Some(FinishReason::Stop),
        nodes: vec![Node { parts }],
        ended_at: Some(NOW),
        worked_ms: 4200,
        thought_ms: 1800,
        usage: Some(Usage {
            input_tokens: 1200,
            output_tokens: 340,
            estimated: false,
            estimate: 1180,
            window: Some(128_000),
            totals: Default::default(),
        }),
        ..AssistantMessage::new(MODEL)
    }
}

pub(super) fn complete() -> AssistantMessage {
    let thinking = Part::Thinking {
        text: "They ask about tides. I begin with the moon.".into(),
    };
    let action = |label: &str, style, taken| SuggestedAction {
        label: label.into(),
        action: "draw".into(),
        handler: ActionHandler::Server,
        data: None,
        style,
        taken,
    };
    AssistantMessage {
        sources: vec![CitedSource {
            number: 1,
            title: "The almanac".into(),
            url: "https://example.com/".into(),
            passage: None,
        }],
        suggested_values: ["In Hamburg", "In Kiel"]
            .map(|text| SuggestedValue {
                label: text.into(),
                value: text.into(),
            })
            .into(),
        suggested_actions: vec![
            action("Draw it", ActionStyle::Primary, false),
            action("Save it", ActionStyle::Secondary, true),
            action("Delete it", ActionStyle::Warning, false),
        ],
        ..ended(vec![thinking, text_part(RICH)])
    }
}

fn call(index: usize, tool: &str, label: &str, status: ToolStatus) -> ToolCall {
    let has_ended = !matches!(
        status,
        ToolStatus::Waiting | ToolStatus::Allowed | ToolStatus::Running
    );
    ToolCall {
        tool_use_id: index.to_string(),
        index,
        tool: tool.into(),
        input: RawJson::parse_or_quote(r#"{"query": "tides", "limit": 3}"#),
        label: label.into(),
        detail: Some("tides".into()),
        status,
        progress: None,
        output: has_ended.then(|| "Three articles were found.".into()),
        payload: None,
        attachments: Vec::new(),
        started_at: has_ended.then_some(NOW),
        ended_at: has_ended.then_some(Timestamp(NOW.0 + 2300)),
    }
}

/// Calls in every state that an ended run can have; see [`running`] for the others.
pub(super) fn tool_calls() -> AssistantMessage {
    let calls = [
        ("web_search", "Searched the web", ToolStatus::Complete),
        ("current_time", "Reading the clock", ToolStatus::Failed),
        ("desk_write", "Writing a file", ToolStatus::Denied),
        ("fetch_webpage", "Reading a page", ToolStatus::Stopped),
        ("query_database", "Querying the database", ToolStatus::Unknown),
        ("calculate", "Calculating", ToolStatus::Allowed),
    ];
    let call = |(index, (tool, label, status)): (usize, (&str, &str, ToolStatus))| {
        let mut call = call(index, tool, label, status);
        if index == 0 {
            call.attachments = vec![file("notes.txt", "text/plain", None)];
        }
        Part::ToolCall(Box::new(call))
    };
    ended(calls.into_iter().enumerate().map(call).collect())
}

pub(super) fn payloads() -> AssistantMessage {
    let payload = |id: &str, kind: &str, preview_rows| Part::Payload {
        payload: PayloadRef {
            payload_id: id.into(),
            kind: kind.into(),
            summary: ["A payload of the kind ", kind].concat(),
            preview_rows,
        },
    };
    ended(vec![
        payload("payload_1", "chart", Some(0)),
        payload("payload_2", "table", Some(24)),
        payload("payload_3", "text_document", Some(3)),
        payload("payload_4", "web_search_results", None),
    ])
}

pub(super) fn stopped() -> AssistantMessage {
    AssistantMessage {
        status: RunStatus::Stopped,
        finish_reason: None,
        ..ended(vec![text_part("The moon pulls the sea")])
    }
}

pub(super) fn at_the_limit() -> AssistantMessage {
    AssistantMessage {
        finish_reason: Some(FinishReason::Length),
        ..ended(vec![text_part("The moon pulls the sea, and")])
    }
}

/// The last answer: it waits for approval while another call runs.
pub(super) fn running() -> AssistantMessage {
    let mut searching = call(0, "pubmed_search", "Searching PubMed", ToolStatus::Running);
    searching.progress = Some(ToolProgress {
        stage: "searching".into(),
        message: "Found 15 articles".into(),
        progress: Some(Fraction::from_ratio(1, 3)),
        data: None,
    });
    let asking = call(1, "desk_write", "Writing a file", ToolStatus::Waiting);
    let parts = [searching, asking].map(|call| Part::ToolCall(Box::new(call)));
    AssistantMessage {
        status: RunStatus::Waiting,
        activity: Some("Waiting for you".into()),
        nodes: vec![Node { parts: parts.into() }],
        ..AssistantMessage::new(MODEL)
    }
}
