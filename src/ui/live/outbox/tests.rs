use super::*;
use crate::ui::live::story::Story;

/// Sends a message from a new chat.
fn begin(outbox: &mut Outbox, text: &str) -> SendMessage {
    outbox
        .begin(Place::New, text.into(), None, Extras::default())
        .intent
}

#[test]
fn a_message_waits_until_its_run_began() {
    let story = Story::new("Hello", &["Hi"]);
    let mut outbox = Outbox::default();
    let mut sending = outbox.begin(
        Place::Conversation(story.conversation_id),
        "Hello".into(),
        None,
        Extras::default(),
    );
    // The story made its own id for the question.
    sending.intent.user_message_id = story.question;
    outbox.sending[0] = sending.clone();
    assert_eq!(outbox.settle(&story.after(2)).arrived, [story.question]);
    assert_eq!(outbox.of(story.conversation_id), Some(&sending));
    outbox.settle(&story.after(3));
    assert_eq!(outbox.of(story.conversation_id), None);
}

#[test]
fn the_same_text_again_is_the_same_message_if_the_first_may_have_got_through() {
    let mut outbox = Outbox::default();
    let first = begin(&mut outbox, "Hello");
    outbox.failed(first.user_message_id, true);
    assert_eq!(
        outbox
            .begin(
                Place::New,
                "Hello".into(),
                Some("other/model".into()),
                Extras::default()
            )
            .intent,
        first
    );

    outbox.failed(first.user_message_id, false);
    assert_ne!(
        begin(&mut outbox, "Hello"),
        first,
        "it surely did not get through"
    );
}

#[test]
fn another_text_is_another_message() {
    let mut outbox = Outbox::default();
    let first = begin(&mut outbox, "Hello");
    outbox.failed(first.user_message_id, true);
    let second = begin(&mut outbox, "Hello!");
    assert_ne!(second.user_message_id, first.user_message_id);
    outbox.failed(second.user_message_id, true);
    assert_ne!(begin(&mut outbox, "Hello"), first, "given up with the second");
}

#[test]
fn a_message_that_got_through_after_all_is_not_sent_again() {
    let story = Story::new("Hello", &["Hi"]);
    let mut outbox = Outbox::default();
    outbox.begin(
        Place::Conversation(story.conversation_id),
        "Hello".into(),
        None,
        Extras::default(),
    );
    outbox.sending[0].intent.user_message_id = story.question;
    let failed = outbox.failed(story.question, true);
    assert_eq!(
        outbox.settle(&story.after(2)),
        Settled {
            got_through: failed,
            ..Settled::default()
        }
    );
    assert_eq!(outbox.settle(&story.after(2)), Settled::default());
}

#[test]
fn stop_before_the_run_began_stops_it_when_it_begins() {
    let mut outbox = Outbox::default();
    let intent = begin(&mut outbox, "Hello");
    let started = Started {
        conversation_id: intent.conversation_id,
        user_message_id: intent.user_message_id,
        assistant_message_id: MessageId::new(),
    };
    assert_eq!(outbox.started(&started), None);
    assert!(outbox.stop(intent.conversation_id).is_some());
    assert_eq!(outbox.started(&started), Some(started.assistant_message_id));
    assert_eq!(outbox.stop(ConversationId::new()), None);
}

#[test]
fn stop_is_not_lost_if_the_run_is_seen_before_the_request_is_answered() {
    let story = Story::new("Hello", &["Hi"]);
    let mut outbox = Outbox::default();
    outbox.begin(
        Place::Conversation(story.conversation_id),
        "Hello".into(),
        None,
        Extras::default(),
    );
    outbox.sending[0].intent.user_message_id = story.question;
    outbox.stop(story.conversation_id);
    assert_eq!(outbox.settle(&story.after(2)).stop, None);
    assert_eq!(outbox.settle(&story.after(3)).stop, Some(story.answer));
}

#[test]
fn a_message_that_the_server_cannot_be_reached_for_is_tried_again_as_it_is() {
    let mut outbox = Outbox::default();
    let intent = begin(&mut outbox, "Hello");
    let (id, message) = (intent.conversation_id, intent.user_message_id);
    assert_eq!(outbox.underway(id), Underway::Asked);
    assert_eq!(outbox.release(message), None, "it is on its way");
    assert_eq!(outbox.hold(message), Some(1));
    assert_eq!(
        (outbox.underway(id), outbox.held()),
        (Underway::Held, vec![message])
    );
    assert_eq!(outbox.release(message), Some(intent));
    assert_eq!(outbox.hold(message), Some(2));
}

#[test]
fn a_message_that_is_taken_back_and_sent_again_unchanged_is_the_same() {
    let mut outbox = Outbox::default();
    let intent = begin(&mut outbox, "Hello");
    assert_eq!(outbox.take_back(intent.conversation_id), None, "it is on its way");
    outbox.hold(intent.user_message_id);
    let taken = outbox.take_back(intent.conversation_id);
    assert_eq!(taken.map(|sending| sending.intent), Some(intent.clone()));
    assert_eq!(outbox.underway(intent.conversation_id), Underway::Nothing);
    assert_eq!(begin(&mut outbox, "Hello"), intent);
}

#[test]
fn what_a_page_left_waits_in_the_next_one() {
    let mut outbox = Outbox::default();
    let sending = outbox.begin(Place::New, "Hello".into(), None, Extras::default());
    outbox.stop(sending.intent.conversation_id);
    let kept = serde_json::to_string(outbox.of(sending.intent.conversation_id).unwrap()).unwrap();

    let mut next = Outbox::default();
    for _ in 0..2 {
        next.restore(serde_json::from_str(&kept).unwrap());
    }
    assert_eq!(next.held(), [sending.intent.user_message_id]);
    assert_eq!(
        next.release(sending.intent.user_message_id),
        Some(sending.intent.clone())
    );
    let started = Started {
        conversation_id: sending.intent.conversation_id,
        user_message_id: sending.intent.user_message_id,
        assistant_message_id: MessageId::new(),
    };
    assert_eq!(
        next.started(&started),
        Some(started.assistant_message_id),
        "Stop was pressed"
    );
}

#[test]
fn what_the_server_has_had_for_long_is_not_waited_for() {
    let mut outbox = Outbox::default();
    let (old, new) = (begin(&mut outbox, "Hello"), begin(&mut outbox, "Bye"));
    let started = Started {
        conversation_id: old.conversation_id,
        user_message_id: old.user_message_id,
        assistant_message_id: MessageId::new(),
    };
    let known = |outbox: &Outbox| outbox.known(old.conversation_id).collect::<Vec<_>>();
    assert_eq!(known(&outbox), []);
    outbox.started(&started);
    let known = known(&outbox);
    assert_eq!(known, [old.intent_id]);
    // A snapshot that was asked for then does not show it: it is further back, or on another branch.
    outbox.forget(&known);
    assert_eq!(outbox.underway(old.conversation_id), Underway::Nothing);
    assert_eq!(outbox.underway(new.conversation_id), Underway::Asked);
}
