//! What every storage must do, told as stories. Each runs over each kind of storage there is.

mod beginnings;
mod calls;
mod deletion;
mod lists;
mod literature;
mod log;
mod memories;
mod offers;
mod opaque;
mod output;
mod pages;
mod personal;
mod terms;
mod turns;

use std::{collections::HashMap, sync::Arc};

use bytes::Bytes;

use super::*;
use crate::protocol::{
    AssistantMessage, Attachment, EventBody, IntentId, MemoryId, MessageBody, Part, TokenId,
    intent::{self, Started},
    transcript,
};

/// A storage in a folder that goes away with it.
async fn sqlite() -> (tempfile::TempDir, Arc<dyn Storage>) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let storage = sqlite::Sqlite::open(folder.path()).await.expect("a new database");
    (folder, Arc::new(storage))
}

const ANN: UserId = UserId::LOCAL;
const NOON: Timestamp = Timestamp(1_795_262_400_000);

fn bob() -> UserId {
    UserId(uuid::Uuid::from_u128(2))
}

/// Answers once more what a run has answered.
fn regenerate(run: RunKey, again: RunKey) -> Change {
    Change::Regenerate {
        user_id: run.user_id,
        intent: intent::Regenerate {
            intent_id: IntentId::new(),
            conversation_id: run.conversation_id,
            message_id: run.message_id,
            model: None,
        },
        start: Start {
            looking: None,
            run: again.message_id,
            default_model: "x/default".into(),
            parameters: None,
            fingerprint: String::new(),
        },
    }
}

struct Turn {
    change: Change,
    run: RunKey,
    user_message_id: MessageId,
}

fn turn(user_id: UserId, conversation_id: ConversationId, text: &str) -> Turn {
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
    let start = Start {
        looking: None,
        run: run.message_id,
        default_model: "x/default".into(),
        parameters: None,
        fingerprint: text.into(),
    };
    Turn {
        user_message_id: intent.user_message_id,
        change: Change::Send {
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

/// What a run has come to that has said this much.
fn saying(answer: &str) -> AssistantMessage {
    let mut message = AssistantMessage::started("x/m");
    transcript::apply_to_run(&mut message, &text(0, answer));
    message
}

fn end(run: RunKey, answer: &str) -> Change {
    let event = EventBody::ended(RunStatus::Complete, None, NOON, 0);
    let mut message = saying(answer);
    transcript::apply_to_run(&mut message, &event);
    Change::End {
        run,
        events: vec![event],
        message,
    }
}

async fn do_one(storage: &dyn Storage, change: &Change) -> Result<Outcome, Refusal> {
    storage
        .commit(NOON, std::slice::from_ref(change))
        .await
        .expect("storage works")
        .outcomes[0]
}

async fn log(storage: &dyn Storage, user_id: UserId) -> Vec<Event> {
    match storage
        .log_after(user_id, Position(0), None, 1000)
        .await
        .expect("storage works")
    {
        LogPage::Events { events, .. } => events.into_iter().map(|logged| logged.event).collect(),
        LogPage::Reset => panic!("the log was trimmed"),
    }
}

/// Ann's conversation with all of the branch that is shown; `None` if there is none.
async fn whole(storage: &dyn Storage, conversation_id: ConversationId) -> Option<Transcript> {
    let transcript = storage
        .transcript(ANN, conversation_id, PageSize::WHOLE, None)
        .await;
    transcript.expect("storage works")
}

/// Folds the whole log into what a conversation shows.
async fn folded(storage: &dyn Storage, conversation_id: ConversationId) -> Transcript {
    let mut state = Transcript::new(conversation_id);
    for event in log(storage, ANN).await {
        transcript::apply(&mut state, &event).expect("no gap");
        state.as_of = event.position;
    }
    state
}
