use super::*;
use parlor_protocol::{
    ConversationEvent, ConversationId, EventBody, MessageId, Position, RunEvent, Timestamp,
};

fn summary(n: i64) -> ListedConversation {
    let id = ConversationId(uuid::Uuid::from_u128(n as u128));
    ListedConversation {
        id,
        title: format!("chat {n}"),
        updated_at: Timestamp(n),
        activity: Position(n.unsigned_abs()),
        unseen: false,
        pinned: false,
        archived: false,
        temporary: false,
        project_id: None,
        active_run: None,
        waiting: false,
    }
}

fn list(as_of: u64, numbers: &[i64], has_more: bool) -> ConversationList {
    let conversations = numbers.iter().map(|n| summary(*n)).collect();
    ConversationList {
        as_of: Position(as_of),
        conversations,
        has_more,
        archived: false,
        project_id: None,
    }
}

fn started(list: ConversationList) -> ListCache {
    let mut listing = ListCache::default();
    listing.restart(list);
    listing
}

fn event(position: u64, n: i64, body: impl Into<EventBody>) -> Event {
    let message_id = Some(MessageId(uuid::Uuid::from_u128(7)));
    Event {
        position: Position(position),
        conversation_id: summary(n).id,
        message_id,
        body: body.into(),
    }
}

fn renamed(position: u64, n: i64) -> Event {
    let title = "renamed".into();
    event(position, n, ConversationEvent::ConversationRenamed { title })
}

fn titles(listing: &ListCache) -> Vec<&str> {
    listing
        .conversations()
        .iter()
        .map(|conversation| conversation.title.as_str())
        .collect()
}

#[test]
fn applies_events_buffered_during_a_page_load() {
    let mut listing = started(list(10, &[9, 8], true));
    let asked = listing.begin_page();
    listing.apply(&renamed(11, 4));
    listing.apply(&event(12, 3, ConversationEvent::ConversationDeleted));
    // The page was read between the two events.
    let mut page = list(11, &[4, 3, 2], false);
    page.conversations[0].title = "renamed".into();
    listing.apply_page(asked, page, false);
    assert_eq!(titles(&listing), ["chat 9", "chat 8", "renamed", "chat 2"]);
    assert!(!listing.has_more());

    let mut listing = started(list(10, &[9, 8], true));
    let asked = listing.begin_page();
    listing.apply(&renamed(11, 4));
    listing.apply_page(asked, list(10, &[4, 3, 2], false), false);
    assert_eq!(
        titles(&listing),
        ["chat 9", "chat 8", "renamed", "chat 3", "chat 2"]
    );
}

#[test]
fn moves_an_updated_conversation_to_the_top() {
    let mut listing = started(list(10, &[9, 8], true));
    let started = RunEvent::RunStarted {
        parent_id: MessageId(uuid::Uuid::from_u128(6)),
        model: "a/b".into(),
        created_at: Timestamp(20),
    };
    let started = event(11, 1, started);
    assert_eq!(
        listing.apply(&started),
        ListUpdate::UnknownConversation(started.conversation_id)
    );
    let asked = listing.begin_page();
    let mut page = list(11, &[1, 9, 8], true);
    page.conversations[0].activity = Position(11);
    page.conversations[0].active_run = started.message_id;
    listing.apply_page(asked, page, true);
    assert_eq!(titles(&listing), ["chat 1", "chat 9", "chat 8"]);
    assert!(listing.has_more());
    listing.apply(&event(
        12,
        1,
        RunEvent::Complete {
            ended_at: Timestamp(21),
            worked_ms: 0,
            finish_reason: None,
            is_quiet: false,
        },
    ));
    assert_eq!(listing.conversations()[0].active_run, None);
}

#[test]
fn applies_an_event_once() {
    let mut listing = started(list(10, &[9], false));
    let created = ConversationEvent::ConversationCreated {
        title: "new".into(),
        created_at: Timestamp(30),
        temporary: false,
        project_id: None,
    };
    assert_eq!(
        listing.apply(&event(11, 30, created.clone())),
        ListUpdate::Changed
    );
    assert_eq!(listing.apply(&event(11, 30, created)), ListUpdate::Unchanged);
    assert_eq!(titles(&listing), ["new", "chat 9"]);
}

#[test]
fn drops_a_page_requested_before_restart() {
    let mut listing = started(list(10, &[9, 8], true));
    let asked = listing.begin_page();
    listing.restart(list(20, &[9], true));
    listing.apply_page(asked, list(10, &[4, 3], false), false);
    assert_eq!(titles(&listing), ["chat 9"]);
    let asked = listing.begin_page();
    listing.apply_page(asked, list(20, &[3], false), false);
    assert_eq!(titles(&listing), ["chat 9", "chat 3"]);
}
