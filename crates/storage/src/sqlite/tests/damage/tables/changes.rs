//! The changes that touch the rows: each is applied or rejected, and others are not affected.

use sqlx::Row;
use uuid::Uuid;

use super::{Filled, KEPT_TABLES, NOON, answered_turn, commit_one, rows};
use crate::{
    Change, ChangeRejection, ConversationChange, FileChange, LibraryUpdate, PersonalChange, Storage,
    TokenHash,
    accounts::AccountChange,
    audit::{Actor, SignInWay},
    endpoints::EndpointChange,
    shares::ShareChange,
};
use parlor_protocol::{
    ApiToken, ConversationId, EndpointId, LinkId, Memory, MemoryId, MessageId, Position, ResearchStreamId,
    SessionId, ShareId, Timestamp, TokenId,
};

fn damaged_id(last: u128) -> Uuid {
    Uuid::from_u128((0xdddd_dddd << 96) | (7 << 76) | (8 << 60) | last)
}

/// Commits a change that may find its row missing or damaged, and nothing else wrong.
async fn try_commit(filled: &Filled, damage: &str, change: Change) -> bool {
    let committed = filled.storage.commit(NOON, std::slice::from_ref(&change)).await;
    let committed = committed.unwrap_or_else(|error| panic!("{damage}: {change:?}: {error}"));
    match committed.outcomes[0] {
        Ok(_) => true,
        Err(ChangeRejection::NotFound | ChangeRejection::Damaged(_) | ChangeRejection::DeletionGivenUp) => {
            false
        }
        Err(rejection) => panic!("{damage}: {change:?}: {rejection:?}"),
    }
}

/// Deletes the damaged rows one by one.
async fn delete_rows(filled: &Filled, damage: &str) {
    let user_id = filled.ids.user;
    let by = |change| {
        Change::Account(AccountChange::By {
            actor: Actor {
                user_id: filled.ids.other,
                address: String::new(),
                signs_in_by: SignInWay::Proxy,
            },
            change: Box::new(change),
        })
    };
    for change in [
        Change::Personal {
            user_id,
            change: PersonalChange::DeleteMemory {
                memory_id: MemoryId(damaged_id(5)),
            },
        },
        Change::Personal {
            user_id,
            change: PersonalChange::RevokeToken {
                token_id: TokenId(damaged_id(4)),
            },
        },
        Change::Library {
            user_id,
            update: LibraryUpdate::RemoveArticle {
                pmid: "dddddddd".into(),
            },
        },
        Change::Library {
            user_id,
            update: LibraryUpdate::DeleteResearchStream {
                stream_id: ResearchStreamId(damaged_id(6)),
            },
        },
        Change::Share(ShareChange::End {
            user_id,
            share_id: ShareId(damaged_id(7)),
        }),
        Change::Endpoint {
            by: filled.ids.other,
            change: EndpointChange::Remove {
                id: EndpointId(damaged_id(0x13)),
                owner: None,
            },
        },
        Change::Account(AccountChange::EndSession {
            user_id,
            session_id: SessionId(damaged_id(2)),
        }),
        by(AccountChange::DeleteLink {
            link_id: LinkId(damaged_id(3)),
        }),
        Change::Conversation {
            user_id,
            conversation_id: filled.ids.conversation,
            change: ConversationChange::EraseMessage {
                message_id: MessageId(damaged_id(0x12)),
                hidden_at: Timestamp(9_000_000_000_000),
            },
        },
        Change::Account(AccountChange::TrimAuditLog {
            before: Timestamp(0),
            keep: 100,
        }),
        Change::File(FileChange::ExpireUploads { before: Timestamp(0) }),
    ] {
        try_commit(filled, damage, change).await;
    }
}

/// Checks that others are not affected, and that the row can be deleted: by itself, with its conversation or with its user.
pub(super) async fn check_changes(filled: &Filled, damage: &str, (table, row): (&str, &str), is_key: bool) {
    let (storage, user_id) = (&filled.storage, filled.ids.user);
    // Each of these adds to a table with a damaged row.
    answered_turn(storage, ConversationId::new(), "Another").await;
    answered_turn(storage, filled.ids.sound_conversation, "More").await;
    let memory = Memory {
        id: MemoryId::new(),
        text: "new".into(),
        created_at: NOON,
    };
    commit_one(
        storage,
        Change::Personal {
            user_id,
            change: PersonalChange::AddMemory {
                memory,
                project_id: None,
                limit: 10,
            },
        },
    )
    .await;
    let token = ApiToken {
        id: TokenId::new(),
        name: "new".into(),
        beginning: "n".into(),
        created_at: NOON,
        expires_at: None,
        last_used_at: None,
    };
    commit_one(
        storage,
        Change::Personal {
            user_id,
            change: PersonalChange::AddToken {
                token,
                hash: TokenHash([5; 32]),
                limit: 10,
            },
        },
    )
    .await;
    storage
        .trim_log(Timestamp(0), 1000)
        .await
        .unwrap_or_else(|error| panic!("{damage}: {error}"));
    delete_rows(filled, damage).await;
    let conversation_id = filled.ids.conversation;
    assert!(
        try_commit(
            filled,
            damage,
            Change::Conversation {
                user_id,
                conversation_id,
                change: ConversationChange::Delete
            }
        )
        .await,
        "{damage}"
    );
    if table == "users" || (table == "accounts" && is_key) {
        return;
    }
    let administrator = Actor {
        user_id: filled.ids.other,
        address: String::new(),
        signs_in_by: SignInWay::Proxy,
    };
    let by = |change| {
        Change::Account(AccountChange::By {
            actor: administrator.clone(),
            change: Box::new(change),
        })
    };
    commit_one(storage, by(AccountChange::BeginDeletion { user_id, heir: None })).await;
    commit_one(storage, by(AccountChange::Delete { user_id, heir: None })).await;
    let left = rows(
        storage,
        format!("SELECT count(*) AS number FROM {table} WHERE {row}"),
    )
    .await;
    let left: i64 = left[0].get("number");
    assert!(
        left == 0 || is_key || KEPT_TABLES.contains(&table),
        "{damage}: {left} rows are left"
    );
    assert_eq!(
        storage.last_position(user_id).await.unwrap(),
        Position(0),
        "{damage}"
    );
}
