//! Tests of the projection: what it keeps, what it leaves out, and that events lead to the state that a reader loads.

use super::{
    branch::{SharedBranch, SharedEvent},
    projection,
};
use parlor_protocol::{
    Attachment, AttachmentId, ConversationEvent, ConversationId, Event, EventBody, Interaction, MessageId,
    Parameters, PayloadRef, Position, RawJson, RequestedCall, RunEvent, RunStatus, Timestamp, ToolStatus,
    Transcript, examples, transcript::apply,
};

const NOON: Timestamp = Timestamp(1_795_262_400_000);

/// A conversation whose owner's log is written step by step.
struct Log {
    owner: Transcript,
    reader: Transcript,
    branch: SharedBranch,
    position: u64,
}

impl Log {
    fn new() -> Self {
        let owner = Transcript::new(ConversationId::new());
        let reader = projection::project(owner.clone(), None);
        Self {
            branch: SharedBranch::new(&reader),
            owner,
            reader,
            position: 0,
        }
    }

    /// Adds an event. Readers who need the state load it.
    fn add(&mut self, message_id: Option<MessageId>, body: impl Into<EventBody>) -> SharedEvent {
        self.position += 1;
        let event = Event {
            position: Position(self.position),
            conversation_id: self.owner.conversation_id,
            message_id,
            body: body.into(),
        };
        apply(&mut self.owner, &event).expect("no gap");
        let shared = self.branch.apply(&event);
        match &shared {
            SharedEvent::Event(event) => {
                apply(&mut self.reader, event).expect("no gap");
            }
            SharedEvent::NeedsState => {
                self.reader = projection::project(self.owner.clone(), None);
                self.branch = SharedBranch::new(&self.reader);
            }
            SharedEvent::Nothing | SharedEvent::Ended => {}
        }
        shared
    }

    /// Checks that a reader who follows sees what one sees who comes now.
    fn assert_same(&self) {
        let mut loaded = projection::project(self.owner.clone(), None);
        loaded.as_of = self.reader.as_of;
        let mut followed = projection::project(self.reader.clone(), None);
        followed.as_of = loaded.as_of;
        // What is empty in one is absent in the other.
        assert_eq!(followed, loaded);
    }

    fn ask(&mut self, parent_id: Option<MessageId>, text: &str) -> (MessageId, MessageId) {
        let (question, answer) = (MessageId::new(), MessageId::new());
        let saved = ConversationEvent::UserMessageSaved {
            user_message_id: question,
            expected_assistant_message_id: answer,
            parent_id,
            text: text.into(),
            files: vec![document()],
            interaction: Interaction::TextInput,
            created_at: NOON,
        };
        self.add(None, saved);
        let started = RunEvent::RunStarted {
            parent_id: question,
            model: "secret-endpoint/small".into(),
            created_at: NOON,
        };
        self.add(Some(answer), started);
        (question, answer)
    }
}

fn document() -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: "a.pdf".into(),
        media_type: "application/pdf".into(),
        bytes: 7,
        width: None,
        height: None,
        text_bytes: Some(3),
        problem: None,
    }
}

fn call() -> RequestedCall {
    RequestedCall {
        node: 0,
        part: 2,
        index: 0,
        tool_use_id: "1".into(),
        tool: "search".into(),
        input: RawJson::parse_or_quote(r#"{"q":"secret-input"}"#),
        label: "Searching".into(),
        detail: Some("secret-detail".into()),
    }
}

fn text(part: usize, offset: usize, text: &str) -> RunEvent {
    RunEvent::TextDelta {
        node: 0,
        part,
        offset,
        text: text.into(),
    }
}

fn thinking(offset: usize, text: &str, took_ms: u64) -> RunEvent {
    RunEvent::Thinking {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
        took_ms,
    }
}

fn payload(summary: &str) -> PayloadRef {
    PayloadRef {
        payload_id: "p1".into(),
        kind: "table".into(),
        summary: summary.into(),
        preview_rows: Some(1),
    }
}

fn tool_complete(tool: &str, ended_at: Timestamp) -> RunEvent {
    RunEvent::ToolComplete {
        index: 0,
        tool_use_id: "1".into(),
        tool: tool.into(),
        label: "Searched".into(),
        status: ToolStatus::Complete,
        output: "secret-output".into(),
        payload: Some(payload("secret-summary")),
        attachments: vec![document()],
        ended_at,
    }
}

#[test]
fn following_equals_loading_at_every_step() {
    let mut log = Log::new();
    log.add(
        None,
        ConversationEvent::ConversationCreated {
            title: "Title".into(),
            created_at: NOON,
            temporary: false,
            project_id: None,
        },
    );
    log.reader.title = "Title".into();
    let (question, answer) = log.ask(None, "Question");
    for body in [
        RunEvent::Status {
            message: "secret-activity".into(),
        },
        thinking(0, "secret-", 0),
        thinking(7, "thought", 0),
        thinking(14, "", 1500),
        text(1, 0, "An "),
        text(1, 3, "answer"),
        RunEvent::ToolStart {
            call: call(),
            started_at: NOON,
        },
        tool_complete("search", NOON),
        text(3, 0, "The end"),
        RunEvent::PayloadMade {
            node: 0,
            part: 4,
            payload: payload("Written table"),
        },
        RunEvent::Waiting { worked_ms: 5 },
        RunEvent::run_ended(RunStatus::Complete, None, NOON, 7),
    ] {
        log.add(Some(answer), body);
        log.assert_same();
    }
    let (_, other) = log.ask(Some(question), "Not after the leaf");
    log.assert_same();
    log.add(Some(other), text(0, 0, "reasoning"));
    assert_eq!(
        log.add(Some(other), RunEvent::TextWasThinking { node: 0 }),
        SharedEvent::NeedsState
    );
    log.assert_same();
    assert_eq!(
        log.add(None, ConversationEvent::LeafSelected { leaf_id: answer }),
        SharedEvent::NeedsState
    );
    log.assert_same();
    assert_eq!(
        log.add(Some(other), text(0, 9, "of another branch")),
        SharedEvent::Nothing,
        "another branch is not shared"
    );
    log.assert_same();
    let shown = serde_json::to_string(&log.reader).unwrap();
    for hidden in [
        "secret-",
        "Not after",
        "of another branch",
        "reasoning",
        "application/pdf",
    ] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
    for kept in [
        "Title",
        "Question",
        "An answer",
        "The end",
        "Searched",
        "a.pdf",
        "Written table",
    ] {
        assert!(shown.contains(kept), "{kept}: {shown}");
    }
}

#[test]
fn events_of_other_conversations_are_not_shared() {
    let transcript = Transcript::new(ConversationId::new());
    for body in examples::of_every_kind() {
        let mut branch = SharedBranch::new(&transcript);
        let event = Event {
            position: Position(1),
            conversation_id: ConversationId::new(),
            message_id: None,
            body,
        };
        assert_eq!(branch.apply(&event), SharedEvent::Nothing, "{event:?}");
    }
}

#[test]
fn a_snapshot_leaves_out_what_continued_it() {
    let mut log = Log::new();
    let (_, answer) = log.ask(None, "Question");
    log.add(Some(answer), text(0, 0, "Then"));
    log.add(
        Some(answer),
        RunEvent::run_ended(RunStatus::Stopped, None, NOON, 1),
    );
    let snapshot = parlor_storage::shares::Snapshot {
        title: String::new(),
        leaf_id: answer,
        leaf_nodes: 1,
        position: Position(log.position),
    };
    let before = projection::project(log.owner.clone(), Some((&snapshot, NOON)));
    log.add(Some(answer), RunEvent::RunContinued { created_at: NOON });
    let more = RunEvent::TextDelta {
        node: 1,
        part: 0,
        offset: 0,
        text: "and now".into(),
    };
    log.add(Some(answer), more);
    let mut after = projection::project(log.owner.clone(), Some((&snapshot, NOON)));
    // It was stopped and is running.
    for answer in after
        .messages
        .iter_mut()
        .filter_map(|message| message.assistant_mut())
    {
        answer.ended_at = Some(NOON);
    }
    assert_eq!(after, before);
}

#[test]
fn a_snapshot_leaves_out_calls_that_ran_later() {
    const LATER: Timestamp = Timestamp(NOON.0 + 1);
    let mut log = Log::new();
    let (_, answer) = log.ask(None, "Question");
    for body in [
        thinking(0, "thought", 0),
        text(1, 0, "Then"),
        RunEvent::ApprovalRequested(call()),
        RunEvent::run_ended(RunStatus::Stopped, None, NOON, 1),
    ] {
        log.add(Some(answer), body);
    }
    let snapshot = parlor_storage::shares::Snapshot {
        title: String::new(),
        leaf_id: answer,
        leaf_nodes: 1,
        position: Position(log.position),
    };
    let shown = |log: &Log| {
        let shown = projection::project(log.owner.clone(), Some((&snapshot, NOON)));
        let message = shown.message(answer).expect("the answer");
        message.assistant().expect("an answer").clone()
    };
    let before = shown(&log);
    assert_eq!(before.tool_calls().count(), 1);
    for body in [
        RunEvent::RunContinued { created_at: LATER },
        RunEvent::ToolStart {
            call: call(),
            started_at: LATER,
        },
        tool_complete("search", LATER),
        RunEvent::run_ended(RunStatus::Failed, Some(projection::error()), LATER, 1),
    ] {
        log.add(Some(answer), body);
        let now = shown(&log);
        assert_eq!(
            (now.status, &now.nodes, &now.error, &now.activity),
            (RunStatus::Stopped, &before.nodes, &None, &None)
        );
    }
}

#[test]
fn names_of_made_images_and_files_of_projects_are_left_out() {
    // How often the file is in the event and in what the reader has.
    for (tool, count) in [("generate_image", 2), ("read_project_file", 0)] {
        let mut log = Log::new();
        let (_, answer) = log.ask(None, "Question");
        let asked = RequestedCall {
            part: 0,
            tool: tool.into(),
            ..call()
        };
        let started = RunEvent::ToolStart {
            call: asked,
            started_at: NOON,
        };
        log.add(Some(answer), started);
        let mut complete = tool_complete(tool, NOON);
        if let RunEvent::ToolComplete { attachments, .. } = &mut complete {
            attachments[0].name = "secret-prompt".into();
            attachments[0].media_type = "image/png".into();
        }
        let SharedEvent::Event(shared) = log.add(Some(answer), complete) else {
            panic!("the end of a call is shared");
        };
        log.assert_same();
        let shared = serde_json::to_string(&(shared, &log.reader)).unwrap();
        assert!(!shared.contains("secret-"), "{shared}");
        assert_eq!(shared.matches("image.png").count(), count, "{tool}");
        assert_eq!(shared.matches("image/png").count(), count, "{tool}");
    }
}

#[test]
fn parameters_and_queue_are_left_out() {
    let mut transcript = Transcript::new(ConversationId::new());
    transcript.model = Some("secret/model".into());
    transcript.parameters = Parameters {
        max_completion_tokens: Some(5),
        ..Parameters::default()
    };
    transcript.queue.held = true;
    let shared = projection::project(transcript.clone(), None);
    assert_eq!(shared, Transcript::new(transcript.conversation_id));
}
