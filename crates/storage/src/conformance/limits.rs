//! The limits that several nodes on one database of Postgres share.

use std::time::Duration;

use super::{
    nodes::{LONG, node},
    *,
};
use crate::{
    limits::{LimitEntry, LimitKey, LimitStorage},
    nodes::NodeStorage,
};
use parlor_base::settings::NodeSettings;

#[tokio::test]
async fn nodes_share_turns() {
    const INTERVAL: Duration = Duration::from_secs(20);
    let folder = tempfile::tempdir().unwrap();
    let nodes = [node(&folder, LONG).await, node(&folder, LONG).await];
    let key = LimitKey::new("turns", "service");
    let take =
        async |node: &SqlStorage, turns| node.take_turn(key, INTERVAL, INTERVAL * turns).await.unwrap();
    // Four in a burst, then none, at either.
    for node in nodes.iter().cycle().take(4) {
        assert_eq!(take(node, 3).await, None);
    }
    let wait = take(&nodes[0], 3).await.expect("they are taken");
    assert!(wait <= INTERVAL && wait > INTERVAL / 2, "{wait:?}");
    let longer = take(&nodes[1], 0).await.expect("they are taken");
    assert!(
        longer <= 4 * INTERVAL && longer > wait + 2 * INTERVAL,
        "{longer:?}"
    );
    let other = LimitKey::new("turns", "other");
    let taken = nodes[0].take_turn(other, INTERVAL, Duration::ZERO).await;
    assert_eq!(taken.unwrap(), None);

    let paused = LimitKey::new("turns", "paused");
    nodes[0].pause_turns(paused, INTERVAL).await.unwrap();
    nodes[0].pause_turns(paused, Duration::ZERO).await.unwrap();
    let wait = nodes[1]
        .take_turn(paused, INTERVAL, Duration::ZERO)
        .await
        .unwrap();
    assert!(wait.is_some_and(|wait| wait > INTERVAL / 2), "{wait:?}");
}

#[tokio::test]
async fn turns_of_a_clock_that_was_put_back_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let first = node(&folder, LONG).await;
    let key = LimitKey::new("turns", "service");
    let ahead = Box::new(|entries: &mut [Option<LimitEntry>], now| {
        entries[0] = Some(LimitEntry {
            count: 0,
            next_at: now + 3_600_000_000,
        });
    });
    first.change_limits(&[key], ahead).await.unwrap();
    let interval = Duration::from_secs(20);
    assert_eq!(
        first.take_turn(key, interval, Duration::ZERO).await.unwrap(),
        None
    );
    let wait = first.take_turn(key, interval, Duration::ZERO).await.unwrap();
    assert!(wait.is_some_and(|wait| wait <= interval), "{wait:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_change_entries_of_limits_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let nodes = [node(&folder, LONG).await, node(&folder, LONG).await];
    let keys = ["account", "address"].map(|subject| LimitKey::new("attempts", subject));
    let count = async |node: &SqlStorage, keys: [LimitKey; 2]| {
        for _ in 0..20 {
            let change = Box::new(|entries: &mut [Option<LimitEntry>], now| {
                for entry in entries {
                    let count = entry.map_or(0, |entry| entry.count) + 1;
                    *entry = Some(LimitEntry { count, next_at: now });
                }
            });
            node.change_limits(&keys, change).await.unwrap();
        }
    };
    let [one, other] = keys;
    tokio::join!(count(&nodes[0], [one, other]), count(&nodes[1], [other, one]));
    let mut seen = Vec::new();
    let change = Box::new(|entries: &mut [Option<LimitEntry>], now| {
        seen.extend(
            entries
                .iter()
                .flatten()
                .map(|entry| (entry.count, entry.next_at <= now)),
        );
        entries[0] = None;
    });
    nodes[0].change_limits(&keys, change).await.unwrap();
    assert_eq!(seen, [(40, true), (40, true)]);
    let mut left = Vec::new();
    let change = Box::new(|entries: &mut [Option<LimitEntry>], _| {
        left.extend(entries.iter().map(|entry| entry.map(|entry| entry.count)));
    });
    nodes[1].change_limits(&keys, change).await.unwrap();
    assert_eq!(left, [None, Some(40)]);
}

#[tokio::test]
async fn a_user_has_one_limit_of_active_runs() {
    let folder = tempfile::tempdir().unwrap();
    let limited = async || {
        let database = postgres::PostgresDatabase {
            nodes: NodeSettings {
                enabled: true,
                lease: LONG,
                ..NodeSettings::default()
            },
            max_runs: Some(1),
            ..postgres::tests::database_of(folder.path()).await
        };
        let storage = SqlStorage::open_postgres(folder.path(), &database).await.unwrap();
        storage.join().await.unwrap();
        storage
    };
    let (first, second) = (limited().await, limited().await);
    let conversation = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation, "question");
    commit_one(&first, &turn.change).await.expect("the first");
    let before = read_log(&first, TEST_USER).await;
    let further = new_turn(TEST_USER, ConversationId::new(), "further");
    assert_eq!(
        commit_one(&second, &further.change).await,
        Err(ChangeRejection::TooManyRuns)
    );
    assert_eq!(read_log(&first, TEST_USER).await, before);
    let there = new_turn(TEST_USER, conversation, "in the same conversation");
    assert_eq!(
        commit_one(&second, &there.change).await,
        Err(ChangeRejection::RunActive)
    );
    let others = new_turn(UserId::new(), ConversationId::new(), "of another user");
    commit_one(&second, &others.change).await.expect("another user");
    let end = answer_run(turn.run, "answer", RunStatus::Stopped);
    commit_one(&first, &end).await.expect("it ends");
    commit_one(&second, &further.change)
        .await
        .expect("a place is free");
    let again = Change::Intent {
        user_id: TEST_USER,
        change: IntentChange::ContinueRun {
            intent: intent::ContinueRun {
                intent_id: IntentId::new(),
                conversation_id: conversation,
                message_id: turn.run.message_id,
            },
            fingerprint: String::new(),
        },
    };
    assert_eq!(
        commit_one(&first, &again).await,
        Err(ChangeRejection::TooManyRuns)
    );
}
