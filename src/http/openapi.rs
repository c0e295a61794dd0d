//! `GET /api/openapi.json`: the public contract for programs. `docs/http.md` is the one for people.
//!
//! The document is written by hand: what derives one from types would have to be on the types that the browser is compiled
//! with too, does not know those that read and write themselves, and has no words for event streams. Tests see to it that
//! document and server agree: here for addresses and events, and in `tests/server` for every response there.

use axum::{http::header, response::IntoResponse};

/// The document.
pub const DOCUMENT: &str = include_str!("../../docs/openapi.json");

/// `GET /api/openapi.json`
pub async fn get() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use jsonschema::Draft;
    use serde_json::{Value, json};

    use super::{super::contract, DOCUMENT};
    use crate::protocol::{
        ActionHandler, ActionStyle, AskedCall, AskedParameters, Attachment, AttachmentId, ConversationId,
        Event, EventBody, Fraction, Interaction, Json, MessageId, Parameters, PayloadRef, Position, RunError,
        RunStatus, Source, SuggestedAction, SuggestedValue, Timestamp, ToolProgress, ToolStatus, Usage,
        Verdict,
    };

    fn document() -> Value {
        serde_json::from_str(DOCUMENT).unwrap()
    }

    #[test]
    fn every_address_of_the_contract_is_described_and_no_other() {
        let document = document();
        let described: BTreeSet<&str> = document["paths"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        let contract = contract();
        let served: BTreeSet<&str> = contract.iter().map(|(path, _)| *path).collect();
        assert_eq!(described, served);
        // There is no other way to an address than through the table.
        let router = include_str!("mod.rs");
        assert_eq!(
            router.matches(".route(\"/api").count(),
            3,
            "only for what is unknown"
        );
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    /// Which event it is, counted from 0. A new one has to be added here, and to the examples.
    fn number(body: &EventBody) -> usize {
        match body {
            EventBody::ConversationCreated { .. } => 0,
            EventBody::ConversationRenamed { .. } => 1,
            EventBody::ModelChosen { .. } => 2,
            EventBody::ConversationRead => 3,
            EventBody::ConversationDeleted => 4,
            EventBody::LeafSelected { .. } => 5,
            EventBody::UserMessageSaved { .. } => 6,
            EventBody::RunStarted { .. } => 7,
            EventBody::RunContinued { .. } => 8,
            EventBody::Status { .. } => 9,
            EventBody::Thinking { .. } => 10,
            EventBody::TextDelta { .. } => 11,
            EventBody::ApprovalRequested(_) => 12,
            EventBody::ApprovalAnswered { .. } => 13,
            EventBody::ToolStart { .. } => 14,
            EventBody::ToolProgress { .. } => 15,
            EventBody::ToolComplete { .. } => 16,
            EventBody::Waiting { .. } => 17,
            EventBody::PayloadMade { .. } => 18,
            EventBody::SuggestedValues { .. } => 19,
            EventBody::SuggestedActions { .. } => 20,
            EventBody::Sources { .. } => 21,
            EventBody::Complete { .. } => 22,
            EventBody::Cancelled { .. } => 23,
            EventBody::Error { .. } => 24,
            EventBody::Empty => 25,
            EventBody::ActionTaken { .. } => 26,
            EventBody::PayloadJudged { .. } => 27,
            EventBody::LiteratureChanged { .. } => 28,
            EventBody::SettingsChanged => 29,
            EventBody::ParametersChosen { .. } => 30,
            EventBody::Usage(_) => 31,
        }
    }

    const KINDS: usize = 32;

    fn examples() -> Vec<EventBody> {
        let (at, id) = (Timestamp(1), MessageId::new());
        let text = || "text".to_owned();
        let call = AskedCall {
            node: 0,
            part: 1,
            index: 0,
            tool_use_id: text(),
            tool: text(),
            input: Json::or_string("{}"),
            label: text(),
            detail: None,
        };
        let payload = PayloadRef {
            payload_id: text(),
            kind: text(),
            summary: text(),
        };
        let error = RunError {
            code: text(),
            message: text(),
            hint: String::new(),
        };
        let action = SuggestedAction {
            label: text(),
            action: text(),
            handler: ActionHandler::Client,
            data: Some("{}".into()),
            style: ActionStyle::Warning,
            taken: true,
        };
        let parameters = Parameters::read(&AskedParameters {
            temperature: "0.7".into(),
            thinking_level: "low".into(),
            max_completion_tokens: "1000".into(),
        })
        .unwrap();
        vec![
            EventBody::ConversationCreated {
                title: text(),
                created_at: at,
            },
            EventBody::ConversationRenamed { title: text() },
            EventBody::ModelChosen { model: text() },
            EventBody::ParametersChosen { parameters },
            EventBody::ConversationRead,
            EventBody::ConversationDeleted,
            EventBody::LeafSelected { leaf_id: id },
            EventBody::UserMessageSaved {
                user_message_id: id,
                expected_assistant_message_id: id,
                parent_id: None,
                text: text(),
                interaction: Interaction::ActionExecuted {
                    action: text(),
                    data: Some(text()),
                },
                created_at: at,
            },
            EventBody::RunStarted {
                parent_id: id,
                model: text(),
                created_at: at,
            },
            EventBody::RunContinued { created_at: at },
            EventBody::Status { message: text() },
            EventBody::Thinking {
                node: 0,
                part: 0,
                offset: 0,
                text: text(),
            },
            EventBody::TextDelta {
                node: 0,
                part: 1,
                offset: 0,
                text: text(),
            },
            EventBody::ApprovalRequested(call.clone()),
            EventBody::ApprovalAnswered {
                index: 0,
                tool_use_id: text(),
                allowed: true,
            },
            EventBody::ToolStart {
                call: AskedCall {
                    detail: Some(text()),
                    ..call
                },
                started_at: at,
            },
            EventBody::ToolProgress {
                index: 0,
                tool_use_id: text(),
                tool: text(),
                progress: ToolProgress {
                    stage: text(),
                    message: text(),
                    progress: Some(Fraction::of(1, 3)),
                    data: Some(Json::or_string("[1]")),
                },
            },
            EventBody::ToolComplete {
                index: 0,
                tool_use_id: text(),
                tool: text(),
                label: text(),
                status: ToolStatus::Failed,
                output: text(),
                payload: Some(payload.clone()),
                attachments: vec![Attachment {
                    id: AttachmentId::new(),
                    name: text(),
                    media_type: text(),
                    bytes: 1,
                }],
                ended_at: at,
            },
            EventBody::Waiting { worked_ms: 1 },
            EventBody::SettingsChanged,
            EventBody::ActionTaken { index: 0 },
            EventBody::LiteratureChanged {
                change: Json::or_string("{}"),
            },
            EventBody::PayloadJudged {
                payload_id: text(),
                verdict: Verdict::Accepted,
            },
            EventBody::PayloadMade {
                node: 0,
                part: 2,
                payload,
            },
            EventBody::SuggestedValues {
                values: vec![SuggestedValue {
                    label: text(),
                    value: text(),
                }],
            },
            EventBody::SuggestedActions {
                actions: vec![action],
            },
            EventBody::Sources {
                sources: vec![Source {
                    number: 1,
                    title: text(),
                    url: text(),
                }],
            },
            EventBody::Usage(Usage {
                input_tokens: 10,
                output_tokens: 2,
                estimated: true,
                estimate: 9,
                window: Some(100),
            }),
            EventBody::Complete {
                ended_at: at,
                worked_ms: 1,
            },
            EventBody::Cancelled {
                ended_at: at,
                worked_ms: 1,
            },
            EventBody::Error {
                status: RunStatus::Failed,
                error,
                message: text(),
                ended_at: at,
                worked_ms: 1,
            },
            EventBody::Empty,
        ]
    }

    #[test]
    fn every_event_is_described() {
        let document = document();
        let kinds: BTreeSet<usize> = examples().iter().map(number).collect();
        assert_eq!(kinds, (0..KINDS).collect());
        let described = document["components"]["schemas"]["Event"]["oneOf"]
            .as_array()
            .unwrap()
            .len();
        assert_eq!(described, KINDS, "and no more than there are");
        for body in examples() {
            let of_run = !matches!(number(&body), 0..=5 | 25 | 27..=30);
            let of_conversation = !matches!(number(&body), 28 | 29);
            let event = Event {
                position: Position(7),
                conversation_id: if of_conversation {
                    ConversationId::new()
                } else {
                    ConversationId::NONE
                },
                message_id: of_run.then(MessageId::new),
                body,
            };
            let event = serde_json::to_value(&event).unwrap();
            let name = document["components"]["schemas"]["Event"]["discriminator"]["mapping"]
                [event["type"].as_str().unwrap()]
            .clone();
            for reference in [name, json!("#/components/schemas/Event")] {
                // Nothing but what is described.
                let schema = json!({
                    "$ref": reference, "components": document["components"], "unevaluatedProperties": false,
                });
                let options = jsonschema::options().with_draft(Draft::Draft202012);
                let validator = options.should_validate_formats(true).build(&schema).unwrap();
                let faults: Vec<_> = validator
                    .iter_errors(&event)
                    .map(|fault| fault.to_string())
                    .collect();
                assert!(faults.is_empty(), "{faults:?} in {event}");
            }
        }
    }
}
