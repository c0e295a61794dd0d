//! Damaged numbers: each affects only itself. `STRICT` tables have them only if a page is damaged.

use super::*;

#[tokio::test]
async fn a_damaged_time_is_isolated() {
    let (_folder, storage) = open_storage().await;
    let conversation_id = ConversationId::new();
    let (question, _) = answered_turn(&storage, conversation_id, "Hello").await;
    let sound = load_transcript(&storage, conversation_id).await;
    let listed = storage.conversations(UserId::LOCAL, None, 10).await.unwrap();
    drop_constraints(&storage).await;
    execute_sql(
        &storage,
        format!("UPDATE messages SET created_at = 'x' WHERE id = '{question}'"),
    )
    .await;
    execute_sql(
        &storage,
        "UPDATE conversations SET created_at = 'x', updated_at = 'x', unseen = 'x'".into(),
    )
    .await;
    let mut expected = sound;
    expected.messages[0].created_at = Timestamp(0);
    assert_eq!(load_transcript(&storage, conversation_id).await, expected);
    let mut expected = listed;
    expected.conversations[0].updated_at = Timestamp(0);
    expected.conversations[0].unseen = false;
    assert_eq!(
        storage.conversations(UserId::LOCAL, None, 10).await.unwrap(),
        expected
    );
    let one = storage
        .conversation(UserId::LOCAL, conversation_id)
        .await
        .unwrap();
    assert_eq!(one.expect("it is there").listed, expected.conversations[0]);
}

#[tokio::test]
async fn damaged_positions_are_isolated() {
    let (_folder, storage) = open_storage().await;
    let (change, run) = send_change("Hello");
    commit_one(&storage, change).await;
    let (other, sound) = send_change("Another");
    commit_one(&storage, other).await;
    for text in ["one", "two"] {
        let delta = RunEvent::TextDelta {
            node: 0,
            part: 0,
            offset: 0,
            text: text.into(),
        };
        commit_one(
            &storage,
            Change::Output {
                run,
                output: RunOutput::AppendEvents { events: vec![delta] },
            },
        )
        .await;
    }
    let before = read_log(&storage, None).await;
    drop_constraints(&storage).await;
    let of_run = format!("'{}'", run.message_id);
    execute_sql(
        &storage,
        format!("UPDATE runs SET first_position = 'x', last_position = 'x' WHERE id = {of_run}"),
    )
    .await;
    execute_sql(
        &storage,
        format!(
            "UPDATE events SET position = 'x' WHERE position = {}",
            before.len()
        ),
    )
    .await;

    let at_work = storage.running_runs().await.unwrap();
    let keys: Vec<_> = at_work.iter().map(|run| run.key).collect();
    assert!(keys.contains(&run) && keys.contains(&sound), "{keys:?}");
    let stored = storage.run(UserId::LOCAL, run.message_id).await.unwrap().unwrap();
    assert_eq!((stored.first_position, stored.last_position), (Position(0), None));
    let (_, message) = storage
        .message(UserId::LOCAL, run.message_id)
        .await
        .unwrap()
        .unwrap();
    let answer = message.assistant().unwrap();
    assert_eq!(
        (&*answer.text(), &answer.error),
        ("one", &Some(RunError::damaged(run.message_id)))
    );
    assert_eq!(read_log(&storage, None).await, before[..before.len() - 1]);
}

#[tokio::test]
async fn an_abandoned_run_keeps_unreadable_data() {
    let (_folder, storage) = open_storage().await;
    let (change, run) = send_change("Hello");
    commit_one(&storage, change).await;
    execute_sql(
        &storage,
        format!("UPDATE messages SET body = '{{' WHERE id = '{}'", run.message_id),
    )
    .await;
    let before = read_log(&storage, None).await;
    let mut message = AssistantMessage::damaged(run.message_id, RunStatus::Running);
    message.status = RunStatus::Failed;
    let give_up = Change::Output {
        run,
        output: RunOutput::AbandonRun {
            events: Vec::new(),
            status: RunStatus::Failed,
            message: Some(Box::new(message)),
        },
    };
    commit_one(&storage, give_up).await;
    let mut connection = storage.readers.acquire().await.unwrap();
    let kept: String = query_scalar("SELECT body FROM messages WHERE id = $1")
        .bind_value(run.message_id)
        .fetch_one(&mut connection)
        .await
        .unwrap();
    assert_eq!(kept, "{");
    // The log is unchanged, and no client waits for an event that is not in it.
    assert_eq!(read_log(&storage, None).await, before);
    let stored = storage.run(UserId::LOCAL, run.message_id).await.unwrap().unwrap();
    assert_eq!(stored.status, RunStatus::Failed);
    assert!(
        stored
            .last_position
            .is_some_and(|last| last < stored.first_position)
    );
}

#[tokio::test]
async fn a_damaged_time_of_deletion_erases_nothing() {
    let (_folder, storage) = open_storage().await;
    let ids = [ConversationId::new(), ConversationId::new()];
    let change = |conversation_id, change| Change::Conversation {
        user_id: UserId::LOCAL,
        conversation_id,
        change,
    };
    for id in ids {
        answered_turn(&storage, id, "Hello").await;
        let trash = ConversationChange::Trash { trashed_at: NOON };
        commit_one(&storage, change(id, trash)).await;
    }
    drop_constraints(&storage).await;
    let [damaged, sound] = ids;
    execute_sql(
        &storage,
        format!("UPDATE conversations SET trashed_at = 'x' WHERE id = '{damaged}'"),
    )
    .await;
    let trashed = storage.trashed_conversations().await.unwrap();
    let trashed: Vec<_> = trashed.iter().map(|trashed| trashed.conversation_id).collect();
    assert_eq!(trashed, [sound]);
    for trashed_at in [NOON, Timestamp(0)] {
        commit_one(
            &storage,
            change(damaged, ConversationChange::Erase { trashed_at }),
        )
        .await;
    }
    assert!(storage.is_trashed(UserId::LOCAL, damaged).await.unwrap());
    commit_one(&storage, change(damaged, ConversationChange::Restore)).await;
    assert!(!storage.is_trashed(UserId::LOCAL, damaged).await.unwrap());
}
