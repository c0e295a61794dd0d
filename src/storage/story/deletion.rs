//! What is deleted, and what is somebody else's, is not there.

use super::*;

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
    assert_eq!(whole(&*storage, conversation_id).await, None);
    assert_eq!(storage.message(ANN, turn.run.message_id).await.unwrap(), None);
    assert_eq!(storage.run(ANN, turn.run.message_id).await.unwrap(), None);
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
    let log_now = log(&*storage, ANN).await;
    assert_eq!(
        log_now.last().map(|event| &event.body),
        Some(&EventBody::ConversationDeleted),
        "who was away hears of it"
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
    assert_eq!(whole(&*storage, conversation_id).await, None);
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
