//! Turns: sending, answering once more, going on; each once.

use super::*;

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
        looking: None,
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
        looking: None,
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
    let shown = whole(&*storage, conversation_id).await.unwrap();
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
            looking: None,
            run: MessageId::new(),
            default_model: String::new(),
            parameters: None,
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
    let shown = whole(&*storage, conversation_id).await.unwrap();
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
        Change::SelectBranch {
            user_id,
            conversation_id,
            through: turn_of_ann.user_message_id,
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
    assert!(whole(&*storage, conversation_id).await.is_some());
    assert_eq!(
        storage
            .transcript(user_id, conversation_id, PageSize::WHOLE, None)
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
    assert_eq!(log(&*storage, user_id).await, []);
    assert!(whole(&*storage, conversation_id).await.is_some());
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
        let event = EventBody::ended(RunStatus::Stopped, None, NOON, 0);
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
    let stored = whole(&*storage, conversation_id).await.unwrap();
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
