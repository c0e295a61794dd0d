//! What an answer offers, and what the person does with it.

use super::*;
use crate::protocol::{ActionHandler, ActionStyle, Interaction, Json, Judged, SuggestedAction, Verdict};

/// A turn of Ann's that has ended, whose answer suggests two actions and has made two payloads.
async fn offering(storage: &dyn Storage) -> RunKey {
    let turn = turn(ANN, ConversationId::new(), "Hello");
    let run = turn.run;
    let action = |handler| SuggestedAction {
        label: "Do it".into(),
        action: "do_it".into(),
        handler,
        data: None,
        style: ActionStyle::Primary,
        taken: false,
    };
    let suggested = EventBody::SuggestedActions {
        actions: vec![action(ActionHandler::Client), action(ActionHandler::Server)],
    };
    let ended = EventBody::ended(RunStatus::Complete, None, NOON, 0);
    let payload = |payload_id: &str| Payload {
        payload_id: payload_id.into(),
        kind: "query_suggestion".into(),
        summary: "Query suggestion".into(),
        data: Json::or_string("{}"),
    };
    // What is in no answer goes with the run's end.
    let made = |part, payload_id: &str| EventBody::PayloadMade {
        node: 0,
        part,
        payload: payload(payload_id).reference(),
    };
    let events = vec![made(0, "one"), made(1, "two"), suggested, ended];
    let mut message = AssistantMessage::started("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let keep = |payload_id: &str| Change::Keep {
        run,
        payload: payload(payload_id),
    };
    let end = Change::End { run, events, message };
    for change in [turn.change, keep("one"), keep("two"), end] {
        do_one(storage, &change).await.expect("done");
    }
    run
}

fn judge(user_id: UserId, run: RunKey, payload_id: &str, verdict: Verdict) -> Change {
    let intent = intent::Judge {
        intent_id: IntentId::new(),
        conversation_id: run.conversation_id,
        payload_id: payload_id.into(),
        verdict,
    };
    Change::Judge {
        user_id,
        intent,
        fingerprint: payload_id.into(),
    }
}

fn take(user_id: UserId, run: RunKey, index: usize) -> Change {
    let intent = intent::TakeAction {
        intent_id: IntentId::new(),
        conversation_id: run.conversation_id,
        message_id: run.message_id,
        index,
    };
    Change::TakeAction {
        user_id,
        intent,
        fingerprint: index.to_string(),
    }
}

fn judged(payload_id: &str, verdict: Verdict) -> Judged {
    Judged {
        payload_id: payload_id.into(),
        verdict,
    }
}

#[tokio::test]
async fn the_first_verdict_counts_and_the_log_folds_to_it() {
    let (_folder, storage) = sqlite().await;
    let run = offering(&*storage).await;
    let before = log(&*storage, ANN).await.len();
    let first = judge(ANN, run, "two", Verdict::Rejected);
    for change in [
        &first,
        &first,
        &judge(ANN, run, "two", Verdict::Accepted),
        &judge(ANN, run, "one", Verdict::Accepted),
    ] {
        assert_eq!(do_one(&*storage, change).await, Ok(Outcome::Done));
    }
    assert_eq!(log(&*storage, ANN).await.len(), before + 2);
    let expected = [judged("two", Verdict::Rejected), judged("one", Verdict::Accepted)];
    let stored = whole(&*storage, run.conversation_id).await.expect("it is there");
    assert_eq!(stored.verdicts, expected);
    assert_eq!(folded(&*storage, run.conversation_id).await, stored);
    assert_eq!(
        storage.verdicts(ANN, run.conversation_id).await.unwrap(),
        expected
    );

    // The same id for something else.
    let Change::Judge { user_id, intent, .. } = first else {
        unreachable!()
    };
    let reused = Change::Judge {
        user_id,
        intent,
        fingerprint: "other".into(),
    };
    assert_eq!(do_one(&*storage, &reused).await, Err(Refusal::IntentReused));
}

#[tokio::test]
async fn what_comes_of_a_button_is_kept_as_it_was_offered() {
    let (_folder, storage) = sqlite().await;
    let asked = turn(ANN, ConversationId::new(), "Hello");
    do_one(&*storage, &asked.change).await.unwrap();
    let offered = SuggestedAction {
        label: "Pay".into(),
        action: "pay".into(),
        handler: ActionHandler::Server,
        data: Some(r#"{"to":"Ann"}"#.into()),
        style: ActionStyle::Primary,
        taken: false,
    };
    let events = vec![
        EventBody::SuggestedActions {
            actions: vec![offered.clone()],
        },
        EventBody::ended(RunStatus::Complete, None, NOON, 0),
    ];
    let mut message = AssistantMessage::started("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let end = Change::End {
        run: asked.run,
        events,
        message,
    };
    do_one(&*storage, &end).await.unwrap();
    let mut pressed = turn(ANN, asked.run.conversation_id, "Pay");
    if let Change::Send { intent, .. } = &mut pressed.change {
        intent.interaction = Interaction::ActionExecuted {
            action: "pay".into(),
            data: Some("{\"to\": \"Bob\",\n \"to\": \"Ann\"}".into()),
        };
    }
    do_one(&*storage, &pressed.change).await.unwrap();
    let (_, message) = storage
        .message(ANN, pressed.user_message_id)
        .await
        .unwrap()
        .unwrap();
    let interaction = Interaction::ActionExecuted {
        action: offered.action,
        data: offered.data,
    };
    let text = "Pay".into();
    assert_eq!(message.body, MessageBody::User { text, interaction });
}

#[tokio::test]
async fn an_action_is_taken_once_and_the_log_folds_to_it() {
    let (_folder, storage) = sqlite().await;
    let run = offering(&*storage).await;
    let before = log(&*storage, ANN).await.len();
    for change in [take(ANN, run, 0), take(ANN, run, 0)] {
        assert_eq!(do_one(&*storage, &change).await, Ok(Outcome::Done));
    }
    assert_eq!(log(&*storage, ANN).await.len(), before + 1);
    assert_eq!(
        do_one(&*storage, &take(ANN, run, 1)).await,
        Err(Refusal::NotFound)
    );
    assert_eq!(
        do_one(&*storage, &take(ANN, run, 2)).await,
        Err(Refusal::NotFound)
    );
    let stored = whole(&*storage, run.conversation_id).await.expect("it is there");
    let answer = stored.messages[1].assistant().unwrap();
    let taken: Vec<bool> = answer
        .suggested_actions
        .iter()
        .map(|action| action.taken)
        .collect();
    assert_eq!(taken, [true, false]);
    assert_eq!(folded(&*storage, run.conversation_id).await, stored);
}

#[tokio::test]
async fn nobody_else_takes_or_judges_anything_and_with_its_conversation_it_is_gone() {
    let (_folder, storage) = sqlite().await;
    let run = offering(&*storage).await;
    do_one(&*storage, &turn(bob(), ConversationId::new(), "Hello").change)
        .await
        .unwrap();
    for change in [
        judge(bob(), run, "one", Verdict::Accepted),
        take(bob(), run, 0),
        judge(ANN, run, "three", Verdict::Accepted),
    ] {
        assert_eq!(do_one(&*storage, &change).await, Err(Refusal::NotFound));
    }
    do_one(&*storage, &judge(ANN, run, "one", Verdict::Accepted))
        .await
        .unwrap();
    assert_eq!(storage.verdicts(bob(), run.conversation_id).await.unwrap(), []);
    let delete = Change::Delete {
        user_id: ANN,
        conversation_id: run.conversation_id,
    };
    do_one(&*storage, &delete).await.unwrap();
    assert_eq!(storage.verdicts(ANN, run.conversation_id).await.unwrap(), []);
    assert_eq!(
        do_one(&*storage, &judge(ANN, run, "two", Verdict::Accepted)).await,
        Err(Refusal::NotFound)
    );
}
