//! The list of conversations: its order, its pages, what is news.

use super::*;

#[tokio::test]
async fn the_list_comes_page_by_page_newest_activity_first() {
    let (_folder, storage) = sqlite().await;
    let turns: Vec<Turn> = (0..5)
        .map(|n| turn(ANN, ConversationId::new(), &format!("talk {n}")))
        .collect();
    for (n, turn) in turns.iter().enumerate() {
        // Two of them in the same millisecond.
        let at = Timestamp(NOON.0 + (n as i64 / 2));
        storage
            .commit(at, std::slice::from_ref(&turn.change))
            .await
            .unwrap();
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = storage.conversations(ANN, before, 2).await.unwrap();
        seen.extend(
            page.conversations
                .iter()
                .map(|conversation| conversation.title.clone()),
        );
        before = page.cursor();
        if before.is_none() {
            break;
        }
    }
    assert_eq!(seen, ["talk 4", "talk 3", "talk 2", "talk 1", "talk 0"]);
    let list = storage.conversations(ANN, None, 10).await.unwrap();
    assert_eq!(list.conversations[0].active_run, Some(turns[4].run.message_id));
}

#[tokio::test]
async fn what_ended_while_nobody_looked_is_news_until_somebody_does() {
    let (folder, storage) = sqlite().await;
    let conversation_id = ConversationId::new();
    let turn = turn(ANN, conversation_id, "think about it");
    let unseen = async |storage: &dyn Storage| {
        let list = storage.conversations(ANN, None, 1).await.unwrap();
        let mut folded = ConversationList::default();
        for event in log(storage, ANN).await {
            crate::protocol::conversation_list::apply(&mut folded, &event);
        }
        assert_eq!(folded.conversations, list.conversations, "live is as loaded");
        list.conversations[0].unseen
    };
    let read = Change::MarkRead {
        user_id: ANN,
        conversation_id,
    };
    do_one(&*storage, &turn.change).await.unwrap();
    assert!(!unseen(&*storage).await);
    do_one(&*storage, &end(turn.run, "done")).await.unwrap();
    assert!(unseen(&*storage).await);
    drop(storage);
    let storage = sqlite::Sqlite::open(folder.path()).await.unwrap();
    assert!(unseen(&storage).await, "also after a restart");
    do_one(&storage, &read).await.unwrap();
    assert!(!unseen(&storage).await);
    let head = storage.head(ANN).await.unwrap();
    do_one(&storage, &read).await.unwrap();
    assert_eq!(storage.head(ANN).await.unwrap(), head, "no news, no event");
}
