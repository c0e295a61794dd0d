//! Turns: sending, regenerating and continuing, each applied once.

use super::*;

pub async fn a_repeated_intent_is_applied_once(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn = new_turn(TEST_USER, ConversationId::new(), "once");
    let started = StartedRun {
        conversation_id: turn.run.conversation_id,
        user_message_id: turn.user_message_id,
        assistant_message_id: turn.run.message_id,
    };
    assert_eq!(
        commit_one(&*storage, &turn.change).await,
        Ok(Outcome::Started {
            started,
            again: false
        })
    );
    let before = read_log(&*storage, TEST_USER).await;

    let Change::Intent {
        user_id,
        change: IntentChange::SendMessage { intent, start },
    } = turn.change
    else {
        unreachable!()
    };
    let retried = RunStart {
        context_snapshot: None,
        run: MessageId::new(),
        ..start.clone()
    };
    let again = Change::Intent {
        user_id,
        change: IntentChange::SendMessage {
            intent: intent.clone(),
            start: retried,
        },
    };
    assert_eq!(
        commit_one(&*storage, &again).await,
        Ok(Outcome::Started { started, again: true })
    );
    let other = RunStart {
        context_snapshot: None,
        run: MessageId::new(),
        fingerprint: "other".into(),
        ..start
    };
    let other = Change::Intent {
        user_id,
        change: IntentChange::SendMessage { intent, start: other },
    };
    assert_eq!(
        commit_one(&*storage, &other).await,
        Err(ChangeRejection::IntentReused)
    );
    assert_eq!(read_log(&*storage, TEST_USER).await, before);
}

pub async fn a_second_active_run_is_rejected_alone(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "first");
    let second = new_turn(TEST_USER, conversation_id, "second");
    let elsewhere = new_turn(TEST_USER, ConversationId::new(), "elsewhere");
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
            Err(ChangeRejection::RunActive),
            Ok(Outcome::Started { .. })
        ]
    ));
    let positions: Vec<u64> = committed
        .events
        .iter()
        .map(|logged| logged.event.position.0)
        .collect();
    assert_eq!(positions, [1, 2, 3, 4, 5, 6]);
    let shown = full_transcript(&*storage, conversation_id).await.unwrap();
    assert_eq!(
        shown.messages.len(),
        2,
        "nothing of the rejected message is stored"
    );
    // After the first run has ended, the second message is accepted.
    commit_one(&*storage, &end_run(first.run, "1")).await.unwrap();
    assert!(commit_one(&*storage, &second.change).await.is_ok());
}

pub async fn regenerating_shows_a_new_sibling(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let first = new_turn(TEST_USER, ConversationId::new(), "question");
    commit_one(&*storage, &first.change).await.unwrap();
    commit_one(&*storage, &end_run(first.run, "one")).await.unwrap();
    let conversation_id = first.run.conversation_id;
    let regenerate = |message_id| Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::Regenerate {
            intent: intent::Regenerate {
                intent_id: IntentId::new(),
                conversation_id,
                message_id,
                model: None,
            },
            start: RunStart {
                context_snapshot: None,
                run: MessageId::new(),
                default_model: String::new(),
                parameters: None,
                fingerprint: "r".into(),
            },
        },
    };
    let outcome = commit_one(&*storage, &regenerate(first.run.message_id)).await;
    let Ok(Outcome::Started {
        started,
        again: false,
    }) = outcome
    else {
        panic!("{outcome:?}")
    };
    let shown = full_transcript(&*storage, conversation_id).await.unwrap();
    let second = shown.message(started.assistant_message_id).unwrap();
    assert_eq!(shown.siblings(second), [first.run.message_id, second.id]);
    assert_eq!(
        (shown.active_leaf, second.assistant().unwrap().model.as_str()),
        (Some(second.id), "x/m")
    );
    assert_eq!(
        commit_one(&*storage, &regenerate(first.user_message_id)).await,
        Err(ChangeRejection::NotFound)
    );
}

pub async fn other_users_data_is_not_found(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turn_of_ann = new_turn(TEST_USER, ConversationId::new(), "mine");
    commit_one(&*storage, &turn_of_ann.change).await.unwrap();
    commit_one(&*storage, &end_run(turn_of_ann.run, "yours"))
        .await
        .unwrap();
    let conversation_id = turn_of_ann.run.conversation_id;
    let user_id = other_user();
    let changes = [
        new_turn(user_id, conversation_id, "intruder").change,
        Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::Rename { title: "x".into() },
        },
        Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::ChooseModel { model: "x".into() },
        },
        Change::Conversation {
            user_id,
            conversation_id,
            change: ConversationChange::SelectBranch {
                through: turn_of_ann.user_message_id,
            },
        },
        Change::Intent {
            user_id,
            change: IntentChange::ContinueRun {
                intent: intent::ContinueRun {
                    intent_id: IntentId::new(),
                    conversation_id,
                    message_id: turn_of_ann.run.message_id,
                },
                fingerprint: String::new(),
            },
        },
    ];
    for change in &changes {
        assert_eq!(
            commit_one(&*storage, change).await,
            Err(ChangeRejection::NotFound),
            "{change:?}"
        );
    }
    // Deleting a missing conversation is no error and logs no event.
    let delete = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::Delete,
    };
    assert_eq!(
        commit_one(&*storage, &delete).await,
        Ok(Outcome::Deleted { active_run: None })
    );
    assert!(full_transcript(&*storage, conversation_id).await.is_some());
    assert_eq!(
        storage
            .transcript(user_id, conversation_id, PageSize::UNLIMITED, None)
            .await
            .unwrap(),
        None
    );
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
    assert_eq!(read_log(&*storage, user_id).await, []);
    assert!(full_transcript(&*storage, conversation_id).await.is_some());
}

pub async fn only_a_cut_off_last_answer_continues(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let turn_of = |text| new_turn(TEST_USER, conversation_id, text);
    let continue_run = |run: RunKey| Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::ContinueRun {
            intent: intent::ContinueRun {
                intent_id: IntentId::new(),
                conversation_id,
                message_id: run.message_id,
            },
            fingerprint: String::new(),
        },
    };
    let stop = |run: RunKey, answer: &str| {
        let event = RunEvent::run_ended(RunStatus::Stopped, None, NOON, 0);
        let mut message = AssistantMessage::new("x/m");
        transcript::apply_to_run(&mut message, &text(0, answer));
        transcript::apply_to_run(&mut message, &event);
        Change::Output {
            run,
            output: RunOutput::EndRun {
                events: vec![text(0, answer), event],
                message,
            },
        }
    };
    let first = turn_of("one");
    commit_one(&*storage, &first.change).await.unwrap();
    assert_eq!(
        commit_one(&*storage, &continue_run(first.run)).await,
        Err(ChangeRejection::RunActive)
    );
    commit_one(&*storage, &stop(first.run, "half")).await.unwrap();
    let continued = commit_one(&*storage, &continue_run(first.run)).await;
    assert!(
        matches!(continued, Ok(Outcome::Started { started, again: false })
            if started.assistant_message_id == first.run.message_id),
        "{continued:?}"
    );
    assert_eq!(
        commit_one(&*storage, &turn_of("meanwhile").change).await,
        Err(ChangeRejection::RunActive)
    );
    let more = RunEvent::TextDelta {
        node: 1,
        part: 0,
        offset: 0,
        text: " and half".into(),
    };
    let append = Change::Output {
        run: first.run,
        output: RunOutput::AppendEvents { events: vec![more] },
    };
    commit_one(&*storage, &append).await.unwrap();
    let stored = full_transcript(&*storage, conversation_id).await.unwrap();
    assert_eq!(stored.messages[1].assistant().unwrap().text(), "half and half");
    assert_eq!(stored, folded_transcript(&*storage, conversation_id).await);

    commit_one(&*storage, &end_run(first.run, "half and half"))
        .await
        .unwrap();
    assert_eq!(
        commit_one(&*storage, &continue_run(first.run)).await,
        Err(ChangeRejection::NotContinuable)
    );
    let second = turn_of("two");
    commit_one(&*storage, &second.change).await.unwrap();
    commit_one(&*storage, &stop(second.run, "cut")).await.unwrap();
    let third = turn_of("three");
    commit_one(&*storage, &third.change).await.unwrap();
    commit_one(&*storage, &end_run(third.run, "whole")).await.unwrap();
    assert_eq!(
        commit_one(&*storage, &continue_run(second.run)).await,
        Err(ChangeRejection::NotContinuable),
        "a later message follows"
    );
}

pub async fn another_version_of_a_message_is_a_sibling(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let first = new_turn(TEST_USER, conversation_id, "first");
    let second = new_turn(TEST_USER, conversation_id, "second");
    for turn in [&first, &second] {
        commit_one(&*storage, &turn.change).await.unwrap();
        commit_one(&*storage, &answer_run(turn.run, "answer", RunStatus::Complete))
            .await
            .unwrap();
    }
    // Of the last message and of the first one, which has no parent.
    for (replaced, parent, branch) in [
        (
            &second,
            Some(first.run.message_id),
            ["first", "better"].as_slice(),
        ),
        (&first, None, &["better"]),
    ] {
        let version = new_version(conversation_id, replaced.user_message_id, "better");
        let stored = commit_and_fold(&*storage, conversation_id, &version.change).await;
        let message = stored.message(version.user_message_id).unwrap();
        assert_eq!(message.parent_id, parent);
        assert_eq!(
            stored.siblings(message),
            [replaced.user_message_id, version.user_message_id]
        );
        let texts: Vec<_> = stored
            .shown_branch()
            .into_iter()
            .filter_map(|message| match &message.body {
                MessageBody::User { text, .. } => Some(&**text),
                _ => None,
            })
            .collect();
        assert_eq!(texts, branch);
        commit_one(&*storage, &answer_run(version.run, "answer", RunStatus::Complete))
            .await
            .unwrap();
    }
    // The other versions are one choice away.
    let select = Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::SelectBranch {
            through: first.user_message_id,
        },
    };
    commit_one(&*storage, &select).await.unwrap();
    let shown = full_transcript(&*storage, conversation_id).await.unwrap();
    let ids = shown.shown_branch().into_iter().map(|message| message.id);
    let first_two = [first.user_message_id, first.run.message_id];
    assert_eq!(ids.take(2).collect::<Vec<_>>(), first_two);
    // Neither an answer nor a message of another conversation has versions by the user.
    let elsewhere = new_turn(TEST_USER, ConversationId::new(), "elsewhere");
    commit_one(&*storage, &elsewhere.change).await.unwrap();
    for replaced in [first.run.message_id, elsewhere.user_message_id, MessageId::new()] {
        let rejected = commit_one(&*storage, &new_version(conversation_id, replaced, "no").change).await;
        assert_eq!(rejected, Err(ChangeRejection::NotFound));
    }
}
