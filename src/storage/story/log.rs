//! The log: what it folds to, how it is trimmed, that it survives.

use super::*;

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
            events: vec![text(0, "Hi ")],
        },
        Change::Store {
            run: first.run,
            message: saying("Hi "),
        },
        Change::Append {
            run: first.run,
            events: vec![text(3, "Ann")],
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
    ];
    for step in &steps {
        do_one(&*storage, step).await.expect("the step is fine");
        let stored = whole(&*storage, conversation_id).await.expect("it is there");
        let mut folded = folded(&*storage, conversation_id).await;
        folded.keep_newest(usize::MAX);
        assert_eq!(stored, folded, "after {step:?}");
    }
    let positions: Vec<u64> = log(&*storage, ANN)
        .await
        .iter()
        .map(|event| event.position.0)
        .collect();
    assert_eq!(positions, (1..=positions.len() as u64).collect::<Vec<_>>());
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
    let before = whole(&*storage, turn.run.conversation_id).await;
    let second = sqlite::Sqlite::open(folder.path()).await;
    assert!(matches!(second, Err(StorageError::InUse)), "{second:?}");
    storage.close().await.unwrap();
    drop(storage);
    let storage = sqlite::Sqlite::open(folder.path()).await.unwrap();
    assert_eq!(whole(&storage, turn.run.conversation_id).await, before);
    let left = storage.runs_at_work().await.unwrap();
    assert_eq!(left.iter().map(|run| run.key).collect::<Vec<_>>(), [turn.run]);
}
