//! An invented conversation: messages, answers, tool calls and files in every state.

use super::answers::{at_the_limit, complete, ended, payloads, running, stopped, text_part, tool_calls};
use crate::state::{
    person::Person,
    snapshot::{FormIds, PageSnapshot},
};
use parlor_protocol::{
    AssistantMessage, Attachment, AttachmentId, ConversationId, ConversationList, FileProblem, Interaction,
    ListedConversation, Message, MessageBody, MessageId, MessageQueue, News, Position, ProjectList,
    QueuedMessage, RunError, RunStatus, Timestamp, Transcript, model_list::ModelList,
};

pub(super) const NOW: Timestamp = Timestamp(1_790_000_000_000);

pub(super) const MODEL: &str = "openai/a-model";

/// The snapshots of a page with the conversation, and its id.
pub fn page() -> (PageSnapshot, ConversationId) {
    let transcript = transcript();
    let id = transcript.conversation_id;
    let listed = |title: &str, active_run, waiting, unseen| ListedConversation {
        id: ConversationId::new(),
        title: title.into(),
        updated_at: NOW,
        activity: Position(9),
        active_run,
        waiting,
        unseen,
        pinned: false,
        archived: false,
        temporary: false,
        project_id: None,
    };
    let page = PageSnapshot {
        now: NOW,
        list: Ok(ConversationList {
            as_of: Position(9),
            conversations: vec![
                ListedConversation {
                    pinned: true,
                    ..listed("Pinned", None, false, false)
                },
                ListedConversation {
                    id,
                    ..listed("On the screen", None, false, false)
                },
                ListedConversation {
                    temporary: true,
                    ..listed("Temporary", None, false, false)
                },
                listed("Read", None, false, false),
                listed("Running", Some(MessageId::new()), false, false),
                listed("Waiting for you", Some(MessageId::new()), true, true),
                listed("Unread", None, false, true),
            ],
            has_more: false,
            archived: false,
            project_id: None,
        }),
        transcript: Some(Ok(transcript)),
        models: Ok(ModelList {
            models: Vec::new(),
            default: Some(MODEL.into()),
            problems: Vec::new(),
            can_search: true,
            can_connect: true,
            can_bring_keys: false,
        }),
        projects: Ok(ProjectList::default()),
        project_chats: None,
        shared_project: None,
        shares: Ok(Vec::new()),
        listed_pages: Ok(Vec::new()),
        unseen_reports: Vec::new(),
        opened: None,
        personal: None,
        news: Some(News {
            version: "0.2.0".into(),
            items: vec!["Projects have files.".into()],
        }),
        person: Some(Person {
            name: "Ann Bohr".into(),
            is_administrator: true,
            has_session: true,
            has_password: true,
            may_bring_keys: true,
        }),
        form: FormIds {
            intent_id: Default::default(),
            conversation_id: id,
            message_id: Default::default(),
            begins: false,
            project_id: None,
        },
    };
    (page, id)
}

fn transcript() -> Transcript {
    let mut messages = Vec::new();
    let mut parent_id = None;
    let mut add = |body| {
        let id = MessageId::new();
        messages.push(Message {
            id,
            parent_id,
            created_at: NOW,
            body,
        });
        parent_id = Some(id);
    };
    for (question, answer) in turns() {
        add(question);
        add(MessageBody::Assistant(answer));
    }
    add(MessageBody::Damaged);
    add(MessageBody::Assistant(running()));
    Transcript {
        title: "Every state".into(),
        model: Some(MODEL.into()),
        active_leaf: messages.last().map(|message| message.id),
        messages,
        as_of: Position(9),
        queue: MessageQueue {
            messages: ["And in a lake?", "What about the Baltic Sea?"]
                .map(|text| QueuedMessage {
                    id: MessageId::new(),
                    text: text.into(),
                    files: Vec::new(),
                    created_at: NOW,
                })
                .into(),
            held: true,
        },
        ..Transcript::new(ConversationId::new())
    }
}

fn turns() -> Vec<(MessageBody, AssistantMessage)> {
    let mut turns = vec![
        (question("How do tides work?", files()), complete()),
        (question("Every tool call", Vec::new()), tool_calls()),
        (question("Every payload", Vec::new()), payloads()),
        (question(&"A long message. ".repeat(200), Vec::new()), stopped()),
        (pressed(), at_the_limit()),
    ];
    let ends = [
        (RunStatus::Interrupted, "", "Parlor ended during the answer."),
        (
            RunStatus::Failed,
            "",
            "The endpoint “openai” refused the API key (401).",
        ),
        (
            RunStatus::Failed,
            "The moon",
            "The endpoint “openai” ended the answer too early.",
        ),
        (RunStatus::Failed, "", "A part of this message can't be read."),
    ];
    for (index, (status, text, message)) in ends.into_iter().enumerate() {
        let code = match index {
            3 => "damaged_message",
            _ => "key_refused",
        };
        let answer = AssistantMessage {
            status,
            error: Some(RunError {
                code: code.into(),
                message: message.into(),
                hint: "Set OPENAI_API_KEY to a valid key and restart Parlor.".into(),
            }),
            ..ended(vec![text_part(text)])
        };
        turns.push((question("And then?", Vec::new()), answer));
    }
    turns
}

fn question(text: &str, files: Vec<Attachment>) -> MessageBody {
    MessageBody::User {
        text: text.into(),
        files,
        interaction: Interaction::TextInput,
    }
}

/// The button of an action that an answer suggested.
fn pressed() -> MessageBody {
    MessageBody::User {
        text: "Draw it".into(),
        files: Vec::new(),
        interaction: Interaction::ActionExecuted {
            action: "draw".into(),
            data: None,
        },
    }
}

pub(super) fn file(name: &str, media_type: &str, problem: Option<FileProblem>) -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: name.into(),
        media_type: media_type.into(),
        bytes: 12_345,
        width: None,
        height: None,
        text_bytes: None,
        problem,
    }
}

fn files() -> Vec<Attachment> {
    vec![
        file("harbour.csv", "text/csv", None),
        file("almanac.pdf", "application/pdf", None),
        file("scan.pdf", "application/pdf", Some(FileProblem::NoText)),
        file("secret.pdf", "application/pdf", Some(FileProblem::Encrypted)),
        file(
            "broken.xlsx",
            "application/vnd.ms-excel",
            Some(FileProblem::Damaged),
        ),
        file(
            "a-very-long-name-of-a-file-that-does-not-fit.txt",
            "text/plain",
            None,
        ),
    ]
}
