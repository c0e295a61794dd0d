//! An answer's suggestions and the user's response to them.

use super::*;
use parlor_protocol::{
    ActionHandler, ActionStyle, FRESH_SESSION, Interaction, PayloadVerdict, RunError, SESSION_NOT_RESTORED,
    SuggestedAction, Verdict,
};

/// Commits an ended turn whose answer suggests two actions and shows two payloads.
pub(super) async fn answered_turn_with_suggestions(storage: &dyn Storage) -> RunKey {
    let turn = new_turn(TEST_USER, ConversationId::new(), "Hello");
    let run = turn.run;
    let action = |handler| SuggestedAction {
        label: "Do it".into(),
        action: "do_it".into(),
        handler,
        data: None,
        style: ActionStyle::Primary,
        taken: false,
    };
    let suggested = RunEvent::SuggestedActions {
        actions: vec![action(ActionHandler::Client), action(ActionHandler::Server)],
    };
    let ended = RunEvent::run_ended(RunStatus::Complete, None, NOON, 0);
    let payload = |payload_id: &str| Payload {
        payload_id: payload_id.into(),
        kind: "query_suggestion".into(),
        summary: "Query suggestion".into(),
        data: RawJson::parse_or_quote("{}"),
    };
    // Payloads that no answer names are deleted at the run's end.
    let made = |part, payload_id: &str| RunEvent::PayloadMade {
        node: 0,
        part,
        payload: payload(payload_id).to_ref(),
    };
    let events = vec![made(0, "one"), made(1, "two"), suggested, ended];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let keep = |payload_id: &str| Change::Output {
        run,
        output: RunOutput::StorePayload {
            payload: payload(payload_id),
        },
    };
    let end = Change::Output {
        run,
        output: RunOutput::EndRun { events, message },
    };
    for change in [turn.change, keep("one"), keep("two"), end] {
        commit_one(storage, &change).await.expect("done");
    }
    run
}

pub(super) fn judge_payload(user_id: UserId, run: RunKey, payload_id: &str, verdict: Verdict) -> Change {
    judge_fields(user_id, run, payload_id, verdict, &[])
}

fn judge_fields(
    user_id: UserId,
    run: RunKey,
    payload_id: &str,
    verdict: Verdict,
    accepted_fields: &[&str],
) -> Change {
    let intent = intent::JudgePayload {
        intent_id: IntentId::new(),
        conversation_id: run.conversation_id,
        payload_id: payload_id.into(),
        verdict,
        accepted_fields: accepted_fields.iter().map(|&field| field.into()).collect(),
    };
    Change::Intent {
        user_id,
        change: IntentChange::JudgePayload {
            intent,
            fingerprint: payload_id.into(),
        },
    }
}

pub(super) fn take_action(user_id: UserId, run: RunKey, index: usize) -> Change {
    let intent = intent::TakeAction {
        intent_id: IntentId::new(),
        conversation_id: run.conversation_id,
        message_id: run.message_id,
        index,
    };
    Change::Intent {
        user_id,
        change: IntentChange::TakeAction {
            intent,
            fingerprint: index.to_string(),
        },
    }
}

fn payload_verdict(payload_id: &str, verdict: Verdict) -> PayloadVerdict {
    PayloadVerdict {
        payload_id: payload_id.into(),
        verdict,
        accepted_fields: Vec::new(),
    }
}

pub async fn the_first_verdict_counts(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let run = answered_turn_with_suggestions(&*storage).await;
    let before = read_log(&*storage, TEST_USER).await.len();
    let first = judge_payload(TEST_USER, run, "two", Verdict::Rejected);
    for change in [
        &first,
        &first,
        &judge_payload(TEST_USER, run, "two", Verdict::Accepted),
        &judge_fields(TEST_USER, run, "one", Verdict::Accepted, &["name", "query"]),
        &judge_payload(TEST_USER, run, "one", Verdict::Accepted),
    ] {
        assert_eq!(commit_one(&*storage, change).await, Ok(Outcome::Done));
    }
    assert_eq!(read_log(&*storage, TEST_USER).await.len(), before + 2);
    let expected = [
        payload_verdict("two", Verdict::Rejected),
        PayloadVerdict {
            accepted_fields: vec!["name".into(), "query".into()],
            ..payload_verdict("one", Verdict::Accepted)
        },
    ];
    let stored = full_transcript(&*storage, run.conversation_id)
        .await
        .expect("it is there");
    assert_eq!(stored.verdicts, expected);
    assert_eq!(folded_transcript(&*storage, run.conversation_id).await, stored);
    assert_eq!(
        storage
            .payload_verdicts(TEST_USER, run.conversation_id)
            .await
            .unwrap(),
        expected
    );
    let context = storage.run_context(run).await.unwrap().expect("it is there");
    assert_eq!(context.verdicts, expected);

    // The same id for a different request.
    let Change::Intent {
        user_id,
        change: IntentChange::JudgePayload { intent, .. },
    } = first
    else {
        unreachable!()
    };
    let reused = Change::Intent {
        user_id,
        change: IntentChange::JudgePayload {
            intent,
            fingerprint: "other".into(),
        },
    };
    assert_eq!(
        commit_one(&*storage, &reused).await,
        Err(ChangeRejection::IntentReused)
    );
}

pub async fn button_message_stores_the_suggested_action(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let asked = new_turn(TEST_USER, ConversationId::new(), "Hello");
    commit_one(&*storage, &asked.change).await.unwrap();
    let offered = SuggestedAction {
        label: "Pay".into(),
        action: "pay".into(),
        handler: ActionHandler::Server,
        data: Some(r#"{"to":"Ann"}"#.into()),
        style: ActionStyle::Primary,
        taken: false,
    };
    let events = vec![
        RunEvent::SuggestedActions {
            actions: vec![offered.clone()],
        },
        RunEvent::run_ended(RunStatus::Complete, None, NOON, 0),
    ];
    let mut message = AssistantMessage::new("x/m");
    for event in &events {
        transcript::apply_to_run(&mut message, event);
    }
    let end = Change::Output {
        run: asked.run,
        output: RunOutput::EndRun { events, message },
    };
    commit_one(&*storage, &end).await.unwrap();
    let mut pressed = new_turn(TEST_USER, asked.run.conversation_id, "Pay");
    if let Change::Intent {
        change: IntentChange::SendMessage { intent, .. },
        ..
    } = &mut pressed.change
    {
        intent.interaction = Interaction::ActionExecuted {
            action: "pay".into(),
            data: Some("{\"to\": \"Bob\",\n \"to\": \"Ann\"}".into()),
        };
    }
    commit_one(&*storage, &pressed.change).await.unwrap();
    let (_, message) = storage
        .message(TEST_USER, pressed.user_message_id)
        .await
        .unwrap()
        .unwrap();
    let interaction = Interaction::ActionExecuted {
        action: offered.action,
        data: offered.data,
    };
    let text = "Pay".into();
    assert_eq!(
        message.body,
        MessageBody::User {
            text,
            files: Vec::new(),
            interaction
        }
    );
}

pub async fn fresh_session_follows_a_failed_restoration(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let pressed = |conversation_id| {
        let mut turn = new_turn(TEST_USER, conversation_id, "Afresh");
        if let Change::Intent {
            change: IntentChange::SendMessage { intent, .. },
            ..
        } = &mut turn.change
        {
            intent.interaction = Interaction::ActionExecuted {
                action: FRESH_SESSION.into(),
                data: None,
            };
        }
        turn.change
    };
    for (code, is_offered) in [(SESSION_NOT_RESTORED, true), ("model_error", false)] {
        let asked = new_turn(TEST_USER, ConversationId::new(), "Hello");
        commit_one(&*storage, &asked.change).await.unwrap();
        let action = SuggestedAction {
            label: "Afresh".into(),
            action: FRESH_SESSION.into(),
            handler: ActionHandler::Server,
            data: None,
            style: ActionStyle::Primary,
            taken: false,
        };
        let error = RunError {
            code: code.into(),
            message: "It failed.".into(),
            hint: String::new(),
        };
        let events = vec![
            // A model's own button of this name is none of Parlor's.
            RunEvent::SuggestedActions {
                actions: vec![action],
            },
            RunEvent::run_ended(RunStatus::Failed, Some(error), NOON, 0),
        ];
        let mut message = AssistantMessage::new("x/m");
        for event in &events {
            transcript::apply_to_run(&mut message, event);
        }
        let run = asked.run;
        let end = Change::Output {
            run,
            output: RunOutput::EndRun { events, message },
        };
        commit_one(&*storage, &end).await.unwrap();
        let sent = commit_one(&*storage, &pressed(run.conversation_id)).await;
        let is_rejected = matches!(sent, Err(ChangeRejection::ActionAlreadyTaken));
        assert_eq!((sent.is_ok(), is_rejected), (is_offered, !is_offered), "{code}");
    }
}

pub async fn an_action_is_taken_once(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let run = answered_turn_with_suggestions(&*storage).await;
    let before = read_log(&*storage, TEST_USER).await.len();
    for change in [take_action(TEST_USER, run, 0), take_action(TEST_USER, run, 0)] {
        assert_eq!(commit_one(&*storage, &change).await, Ok(Outcome::Done));
    }
    assert_eq!(read_log(&*storage, TEST_USER).await.len(), before + 1);
    assert_eq!(
        commit_one(&*storage, &take_action(TEST_USER, run, 1)).await,
        Err(ChangeRejection::NotFound)
    );
    assert_eq!(
        commit_one(&*storage, &take_action(TEST_USER, run, 2)).await,
        Err(ChangeRejection::NotFound)
    );
    let stored = full_transcript(&*storage, run.conversation_id)
        .await
        .expect("it is there");
    let answer = stored.messages[1].assistant().unwrap();
    let taken: Vec<bool> = answer
        .suggested_actions
        .iter()
        .map(|action| action.taken)
        .collect();
    assert_eq!(taken, [true, false]);
    assert_eq!(folded_transcript(&*storage, run.conversation_id).await, stored);
}

pub async fn suggestions_belong_to_their_user_and_conversation(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let run = answered_turn_with_suggestions(&*storage).await;
    commit_one(
        &*storage,
        &new_turn(other_user(), ConversationId::new(), "Hello").change,
    )
    .await
    .unwrap();
    for change in [
        judge_payload(other_user(), run, "one", Verdict::Accepted),
        take_action(other_user(), run, 0),
        judge_payload(TEST_USER, run, "three", Verdict::Accepted),
    ] {
        assert_eq!(
            commit_one(&*storage, &change).await,
            Err(ChangeRejection::NotFound)
        );
    }
    commit_one(
        &*storage,
        &judge_payload(TEST_USER, run, "one", Verdict::Accepted),
    )
    .await
    .unwrap();
    assert_eq!(
        storage
            .payload_verdicts(other_user(), run.conversation_id)
            .await
            .unwrap(),
        []
    );
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: run.conversation_id,
        change: ConversationChange::Delete,
    };
    commit_one(&*storage, &delete).await.unwrap();
    assert_eq!(
        storage
            .payload_verdicts(TEST_USER, run.conversation_id)
            .await
            .unwrap(),
        []
    );
    assert_eq!(
        commit_one(
            &*storage,
            &judge_payload(TEST_USER, run, "two", Verdict::Accepted)
        )
        .await,
        Err(ChangeRejection::NotFound)
    );
}
