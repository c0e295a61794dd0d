//! Deleted data and other users' data is not found.

use super::*;

pub async fn deleting_a_conversation_leaves_only_positions(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "a secret");
    commit_one(&*storage, &turn.change).await.unwrap();
    commit_one(
        &*storage,
        &Change::Output {
            run: turn.run,
            output: RunOutput::AppendEvents {
                events: vec![text(0, "kept secret")],
            },
        },
    )
    .await
    .unwrap();
    let before = read_log(&*storage, TEST_USER).await.len();
    let conversation_id = turn.run.conversation_id;
    commit_one(
        &*storage,
        &Change::Conversation {
            user_id: TEST_USER,
            conversation_id,
            change: ConversationChange::Delete,
        },
    )
    .await
    .unwrap();

    // The run's further output is dropped, and so is its end.
    let late = [
        Change::Output {
            run: turn.run,
            output: RunOutput::AppendEvents {
                events: vec![text(11, " too")],
            },
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
            .all(|event| event.body == EventBody::Placeholder(Placeholder::Empty)
                && event.message_id.is_none())
    );
    assert_eq!(log[before].body, ConversationEvent::ConversationDeleted.into());
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
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::Delete,
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
        Some(&ConversationEvent::ConversationDeleted.into()),
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

pub fn hide(conversation_id: ConversationId, message_id: MessageId) -> Change {
    Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::DeleteMessage {
            message_id,
            hidden_at: NOON,
        },
    }
}

pub fn restore(conversation_id: ConversationId, message_id: MessageId) -> Change {
    Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::RestoreMessage { message_id },
    }
}

pub fn erase(conversation_id: ConversationId, message_id: MessageId) -> Change {
    Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::EraseMessage {
            message_id,
            hidden_at: NOON,
        },
    }
}

pub async fn hidden_message_is_restored_or_erased(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let turns = ["kept", "a secret", "a later secret"].map(|text| new_turn(TEST_USER, id, text));
    for turn in &turns {
        commit_one(&*storage, &turn.change).await.unwrap();
        assert_eq!(
            commit_one(&*storage, &hide(id, turn.user_message_id)).await,
            Err(ChangeRejection::RunActive)
        );
        commit_one(
            &*storage,
            &answer_run(turn.run, "the answer", RunStatus::Complete),
        )
        .await
        .unwrap();
    }
    let all = full_transcript(&*storage, id).await.unwrap();
    let [first, second, third] = &turns;

    // Another user can't hide it.
    let foreign = Change::Conversation {
        user_id: other_user(),
        conversation_id: id,
        change: ConversationChange::DeleteMessage {
            message_id: second.user_message_id,
            hidden_at: NOON,
        },
    };
    let unchanged = commit_and_fold(&*storage, id, &foreign).await;
    assert_eq!(unchanged, all);
    assert_eq!(storage.hidden_messages().await.unwrap(), []);

    let hidden = commit_and_fold(&*storage, id, &hide(id, second.user_message_id)).await;
    assert_eq!(hidden.messages, all.messages[..2]);
    assert_eq!(hidden.active_leaf, Some(first.run.message_id));
    let keys: Vec<_> = storage.hidden_messages().await.unwrap();
    assert_eq!(keys, [((TEST_USER, id, second.user_message_id), NOON)]);
    // Repeated, it changes nothing.
    let again = commit_and_fold(&*storage, id, &hide(id, second.user_message_id)).await;
    assert_eq!(again.as_of, hidden.as_of);
    // Another user can't restore it.
    let foreign = Change::Conversation {
        user_id: other_user(),
        conversation_id: id,
        change: ConversationChange::RestoreMessage {
            message_id: second.user_message_id,
        },
    };
    assert_eq!(
        commit_one(&*storage, &foreign).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(full_transcript(&*storage, id).await.as_ref(), Some(&again));

    commit_one(&*storage, &restore(id, second.user_message_id))
        .await
        .unwrap();
    let restored = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(
        (&restored.messages, restored.active_leaf),
        (&all.messages, all.active_leaf)
    );
    // A message that is shown is not erased.
    commit_one(&*storage, &erase(id, second.user_message_id))
        .await
        .unwrap();
    assert_eq!(
        full_transcript(&*storage, id).await.unwrap().messages,
        all.messages
    );

    commit_one(&*storage, &hide(id, second.user_message_id))
        .await
        .unwrap();
    // The time of an earlier deletion, which was undone, is over.
    let outdated = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::EraseMessage {
            message_id: second.user_message_id,
            hidden_at: Timestamp(NOON.0 - 1),
        },
    };
    assert_eq!(commit_one(&*storage, &outdated).await, Ok(Outcome::Done));
    reject_changes_of_hidden(&*storage, id, second, third).await;
    let erased = commit_one(&*storage, &erase(id, second.user_message_id)).await;
    assert_eq!(erased, Ok(Outcome::DataDeleted));
    assert_eq!(
        full_transcript(&*storage, id).await.unwrap().messages,
        all.messages[..2]
    );
    let log = serde_json::to_string(&read_log(&*storage, TEST_USER).await).unwrap();
    assert!(
        log.contains("kept") && !log.contains("a secret") && !log.contains("a later secret"),
        "{log}"
    );
    let run = storage.run(TEST_USER, third.run.message_id).await.unwrap();
    assert_eq!(run, None);
    let late = restore(id, second.user_message_id);
    assert_eq!(commit_one(&*storage, &late).await, Err(ChangeRejection::NotFound));
    // The conversation can be continued, also after its first message is gone.
    commit_one(&*storage, &hide(id, first.user_message_id))
        .await
        .unwrap();
    let next = new_turn(TEST_USER, id, "next");
    commit_one(&*storage, &next.change).await.unwrap();
    commit_one(&*storage, &erase(id, first.user_message_id))
        .await
        .unwrap();
    let left = full_transcript(&*storage, id).await.unwrap();
    let ids: Vec<_> = left.messages.iter().map(|message| message.id).collect();
    assert_eq!(ids, [next.user_message_id, next.run.message_id]);
    // The title was the beginning of the first message.
    let log = serde_json::to_string(&read_log(&*storage, TEST_USER).await).unwrap();
    assert!(!log.contains("kept"), "{log}");
    let page = storage.conversations(TEST_USER, None, 10).await.unwrap();
    assert_eq!(page.conversations[0].title, "next");
}

/// Asserts that nothing below a hidden message can be changed: the change would be erased with it.
async fn reject_changes_of_hidden(
    storage: &dyn Storage,
    id: ConversationId,
    hidden: &TestTurn,
    below: &TestTurn,
) {
    let version = new_version(id, below.user_message_id, "another version");
    let regenerate = regenerate(below.run, version.run);
    let select = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::SelectBranch {
            through: below.run.message_id,
        },
    };
    for change in [version.change, regenerate, select] {
        assert_eq!(
            commit_one(storage, &change).await,
            Err(ChangeRejection::NotFound),
            "{change:?}"
        );
    }
    // Deleted too, it stays hidden with the message before it.
    commit_one(storage, &hide(id, below.user_message_id))
        .await
        .unwrap();
    let early = restore(id, below.user_message_id);
    assert_eq!(commit_one(storage, &early).await, Err(ChangeRejection::NotFound));
    let keys = storage.hidden_messages().await.unwrap();
    let is_hidden = |message| keys.contains(&((TEST_USER, id, message), NOON));
    assert!(is_hidden(hidden.user_message_id) && is_hidden(below.user_message_id));
}

pub async fn deleting_a_version_shows_the_other(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = ConversationId::new();
    let first = new_turn(TEST_USER, id, "first");
    let version = new_version(id, first.user_message_id, "another version");
    for turn in [&first, &version] {
        commit_one(&*storage, &turn.change).await.unwrap();
        commit_one(&*storage, &end_run(turn.run, "answer")).await.unwrap();
    }
    commit_one(&*storage, &hide(id, version.user_message_id))
        .await
        .unwrap();
    let shown = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(shown.active_leaf, Some(first.run.message_id));
    assert_eq!(shown.siblings(&shown.messages[0]), [first.user_message_id]);
    let select = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: id,
        change: ConversationChange::SelectBranch {
            through: version.user_message_id,
        },
    };
    assert_eq!(
        commit_one(&*storage, &select).await,
        Err(ChangeRejection::NotFound)
    );
    // A version that is not shown is deleted without moving the branch.
    commit_one(&*storage, &restore(id, version.user_message_id))
        .await
        .unwrap();
    commit_one(&*storage, &hide(id, first.user_message_id))
        .await
        .unwrap();
    let shown = full_transcript(&*storage, id).await.unwrap();
    assert_eq!(shown.active_leaf, Some(version.run.message_id));
    assert_eq!(shown.siblings(&shown.messages[0]), [version.user_message_id]);
}
