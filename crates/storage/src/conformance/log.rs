//! The log: folding it gives the stored state, trimming it is safe, and it survives a restart.

use std::ops::Range;

use super::*;

pub async fn folded_log_equals_stored_state_at_every_step(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "Hello there");
    let second = new_turn(TEST_USER, conversation_id, "And again");
    let steps = [
        first.change.clone(),
        Change::Output {
            run: first.run,
            output: RunOutput::AppendEvents {
                events: vec![RunEvent::Status {
                    message: "Thinking...".into(),
                }],
            },
        },
        Change::Output {
            run: first.run,
            output: RunOutput::AppendEvents {
                events: vec![text(0, "Hi ")],
            },
        },
        Change::Output {
            run: first.run,
            output: RunOutput::StoreMessage {
                message: answer_message("Hi "),
            },
        },
        Change::Output {
            run: first.run,
            output: RunOutput::AppendEvents {
                events: vec![text(3, "Ann")],
            },
        },
        end_run(first.run, "Hi Ann"),
        Change::Conversation {
            user_id: TEST_USER,
            conversation_id,
            change: ConversationChange::Rename {
                title: "Greetings".into(),
            },
        },
        second.change.clone(),
        Change::Output {
            run: second.run,
            output: RunOutput::AppendEvents {
                events: vec![text(0, "Yes")],
            },
        },
        Change::Conversation {
            user_id: TEST_USER,
            conversation_id,
            change: ConversationChange::ChooseModel {
                model: "x/other".into(),
            },
        },
        end_run(second.run, "Yes"),
    ];
    for step in &steps {
        commit_one(&*storage, step).await.expect("the step is fine");
        let stored = full_transcript(&*storage, conversation_id)
            .await
            .expect("it is there");
        let mut folded = folded_transcript(&*storage, conversation_id).await;
        folded.truncate_to_newest(usize::MAX);
        assert_eq!(stored, folded, "after {step:?}");
    }
    let positions: Vec<u64> = read_log(&*storage, TEST_USER)
        .await
        .iter()
        .map(|event| event.position.0)
        .collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
}

/// More than a text for the database holds, of two logs in turn.
pub async fn one_commit_logs_many_events(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turns = [TEST_USER, other_user()].map(|user| new_turn(user, ConversationId::new(), "Count"));
    let mut before = Vec::new();
    for turn in &turns {
        commit_one(&*storage, &turn.change).await.expect("it starts");
        before.push(read_log(&*storage, turn.run.user_id).await.len());
    }
    let status = |number: usize| RunEvent::Status {
        message: number.to_string(),
    };
    let append = |turn: &TestTurn, numbers: Range<usize>| Change::Output {
        run: turn.run,
        output: RunOutput::AppendEvents {
            events: numbers.map(status).collect(),
        },
    };
    let [first, second] = &turns;
    let changes = [
        append(first, 0..7),
        append(second, 0..25),
        append(first, 7..230),
        append(second, 25..33),
    ];
    let committed = storage.commit(NOON, &changes).await.expect("storage works");
    assert!(committed.outcomes.iter().all(Result::is_ok));
    for ((turn, count), before) in turns.iter().zip([230, 33]).zip(before) {
        let log = read_log(&*storage, turn.run.user_id).await;
        let positions: Vec<u64> = log.iter().map(|event| event.position.0).collect();
        assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
        let logged: Vec<&EventBody> = log[before..].iter().map(|event| &event.body).collect();
        let expected: Vec<EventBody> = (0..count).map(|number| status(number).into()).collect();
        assert_eq!(logged.len(), expected.len());
        assert_eq!(logged, expected.iter().collect::<Vec<_>>());
    }
}

pub async fn trimming_keeps_events_of_running_runs(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let done = new_turn(TEST_USER, ConversationId::new(), "done");
    let running = new_turn(TEST_USER, ConversationId::new(), "at work");
    commit_one(&*storage, &done.change).await.unwrap();
    commit_one(&*storage, &end_run(done.run, "answer")).await.unwrap();
    commit_one(&*storage, &running.change).await.unwrap();
    commit_one(
        &*storage,
        &Change::Output {
            run: running.run,
            output: RunOutput::AppendEvents {
                events: vec![text(0, "still here")],
            },
        },
    )
    .await
    .unwrap();
    let head = storage.last_position(TEST_USER).await.unwrap();
    let first = storage
        .run(TEST_USER, running.run.message_id)
        .await
        .unwrap()
        .unwrap()
        .first_position;

    storage.trim_log(Timestamp(NOON.0 + 1), 0).await.unwrap();
    let after = Position(first.0 - 1);
    let LogPage::Events { events: left, .. } =
        storage.events_after(TEST_USER, after, None, 100).await.unwrap()
    else {
        panic!("the run's own events were trimmed")
    };
    assert_eq!(
        (left[0].event.position, left.last().unwrap().event.position),
        (first, head)
    );
    assert_eq!(
        storage
            .events_after(TEST_USER, Position(0), None, 100)
            .await
            .unwrap(),
        LogPage::Reset
    );
    assert_eq!(
        storage
            .events_after(TEST_USER, Position(head.0 + 1), None, 100)
            .await
            .unwrap(),
        LogPage::Reset
    );
    // Messages stay complete after the log was trimmed.
    let (_, message) = storage
        .message(TEST_USER, done.run.message_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(message.assistant().unwrap().text(), "answer");
    let (_, message) = storage
        .message(TEST_USER, running.run.message_id)
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

pub async fn everything_survives_a_restart(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "remember me");
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(
        &*storage,
        &Change::Output {
            run: turn.run,
            output: RunOutput::AppendEvents {
                events: vec![text(0, "I wi")],
            },
        },
    )
    .await
    .unwrap();
    let before = full_transcript(&*storage, turn.run.conversation_id).await;
    let second = backend.open(folder.path()).await;
    assert!(matches!(second, Err(StorageError::InUse)));
    storage.close().await.unwrap();
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert_eq!(full_transcript(&*storage, turn.run.conversation_id).await, before);
    let left = storage.running_runs().await.unwrap();
    assert_eq!(left.iter().map(|run| run.key).collect::<Vec<_>>(), [turn.run]);
}
