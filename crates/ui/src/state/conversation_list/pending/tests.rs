use super::*;
use parlor_protocol::{Position, ProjectId, Timestamp};

fn listed(number: u64) -> ListedConversation {
    ListedConversation {
        id: ConversationId(uuid::Uuid::from_u128(number.into())),
        title: number.to_string(),
        updated_at: Timestamp(0),
        activity: Position(number),
        active_run: None,
        waiting: false,
        unseen: true,
        pinned: false,
        archived: false,
        temporary: false,
        project_id: None,
    }
}

fn placed(conversation: &ListedConversation) -> Event {
    Event {
        position: Position(9),
        conversation_id: conversation.id,
        message_id: None,
        body: EventBody::Conversation(ConversationEvent::ConversationPlaced {
            conversation: conversation.clone(),
        }),
    }
}

fn titles(pending: &PendingChanges, listed: &[ListedConversation], is_archive: bool) -> Vec<String> {
    let kind = match is_archive {
        true => ListKind::Archive,
        false => ListKind::Chats,
    };
    let applied = pending.applied_to(listed, kind);
    applied.iter().map(|listed| listed.title.clone()).collect()
}

#[test]
fn changes_show_until_their_events() {
    let list = [listed(2), listed(1)];
    let mut pending = PendingChanges::default();
    pending.add(&[list[1].id], ListChange::Pin);
    assert_eq!(titles(&pending, &list, false), ["1", "2"]);
    pending.add(&[list[1].id], ListChange::Archive);
    assert_eq!(titles(&pending, &list, false), ["2"]);
    pending.confirm(&placed(&list[1]));
    assert_eq!(titles(&pending, &list, false), ["2"]);
    pending.confirm(&placed(&list[1]));
    assert_eq!(titles(&pending, &list, false), ["2", "1"]);
}

#[test]
fn a_pin_takes_out_of_the_archive() {
    let archive = [listed(2), listed(1)];
    let mut pending = PendingChanges::default();
    pending.add(&[archive[0].id], ListChange::Pin);
    assert_eq!(titles(&pending, &archive, true), ["1"]);
}

#[test]
fn a_change_without_an_event_is_removed_alone() {
    let list = [listed(2), listed(1)];
    let mut pending = PendingChanges::default();
    pending.add(&[list[1].id, list[0].id], ListChange::Pin);
    pending.add(&[list[1].id], ListChange::Unpin);
    pending.add(&[list[1].id], ListChange::Pin);
    // The first one, which is answered first.
    pending.remove(&[list[1].id], ListChange::Pin);
    assert_eq!(
        pending.0,
        [
            (list[0].id, ListChange::Pin),
            (list[1].id, ListChange::Unpin),
            (list[1].id, ListChange::Pin)
        ]
    );
}

#[test]
fn a_moved_chat_leaves_the_list_of_its_project() {
    let here = Some(ProjectId::new());
    let list = [ListedConversation {
        project_id: here,
        ..listed(1)
    }];
    let mut pending = PendingChanges::default();
    pending.add(&[list[0].id], ListChange::Move { project_id: None });
    assert!(pending.applied_to(&list, ListKind::Project(here)).is_empty());
    let moved = pending.applied_to(&list, ListKind::Chats);
    assert_eq!(moved[0].project_id, None);
}
