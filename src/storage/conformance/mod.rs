//! The conformance suite of storage. Each test runs against every backend.

mod conversation_lists;
mod deletion;
mod literature;
mod log;
mod memories;
mod model_calls;
mod opaque;
mod output;
mod pages;
mod parameters;
mod personal;
mod run_contexts;
mod suggestions;
mod turns;

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use super::*;
use crate::protocol::{
    AssistantMessage, Attachment, EventBody, IntentId, MemoryId, MessageBody, Part, TokenId,
    intent::{self, StartedRun},
    transcript,
};

/// Returns a storage in a temporary folder, which is deleted with it.
async fn temp_storage() -> (tempfile::TempDir, Arc<dyn Storage>) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let storage = sqlite::SqliteStorage::open(folder.path())
        .await
        .expect("a new database");
    (folder, Arc::new(storage))
}

const TEST_USER: UserId = UserId::LOCAL;
const NOON: Timestamp = Timestamp(1_795_262_400_000);

fn other_user() -> UserId {
    UserId(uuid::Uuid::from_u128(2))
}

/// Returns a change that answers a run's question again.
fn regenerate(run: RunKey, again: RunKey) -> Change {
    Change::Regenerate {
        user_id: run.user_id,
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
    }
}

struct TestTurn {
    change: Change,
    run: RunKey,
    user_message_id: MessageId,
}

fn new_turn(user_id: UserId, conversation_id: ConversationId, text: &str) -> TestTurn {
    let intent = intent::SendMessage {
        intent_id: IntentId::new(),
        conversation_id,
        user_message_id: MessageId::new(),
        text: text.into(),
        model: Some("x/m".into()),
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
        change: Change::SendMessage {
            user_id,
            intent,
            start,
        },
        run,
    }
}

fn text(offset: usize, text: &str) -> EventBody {
    EventBody::TextDelta {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
    }
}

/// Returns the message of a run with this answer.
fn answer_message(answer: &str) -> AssistantMessage {
    let mut message = AssistantMessage::new("x/m");
    transcript::apply_to_run(&mut message, &text(0, answer));
    message
}

fn end_run(run: RunKey, answer: &str) -> Change {
    let event = EventBody::run_ended(RunStatus::Complete, None, NOON, 0);
    let mut message = answer_message(answer);
    transcript::apply_to_run(&mut message, &event);
    Change::EndRun {
        run,
        events: vec![event],
        message,
    }
}

async fn commit_one(storage: &dyn Storage, change: &Change) -> Result<Outcome, ChangeRejection> {
    storage
        .commit(NOON, std::slice::from_ref(change))
        .await
        .expect("storage works")
        .outcomes[0]
}

async fn read_log(storage: &dyn Storage, user_id: UserId) -> Vec<Event> {
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
async fn full_transcript(storage: &dyn Storage, conversation_id: ConversationId) -> Option<Transcript> {
    let transcript = storage
        .transcript(TEST_USER, conversation_id, PageSize::UNLIMITED, None)
        .await;
    transcript.expect("storage works")
}

/// Folds the whole log into a conversation's transcript.
async fn folded_transcript(storage: &dyn Storage, conversation_id: ConversationId) -> Transcript {
    let mut state = Transcript::new(conversation_id);
    for event in read_log(storage, TEST_USER).await {
        transcript::apply(&mut state, &event).expect("no gap");
        state.as_of = event.position;
    }
    state
}
