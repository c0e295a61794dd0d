//! Deleted data and other users' data is not found.

use super::*;

pub async fn deleting_a_conversation_leaves_only_positions(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "a secret");
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(
        &*storage,
        &Change::AppendEvents {
            run: turn.run,
            events: vec![text(0, "kept secret")],
        },
    )
    .await
    .unwrap();
    let before = read_log(&*storage, TEST_USER).await.len();
    let conversation_id = turn.run.conversation_id;
    commit_one(
        &*storage,
        &Change::DeleteConversation {
            user_id: TEST_USER,
            conversation_id,
        },
    )
    .await
    .unwrap();

    // The run's further output is dropped, and so is its end.
    let late = [
        Change::AppendEvents {
            run: turn.run,
            events: vec![text(11, " too")],
        },
        end_run(turn.run, "late"),
    ];
    for change in &late {
        assert_eq!(
            commit_one(&*storage, change).await,
            Err(ChangeRejection::NotFound)
        );
    }
    let log = read_log(&*storage, TEST_USER).await;
    assert_eq!(log.len(), before + 1);
    assert!(
        log[..before]
            .iter()
            .all(|event| event.body == EventBody::Empty && event.message_id.is_none())
    );
    assert_eq!(log[before].body, EventBody::ConversationDeleted);
    assert_eq!(full_transcript(&*storage, conversation_id).await, None);
    assert_eq!(
        storage.message(TEST_USER, turn.run.message_id).await.unwrap(),
        None
    );
    assert_eq!(storage.run(TEST_USER, turn.run.message_id).await.unwrap(), None);
}

pub async fn deleted_data_does_not_come_back(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "secret");
    commit_one(&*storage, &first.change).await.unwrap();
    let delete = Change::DeleteConversation {
        user_id: TEST_USER,
        conversation_id,
    };
    let active_run = Some(first.run.message_id);
    assert_eq!(
        commit_one(&*storage, &delete).await,
        Ok(Outcome::Deleted { active_run })
    );
    assert_eq!(
        commit_one(&*storage, &delete).await,
        Ok(Outcome::Deleted { active_run: None }),
        "deleting twice has no further effect"
    );
    let log_now = read_log(&*storage, TEST_USER).await;
    assert_eq!(
        log_now.last().map(|event| &event.body),
        Some(&EventBody::ConversationDeleted),
        "a client that was away gets the deletion"
    );
    // The same message again, from a client that got no response.
    let again = commit_one(&*storage, &first.change).await;
    assert!(
        matches!(again, Ok(Outcome::Started { again: true, .. })),
        "{again:?}"
    );
    // A new message, from a tab that has not received the deletion.
    let stale = new_turn(TEST_USER, conversation_id, "and another thing");
    assert_eq!(
        commit_one(&*storage, &stale.change).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(full_transcript(&*storage, conversation_id).await, None);
    assert_eq!(
        storage
            .conversations(TEST_USER, None, 10)
            .await
            .unwrap()
            .conversations,
        []
    );
    let log = read_log(&*storage, TEST_USER).await;
    assert!(
        !serde_json::to_string(&log).unwrap().contains("secret"),
        "{log:?}"
    );
}
