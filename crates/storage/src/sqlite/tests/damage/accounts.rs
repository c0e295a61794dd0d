//! Damaged rows of accounts and sessions: nobody gets in by one, and the others are not affected.

use super::*;
use crate::{
    TokenHash,
    accounts::{AccountChange, AccountStorage, AccountWarrant, Role, Session, SignInMethod},
};
use parlor_protocol::SessionId;

async fn sign_in(storage: &SqliteStorage, name: &str, hash: u8) -> UserId {
    let user_id = UserId::new();
    let create = AccountChange::Create {
        user_id,
        name: name.into(),
        password: Some("hash".into()),
        warrant: AccountWarrant::Proxy,
    };
    commit_one(storage, Change::Account(create)).await;
    let start = AccountChange::StartSession {
        user_id,
        session: Session {
            id: SessionId::new(),
            device: "A".into(),
            address: "B".into(),
            created_at: NOON,
            last_used_at: NOON,
            idle_ms: 1000,
            expires_at: Timestamp(NOON.0 + 1000),
            method: SignInMethod::Password,
        },
        hash: TokenHash([hash; 32]),
        replaces: None,
    };
    commit_one(storage, Change::Account(start)).await;
    user_id
}

#[tokio::test]
async fn a_damaged_account_or_session_lets_nobody_in() {
    for (table, column, value) in [
        ("accounts", "disabled", "'x'"),
        ("accounts", "created_at", "'x'"),
        ("accounts", "name", "CAST(X'7bff' AS TEXT)"),
        ("sessions", "expires_at", "'x'"),
        ("sessions", "last_used_at", "X'ff'"),
        ("sessions", "idle_ms", "1.5"),
        ("sessions", "id", "'x'"),
        ("sessions", "method", "'x'"),
    ] {
        let (_folder, storage) = open_storage().await;
        let ann = sign_in(&storage, "ann", 1).await;
        let ben = sign_in(&storage, "ben", 2).await;
        drop_constraints(&storage).await;
        let damage = format!("UPDATE {table} SET {column} = {value} WHERE user_id = '{ann}'");
        execute_sql(&storage, damage.clone()).await;
        assert_eq!(
            storage.session(&TokenHash([1; 32])).await.unwrap(),
            None,
            "{damage}"
        );
        let (account, _) = storage.session(&TokenHash([2; 32])).await.unwrap().unwrap();
        assert_eq!(account.user_id, ben, "{damage}");
        let accounts = storage.accounts().await.unwrap();
        assert_eq!(
            accounts.len(),
            if table == "accounts" { 1 } else { 2 },
            "{damage}"
        );
        let sessions = storage.sessions(ann).await.unwrap();
        assert_eq!(sessions.is_empty(), table == "sessions", "{damage}");
    }
}

#[tokio::test]
async fn a_damaged_role_is_that_of_a_member() {
    let (_folder, storage) = open_storage().await;
    let ann = sign_in(&storage, "ann", 1).await;
    let role = async || storage.account(ann).await.unwrap().unwrap().role;
    assert_eq!(role().await, Role::Administrator, "the first one");
    execute_sql(&storage, "UPDATE accounts SET role = 'adminis'".into()).await;
    assert_eq!(role().await, Role::Member);
}
