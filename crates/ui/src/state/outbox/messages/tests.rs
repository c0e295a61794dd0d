use super::*;
use crate::state::test_events::Story;
use parlor_protocol::{QueuedMessage, Timestamp};

/// Sends a message from a new chat.
fn enqueue(outbox: &mut OutgoingMessages, text: &str) -> SendMessage {
    outbox
        .enqueue(Route::New, text.into(), None, MessageOptions::default(), false)
        .intent
}

/// An outbox with the question of `story`.
fn outbox_with_question(story: &Story) -> OutgoingMessages {
    let mut outbox = OutgoingMessages::default();
    outbox.enqueue(
        Route::Conversation(story.conversation_id),
        "Hello".into(),
        None,
        MessageOptions::default(),
        false,
    );
    // The story made its own id for the question.
    outbox.messages[0].intent.user_message_id = story.question;
    outbox
}

#[test]
fn message_is_pending_until_its_run_starts() {
    let story = Story::new("Hello", &["Hi"]);
    let mut outbox = outbox_with_question(&story);
    let sending = outbox.messages[0].clone();
    assert_eq!(outbox.reconcile(&story.after(2)).delivered, [story.question]);
    assert_eq!(outbox.message_for(story.conversation_id), Some(&sending));
    outbox.reconcile(&story.after(3));
    assert_eq!(outbox.message_for(story.conversation_id), None);
}

#[test]
fn reuses_ids_when_delivery_is_unknown() {
    let mut outbox = OutgoingMessages::default();
    let first = enqueue(&mut outbox, "Hello");
    outbox.mark_failed(first.user_message_id, true);
    assert_eq!(
        outbox
            .enqueue(
                Route::New,
                "Hello".into(),
                Some("other/model".into()),
                MessageOptions::default(),
                false,
            )
            .intent,
        first
    );

    outbox.mark_failed(first.user_message_id, false);
    assert_ne!(
        enqueue(&mut outbox, "Hello"),
        first,
        "it surely did not get through"
    );
}

#[test]
fn new_text_gets_new_ids() {
    let mut outbox = OutgoingMessages::default();
    let first = enqueue(&mut outbox, "Hello");
    outbox.mark_failed(first.user_message_id, true);
    let second = enqueue(&mut outbox, "Hello!");
    assert_ne!(second.user_message_id, first.user_message_id);
    outbox.mark_failed(second.user_message_id, true);
    assert_ne!(enqueue(&mut outbox, "Hello"), first, "given up with the second");
}

#[test]
fn does_not_resend_a_delivered_message() {
    let story = Story::new("Hello", &["Hi"]);
    let mut outbox = outbox_with_question(&story);
    let failed = outbox.mark_failed(story.question, true);
    assert_eq!(
        outbox.reconcile(&story.after(2)),
        OutboxUpdate {
            recovered: failed,
            ..OutboxUpdate::default()
        }
    );
    assert_eq!(outbox.reconcile(&story.after(2)), OutboxUpdate::default());
}

#[test]
fn early_stop_stops_the_run_at_start() {
    let mut outbox = OutgoingMessages::default();
    let intent = enqueue(&mut outbox, "Hello");
    let started = StartedRun {
        conversation_id: intent.conversation_id,
        user_message_id: intent.user_message_id,
        assistant_message_id: MessageId::new(),
    };
    assert_eq!(outbox.mark_started(&started), None);
    assert!(outbox.stop(intent.conversation_id).is_some());
    assert_eq!(outbox.mark_started(&started), Some(started.assistant_message_id));
    assert_eq!(outbox.stop(ConversationId::new()), None);
}

#[test]
fn early_stop_survives_run_before_response() {
    let story = Story::new("Hello", &["Hi"]);
    let mut outbox = outbox_with_question(&story);
    outbox.stop(story.conversation_id);
    assert_eq!(outbox.reconcile(&story.after(2)).run_to_stop, None);
    assert_eq!(outbox.reconcile(&story.after(3)).run_to_stop, Some(story.answer));
}

#[test]
fn retries_an_undelivered_message_unchanged() {
    let mut outbox = OutgoingMessages::default();
    let intent = enqueue(&mut outbox, "Hello");
    let (id, message) = (intent.conversation_id, intent.user_message_id);
    assert_eq!(outbox.pending_send(id), PendingSend::Requested);
    assert_eq!(outbox.retry(message), None, "it is on its way");
    assert_eq!(outbox.await_connection(message), Some(1));
    assert_eq!(
        (outbox.pending_send(id), outbox.awaiting_connection()),
        (PendingSend::WaitingForConnection, vec![message])
    );
    assert_eq!(outbox.retry(message), Some(intent));
    assert_eq!(outbox.await_connection(message), Some(2));
}

#[test]
fn reuses_ids_after_withdrawal_without_changes() {
    let mut outbox = OutgoingMessages::default();
    let intent = enqueue(&mut outbox, "Hello");
    assert_eq!(outbox.withdraw(intent.conversation_id), None, "it is on its way");
    outbox.await_connection(intent.user_message_id);
    let taken = outbox.withdraw(intent.conversation_id);
    assert_eq!(taken.map(|sending| sending.intent), Some(intent.clone()));
    assert_eq!(outbox.pending_send(intent.conversation_id), PendingSend::Nothing);
    assert_eq!(enqueue(&mut outbox, "Hello"), intent);
}

#[test]
fn restored_messages_wait_for_the_connection() {
    let mut outbox = OutgoingMessages::default();
    let sending = outbox.enqueue(Route::New, "Hello".into(), None, MessageOptions::default(), false);
    outbox.stop(sending.intent.conversation_id);
    let kept = serde_json::to_string(outbox.message_for(sending.intent.conversation_id).unwrap()).unwrap();

    let mut next = OutgoingMessages::default();
    for _ in 0..2 {
        next.restore(serde_json::from_str(&kept).unwrap());
    }
    assert_eq!(next.awaiting_connection(), [sending.intent.user_message_id]);
    assert_eq!(
        next.retry(sending.intent.user_message_id),
        Some(sending.intent.clone())
    );
    let started = StartedRun {
        conversation_id: sending.intent.conversation_id,
        user_message_id: sending.intent.user_message_id,
        assistant_message_id: MessageId::new(),
    };
    assert_eq!(
        next.mark_started(&started),
        Some(started.assistant_message_id),
        "Stop was pressed"
    );
}

#[test]
fn settles_messages_the_server_already_has() {
    let mut outbox = OutgoingMessages::default();
    let (old, new) = (enqueue(&mut outbox, "Hello"), enqueue(&mut outbox, "Bye"));
    let started = StartedRun {
        conversation_id: old.conversation_id,
        user_message_id: old.user_message_id,
        assistant_message_id: MessageId::new(),
    };
    let known = |outbox: &OutgoingMessages| outbox.known_intents(old.conversation_id).collect::<Vec<_>>();
    assert_eq!(known(&outbox), []);
    outbox.mark_started(&started);
    let known = known(&outbox);
    assert_eq!(known, [old.intent_id]);
    // A snapshot that was requested then does not show it: it is further back, or on another branch.
    outbox.forget_intents(&known);
    assert_eq!(outbox.pending_send(old.conversation_id), PendingSend::Nothing);
    assert_eq!(outbox.pending_send(new.conversation_id), PendingSend::Requested);
}

#[test]
fn queued_messages_are_delivered_in_order() {
    let mut outbox = OutgoingMessages::default();
    let id = ConversationId::new();
    let mut queue = |text: &str, is_queued| {
        let from = Route::Conversation(id);
        let sending = outbox.enqueue(from, text.into(), None, MessageOptions::default(), is_queued);
        sending.intent.user_message_id
    };
    let [active, first, second] = [
        queue("active", false),
        queue("first", true),
        queue("second", true),
    ];
    assert_eq!(outbox.next_undelivered(id), Some(active));
    assert_eq!(outbox.retry(second), None, "an earlier one is on its way");
    let queued: Vec<_> = outbox
        .queued_for(id)
        .map(|sending| (&*sending.intent.text, sending.pending_send()))
        .collect();
    let waits = PendingSend::WaitingForConnection;
    assert_eq!(queued, [("first", waits), ("second", waits)]);
    assert_eq!(outbox.message_for(id).unwrap().intent.user_message_id, active);
    let started = StartedRun {
        conversation_id: id,
        user_message_id: active,
        assistant_message_id: MessageId::new(),
    };
    outbox.mark_started(&started);
    assert_eq!(outbox.next_undelivered(id), Some(first));
    assert!(outbox.retry(first).is_some());
    assert_eq!(outbox.retry(second), None);
    // The server has queued the first.
    let mut transcript = Transcript::new(id);
    transcript.queue.messages.push(QueuedMessage {
        id: first,
        text: "first".into(),
        files: Vec::new(),
        created_at: Timestamp(1),
    });
    assert_eq!(outbox.reconcile(&transcript).delivered, [first]);
    assert_eq!(outbox.next_undelivered(id), Some(second));
    assert!(outbox.withdraw_message(first).is_none());
    assert!(outbox.withdraw_message(second).is_some());
    assert_eq!(outbox.queued_for(id).count(), 0);
}
