//! Queues: messages that wait for the end of a run.

use super::{
    accounts::{apply, make_accounts},
    *,
};
use crate::accounts::AccountChange;
use parlor_protocol::{QueuedMessage, intent::QueueChange};

const LIMITS: QueueLimits = QueueLimits {
    messages: 3,
    bytes: 100,
};

/// Returns a turn whose message is queued while a run is active.
fn queue_turn(conversation_id: ConversationId, text: &str) -> TestTurn {
    queued(new_turn(TEST_USER, conversation_id, text))
}

/// Makes a turn one whose message is queued while a run is active.
pub fn queued(turn: TestTurn) -> TestTurn {
    let Change::Intent {
        user_id,
        change: IntentChange::SendMessage { intent, start },
    } = turn.change
    else {
        unreachable!("it sends")
    };
    let change = Change::Intent {
        user_id,
        change: IntentChange::QueueMessage {
            intent,
            start,
            limits: LIMITS,
        },
    };
    TestTurn { change, ..turn }
}

pub fn change_queue(conversation_id: ConversationId, change: QueueChange) -> Change {
    Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::Queue {
            change,
            limits: LIMITS,
        },
    }
}

fn stop_run(run: RunKey) -> Change {
    answer_run(run, "stopped", RunStatus::Stopped)
}

fn complete_run(run: RunKey, answer: &str) -> Change {
    answer_run(run, answer, RunStatus::Complete)
}

/// Returns the end of a run for the messages that wait.
fn hand_over(run: RunKey) -> Change {
    let Change::Output {
        run,
        output: RunOutput::EndRun { events, message },
    } = complete_run(run, "1")
    else {
        unreachable!("it ends")
    };
    Change::Output {
        run,
        output: RunOutput::HandOverRun { events, message },
    }
}

fn send_queued(turn: &TestTurn) -> Change {
    Change::Run(RunChange::SendQueued {
        run: turn.run,
        user_message_id: turn.user_message_id,
    })
}

fn texts(transcript: &Transcript) -> Vec<&str> {
    let queued = transcript.queue.messages.iter();
    queued.map(|queued| &*queued.text).collect()
}

async fn ready(storage: &dyn Storage, conversation_id: ConversationId) -> Vec<MessageId> {
    let one = storage
        .ready_messages(Queues::OfConversation(TEST_USER, conversation_id))
        .await;
    for queues in [Queues::All, Queues::OfUser(TEST_USER)] {
        assert_eq!(
            one.as_ref().ok(),
            storage.ready_messages(queues).await.ok().as_ref()
        );
    }
    one.unwrap().iter().map(|ready| ready.user_message_id).collect()
}

pub async fn queued_message_becomes_one_user_message(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    // Nothing is active yet: it is sent at once.
    let first = queue_turn(id, "first");
    assert!(
        commit_and_fold(&*storage, id, &first.change)
            .await
            .queue
            .messages
            .is_empty()
    );
    assert_eq!(
        commit_one(&*storage, &hand_over(first.run)).await,
        Err(ChangeRejection::NotFound)
    );
    let (second, third) = (queue_turn(id, "second"), queue_turn(id, "third"));
    let waiting = commit_and_fold(&*storage, id, &second.change).await;
    let expected = QueuedMessage {
        id: second.user_message_id,
        text: "second".into(),
        files: Vec::new(),
        created_at: NOON,
    };
    assert_eq!(waiting.queue.messages, [expected]);
    commit_and_fold(&*storage, id, &third.change).await;
    // The same intent again queues nothing.
    let again = commit_and_fold(&*storage, id, &second.change).await;
    assert_eq!(texts(&again), ["second", "third"]);
    assert_eq!(
        commit_one(&*storage, &send_queued(&second)).await,
        Err(ChangeRejection::RunActive)
    );
    assert_eq!(ready(&*storage, id).await, []);

    commit_and_fold(&*storage, id, &hand_over(first.run)).await;
    assert_eq!(ready(&*storage, id).await, [second.user_message_id]);
    // Before it is sent, a further message takes its place behind the others.
    let fourth = queue_turn(id, "fourth");
    let waiting = commit_and_fold(&*storage, id, &fourth.change).await;
    assert_eq!(texts(&waiting), ["second", "third", "fourth"]);
    let sent = commit_and_fold(&*storage, id, &send_queued(&second)).await;
    assert_eq!(texts(&sent), ["third", "fourth"]);
    let question = sent.message(second.user_message_id).expect("it is sent");
    assert_eq!(question.parent_id, Some(first.run.message_id));
    assert_eq!(sent.active_run(), Some(second.run.message_id));
    assert_eq!(
        commit_one(&*storage, &send_queued(&second)).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn folded_queue_equals_the_stored_one(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let first = queue_turn(id, "first");
    let [a, b, c] = ["a", "b", "c"].map(|text| queue_turn(id, text));
    for turn in [&first, &a, &b, &c] {
        commit_and_fold(&*storage, id, &turn.change).await;
    }
    let [a, b, c] = [&a, &b, &c].map(|turn| turn.user_message_id);
    let move_before = |message_id, before| QueueChange::Move { message_id, before };
    let edit = |message_id, text: &str| QueueChange::Edit {
        message_id,
        text: text.into(),
    };
    let steps = [
        (edit(b, "B"), ["a", "B", "c"].as_slice()),
        (move_before(c, Some(a)), &["c", "a", "B"]),
        (move_before(c, None), &["a", "B", "c"]),
        (move_before(a, Some(c)), &["B", "a", "c"]),
        (QueueChange::Remove { message_id: b }, &["a", "c"]),
        (edit(c, "C"), &["a", "C"]),
    ];
    for (change, expected) in steps {
        let change = change_queue(id, change);
        let after = commit_and_fold(&*storage, id, &change).await;
        assert_eq!(texts(&after), expected, "{change:?}");
        // A repetition changes nothing, and so is not logged.
        let position = after.as_of;
        let again = commit_and_fold(&*storage, id, &change).await;
        assert_eq!((again.queue, again.as_of), (after.queue, position), "{change:?}");
    }
    let empty = change_queue(id, edit(c, " "));
    assert_eq!(
        commit_one(&*storage, &empty).await,
        Err(ChangeRejection::EmptyMessage)
    );
    let gone = change_queue(id, edit(b, "again"));
    assert_eq!(commit_one(&*storage, &gone).await, Err(ChangeRejection::NotFound));
    let log = serde_json::to_string(&read_log(&*storage, TEST_USER).await).unwrap();
    assert!(
        !log.contains(r#""text":"B""#) && !log.contains(r#""text":"b""#),
        "{log}"
    );
    assert!(log.contains(r#""text":"C""#), "{log}");
}

pub async fn only_a_complete_run_releases_the_queue(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let (first, waiting) = (queue_turn(id, "first"), queue_turn(id, "waiting"));
    commit_and_fold(&*storage, id, &first.change).await;
    commit_and_fold(&*storage, id, &waiting.change).await;
    assert!(
        commit_and_fold(&*storage, id, &stop_run(first.run))
            .await
            .queue
            .held
    );
    assert_eq!(ready(&*storage, id).await, []);
    assert_eq!(
        commit_one(&*storage, &send_queued(&waiting)).await,
        Err(ChangeRejection::NotFound)
    );
    // A new message does not wait for a held queue, and does not release it.
    let second = queue_turn(id, "second");
    let sent = commit_and_fold(&*storage, id, &second.change).await;
    assert_eq!(
        (sent.active_run(), texts(&sent)),
        (Some(second.run.message_id), vec!["waiting"])
    );
    assert!(
        commit_and_fold(&*storage, id, &complete_run(second.run, "2"))
            .await
            .queue
            .held
    );
    let release = change_queue(id, QueueChange::Release);
    assert!(!commit_and_fold(&*storage, id, &release).await.queue.held);
    assert_eq!(ready(&*storage, id).await, [waiting.user_message_id]);
    commit_and_fold(&*storage, id, &send_queued(&waiting)).await;
    // Nothing waits, so nothing is held.
    let stopped = commit_and_fold(&*storage, id, &stop_run(waiting.run)).await;
    assert_eq!(stopped.queue, Default::default());
    // A held queue is no longer held when its last message is removed.
    let [active, last] = ["active", "last"].map(|text| queue_turn(id, text));
    commit_and_fold(&*storage, id, &active.change).await;
    commit_and_fold(&*storage, id, &last.change).await;
    commit_and_fold(&*storage, id, &stop_run(active.run)).await;
    let message_id = last.user_message_id;
    let remove = change_queue(id, QueueChange::Remove { message_id });
    assert_eq!(
        commit_and_fold(&*storage, id, &remove).await.queue,
        Default::default()
    );
}

pub async fn queues_are_limited_and_private(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    for text in ["active", "1", "2"] {
        commit_one(&*storage, &queue_turn(id, text).change).await.unwrap();
    }
    let long = queue_turn(id, &"x".repeat(99));
    assert_eq!(
        commit_one(&*storage, &long.change).await,
        Err(ChangeRejection::QueueFull)
    );
    let third = queue_turn(id, "3");
    commit_one(&*storage, &third.change).await.unwrap();
    let message_id = third.user_message_id;
    let edit = |text: String| change_queue(id, QueueChange::Edit { message_id, text });
    assert!(commit_one(&*storage, &edit("x".repeat(98))).await.is_ok());
    assert_eq!(
        commit_one(&*storage, &edit("x".repeat(99))).await,
        Err(ChangeRejection::QueueFull)
    );
    let fourth = queue_turn(id, "4");
    let full = commit_one(&*storage, &fourth.change).await;
    assert_eq!(full, Err(ChangeRejection::QueueFull));

    let before = full_transcript(&*storage, id).await;
    let foreign = |change| Change::Conversation {
        user_id: other_user(),
        conversation_id: id,
        change: ConversationChange::Queue {
            change,
            limits: LIMITS,
        },
    };
    let text = "mine".into();
    let edit = foreign(QueueChange::Edit { message_id, text });
    assert_eq!(commit_one(&*storage, &edit).await, Err(ChangeRejection::NotFound));
    commit_one(&*storage, &foreign(QueueChange::Remove { message_id }))
        .await
        .unwrap();
    let mut theirs = fourth.change.clone();
    if let Change::Intent {
        user_id,
        change: IntentChange::QueueMessage { .. },
    } = &mut theirs
    {
        *user_id = other_user();
    }
    assert_eq!(
        commit_one(&*storage, &theirs).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(full_transcript(&*storage, id).await, before);
}

pub async fn queues_of_disabled_accounts_wait(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let id = ConversationId::new();
    let first = new_turn(other_user(), id, "first");
    let waiting = queued(new_turn(other_user(), id, "waits"));
    for change in [&first.change, &waiting.change, &complete_run(first.run, "1")] {
        commit_one(&*storage, change).await.unwrap();
    }
    for (is_disabled, ready) in [(true, 0), (false, 1)] {
        let change = AccountChange::SetDisabled {
            user_id: other_user(),
            is_disabled,
        };
        apply(&*storage, change).await.unwrap();
        for queues in [
            Queues::All,
            Queues::OfUser(other_user()),
            Queues::OfConversation(other_user(), id),
        ] {
            let found = storage.ready_messages(queues).await.unwrap();
            assert_eq!(found.len(), ready, "{queues:?}");
        }
    }
    let others = storage.ready_messages(Queues::OfUser(TEST_USER)).await.unwrap();
    assert_eq!(others, []);
}
