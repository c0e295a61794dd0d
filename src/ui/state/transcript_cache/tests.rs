use super::*;
use crate::{
    protocol::{EventBody, Message, MessageBody, Timestamp},
    ui::state::story::Story,
};

#[test]
fn applies_events_buffered_during_a_load_once() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let whole = story.after(story.events.len());
    for snapshot_at in 0..=story.events.len() {
        for opened_at in 0..=snapshot_at {
            let mut shelf = TranscriptCache::default();
            assert!(shelf.open(story.conversation_id));
            // The events in between are in both: in the snapshot, and in the buffer.
            for event in &story.events[opened_at..] {
                assert_eq!(shelf.apply(event), CacheOutcome::Unchanged);
            }
            assert_eq!(
                shelf.apply_snapshot(story.after(snapshot_at)),
                CacheOutcome::Replaced
            );
            assert_eq!(shelf.get(story.conversation_id), Some(&whole));
        }
    }
}

#[test]
fn background_conversation_keeps_applying_events() {
    let (here, there) = (Story::new("Here", &["a", "b"]), Story::new("There", &["c", "d"]));
    let mut shelf = TranscriptCache::default();
    shelf.insert(here.after(2));
    shelf.insert(there.after(2));
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
fn missing_event_reloads_and_keeps_old_state() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let mut shelf = TranscriptCache::default();
    shelf.insert(story.after(4));
    assert_eq!(shelf.apply(&story.events[5]), CacheOutcome::NeedsSnapshot);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(4)));
    assert!(!shelf.open(story.conversation_id), "it is being loaded already");
    shelf.apply(&story.events[6]);
    assert_eq!(shelf.apply_snapshot(story.after(5)), CacheOutcome::Replaced);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(7)));
}

#[test]
fn failed_snapshot_keeps_the_old_state() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let mut shelf = TranscriptCache::default();
    shelf.insert(story.after(4));
    assert_eq!(shelf.apply(&story.events[5]), CacheOutcome::NeedsSnapshot);
    shelf.fail_snapshot(story.conversation_id);
    assert!(shelf.is_behind(story.conversation_id));
    assert_eq!(shelf.apply(&story.events[6]), CacheOutcome::Unchanged);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(4)));
    assert!(shelf.open(story.conversation_id), "it has to be asked for again");
    assert_eq!(shelf.apply_snapshot(story.after(7)), CacheOutcome::Replaced);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(7)));
    assert!(!shelf.is_behind(story.conversation_id));
}

#[test]
fn gives_up_on_inconsistent_snapshots() {
    let story = Story::new("Hello", &["one ", "two "]);
    let mut shelf = TranscriptCache::default();
    shelf.open(story.conversation_id);
    shelf.apply(&story.events[4]);
    let outcomes: Vec<_> = (0..3).map(|_| shelf.apply_snapshot(story.after(1))).collect();
    assert_eq!(
        outcomes,
        [
            CacheOutcome::NeedsSnapshot,
            CacheOutcome::NeedsSnapshot,
            CacheOutcome::Broken
        ]
    );
    assert!(shelf.open(story.conversation_id), "looking again tries again");
}

#[test]
fn ignores_an_unrequested_snapshot() {
    let story = Story::new("Hello", &["one"]);
    let mut shelf = TranscriptCache::default();
    assert_eq!(shelf.apply_snapshot(story.after(3)), CacheOutcome::Unchanged);
    shelf.insert(story.after(4));
    assert_eq!(shelf.apply_snapshot(story.after(1)), CacheOutcome::Unchanged);
    assert_eq!(shelf.get(story.conversation_id), Some(&story.after(4)));
}

#[test]
fn ignores_the_snapshot_of_an_earlier_request() {
    let story = Story::new("Hello", &["one"]);
    let id = story.conversation_id;
    let mut shelf = TranscriptCache::default();
    assert!(shelf.open(id));
    // Everything is loaded again; the pending request is forgotten and repeated.
    shelf.retain_only(None);
    shelf.cursor = Position(4);
    assert!(shelf.open(id));
    assert_eq!(shelf.apply_snapshot(story.after(2)), CacheOutcome::Unchanged);
    assert_eq!(shelf.get(id), None);
    assert_eq!(shelf.apply_snapshot(story.after(4)), CacheOutcome::Replaced);
    assert_eq!(shelf.get(id), Some(&story.after(4)));
}

#[test]
fn evicts_least_recently_viewed_idle_transcripts() {
    let mut shelf = TranscriptCache::default();
    let working = Story::new("Working", &["on it"]);
    shelf.insert(working.after(4));
    let ids: Vec<_> = (0..MAX_TRANSCRIPTS + 2).map(|_| ConversationId::new()).collect();
    for id in &ids {
        shelf.insert(Transcript::new(*id));
    }
    shelf.open(ids[1]);
    assert_eq!(shelf.evict(Some(ids[0])), [ids[2], ids[3], ids[4]]);
    assert!(shelf.get(working.conversation_id).is_some());
}

#[test]
fn shows_a_remote_deletion() {
    let story = Story::new("Hello", &["one"]);
    let mut shelf = TranscriptCache::default();
    shelf.insert(story.after(5));
    let event = Event {
        position: Position(99),
        conversation_id: story.conversation_id,
        message_id: None,
        body: EventBody::ConversationDeleted,
    };
    assert_eq!(
        shelf.apply(&event),
        CacheOutcome::Touched(TranscriptUpdate::Messages)
    );
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
        CacheOutcome::NeedsSnapshot,
        "the server then says that it is not there"
    );
}

/// A conversation of `count` messages, each after the one before.
fn long_transcript(count: usize) -> Transcript {
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
fn trims_an_unviewed_transcript_and_reloads_it() {
    let whole = long_transcript(MAX_IDLE_MESSAGES + 10);
    let id = whole.conversation_id;
    let mut shelf = TranscriptCache::default();
    shelf.insert(whole.clone());
    assert_eq!(shelf.first_shown(id), Some(whole.messages[0].id));
    assert!(shelf.trim(id));
    assert_eq!(shelf.get(id).unwrap().messages, whole.messages[10..]);
    assert_eq!(shelf.first_shown(id), Some(whole.messages[10].id));
    assert!(!shelf.trim(id), "it is short already");
    assert_eq!(
        shelf.prepend(id, page_before(&whole, MAX_IDLE_MESSAGES, 10)),
        CacheOutcome::Replaced
    );
    assert_eq!(shelf.get(id), Some(&whole));
}

#[test]
fn older_page_and_snapshot_can_overlap() {
    let whole = long_transcript(30);
    let id = whole.conversation_id;
    let mut newest = whole.clone();
    newest.truncate_to_newest(10);
    let mut shelf = TranscriptCache::default();
    shelf.insert(newest.clone());
    assert!(shelf.request_reload(id));
    assert_eq!(
        shelf.prepend(id, page_before(&whole, 10, 10)),
        CacheOutcome::Replaced
    );
    assert_eq!(shelf.get(id).unwrap().messages, whole.messages[10..]);
    assert!(!shelf.trim(id), "not while a snapshot is on its way");
    assert_eq!(shelf.apply_snapshot(newest.clone()), CacheOutcome::Replaced);
    assert_eq!(shelf.get(id), Some(&newest));
}
