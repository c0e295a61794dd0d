//! The conversation list: its order, its pages and the unseen marks.

use super::*;

pub async fn pages_the_list_by_newest_activity(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let turns: Vec<TestTurn> = (0..5)
        .map(|n| new_turn(TEST_USER, ConversationId::new(), &format!("talk {n}")))
        .collect();
    for (n, turn) in turns.iter().enumerate() {
        // Two conversations in the same millisecond.
        let at = Timestamp(NOON.0 + (n as i64 / 2));
        storage
            .commit(at, std::slice::from_ref(&turn.change))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = storage.conversations(TEST_USER, before, 2).await.unwrap();
        seen.extend(
            page.conversations
                .iter()
                .map(|conversation| conversation.title.clone()),
        );
        before = page.next_cursor();
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["talk 4", "talk 3", "talk 2", "talk 1", "talk 0"]);
    let list = storage.conversations(TEST_USER, None, 10).await.unwrap();
    assert_eq!(list.conversations[0].active_run, Some(turns[4].run.message_id));
}

pub async fn an_ended_run_is_unseen_until_read(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let conversation_id = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation_id, "think about it");
    let unseen = async |storage: &dyn Storage| {
        let list = storage.conversations(TEST_USER, None, 1).await.unwrap();
        let mut folded = ConversationList::default();
        for event in read_log(storage, TEST_USER).await {
            parlor_protocol::conversation_list::apply(&mut folded, &event);
        }
        assert_eq!(
            folded.conversations, list.conversations,
            "the live list equals the loaded one"
        );
        list.conversations[0].unseen
    };
    let read = Change::Conversation {
        user_id: TEST_USER,
        conversation_id,
        change: ConversationChange::MarkRead,
    };
    commit_one(&*storage, &turn.change).await.unwrap();
    assert!(!unseen(&*storage).await);
    commit_one(&*storage, &end_run(turn.run, "done")).await.unwrap();
    assert!(unseen(&*storage).await);
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert!(unseen(&*storage).await, "it is unseen after a restart too");
    commit_one(&*storage, &read).await.unwrap();
    assert!(!unseen(&*storage).await);
    let head = storage.last_position(TEST_USER).await.unwrap();
    commit_one(&*storage, &read).await.unwrap();
    assert_eq!(
        storage.last_position(TEST_USER).await.unwrap(),
        head,
        "marking twice logs no event"
    );
}
