use super::*;
use crate::state::test_events::Story;
use parlor_protocol::{ConversationEvent, EventBody, Message, MessageBody, RunEvent, Timestamp};

/// The position of a stream that has brought nothing.
const START: Position = Position(0);

#[test]
fn applies_events_buffered_during_a_load_once() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let whole = story.after(story.events.len());
    for snapshot_at in 0..=story.events.len() {
        for opened_at in 0..=snapshot_at {
            let mut cache = TranscriptCache::default();
            assert!(cache.open(story.conversation_id, START));
            // The events in between are in both: in the snapshot, and in the buffer.
            for event in &story.events[opened_at..] {
                assert_eq!(cache.apply(event), CacheOutcome::Unchanged);
            }
            assert_eq!(
                cache.apply_snapshot(story.after(snapshot_at)),
                CacheOutcome::Replaced
            );
            assert_eq!(cache.get(story.conversation_id), Some(&whole));
        }
    }
}

#[test]
fn background_conversation_keeps_applying_events() {
    let (here, there) = (Story::new("Here", &["a", "b"]), Story::new("There", &["c", "d"]));
    let mut cache = TranscriptCache::default();
    cache.insert(here.after(2));
    cache.insert(there.after(2));
    for event in here.events[2..].iter().chain(&there.events[2..]) {
        cache.apply(event);
    }
    assert_eq!(
        cache.get(here.conversation_id),
        Some(&here.after(here.events.len()))
    );
    assert!(
        !cache.open(here.conversation_id, START),
        "nothing has to be asked for"
    );
}

#[test]
fn missing_event_reloads_and_keeps_old_state() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let mut cache = TranscriptCache::default();
    cache.insert(story.after(4));
    assert_eq!(cache.apply(&story.events[5]), CacheOutcome::NeedsSnapshot);
    assert_eq!(cache.get(story.conversation_id), Some(&story.after(4)));
    assert!(
        !cache.open(story.conversation_id, START),
        "it is being loaded already"
    );
    cache.apply(&story.events[6]);
    assert_eq!(cache.apply_snapshot(story.after(5)), CacheOutcome::Replaced);
    assert_eq!(cache.get(story.conversation_id), Some(&story.after(7)));
}

#[test]
fn failed_snapshot_keeps_the_old_state() {
    let story = Story::new("Hello", &["one ", "two ", "three"]);
    let mut cache = TranscriptCache::default();
    cache.insert(story.after(4));
    assert_eq!(cache.apply(&story.events[5]), CacheOutcome::NeedsSnapshot);
    cache.fail_snapshot(story.conversation_id);
    assert!(cache.is_behind(story.conversation_id));
    assert_eq!(cache.apply(&story.events[6]), CacheOutcome::Unchanged);
    assert_eq!(cache.get(story.conversation_id), Some(&story.after(4)));
    assert!(
        cache.open(story.conversation_id, START),
        "it has to be asked for again"
    );
    assert_eq!(cache.apply_snapshot(story.after(7)), CacheOutcome::Replaced);
    assert_eq!(cache.get(story.conversation_id), Some(&story.after(7)));
    assert!(!cache.is_behind(story.conversation_id));
}

#[test]
fn gives_up_on_inconsistent_snapshots() {
    let story = Story::new("Hello", &["one ", "two "]);
    let mut cache = TranscriptCache::default();
    cache.open(story.conversation_id, START);
    cache.apply(&story.events[4]);
    let outcomes: Vec<_> = (0..3).map(|_| cache.apply_snapshot(story.after(1))).collect();
    assert_eq!(
        outcomes,
        [
            CacheOutcome::NeedsSnapshot,
            CacheOutcome::NeedsSnapshot,
            CacheOutcome::Broken
        ]
    );
    assert!(
        cache.open(story.conversation_id, START),
        "looking again tries again"
    );
}

#[test]
fn ignores_an_unrequested_snapshot() {
    let story = Story::new("Hello", &["one"]);
    let mut cache = TranscriptCache::default();
    assert_eq!(cache.apply_snapshot(story.after(3)), CacheOutcome::Unchanged);
    cache.insert(story.after(4));
    assert_eq!(cache.apply_snapshot(story.after(1)), CacheOutcome::Unchanged);
    assert_eq!(cache.get(story.conversation_id), Some(&story.after(4)));
}

#[test]
fn ignores_the_snapshot_of_an_earlier_request() {
    let story = Story::new("Hello", &["one"]);
    let id = story.conversation_id;
    let mut cache = TranscriptCache::default();
    assert!(cache.open(id, START));
    // Everything is loaded again; the pending request is forgotten and repeated.
    cache.retain_only(None);
    assert!(cache.open(id, Position(4)));
    assert_eq!(cache.apply_snapshot(story.after(2)), CacheOutcome::Unchanged);
    assert_eq!(cache.get(id), None);
    assert_eq!(cache.apply_snapshot(story.after(4)), CacheOutcome::Replaced);
    assert_eq!(cache.get(id), Some(&story.after(4)));
}

#[test]
fn evicts_least_recently_viewed_idle_transcripts() {
    let mut cache = TranscriptCache::default();
    let working = Story::new("Working", &["on it"]);
    cache.insert(working.after(4));
    let ids: Vec<_> = (0..MAX_TRANSCRIPTS + 2).map(|_| ConversationId::new()).collect();
    for id in &ids {
        cache.insert(Transcript::new(*id));
    }
    cache.open(ids[1], START);
    assert_eq!(cache.evict(Some(ids[0])), [ids[2], ids[3], ids[4]]);
    assert!(cache.get(working.conversation_id).is_some());
}

#[test]
fn shows_a_remote_deletion() {
    let story = Story::new("Hello", &["one"]);
    let mut cache = TranscriptCache::default();
    cache.insert(story.after(5));
    let event = Event {
        position: Position(99),
        conversation_id: story.conversation_id,
        message_id: None,
        body: EventBody::Conversation(ConversationEvent::ConversationDeleted),
    };
    assert_eq!(
        cache.apply(&event),
        CacheOutcome::Touched(TranscriptUpdate::Messages)
    );
    assert!(cache.get(story.conversation_id).unwrap().deleted);
    let late = Event {
        position: Position(100),
        message_id: Some(MessageId::new()),
        body: EventBody::Run(RunEvent::Complete {
            ended_at: Timestamp(0),
            worked_ms: 0,
            finish_reason: None,
            is_quiet: false,
        }),
        ..event
    };
    assert_eq!(
        cache.apply(&late),
        CacheOutcome::Unchanged,
        "the end of the answer that was stopped"
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
                files: Vec::new(),
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
    let mut cache = TranscriptCache::default();
    cache.insert(whole.clone());
    assert_eq!(cache.first_shown(id), Some(whole.messages[0].id));
    assert!(cache.trim(id));
    assert_eq!(cache.get(id).unwrap().messages, whole.messages[10..]);
    assert_eq!(cache.first_shown(id), Some(whole.messages[10].id));
    assert!(!cache.trim(id), "it is short already");
    assert_eq!(
        cache.prepend(id, page_before(&whole, MAX_IDLE_MESSAGES, 10)),
        CacheOutcome::Replaced
    );
    assert_eq!(cache.get(id), Some(&whole));
}

#[test]
fn older_page_and_snapshot_can_overlap() {
    let whole = long_transcript(30);
    let id = whole.conversation_id;
    let mut newest = whole.clone();
    newest.truncate_to_newest(10);
    let mut cache = TranscriptCache::default();
    cache.insert(newest.clone());
    assert!(cache.begin_reload(id, START));
    assert_eq!(
        cache.prepend(id, page_before(&whole, 10, 10)),
        CacheOutcome::Replaced
    );
    assert_eq!(cache.get(id).unwrap().messages, whole.messages[10..]);
    assert!(!cache.trim(id), "not while a snapshot is on its way");
    assert_eq!(cache.apply_snapshot(newest.clone()), CacheOutcome::Replaced);
    assert_eq!(cache.get(id), Some(&newest));
}

#[test]
fn fast_switching_keeps_each_snapshot_apart() {
    let (first, second) = (Story::new("First", &["a"]), Story::new("Second", &["b"]));
    let mut cache = TranscriptCache::default();
    assert!(cache.open(first.conversation_id, START));
    assert!(cache.open(second.conversation_id, START));
    // The responses arrive in the other order.
    assert_eq!(cache.apply_snapshot(second.after(5)), CacheOutcome::Replaced);
    assert_eq!(cache.apply_snapshot(first.after(5)), CacheOutcome::Replaced);
    assert_eq!(cache.get(second.conversation_id), Some(&second.after(5)));
    assert_eq!(cache.get(first.conversation_id), Some(&first.after(5)));
}
