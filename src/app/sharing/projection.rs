//! The part of a conversation that readers of a share see.
//!
//! Kept: the title, the messages of the shown branch, their texts, files and sources, the payloads that the model wrote into an
//! answer, the names of tools and models.
//!
//! Left out: the other branches, the queue, model parameters and usage; the model's reasoning, which quotes instructions and
//! memories; the arguments and outputs of tools, which may contain secrets, with their payloads, errors and progress;
//! suggestions, verdicts and the actions behind buttons; the texts of errors, which name endpoints. Parts that are left out
//! keep their places, by which later events name the others.

use parlor_files::is_image;
use parlor_protocol::{
    AssistantMessage, Attachment, CitedSource, FileProblem, Interaction, Message, MessageBody, MessageQueue,
    Node, PanelView, Parameters, Part, RawJson, RequestedCall, RunError, RunStatus, Timestamp, ToolCall,
    ToolStatus, Transcript, WAITING_FOR_MODEL, panel::PanelBody,
};
use parlor_storage::shares::{Snapshot, StoredShare};
use parlor_tools::{GenerateImage, ReadProjectFile, Tool};

/// The media type of all files that are not shown.
const SAVED_FILE: &str = "application/octet-stream";

/// Returns the part of a transcript that a share shows.
pub fn transcript(transcript: Transcript, share: &StoredShare) -> Transcript {
    let snapshot = share.snapshot.as_ref();
    project(transcript, snapshot.map(|snapshot| (snapshot, share.created_at)))
}

/// Returns the shared part of a transcript: all of it, or a snapshot with its time.
pub(super) fn project(mut transcript: Transcript, snapshot: Option<(&Snapshot, Timestamp)>) -> Transcript {
    let shown: Vec<_> = transcript
        .shown_branch()
        .iter()
        .map(|message| message.id)
        .collect();
    let Transcript {
        conversation_id,
        as_of,
        title,
        earliest,
        active_leaf,
        ..
    } = transcript;
    transcript.messages.retain(|message| shown.contains(&message.id));
    if let Some((snapshot, taken_at)) = snapshot {
        for message in &mut transcript.messages {
            if let (true, Some(answer)) = (message.id == snapshot.leaf_id, message.assistant_mut()) {
                cut_to_snapshot(answer, snapshot.leaf_nodes, taken_at);
            }
        }
    }
    Transcript {
        conversation_id,
        as_of: snapshot.map_or(as_of, |(snapshot, _)| snapshot.position),
        title,
        model: None,
        parameters: Parameters::default(),
        messages: transcript.messages.into_iter().map(message).collect(),
        earliest,
        elsewhere: Vec::new(),
        active_leaf,
        verdicts: Vec::new(),
        queue: MessageQueue::default(),
        deleted: false,
    }
}

/// Removes the content that was added to an answer after the snapshot. Only an answer that was cut off is ever continued.
///
/// It begins with the calls that had no outcome, which are in nodes of the snapshot. Those are shown alike before and after.
fn cut_to_snapshot(answer: &mut AssistantMessage, nodes: usize, taken_at: Timestamp) {
    let is_continued = answer.ended_at.is_some_and(|ended_at| ended_at > taken_at);
    if answer.nodes.len() > nodes || !answer.status.is_terminal() || is_continued {
        answer.nodes.truncate(nodes);
        answer.status = RunStatus::Stopped;
        (answer.activity, answer.error, answer.ended_at) = (None, None, None);
        answer.sources.clear();
    }
    let had_outcome = |call: &ToolCall| match call.ended_at {
        Some(ended_at) => ended_at <= taken_at,
        None => matches!(call.status, ToolStatus::Complete | ToolStatus::Failed),
    };
    for call in answer.tool_calls_mut().filter(|call| !had_outcome(call)) {
        call.status = ToolStatus::Stopped;
        call.label.clone_from(&call.tool);
        call.attachments.clear();
        (call.started_at, call.ended_at) = (None, None);
    }
}

fn message(
    Message {
        id,
        parent_id,
        created_at,
        body,
    }: Message,
) -> Message {
    let body = match body {
        MessageBody::User { text, files, .. } => MessageBody::User {
            text,
            files: files.iter().map(file).collect(),
            interaction: Interaction::TextInput,
        },
        MessageBody::Assistant(answer) => MessageBody::Assistant(self::answer(answer)),
        MessageBody::Damaged => MessageBody::Damaged,
    };
    Message {
        id,
        parent_id,
        created_at,
        body,
    }
}

fn answer(answer: AssistantMessage) -> AssistantMessage {
    let parts = |node: Node| Node {
        parts: node.parts.into_iter().map(part).collect(),
    };
    AssistantMessage {
        model: model(&answer.model),
        status: answer.status,
        nodes: answer.nodes.into_iter().map(parts).collect(),
        activity: answer.activity.map(|_| WAITING_FOR_MODEL.into()),
        error: answer.error.map(|_| error()),
        finish_reason: None,
        suggested_values: Vec::new(),
        suggested_actions: Vec::new(),
        sources: answer.sources.into_iter().map(source).collect(),
        usage: None,
        ended_at: answer.ended_at,
        worked_ms: 0,
        thought_ms: 0,
        resumptions: 0,
    }
}

/// A source without an address that only its owner can open.
pub(super) fn source(mut source: CitedSource) -> CitedSource {
    if source.url.starts_with('/') {
        source.url.clear();
    }
    source
}

fn part(part: Part) -> Part {
    match part {
        Part::Thinking { .. } => Part::Thinking { text: String::new() },
        Part::Text { text } => Part::Text { text },
        Part::ToolCall(call) => Part::ToolCall(Box::new(tool_call(*call))),
        Part::Payload { payload } => Part::Payload { payload },
        Part::File { file } => Part::File {
            file: self::file(&file),
        },
    }
}

fn tool_call(call: ToolCall) -> ToolCall {
    let attachments = tool_files(&call.tool, &call.attachments);
    ToolCall {
        tool_use_id: call.tool_use_id,
        index: call.index,
        tool: call.tool,
        input: no_arguments(),
        label: call.label,
        detail: None,
        status: call.status,
        progress: None,
        output: None,
        // Its summary, title and rows are of the arguments and the output.
        payload: None,
        attachments,
        started_at: call.started_at,
        ended_at: call.ended_at,
    }
}

/// Returns the files of a tool as readers get them.
pub(super) fn tool_files(tool: &str, files: &[Attachment]) -> Vec<Attachment> {
    // The files of a project are its owner's alone.
    if tool == ReadProjectFile::NAME {
        return Vec::new();
    }
    let renamed = |mut file: Attachment| {
        // The name that it has is the beginning of an argument.
        if tool == GenerateImage::NAME {
            let extension = file.media_type.strip_prefix("image/").unwrap_or_default();
            file.name = ["image.", extension].concat();
        }
        file
    };
    files.iter().map(file).map(renamed).collect()
}

/// Returns a requested call without its arguments.
pub(super) fn requested_call(call: &RequestedCall) -> RequestedCall {
    RequestedCall {
        node: call.node,
        part: call.part,
        index: call.index,
        tool_use_id: call.tool_use_id.clone(),
        tool: call.tool.clone(),
        input: no_arguments(),
        label: call.label.clone(),
        detail: None,
    }
}

fn no_arguments() -> RawJson {
    RawJson::parse_or_quote("{}")
}

/// Returns a file as readers get it. Those that browsers do not show as images are saved.
pub(in crate::app) fn file(file: &Attachment) -> Attachment {
    Attachment {
        id: file.id,
        name: file.name.clone(),
        media_type: match is_image(file) {
            true => file.media_type.clone(),
            false => SAVED_FILE.into(),
        },
        bytes: file.bytes,
        width: file.width,
        height: file.height,
        text_bytes: None,
        problem: file.problem.filter(|problem| *problem == FileProblem::Deleted),
    }
}

/// Returns the name of a model without its endpoint, which is a setting of the server.
pub(super) fn model(model: &str) -> String {
    model.split_once('/').map_or(model, |(_, name)| name).to_owned()
}

/// The error of any answer that did not complete.
pub(super) fn error() -> RunError {
    RunError {
        code: "incomplete".into(),
        message: "The answer is incomplete.".into(),
        hint: String::new(),
    }
}

/// Removes the owner's actions and what the owner has saved from a payload's view.
pub fn panel_view(view: &mut PanelView) {
    view.is_proposal = false;
    view.obstacle = None;
    if let PanelBody::Table(table) = &mut view.body {
        table.keep_first_rows(", which are not shared");
    }
    for article in view.articles_mut() {
        article.pmid = None;
        article.is_saved = false;
    }
}
