use super::*;
use crate::ui::state::story::Story;

fn list_at(position: u64) -> ConversationList {
    ConversationList {
        as_of: Position(position),
        ..ConversationList::default()
    }
}

#[test]
fn stream_starts_after_the_older_snapshot() {
    let story = Story::new("Hello", &["one ", "two"]);
    let cases = [(5, 2, 2), (2, 5, 2), (3, 3, 3)];
    for (list, transcript, cursor) in cases {
        let mut replica = ServerReplica::new(list_at(list), Some(story.after(transcript)));
        assert_eq!(replica.cursor(), Position(cursor));
        let mut changes = Vec::new();
        for event in &story.events[cursor as usize..] {
            replica.apply(event, &mut changes);
        }
        assert_eq!(
            replica.transcripts.get(story.conversation_id),
            Some(&story.after(6))
        );
        assert!(!changes.contains(&ReplicaChange::Resync));
    }
}

#[test]
fn applies_a_repeated_event_once() {
    let story = Story::new("Hello", &["one ", "two"]);
    let mut replica = ServerReplica::new(list_at(0), Some(story.after(0)));
    let mut changes = Vec::new();
    for event in &story.events {
        replica.apply(event, &mut changes);
    }
    changes.clear();
    for event in &story.events {
        replica.apply(event, &mut changes);
    }
    assert_eq!(changes, []);
    assert_eq!(
        replica.transcripts.get(story.conversation_id),
        Some(&story.after(6))
    );
}

#[test]
fn missing_position_triggers_a_resync() {
    let story = Story::new("Hello", &["one ", "two"]);
    let mut replica = ServerReplica::new(list_at(0), None);
    let mut changes = Vec::new();
    replica.apply(&story.events[0], &mut changes);
    changes.clear();
    replica.apply(&story.events[2], &mut changes);
    assert_eq!(changes, [ReplicaChange::Resync]);
    assert_eq!(replica.cursor(), Position(1), "nothing was applied");
    replica.restart(list_at(6), Some(story.after(6)));
    assert_eq!(replica.cursor(), Position(6));
}

#[test]
fn skips_a_damaged_event_once() {
    let story = Story::new("Hello", &["one ", "two"]);
    let mut replica = ServerReplica::new(list_at(2), Some(story.after(2)));
    let mut damaged = story.events[2].clone();
    damaged.body = EventBody::Damaged;
    let mut changes = Vec::new();
    replica.apply(&damaged, &mut changes);
    replica.apply(&damaged, &mut changes);
    assert_eq!(changes, [ReplicaChange::Resync]);
    assert_eq!(replica.cursor(), Position(3));
    replica.restart(list_at(3), Some(story.after(3)));
    changes.clear();
    for event in &story.events[3..] {
        replica.apply(event, &mut changes);
    }
    assert!(!changes.contains(&ReplicaChange::Resync));
    assert_eq!(
        replica.transcripts.get(story.conversation_id),
        Some(&story.after(6))
    );
}

fn run_end_changes(story: &Story) -> Vec<ReplicaChange> {
    let mut replica = ServerReplica::new(list_at(0), None);
    let mut changes = Vec::new();
    for event in story.events.iter().chain(&story.events) {
        replica.apply(event, &mut changes);
    }
    changes.retain(|change| matches!(change, ReplicaChange::RunEnded(_)));
    changes
}

#[test]
fn reports_a_run_end_once_unless_stopped() {
    let mut story = Story::new("Hello", &["one"]);
    let Some(Event {
        body: EventBody::Complete { ended_at, .. },
        ..
    }) = story.events.last_mut()
    else {
        panic!("a story ends")
    };
    let began_at = *ended_at;
    ended_at.0 += 31_000;
    let ended_at = *ended_at;
    let ended = RunEnd {
        conversation_id: story.conversation_id,
        run_id: story.answer,
        started_at: began_at,
        ended_at,
    };
    assert_eq!(run_end_changes(&story), [ReplicaChange::RunEnded(ended)]);
    if let Some(last) = story.events.last_mut() {
        last.body = EventBody::Cancelled {
            ended_at,
            worked_ms: 0,
        };
    }
    assert_eq!(run_end_changes(&story), []);
}

#[test]
fn fast_switching_keeps_each_snapshot_apart() {
    let (first, second) = (Story::new("First", &["a"]), Story::new("Second", &["b"]));
    let mut replica = ServerReplica::new(list_at(5), None);
    assert!(replica.transcripts.open(first.conversation_id));
    assert!(replica.transcripts.open(second.conversation_id));
    // The responses arrive in the other order.
    assert_eq!(
        replica.apply_snapshot(second.after(5)),
        Some(ReplicaChange::Replaced(second.conversation_id))
    );
    assert_eq!(
        replica.apply_snapshot(first.after(5)),
        Some(ReplicaChange::Replaced(first.conversation_id))
    );
    assert_eq!(
        replica.transcripts.get(second.conversation_id),
        Some(&second.after(5))
    );
    assert_eq!(
        replica.transcripts.get(first.conversation_id),
        Some(&first.after(5))
    );
}
