use super::*;
use crate::{
    protocol::{EventBody, Message, MessageBody, Timestamp},
    ui::live::story::Story,
};

#[test]
fn events_that_come_while_the_snapshot_is_on_its_way_are_applied_once() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let whole = story.after(story.events.len());
    for snapshot_at in 0..=story.events.len() {
        for opened_at in 0..=snapshot_at {
            let mut shelf = Shelf::default();
            assert!(shelf.open(story.conversation_id));
            // The events between are in both: in the snapshot, and in the buffer.
            for event in &story.events[opened_at..] {
                assert_eq!(shelf.apply(event), Outcome::Nothing);
            }
            assert_eq!(shelf.loaded(story.after(snapshot_at)), Outcome::Replaced);
            assert_eq!(shelf.get(story.conversation_id), Some(&whole));
        }
    }
}

#[test]
fn a_conversation_in_the_background_goes_on() {
    let (here, there) = (Story::new("Here", &["a", "b"]), Story::new("There", &["c", "d"]));
    let mut shelf = Shelf::default();
    shelf.put(here.after(2));
    shelf.put(there.after(2));
    for event in here.events[2..].iter().chain(&there.events[2..]) {
        shelf.apply(event);
    }
    assert_eq!(
        shelf.get(here.conversation_id),
        Some(&here.after(here.events.len()))
    );
    assert!(!shelf.open(here.conversation_id), "nothing has to be asked for");
}

#[test]
fn a_missing_event_has_the_snapshot_loaded_again_and_the_old_state_stays_visible() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let mut shelf = Shelf::default();
    shelf.put(story.after(4));
    assert_eq!(shelf.apply(&story.events[5]), Outcome::Load);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(4)));
    assert!(!shelf.open(story.conversation_id), "it is being loaded already");
    shelf.apply(&story.events[6]);
    assert_eq!(shelf.loaded(story.after(5)), Outcome::Replaced);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(7)));
}

#[test]
fn a_snapshot_that_cannot_be_had_leaves_the_old_state_until_there_is_one() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let mut shelf = Shelf::default();
    shelf.put(story.after(4));
    assert_eq!(shelf.apply(&story.events[5]), Outcome::Load);
    shelf.failed(story.conversation_id);
    assert!(shelf.is_behind(story.conversation_id));
    assert_eq!(shelf.apply(&story.events[6]), Outcome::Nothing);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(4)));
    assert!(shelf.open(story.conversation_id), "it has to be asked for again");
    assert_eq!(shelf.loaded(story.after(7)), Outcome::Replaced);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(7)));
    assert!(!shelf.is_behind(story.conversation_id));
}

#[test]
fn snapshots_that_never_fit_are_given_up() {
    let story = Story::new("Hello", &["one ", "two "]);
    let mut shelf = Shelf::default();
    shelf.open(story.conversation_id);
    shelf.apply(&story.events[4]);
    let outcomes: Vec<_> = (0..3).map(|_| shelf.loaded(story.after(1))).collect();
    assert_eq!(outcomes, [Outcome::Load, Outcome::Load, Outcome::Broken]);
    assert!(shelf.open(story.conversation_id), "looking again tries again");
}

#[test]
fn a_snapshot_that_nobody_waits_for_changes_nothing() {
    let story = Story::new("Hello", &["one"]);
    let mut shelf = Shelf::default();
    assert_eq!(shelf.loaded(story.after(3)), Outcome::Nothing);
    shelf.put(story.after(4));
    assert_eq!(shelf.loaded(story.after(1)), Outcome::Nothing);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(4)));
}

#[test]
fn the_answer_to_an_earlier_question_is_not_taken_for_that_to_a_later_one() {
    let story = Story::new("Hello", &["one"]);
    let id = story.conversation_id;
    let mut shelf = Shelf::default();
    assert!(shelf.open(id));
    // Everything is loaded anew; what was asked for is forgotten, and asked for again.
    shelf.forget_others(None);
    shelf.cursor = Position(4);
    assert!(shelf.open(id));
    assert_eq!(shelf.loaded(story.after(2)), Outcome::Nothing);
    assert_eq!(shelf.get(id), None);
    assert_eq!(shelf.loaded(story.after(4)), Outcome::Replaced);
    assert_eq!(shelf.get(id), Some(&story.after(4)));
}

#[test]
fn the_ones_looked_at_longest_ago_go_first_but_not_those_at_work() {
    let mut shelf = Shelf::default();
    let working = Story::new("Working", &["on it"]);
    shelf.put(working.after(4));
    let ids: Vec<_> = (0..LIMIT + 2).map(|_| ConversationId::new()).collect();
    for id in &ids {
        shelf.put(Transcript::new(*id));
    }
    shelf.open(ids[1]);
    assert_eq!(shelf.evict(Some(ids[0])), [ids[2], ids[3], ids[4]]);
    assert!(shelf.get(working.conversation_id).is_some());
}

#[test]
fn what_is_deleted_elsewhere_is_shown_as_gone() {
    let story = Story::new("Hello", &["one"]);
    let mut shelf = Shelf::default();
    shelf.put(story.after(5));
    let event = Event {
        position: Position(99),
        conversation_id: story.conversation_id,
        message_id: None,
        body: EventBody::ConversationDeleted,
    };
    assert_eq!(shelf.apply(&event), Outcome::Touched(Touched::Messages));
    assert!(shelf.get(story.conversation_id).unwrap().deleted);
    let late = Event {
        position: Position(100),
        message_id: Some(MessageId::new()),
        body: EventBody::Complete {
            ended_at: Timestamp(0),
            worked_ms: 0,
            finish_reason: None,
        },
        ..event
    };
    assert_eq!(
        shelf.apply(&late),
        Outcome::Load,
        "the server then says that it is not there"
    );
}

/// A conversation of so many messages, each after the one before.
fn long(count: usize) -> Transcript {
    let mut transcript = Transcript::new(ConversationId::new());
    for number in 0..count {
        let id = MessageId::new();
        transcript.messages.push(Message {
            id,
            parent_id: transcript.active_leaf,
            created_at: Timestamp(0),
            body: MessageBody::User {
                text: number.to_string(),
                interaction: Default::default(),
            },
        });
        transcript.active_leaf = Some(id);
    }
    transcript
}

/// The page of `whole` before its last `count` messages.
fn page_before(whole: &Transcript, count: usize, length: usize) -> OlderMessages {
    let end = whole.messages.len() - count;
    let page = &whole.messages[end.saturating_sub(length)..end];
    OlderMessages {
        before: whole.messages[end].id,
        messages: page.to_vec(),
        earliest: page
            .first()
            .filter(|first| first.parent_id.is_some())
            .map(|first| first.id),
        elsewhere: Vec::new(),
    }
}

#[test]
fn what_nobody_looks_at_is_cut_down_to_a_page_and_can_be_had_again() {
    let whole = long(NEWEST + 10);
    let id = whole.conversation_id;
    let mut shelf = Shelf::default();
    shelf.put(whole.clone());
    assert_eq!(shelf.reach(id), Some(whole.messages[0].id));
    assert!(shelf.trim(id));
    assert_eq!(shelf.get(id).unwrap().messages, whole.messages[10..]);
    assert_eq!(shelf.reach(id), Some(whole.messages[10].id));
    assert!(!shelf.trim(id), "it is short already");
    assert_eq!(
        shelf.prepend(id, page_before(&whole, NEWEST, 10)),
        Outcome::Replaced
    );
    assert_eq!(shelf.get(id), Some(&whole));
}

#[test]
fn a_page_and_a_snapshot_do_not_get_in_each_others_way() {
    let whole = long(30);
    let id = whole.conversation_id;
    let mut newest = whole.clone();
    newest.keep_newest(10);
    let mut shelf = Shelf::default();
    shelf.put(newest.clone());
    assert!(shelf.ask_again(id));
    assert_eq!(shelf.prepend(id, page_before(&whole, 10, 10)), Outcome::Replaced);
    assert_eq!(shelf.get(id).unwrap().messages, whole.messages[10..]);
    assert!(!shelf.trim(id), "not while a snapshot is on its way");
    assert_eq!(shelf.loaded(newest.clone()), Outcome::Replaced);
    assert_eq!(shelf.get(id), Some(&newest));
}
