//! Damaged rows of users and of deleted conversations.

use super::*;
use crate::ChangeRejection;

/// Positions that no log of these tests has.
const WRONG_POSITIONS: &[&str] = &["0", "1", "-5", "3", "9223372036854775807"];

/// Values that are no positions. `STRICT` tables have them only if a page is damaged.
const UNREADABLE_POSITIONS: &[&str] = &["'x'", "''", "X'ff'", "1.5", "CAST(X'7bff' AS TEXT)"];

async fn set_users(storage: &SqliteStorage, assignment: String) {
    execute_sql(storage, format!("UPDATE users SET {assignment}")).await;
}

async fn events_after(storage: &SqliteStorage, after: Position) -> LogPage {
    let page = storage.events_after(UserId::LOCAL, after, None, 1000);
    page.await.unwrap()
}

/// Checks that the log has positions without gaps, that more is appended to it, and that it can be followed.
async fn check_log_continues(storage: &SqliteStorage, damage: &str) {
    let before = read_log(storage, None).await.len() as u64;
    let head = storage.last_position(UserId::LOCAL).await.unwrap();
    assert_eq!(head, Position(before), "{damage}");
    let (_, run) = answered_turn(storage, ConversationId::new(), "Another").await;
    let events = read_log(storage, None).await;
    let positions: Vec<u64> = events.iter().map(|event| event.position.0).collect();
    assert_eq!(
        positions,
        (1..=positions.len() as u64).collect::<Vec<_>>(),
        "{damage}"
    );
    assert!(positions.len() as u64 > before, "{damage}");
    assert!(!read_log(storage, Some(run.message_id)).await.is_empty());
    let end = storage.last_position(UserId::LOCAL).await.unwrap();
    let nothing = LogPage::Events {
        events: Vec::new(),
        more: false,
    };
    assert_eq!(events_after(storage, end).await, nothing, "{damage}");
    assert_eq!(
        events_after(storage, end.next()).await,
        LogPage::Reset,
        "{damage}"
    );
}

#[tokio::test]
async fn a_wrong_head_gives_no_position_twice() {
    let (_folder, storage) = open_storage().await;
    answered_turn(&storage, ConversationId::new(), "Hello").await;
    for wrong in WRONG_POSITIONS {
        set_users(&storage, format!("position = {wrong}")).await;
        check_log_continues(&storage, wrong).await;
    }
    drop_constraints(&storage).await;
    for unreadable in UNREADABLE_POSITIONS {
        set_users(&storage, format!("position = {unreadable}")).await;
        check_log_continues(&storage, unreadable).await;
    }
    // A head that is too high leaves a gap: nothing can tell it from a right one.
    set_users(&storage, "position = 5000".into()).await;
    answered_turn(&storage, ConversationId::new(), "Another").await;
    let events = read_log(&storage, None).await;
    assert!(events.iter().any(|event| event.position == Position(5001)));
}

#[tokio::test]
async fn a_wrong_trimmed_position_hides_no_event() {
    let (_folder, storage) = open_storage().await;
    answered_turn(&storage, ConversationId::new(), "Hello").await;
    for wrong in WRONG_POSITIONS.iter().chain(&["1000"]) {
        set_users(&storage, format!("trimmed = {wrong}")).await;
        check_log_continues(&storage, wrong).await;
    }
    drop_constraints(&storage).await;
    for unreadable in UNREADABLE_POSITIONS {
        set_users(
            &storage,
            format!("trimmed = {unreadable}, position = {unreadable}"),
        )
        .await;
        check_log_continues(&storage, unreadable).await;
    }
    // Trimming stores the right number again.
    set_users(&storage, "trimmed = 1000".into()).await;
    let head = storage.last_position(UserId::LOCAL).await.unwrap().0;
    assert_eq!(storage.trim_log(Timestamp(0), 3).await.unwrap(), head - 3);
    assert_eq!(events_after(&storage, Position(head - 4)).await, LogPage::Reset);
    assert!(matches!(
        events_after(&storage, Position(head - 3)).await,
        LogPage::Events { events, .. } if events.len() == 3
    ));
    // A log without events has only the row.
    execute_sql(&storage, "DELETE FROM events".into()).await;
    set_users(&storage, "trimmed = 1000, position = 1".into()).await;
    answered_turn(&storage, ConversationId::new(), "Another").await;
    assert!(matches!(
        events_after(&storage, Position(1000)).await,
        LogPage::Events { events, .. } if events[0].event.position == Position(1001)
    ));
}

#[tokio::test]
async fn an_unreadable_user_row_is_isolated() {
    let (_folder, storage) = open_storage().await;
    answered_turn(&storage, ConversationId::new(), "Hello").await;
    execute_sql(&storage, "PRAGMA foreign_keys = OFF".into()).await;
    for unreadable in DAMAGED_JSON {
        let head = storage.last_position(UserId::LOCAL).await.unwrap();
        set_users(&storage, format!("id = {unreadable}")).await;
        let nothing = LogPage::Events {
            events: Vec::new(),
            more: false,
        };
        assert_eq!(events_after(&storage, head).await, nothing, "{unreadable}");
        assert_eq!(
            read_log(&storage, None).await.len() as u64,
            head.0,
            "{unreadable}"
        );
        assert_eq!(
            events_after(&storage, head.next()).await,
            LogPage::Reset,
            "{unreadable}"
        );
        answered_turn(&storage, ConversationId::new(), "Another").await;
        check_log_continues(&storage, unreadable).await;
        assert_eq!(
            storage.trim_log(Timestamp(0), 1000).await.unwrap(),
            0,
            "{unreadable}"
        );
        execute_sql(&storage, format!("DELETE FROM users WHERE id = {unreadable}")).await;
    }
}

#[tokio::test]
async fn a_damaged_trim_bound_trims_nothing() {
    let (_folder, storage) = open_storage().await;
    let (change, run) = send_change("Hello");
    commit_one(&storage, change).await;
    let before = read_log(&storage, None).await;
    drop_constraints(&storage).await;
    let of_run = run.message_id;
    execute_sql(
        &storage,
        format!("UPDATE runs SET first_position = 'x' WHERE id = '{of_run}'"),
    )
    .await;
    assert_eq!(storage.trim_log(Timestamp(i64::MAX), 0).await.unwrap(), 0);
    assert_eq!(read_log(&storage, None).await, before);
}

#[tokio::test]
async fn a_damaged_deletion_record_is_isolated() {
    let (_folder, storage) = open_storage().await;
    let user_id = UserId::LOCAL;
    let conversation_id = ConversationId::new();
    answered_turn(&storage, conversation_id, "Hello").await;
    for id in DAMAGED_JSON
        .iter()
        .copied()
        .chain([&*format!("'{conversation_id}'")])
    {
        let row = format!("INSERT INTO deleted_conversations VALUES ({id}, '{user_id}', -1)");
        execute_sql(&storage, row).await;
    }
    answered_turn(&storage, conversation_id, "And?").await;
    let delete = Change::Conversation {
        user_id,
        conversation_id,
        change: ConversationChange::Delete,
    };
    commit_one(&storage, delete).await;
    let (late, _) = send_change("Late");
    let Change::Intent {
        change: IntentChange::SendMessage {
            mut intent, start, ..
        },
        ..
    } = late
    else {
        unreachable!("it sends")
    };
    intent.conversation_id = conversation_id;
    let late = Change::Intent {
        user_id,
        change: IntentChange::SendMessage { intent, start },
    };
    let committed = storage.commit(NOON, &[late]).await.unwrap();
    assert_eq!(committed.outcomes, [Err(ChangeRejection::NotFound)]);
    drop_constraints(&storage).await;
    execute_sql(
        &storage,
        "UPDATE deleted_conversations SET deleted_at = 'x'".into(),
    )
    .await;
    storage.trim_log(Timestamp(0), 1000).await.unwrap();
    answered_turn(&storage, ConversationId::new(), "Another").await;
}

/// The journal retries other errors for ever.
#[tokio::test]
async fn a_rejected_row_counts_as_damage() {
    let (_folder, storage) = open_storage().await;
    answered_turn(&storage, ConversationId::new(), "Hello").await;
    let mut writer = storage.writer.lock().await;
    let twice = sqlx::query("INSERT INTO events SELECT * FROM events")
        .execute(writer.connection.as_mut().unwrap().sqlite().unwrap());
    let error = StorageError::from(twice.await.unwrap_err());
    assert_eq!(error.kind(), StorageErrorKind::Damaged, "{error}");
}
