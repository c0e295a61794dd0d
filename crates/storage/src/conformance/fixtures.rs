//! Storages, changes and events that the cases share.

use super::*;

/// Returns a storage of a temporary folder, which is deleted with it.
pub(super) async fn temp_storage(backend: &dyn Backend) -> (TempDir, Arc<dyn Storage>) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let storage = open_storage(backend, &folder).await;
    (folder, storage)
}

pub(super) async fn open_storage(backend: &dyn Backend, folder: &TempDir) -> Arc<dyn Storage> {
    backend.open(folder.path()).await.expect("storage works")
}

pub(super) const TEST_USER: UserId = UserId::LOCAL;
pub(super) const NOON: Timestamp = Timestamp(1_795_262_400_000);

pub(super) fn other_user() -> UserId {
    UserId(uuid::Uuid::from_u128(2))
}

/// Returns a change that answers a run's question again.
pub(super) fn regenerate(run: RunKey, again: RunKey) -> Change {
    Change::Intent {
        user_id: run.user_id,
        change: IntentChange::Regenerate {
            intent: intent::Regenerate {
                intent_id: IntentId::new(),
                conversation_id: run.conversation_id,
                message_id: run.message_id,
                model: None,
            },
            start: RunStart {
                context_snapshot: None,
                run: again.message_id,
                default_model: "x/default".into(),
                parameters: None,
                fingerprint: String::new(),
            },
        },
    }
}

pub(super) struct TestTurn {
    pub(super) change: Change,
    pub(super) run: RunKey,
    pub(super) user_message_id: MessageId,
}

pub(super) fn new_turn(user_id: UserId, conversation_id: ConversationId, text: &str) -> TestTurn {
    let intent = intent::SendMessage {
        intent_id: IntentId::new(),
        conversation_id,
        user_message_id: MessageId::new(),
        text: text.into(),
        files: Vec::new(),
        model: Some("x/m".into()),
        replaces: None,
        temporary: false,
        project_id: None,
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    };
    let run = RunKey {
        user_id,
        conversation_id,
        message_id: MessageId::new(),
    };
    let start = RunStart {
        context_snapshot: None,
        run: run.message_id,
        default_model: "x/default".into(),
        parameters: None,
        fingerprint: text.into(),
    };
    TestTurn {
        user_message_id: intent.user_message_id,
        change: Change::Intent {
            user_id,
            change: IntentChange::SendMessage { intent, start },
        },
        run,
    }
}

/// Returns a turn whose message is another version of a message.
pub(super) fn new_version(conversation_id: ConversationId, replaced: MessageId, text: &str) -> TestTurn {
    let mut turn = new_turn(TEST_USER, conversation_id, text);
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut turn.change
    {
        intent.replaces = Some(replaced);
    }
    turn
}

/// Returns the start of a tool call.
pub(super) fn draw_start() -> RunEvent {
    RunEvent::ToolStart {
        call: RequestedCall {
            node: 0,
            part: 0,
            index: 0,
            tool_use_id: "1".into(),
            tool: "draw".into(),
            input: RawJson::parse_or_quote("{}"),
            label: "Drawing".into(),
            detail: None,
        },
        started_at: NOON,
    }
}

/// Returns the events of a tool call that has a payload and a file.
pub(super) fn draw_events(payload: Option<PayloadRef>, file: &StoredFile) -> [RunEvent; 2] {
    [
        draw_start(),
        RunEvent::ToolComplete {
            index: 0,
            tool_use_id: "1".into(),
            tool: "draw".into(),
            label: "Drew".into(),
            status: ToolStatus::Complete,
            output: String::new(),
            payload,
            attachments: vec![file.attachment.clone()],
            ended_at: NOON,
        },
    ]
}

pub(super) fn text(offset: usize, text: &str) -> RunEvent {
    RunEvent::TextDelta {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
    }
}

/// Returns the message of a run with this answer.
pub(super) fn answer_message(answer: &str) -> AssistantMessage {
    let mut message = AssistantMessage::new("x/m");
    transcript::apply_to_run(&mut message, &text(0, answer));
    message
}

pub(super) fn end_run(run: RunKey, answer: &str) -> Change {
    let event = RunEvent::run_ended(RunStatus::Complete, None, NOON, 0);
    let mut message = answer_message(answer);
    transcript::apply_to_run(&mut message, &event);
    Change::Output {
        run,
        output: RunOutput::EndRun {
            events: vec![event],
            message,
        },
    }
}

/// Ends a run as [`end_run`] does, with the answer in the log and another status.
pub(super) fn answer_run(run: RunKey, answer: &str, status: RunStatus) -> Change {
    let end = RunEvent::run_ended(status, None, NOON, 0);
    let mut message = answer_message(answer);
    transcript::apply_to_run(&mut message, &end);
    Change::Output {
        run,
        output: RunOutput::EndRun {
            events: vec![text(0, answer), end],
            message,
        },
    }
}

/// Commits a change and compares the folded log with the stored conversation. Returns that.
pub(super) async fn commit_and_fold(
    storage: &dyn Storage,
    id: ConversationId,
    change: &Change,
) -> Transcript {
    commit_one(storage, change).await.expect("the change is accepted");
    let stored = full_transcript(storage, id).await.expect("it is there");
    let mut folded = folded_transcript(storage, id).await;
    folded.truncate_to_newest(usize::MAX);
    assert_eq!(stored, folded, "after {change:?}");
    stored
}

pub(super) async fn commit_one(storage: &dyn Storage, change: &Change) -> Result<Outcome, ChangeRejection> {
    storage
        .commit(NOON, std::slice::from_ref(change))
        .await
        .expect("storage works")
        .outcomes[0]
}

pub(super) async fn read_log(storage: &dyn Storage, user_id: UserId) -> Vec<Event> {
    match storage
        .events_after(user_id, Position(0), None, 1000)
        .await
        .expect("storage works")
    {
        LogPage::Events { events, .. } => events.into_iter().map(|logged| logged.event).collect(),
        LogPage::Reset => panic!("the log was trimmed"),
    }
}

/// Returns the test user's conversation with all of its shown branch; `None` if there is none.
pub(super) async fn full_transcript(
    storage: &dyn Storage,
    conversation_id: ConversationId,
) -> Option<Transcript> {
    let transcript = storage
        .transcript(TEST_USER, conversation_id, PageSize::UNLIMITED, None)
        .await;
    transcript.expect("storage works")
}

/// Folds the whole log into a conversation's transcript.
pub(super) async fn folded_transcript(storage: &dyn Storage, conversation_id: ConversationId) -> Transcript {
    let mut state = Transcript::new(conversation_id);
    for event in read_log(storage, TEST_USER).await {
        transcript::apply(&mut state, &event).expect("no gap");
        state.as_of = event.position;
    }
    state
}
