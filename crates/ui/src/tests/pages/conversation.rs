//! A conversation with every kind of content.

use super::{NOW, Texts, page, problem};
use crate::state::{route::Route, snapshot::PageSnapshot};
use parlor_protocol::{
    ActionHandler, AssistantMessage, Attachment, AttachmentId, CitedSource, ConversationId, ConversationList,
    Fraction, Interaction, ListedConversation, Message, MessageBody, MessageId, Node, Part, PayloadRef,
    Position, RawJson, RunStatus, Share, ShareId, SuggestedAction, SuggestedValue, ToolCall, ToolProgress,
    ToolStatus, Transcript, suggestion::ActionStyle,
};

fn payload(text: &str) -> PayloadRef {
    PayloadRef {
        payload_id: "payload_1".into(),
        kind: text.into(),
        summary: text.into(),
        preview_rows: Some(7),
    }
}

/// A file of the user, with these texts.
fn message_file(texts: &Texts, media_type: &str) -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: texts.other.clone(),
        media_type: media_type.into(),
        bytes: 7,
        width: Some(4),
        height: Some(3),
        text_bytes: Some(5),
        problem: None,
    }
}

fn call(texts: &Texts, index: usize, status: ToolStatus) -> Part {
    let other = &texts.other;
    let file = |media_type: &str| Attachment {
        id: AttachmentId::new(),
        name: other.clone(),
        media_type: media_type.into(),
        bytes: 7,
        width: None,
        height: None,
        text_bytes: None,
        problem: None,
    };
    Part::ToolCall(Box::new(ToolCall {
        tool_use_id: other.clone(),
        index,
        tool: other.clone(),
        input: RawJson::parse_or_quote(&texts.input),
        label: other.clone(),
        detail: Some(other.clone()),
        status,
        progress: Some(ToolProgress {
            stage: other.clone(),
            message: other.clone(),
            progress: Some(Fraction::from_ratio(1, 3)),
            data: Some(RawJson::parse_or_quote(&texts.input)),
        }),
        output: Some(texts.output.clone()),
        payload: Some(payload(other)),
        attachments: vec![file("image/png"), file("audio/wav"), file(other)],
        started_at: Some(NOW),
        ended_at: None,
    }))
}

/// A conversation: a question, an answer with every kind of content, and one that waits for a user.
pub fn conversation(texts: &Texts) -> (PageSnapshot, String) {
    let id = ConversationId::new();
    let other = &texts.other;
    let (question, answer) = (MessageId::new(), MessageId::new());
    let text = |text: &str| Part::Text { text: text.into() };
    let thinking = Part::Thinking {
        text: texts.thinking.clone(),
    };
    let assistant = AssistantMessage {
        status: RunStatus::Failed,
        nodes: vec![
            Node {
                parts: vec![
                    thinking,
                    text(&texts.answer),
                    call(texts, 0, ToolStatus::Complete),
                    call(texts, 1, ToolStatus::Failed),
                    Part::Payload {
                        payload: payload(other),
                    },
                    Part::File {
                        file: message_file(texts, "image/png"),
                    },
                ],
            },
            Node {
                parts: vec![text(&texts.output)],
            },
        ],
        activity: Some(other.clone()),
        error: Some(problem(other)),
        suggested_values: vec![SuggestedValue {
            label: other.clone(),
            value: other.clone(),
        }],
        suggested_actions: vec![SuggestedAction {
            label: other.clone(),
            action: other.clone(),
            handler: ActionHandler::Server,
            data: Some(texts.input.clone()),
            style: ActionStyle::Primary,
            taken: false,
        }],
        sources: vec![CitedSource {
            number: 1,
            title: other.clone(),
            url: "https://example.com/".into(),
            passage: None,
        }],
        ended_at: Some(NOW),
        ..AssistantMessage::new(other.as_str())
    };
    let pressed = Interaction::ActionExecuted {
        action: other.clone(),
        data: Some(texts.input.clone()),
    };
    let (again, waiting) = (MessageId::new(), MessageId::new());
    let waiting_answer = AssistantMessage {
        status: RunStatus::Waiting,
        activity: Some(other.clone()),
        nodes: vec![Node {
            parts: vec![call(texts, 0, ToolStatus::Waiting)],
        }],
        ..AssistantMessage::new(other.as_str())
    };
    let message = |id, parent_id, body| Message {
        id,
        parent_id,
        created_at: NOW,
        body,
    };
    let asked = |interaction| MessageBody::User {
        text: texts.question.clone(),
        files: ["image/png", "text/plain"]
            .map(|media_type| message_file(texts, media_type))
            .into(),
        interaction,
    };
    let transcript = Transcript {
        title: texts.title.clone(),
        model: Some(other.clone()),
        messages: vec![
            message(question, None, asked(Interaction::TextInput)),
            message(answer, Some(question), MessageBody::Assistant(assistant)),
            message(again, Some(answer), asked(pressed)),
            message(waiting, Some(again), MessageBody::Assistant(waiting_answer)),
        ],
        active_leaf: Some(waiting),
        as_of: Position(9),
        ..Transcript::new(id)
    };
    let route = Route::Conversation(id);
    let list = ConversationList {
        as_of: Position(9),
        conversations: vec![ListedConversation {
            id,
            title: texts.title.clone(),
            updated_at: NOW,
            activity: Position(9),
            active_run: None,
            waiting: true,
            unseen: true,
            pinned: false,
            archived: false,
            temporary: false,
            project_id: None,
        }],
        archived: false,
        project_id: None,
        has_more: true,
    };
    let page = PageSnapshot {
        list: Ok(list),
        transcript: Some(Ok(transcript)),
        shares: Ok(vec![Share {
            id: ShareId::new(),
            conversation_id: id,
            readers: Some(vec![other.clone()]),
            is_live: true,
            created_at: NOW,
        }]),
        ..page(other)
    };
    (page, route.path())
}
