//! Damaged rows of shares.

use super::*;
use crate::{
    TokenHash,
    shares::{Audience, ShareChange, ShareStorage, Snapshot, StoredShare},
};
use parlor_protocol::ShareId;

#[tokio::test]
async fn a_damaged_share_opens_nothing() {
    let (_folder, storage) = open_storage().await;
    let conversation_id = ConversationId::new();
    let (_, run) = answered_turn(&storage, conversation_id, "Hello").await;
    let hash = TokenHash([7; 32]);
    let share = StoredShare {
        id: ShareId::new(),
        user_id: UserId::LOCAL,
        conversation_id,
        audience: Audience::Link,
        snapshot: Some(Snapshot {
            title: "Hello".into(),
            leaf_id: run.message_id,
            leaf_nodes: 1,
            position: Position(5),
        }),
        created_at: NOON,
    };
    let create = ShareChange::Create {
        share: share.clone(),
        hash: Some(hash),
        limit: 1,
    };
    commit_one(&storage, Change::Share(create)).await;
    assert_eq!(storage.share_by_link(&hash).await.unwrap(), Some(share));
    // Not a live share: that would show more.
    let whole = format!("leaf_id = '{}'", run.message_id);
    for damage in [
        "leaf_id = NULL".to_owned(),
        "leaf_id = 'odd'".to_owned(),
        format!("{whole}, conversation_id = 'odd'"),
    ] {
        execute_sql(&storage, "PRAGMA foreign_keys = OFF".into()).await;
        execute_sql(&storage, format!("UPDATE shares SET {damage}")).await;
        assert_eq!(storage.share_by_link(&hash).await.unwrap(), None, "{damage}");
        assert_eq!(storage.shares(UserId::LOCAL).await.unwrap(), [], "{damage}");
    }
}
