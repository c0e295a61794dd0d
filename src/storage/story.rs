//! What every storage must do, told as stories. Each runs over each kind of storage there is.

use std::sync::Arc;

use super::*;
use crate::protocol::{IntentId, MessageBody, Part, intent, transcript};

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
    };
    let run = RunKey {
        user_id,
        conversation_id,
        message_id: MessageId::new(),
    };
    let start = Start {
        run: run.message_id,
        default_model: "x/default".into(),
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

fn end(run: RunKey, answer: &str) -> Change {
    let event = EventBody::ended(RunStatus::Complete, None, NOON);
    let mut message = AssistantMessage::started("x/m");
    transcript::apply_to_run(&mut message, &text(0, answer));
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

/// Folds the whole log into what a conversation shows.
async fn folded(storage: &dyn Storage, conversation_id: ConversationId) -> Transcript {
    let mut state = Transcript::new(conversation_id);
    for event in log(storage, ANN).await {
        transcript::apply(&mut state, &event).expect("no gap");
        state.as_of = event.position;
    }
    state
}

#[tokio::test]
async fn what_the_log_folds_to_is_what_is_stored_at_every_step() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let first = turn(ANN, conversation_id, "Hello there");
    let second = turn(ANN, conversation_id, "And again");
    let steps = [
        first.change.clone(),
        Change::Append {
            run: first.run,
            events: vec![EventBody::Status {
                message: "Thinking...".into(),
            }],
        },
        Change::Append {
            run: first.run,
            events: vec![text(0, "Hi "), text(3, "Ann")],
        },
        end(first.run, "Hi Ann"),
        Change::Rename {
            user_id: ANN,
            conversation_id,
            title: "Greetings".into(),
        },
        second.change.clone(),
        Change::Append {
            run: second.run,
            events: vec![text(0, "Yes")],
        },
        Change::ChooseModel {
            user_id: ANN,
            conversation_id,
            model: "x/other".into(),
        },
        end(second.run, "Yes"),
        Change::SelectLeaf {
            user_id: ANN,
            conversation_id,
            leaf_id: first.run.message_id,
        },
    ];
    for step in &steps {
        do_one(&*storage, step).await.expect("the step is fine");
        let stored = storage
            .transcript(ANN, conversation_id)
            .await
            .unwrap()
            .expect("it is there");
        assert_eq!(stored, folded(&*storage, conversation_id).await, "after {step:?}");
    }
    let positions: Vec<u64> = log(&*storage, ANN)
        .await
        .iter()
        .map(|event| event.position.0)
        .collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_same_intent_twice_is_done_once_and_another_under_its_id_is_refused() {
    let (_folder, storage) = sqlite().await;
    let turn = turn(ANN, ConversationId::new(), "once");
    let started = Started {
        conversation_id: turn.run.conversation_id,
        user_message_id: turn.user_message_id,
        assistant_message_id: turn.run.message_id,
    };
    assert_eq!(
        do_one(&*storage, &turn.change).await,
        Ok(Outcome::Started {
            started,
            again: false
        })
    );
    let before = log(&*storage, ANN).await;

    let Change::Send {
        user_id,
        intent,
        start,
    } = turn.change
    else {
        unreachable!()
    };
    let retried = Start {
        run: MessageId::new(),
        ..start.clone()
    };
    let again = Change::Send {
        user_id,
        intent: intent.clone(),
        start: retried,
    };
    assert_eq!(
        do_one(&*storage, &again).await,
        Ok(Outcome::Started { started, again: true })
    );
    let other = Start {
        run: MessageId::new(),
        fingerprint: "other".into(),
        ..start
    };
    let other = Change::Send {
        user_id,
        intent,
        start: other,
    };
    assert_eq!(do_one(&*storage, &other).await, Err(Refusal::IntentReused));
    assert_eq!(log(&*storage, ANN).await, before);
}

#[tokio::test]
async fn one_conversation_has_one_run_and_a_refused_change_leaves_the_others_alone() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let first = turn(ANN, conversation_id, "first");
    let second = turn(ANN, conversation_id, "second");
    let elsewhere = turn(ANN, ConversationId::new(), "elsewhere");
    let changes = [
        first.change.clone(),
        second.change.clone(),
        elsewhere.change.clone(),
    ];
    let committed = storage.commit(NOON, &changes).await.unwrap();
    assert!(matches!(
        committed.outcomes[..],
        [
            Ok(Outcome::Started { .. }),
            Err(Refusal::RunActive),
            Ok(Outcome::Started { .. })
        ]
    ));
    let positions: Vec<u64> = committed
        .events
        .iter()
        .map(|logged| logged.event.position.0)
        .collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
    let shown = storage.transcript(ANN, conversation_id).await.unwrap().unwrap();
    assert_eq!(
        shown.messages.len(),
        2,
        "nothing of the refused message is stored"
    );
    // Once the first has ended, the second may be sent.
    do_one(&*storage, &end(first.run, "1")).await.unwrap();
    assert!(do_one(&*storage, &second.change).await.is_ok());
}

#[tokio::test]
async fn another_answer_is_a_sibling_and_becomes_the_one_that_is_shown() {
    let (_folder, storage) = sqlite().await;
    let first = turn(ANN, ConversationId::new(), "question");
    do_one(&*storage, &first.change).await.unwrap();
    do_one(&*storage, &end(first.run, "one")).await.unwrap();
    let conversation_id = first.run.conversation_id;
    let regenerate = |message_id| Change::Regenerate {
        user_id: ANN,
        intent: intent::Regenerate {
            intent_id: IntentId::new(),
            conversation_id,
            message_id,
            model: None,
        },
        start: Start {
            run: MessageId::new(),
            default_model: String::new(),
            fingerprint: "r".into(),
        },
    };
    let outcome = do_one(&*storage, &regenerate(first.run.message_id)).await;
    let Ok(Outcome::Started {
        started,
        again: false,
    }) = outcome
    else {
        panic!("{outcome:?}")
    };
    let shown = storage.transcript(ANN, conversation_id).await.unwrap().unwrap();
    let second = shown.message(started.assistant_message_id).unwrap();
    assert_eq!(shown.siblings(second), [first.run.message_id, second.id]);
    assert_eq!(
        (shown.active_leaf, second.assistant().unwrap().model.as_str()),
        (Some(second.id), "x/m")
    );
    assert_eq!(
        do_one(&*storage, &regenerate(first.user_message_id)).await,
        Err(Refusal::NotFound)
    );
}

#[tokio::test]
async fn a_deleted_conversation_leaves_nothing_but_positions() {
    let (_folder, storage) = sqlite().await;
    let turn = turn(ANN, ConversationId::new(), "a secret");
    do_one(&*storage, &turn.change).await.unwrap();
    do_one(
        &*storage,
        &Change::Append {
            run: turn.run,
            events: vec![text(0, "kept secret")],
        },
    )
    .await
    .unwrap();
    let before = log(&*storage, ANN).await.len();
    let conversation_id = turn.run.conversation_id;
    do_one(
        &*storage,
        &Change::Delete {
            user_id: ANN,
            conversation_id,
        },
    )
    .await
    .unwrap();

    // What its run still says is dropped, and so is its end.
    let late = [
        Change::Append {
            run: turn.run,
            events: vec![text(11, " too")],
        },
        end(turn.run, "late"),
    ];
    for change in &late {
        assert_eq!(do_one(&*storage, change).await, Err(Refusal::NotFound));
    }
    let log = log(&*storage, ANN).await;
    assert_eq!(log.len(), before + 1);
    assert!(
        log[..before]
            .iter()
            .all(|event| event.body == EventBody::Empty && event.message_id.is_none())
    );
    assert_eq!(log[before].body, EventBody::ConversationDeleted);
    assert_eq!(storage.transcript(ANN, conversation_id).await.unwrap(), None);
    assert_eq!(storage.message(ANN, turn.run.message_id).await.unwrap(), None);
    assert_eq!(storage.run(ANN, turn.run.message_id).await.unwrap(), None);
}

#[tokio::test]
async fn what_is_somebody_elses_is_not_there() {
    let (_folder, storage) = sqlite().await;
    let turn_of_ann = turn(ANN, ConversationId::new(), "mine");
    do_one(&*storage, &turn_of_ann.change).await.unwrap();
    do_one(&*storage, &end(turn_of_ann.run, "yours")).await.unwrap();
    let conversation_id = turn_of_ann.run.conversation_id;
    let user_id = bob();
    let changes = [
        turn(user_id, conversation_id, "intruder").change,
        Change::Rename {
            user_id,
            conversation_id,
            title: "x".into(),
        },
        Change::ChooseModel {
            user_id,
            conversation_id,
            model: "x".into(),
        },
        Change::SelectLeaf {
            user_id,
            conversation_id,
            leaf_id: turn_of_ann.user_message_id,
        },
        Change::Continue {
            user_id,
            intent: intent::Continue {
                intent_id: IntentId::new(),
                conversation_id,
                message_id: turn_of_ann.run.message_id,
            },
            fingerprint: String::new(),
        },
    ];
    for change in &changes {
        assert_eq!(
            do_one(&*storage, change).await,
            Err(Refusal::NotFound),
            "{change:?}"
        );
    }
    // To delete what is not there is no error, and tells nothing.
    let delete = Change::Delete {
        user_id,
        conversation_id,
    };
    assert_eq!(
        do_one(&*storage, &delete).await,
        Ok(Outcome::Deleted { active_run: None })
    );
    assert!(storage.transcript(ANN, conversation_id).await.unwrap().is_some());
    assert_eq!(storage.transcript(user_id, conversation_id).await.unwrap(), None);
    assert_eq!(
        storage
            .message(user_id, turn_of_ann.run.message_id)
            .await
            .unwrap(),
        None
    );
    assert_eq!(
        storage
            .conversations(user_id, None, 10)
            .await
            .unwrap()
            .conversations,
        []
    );
    assert_eq!(log(&*storage, user_id).await, []);
    assert!(storage.transcript(ANN, conversation_id).await.unwrap().is_some());
}

#[tokio::test]
async fn the_list_comes_page_by_page_newest_activity_first() {
    let (_folder, storage) = sqlite().await;
    let turns: Vec<Turn> = (0..5)
        .map(|n| turn(ANN, ConversationId::new(), &format!("talk {n}")))
        .collect();
    for (n, turn) in turns.iter().enumerate() {
        // Two of them in the same millisecond.
        let at = Timestamp(NOON.0 + (n as i64 / 2));
        storage
            .commit(at, std::slice::from_ref(&turn.change))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = storage.conversations(ANN, before, 2).await.unwrap();
        seen.extend(
            page.conversations
                .iter()
                .map(|conversation| conversation.title.clone()),
        );
        before = page.cursor();
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["talk 4", "talk 3", "talk 2", "talk 1", "talk 0"]);
    let list = storage.conversations(ANN, None, 10).await.unwrap();
    assert_eq!(list.conversations[0].active_run, Some(turns[4].run.message_id));
}

#[tokio::test]
async fn the_log_is_trimmed_but_never_past_a_run_that_is_at_work() {
    let (_folder, storage) = sqlite().await;
    let done = turn(ANN, ConversationId::new(), "done");
    let at_work = turn(ANN, ConversationId::new(), "at work");
    do_one(&*storage, &done.change).await.unwrap();
    do_one(&*storage, &end(done.run, "answer")).await.unwrap();
    do_one(&*storage, &at_work.change).await.unwrap();
    do_one(
        &*storage,
        &Change::Append {
            run: at_work.run,
            events: vec![text(0, "still here")],
        },
    )
    .await
    .unwrap();
    let head = storage.head(ANN).await.unwrap();
    let first = storage
        .run(ANN, at_work.run.message_id)
        .await
        .unwrap()
        .unwrap()
        .first_position;

    storage.trim(Timestamp(NOON.0 + 1), 0).await.unwrap();
    let after = Position(first.0 - 1);
    let LogPage::Events { events: left, .. } = storage.log_after(ANN, after, None, 100).await.unwrap() else {
        panic!("the run's own events were trimmed")
    };
    assert_eq!(
        (left[0].event.position, left.last().unwrap().event.position),
        (first, head)
    );
    assert_eq!(
        storage.log_after(ANN, Position(0), None, 100).await.unwrap(),
        LogPage::Reset
    );
    assert_eq!(
        storage
            .log_after(ANN, Position(head.0 + 1), None, 100)
            .await
            .unwrap(),
        LogPage::Reset
    );
    // Messages are kept whole, whatever the log has forgotten.
    let (_, message) = storage.message(ANN, done.run.message_id).await.unwrap().unwrap();
    assert_eq!(message.assistant().unwrap().text(), "answer");
    let (_, message) = storage
        .message(ANN, at_work.run.message_id)
        .await
        .unwrap()
        .unwrap();
    let MessageBody::Assistant(assistant) = message.body else {
        panic!()
    };
    assert_eq!(
        assistant.nodes[0].parts,
        [Part::Text {
            text: "still here".into()
        }]
    );
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let (folder, storage) = sqlite().await;
    let turn = turn(ANN, ConversationId::new(), "remember me");
    do_one(&*storage, &turn.change).await.unwrap();
    do_one(
        &*storage,
        &Change::Append {
            run: turn.run,
            events: vec![text(0, "I wi")],
        },
    )
    .await
    .unwrap();
    let before = storage.transcript(ANN, turn.run.conversation_id).await.unwrap();
    let second = sqlite::Sqlite::open(folder.path()).await;
    assert!(matches!(second, Err(StorageError::InUse)), "{second:?}");
    storage.close().await.unwrap();
    drop(storage);
    let storage = sqlite::Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(
        storage.transcript(ANN, turn.run.conversation_id).await.unwrap(),
        before
    );
    let left = storage.runs_at_work().await.unwrap();
    assert_eq!(left.iter().map(|run| run.key).collect::<Vec<_>>(), [turn.run]);
}

#[tokio::test]
async fn what_is_deleted_does_not_come_back() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let first = turn(ANN, conversation_id, "secret");
    do_one(&*storage, &first.change).await.unwrap();
    let delete = Change::Delete {
        user_id: ANN,
        conversation_id,
    };
    let active_run = Some(first.run.message_id);
    assert_eq!(
        do_one(&*storage, &delete).await,
        Ok(Outcome::Deleted { active_run })
    );
    assert_eq!(
        do_one(&*storage, &delete).await,
        Ok(Outcome::Deleted { active_run: None }),
        "twice is once"
    );
    // The same message again, by a client that never heard an answer.
    let again = do_one(&*storage, &first.change).await;
    assert!(
        matches!(again, Ok(Outcome::Started { again: true, .. })),
        "{again:?}"
    );
    // Another one, by a tab that has not heard of it.
    let stale = turn(ANN, conversation_id, "and another thing");
    assert_eq!(do_one(&*storage, &stale.change).await, Err(Refusal::NotFound));
    assert_eq!(storage.transcript(ANN, conversation_id).await.unwrap(), None);
    assert_eq!(
        storage.conversations(ANN, None, 10).await.unwrap().conversations,
        []
    );
    let log = log(&*storage, ANN).await;
    assert!(
        !serde_json::to_string(&log).unwrap().contains("secret"),
        "{log:?}"
    );
}

#[tokio::test]
async fn only_the_last_answer_is_continued_and_only_if_it_broke_off() {
    let (_folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let turn_of = |text| turn(ANN, conversation_id, text);
    let go_on = |run: RunKey| Change::Continue {
        user_id: ANN,
        intent: intent::Continue {
            intent_id: IntentId::new(),
            conversation_id,
            message_id: run.message_id,
        },
        fingerprint: String::new(),
    };
    let stop = |run: RunKey, answer: &str| {
        let event = EventBody::ended(RunStatus::Stopped, None, NOON);
        let mut message = AssistantMessage::started("x/m");
        transcript::apply_to_run(&mut message, &text(0, answer));
        transcript::apply_to_run(&mut message, &event);
        Change::End {
            run,
            events: vec![text(0, answer), event],
            message,
        }
    };
    let first = turn_of("one");
    do_one(&*storage, &first.change).await.unwrap();
    assert_eq!(
        do_one(&*storage, &go_on(first.run)).await,
        Err(Refusal::RunActive)
    );
    do_one(&*storage, &stop(first.run, "half")).await.unwrap();
    let continued = do_one(&*storage, &go_on(first.run)).await;
    assert!(
        matches!(continued, Ok(Outcome::Started { started, again: false })
            if started.assistant_message_id == first.run.message_id),
        "{continued:?}"
    );
    assert_eq!(
        do_one(&*storage, &turn_of("meanwhile").change).await,
        Err(Refusal::RunActive)
    );
    let more = EventBody::TextDelta {
        node: 1,
        part: 0,
        offset: 0,
        text: " and half".into(),
    };
    let append = Change::Append {
        run: first.run,
        events: vec![more],
    };
    do_one(&*storage, &append).await.unwrap();
    let stored = storage.transcript(ANN, conversation_id).await.unwrap().unwrap();
    assert_eq!(stored.messages[1].assistant().unwrap().text(), "half and half");
    assert_eq!(stored, folded(&*storage, conversation_id).await);

    do_one(&*storage, &end(first.run, "half and half")).await.unwrap();
    assert_eq!(
        do_one(&*storage, &go_on(first.run)).await,
        Err(Refusal::NotContinuable)
    );
    let second = turn_of("two");
    do_one(&*storage, &second.change).await.unwrap();
    do_one(&*storage, &stop(second.run, "cut")).await.unwrap();
    let third = turn_of("three");
    do_one(&*storage, &third.change).await.unwrap();
    do_one(&*storage, &end(third.run, "whole")).await.unwrap();
    assert_eq!(
        do_one(&*storage, &go_on(second.run)).await,
        Err(Refusal::NotContinuable),
        "the conversation has gone on"
    );
}

#[tokio::test]
async fn what_ended_while_nobody_looked_is_news_until_somebody_does() {
    let (folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let turn = turn(ANN, conversation_id, "think about it");
    let unseen = async |storage: &dyn Storage| {
        let list = storage.conversations(ANN, None, 1).await.unwrap();
        let mut folded = ConversationList::default();
        for event in log(storage, ANN).await {
            crate::protocol::conversation_list::apply(&mut folded, &event);
        }
        assert_eq!(folded.conversations, list.conversations, "live is as loaded");
        list.conversations[0].unseen
    };
    let read = Change::MarkRead {
        user_id: ANN,
        conversation_id,
    };
    do_one(&*storage, &turn.change).await.unwrap();
    assert!(!unseen(&*storage).await);
    do_one(&*storage, &end(turn.run, "done")).await.unwrap();
    assert!(unseen(&*storage).await);
    drop(storage);
    let storage = sqlite::Sqlite::open(folder.path()).await.unwrap();
    assert!(unseen(&storage).await, "also after a restart");
    do_one(&storage, &read).await.unwrap();
    assert!(!unseen(&storage).await);
    let head = storage.head(ANN).await.unwrap();
    do_one(&storage, &read).await.unwrap();
    assert_eq!(storage.head(ANN).await.unwrap(), head, "no news, no event");
}
