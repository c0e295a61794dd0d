//! Several nodes on one database of Postgres.

use std::time::Duration;

use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use super::*;
use crate::{
    jobs::Owner,
    nodes::{LeftAnswer, NodeStorage, SharedChanges},
};
use parlor_base::settings::NodeSettings;
use parlor_protocol::intent::ApprovalAnswer;

/// Opens the database of a folder as another node, whose lease has this length.
pub(super) async fn node(folder: &TempDir, lease: Duration) -> SqlStorage {
    let database = postgres::PostgresDatabase {
        nodes: NodeSettings {
            enabled: true,
            lease,
            ..NodeSettings::default()
        },
        ..postgres::tests::database_of(folder.path()).await
    };
    let storage = SqlStorage::open_postgres(folder.path(), &database).await;
    let storage = storage.expect("nodes share the folder and the database");
    storage.join().await.expect("it joins");
    storage
}

pub(super) const LONG: Duration = Duration::from_secs(60);

/// A lease that has expired when it begins.
const EXPIRED: Duration = Duration::ZERO;

fn append(run: RunKey, offset: usize, words: &str) -> Change {
    Change::Output {
        run,
        output: RunOutput::AppendEvents {
            events: vec![text(offset, words)],
        },
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_give_each_position_once() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (node(&folder, LONG).await, node(&folder, LONG).await);
    let users = [TEST_USER, UserId::new()];
    let write = async |storage: &SqlStorage| {
        for _ in 0..10 {
            // Of two users, so that each commit has several logs. The end indexes the text.
            let turns = users.map(|user| new_turn(user, ConversationId::new(), "question"));
            let starts = turns.each_ref().map(|turn| turn.change.clone());
            let ends = turns
                .each_ref()
                .map(|turn| answer_run(turn.run, "answer", RunStatus::Complete));
            for batch in [starts, ends] {
                let committed = storage.commit(NOON, &batch).await.expect("storage works");
                assert!(
                    committed.outcomes.iter().all(Result::is_ok),
                    "{:?}",
                    committed.outcomes
                );
            }
        }
    };
    tokio::join!(write(&first), write(&second));
    for user in users {
        let log = read_log(&first, user).await;
        let positions: Vec<u64> = log.iter().map(|event| event.position.0).collect();
        assert_eq!(positions, (1..=log.len() as u64).collect::<Vec<_>>());
        assert_eq!(log, read_log(&second, user).await);
        let ends = log.iter().filter(|event| event.body.terminal_status().is_some());
        assert_eq!(ends.count(), 20);
    }
}

#[tokio::test]
async fn a_node_without_its_lease_stores_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (slow, other) = (node(&folder, EXPIRED).await, node(&folder, LONG).await);
    let turn = new_turn(TEST_USER, ConversationId::new(), "question");
    commit_one(&slow, &turn.change)
        .await
        .expect("nobody has ended its lease");
    assert_eq!(other.running_runs().await.unwrap(), [], "a node works on it");
    let resume = Change::Run(RunChange::Resume { run: turn.run });
    assert_eq!(commit_one(&other, &resume).await, Err(ChangeRejection::FenceLost));

    assert_eq!(other.end_expired().await.unwrap(), 1);
    let before = read_log(&other, TEST_USER).await;
    let left = other.running_runs().await.unwrap();
    assert_eq!(left.iter().map(|run| run.key).collect::<Vec<_>>(), [turn.run]);
    let further = new_turn(TEST_USER, ConversationId::new(), "further");
    for late in [append(turn.run, 0, "late"), further.change.clone()] {
        let refused = slow.commit(NOON, &[late]).await;
        assert!(matches!(refused, Err(StorageError::LeaseLost)), "{refused:?}");
    }
    assert_eq!(read_log(&other, TEST_USER).await, before);
    assert!(!slow.renew().await.unwrap());
    commit_one(&other, &resume).await.expect("it is taken once");

    // As a new node it has no run, but works.
    slow.join().await.unwrap();
    assert!(slow.renew().await.unwrap());
    assert_eq!(
        slow.lost_runs(&[turn.run.message_id]).await.unwrap(),
        [turn.run.message_id]
    );
    assert_eq!(
        commit_one(&slow, &append(turn.run, 0, "late")).await,
        Err(ChangeRejection::FenceLost)
    );
    assert_eq!(commit_one(&slow, &resume).await, Err(ChangeRejection::FenceLost));
    commit_one(&slow, &further.change).await.expect("it has a lease");
    commit_one(&other, &append(turn.run, 0, "on time"))
        .await
        .expect("its own");
}

#[tokio::test]
async fn a_taken_or_deleted_run_takes_no_output_of_its_former_node() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (node(&folder, LONG).await, node(&folder, LONG).await);
    let conversation = ConversationId::new();
    let turn = new_turn(TEST_USER, conversation, "question");
    commit_one(&first, &turn.change).await.expect("it is saved");
    let take = Change::Run(RunChange::TakeOver { run: turn.run });
    commit_one(&second, &take).await.expect("a stop takes any run");
    assert_eq!(
        commit_one(&first, &append(turn.run, 0, "late")).await,
        Err(ChangeRejection::FenceLost)
    );
    assert!(!first.is_own_active_run(turn.run.message_id).await.unwrap());
    assert!(second.is_own_active_run(turn.run.message_id).await.unwrap());
    let delete = Change::Conversation {
        user_id: TEST_USER,
        conversation_id: conversation,
        change: ConversationChange::Delete,
    };
    commit_one(&first, &delete).await.expect("it is deleted");
    let before = read_log(&first, TEST_USER).await;
    for late in [
        append(turn.run, 0, "late"),
        answer_run(turn.run, "late", RunStatus::Complete),
    ] {
        assert_eq!(commit_one(&second, &late).await, Err(ChangeRejection::FenceLost));
    }
    assert_eq!(read_log(&first, TEST_USER).await, before);
}

#[tokio::test]
async fn an_answer_is_left_for_the_node_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (node(&folder, LONG).await, node(&folder, LONG).await);
    let turn = new_turn(TEST_USER, ConversationId::new(), "question");
    commit_one(&first, &turn.change).await.expect("it is saved");
    let leave = |index, answer| {
        let approval = ApprovalDecision {
            run: turn.run.message_id,
            index,
            answer,
        };
        Change::Run(RunChange::LeaveAnswer {
            user_id: TEST_USER,
            approval,
        })
    };
    assert_eq!(
        commit_one(&first, &leave(0, ApprovalAnswer::Allow)).await,
        Err(ChangeRejection::RunActive),
        "it works on the run itself"
    );
    for (index, answer) in [
        (0, ApprovalAnswer::Allow),
        (0, ApprovalAnswer::Deny),
        (2, ApprovalAnswer::Always),
    ] {
        commit_one(&second, &leave(index, answer))
            .await
            .expect("it is left");
    }
    let left = first.answered_runs().await.unwrap();
    let first_counts: [LeftAnswer; 2] = [(0, ApprovalAnswer::Allow), (2, ApprovalAnswer::Always)];
    assert_eq!(left[0].answers, first_counts);
    assert_eq!(second.answered_runs().await.unwrap(), []);
    // One that came since is kept.
    commit_one(&second, &leave(3, ApprovalAnswer::Allow))
        .await
        .expect("it is left");
    let forget = |stored: &str| {
        Change::Run(RunChange::ForgetAnswers {
            run: turn.run,
            stored: stored.to_owned(),
        })
    };
    commit_one(&first, &forget(&left[0].stored))
        .await
        .expect("nothing to do");
    let left = first.answered_runs().await.unwrap();
    assert_eq!(left[0].answers.len(), 3);
    commit_one(&first, &forget(&left[0].stored))
        .await
        .expect("they are applied");
    assert_eq!(first.answered_runs().await.unwrap(), []);
}

#[tokio::test]
async fn nodes_hear_of_commits() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (node(&folder, LONG).await, node(&folder, LONG).await);
    let (sender, mut hints) = tokio::sync::mpsc::channel(10);
    let listening = second.clone();
    let listener = tokio::spawn(async move { listening.follow_commits(sender).await });
    assert!(hints.recv().await.expect("a hint").is_unknown, "what was before");
    let turn = new_turn(TEST_USER, ConversationId::new(), "question");
    commit_one(&second, &new_turn(TEST_USER, ConversationId::new(), "own").change)
        .await
        .expect("it is saved");
    commit_one(&first, &turn.change).await.expect("it is saved");
    let hint = hints.recv().await.expect("a hint");
    let position = first.last_position(TEST_USER).await.unwrap();
    assert_eq!(hint.positions, [(TEST_USER, position)], "of others alone");
    assert_eq!(
        second.log_heads(&[TEST_USER]).await.unwrap(),
        [(TEST_USER, position)]
    );

    assert_eq!(second.shared_changes().await.unwrap(), SharedChanges::default());
    let revoke = Change::Personal {
        user_id: TEST_USER,
        change: PersonalChange::RevokeToken {
            token_id: TokenId::new(),
        },
    };
    let _ = commit_one(&first, &revoke).await;
    let hint = hints.recv().await.expect("a hint");
    assert!(hint.has_shared_changes && hint.positions.is_empty(), "{hint:?}");
    assert_eq!(second.shared_changes().await.unwrap().access, 1);
    listener.abort();
}

#[tokio::test]
async fn an_answer_that_was_left_for_an_ended_node_is_found_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (node(&folder, EXPIRED).await, node(&folder, LONG).await);
    let turn = new_turn(TEST_USER, ConversationId::new(), "question");
    commit_one(&first, &turn.change).await.expect("it is saved");
    let leave = Change::Run(RunChange::LeaveAnswer {
        user_id: TEST_USER,
        approval: ApprovalDecision {
            run: turn.run.message_id,
            index: 0,
            answer: ApprovalAnswer::Allow,
        },
    });
    commit_one(&second, &leave).await.expect("it is left");
    let message = AssistantMessage::new("x/m");
    let pause = Change::Output {
        run: turn.run,
        output: RunOutput::PauseRun {
            events: Vec::new(),
            message,
        },
    };
    commit_one(&first, &pause).await.expect("it pauses");
    assert_eq!(second.answered_runs().await.unwrap(), [], "its node has it");
    assert_eq!(second.end_expired().await.unwrap(), 1);
    let left = second.answered_runs().await.unwrap();
    assert_eq!(left[0].run, turn.run);
}

#[tokio::test]
async fn a_run_of_a_living_node_is_not_recovered_or_abandoned_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (node(&folder, LONG).await, node(&folder, LONG).await);
    let turn = new_turn(TEST_USER, ConversationId::new(), "question");
    commit_one(&first, &turn.change).await.expect("it is saved");
    let abandon = Change::Output {
        run: turn.run,
        output: RunOutput::AbandonRun {
            events: Vec::new(),
            status: RunStatus::Failed,
            message: None,
        },
    };
    assert_eq!(
        commit_one(&second, &abandon).await,
        Err(ChangeRejection::FenceLost)
    );
    // A second recovery of the same process must not take what it works on.
    for recover in [
        RunChange::Recover { run: turn.run },
        RunChange::Resume { run: turn.run },
    ] {
        let recovered = commit_one(&first, &Change::Run(recover)).await;
        assert_eq!(recovered, Err(ChangeRejection::FenceLost));
    }
    commit_one(&first, &abandon).await.expect("its own");
}

#[tokio::test]
async fn nothing_is_trimmed_or_indexed_without_a_lease() {
    let folder = tempfile::tempdir().unwrap();
    let (slow, other) = (node(&folder, EXPIRED).await, node(&folder, LONG).await);
    assert_eq!(other.end_expired().await.unwrap(), 1);
    let trimmed = slow.trim_log(NOON, 0).await;
    assert!(matches!(trimmed, Err(StorageError::LeaseLost)), "{trimmed:?}");
    let indexed = slow.index_old_data().await;
    assert!(matches!(indexed, Err(StorageError::LeaseLost)), "{indexed:?}");
    other.trim_log(NOON, 0).await.expect("it has a lease");
    other.index_old_data().await.expect("it has a lease");
}

#[tokio::test]
async fn a_single_process_is_refused_behind_a_pooler_while_there_are_leases() {
    let folder = tempfile::tempdir().unwrap();
    let first = node(&folder, LONG).await;
    let alone = postgres::PostgresDatabase {
        has_pooler: true,
        ..postgres::tests::database_of(folder.path()).await
    };
    let other = tempfile::tempdir().unwrap();
    let extending = async {
        loop {
            first.renew().await.unwrap();
        }
    };
    let refused = tokio::select! {
        opened = SqlStorage::open_postgres(other.path(), &alone) => opened,
        () = extending => unreachable!("it goes on"),
    };
    assert!(matches!(refused, Err(StorageError::NodesAtWork)));
    assert!(first.renew().await.unwrap(), "its lease is kept");
    first.leave().await.unwrap();
    SqlStorage::open_postgres(other.path(), &alone)
        .await
        .expect("nobody is at work");
}

#[tokio::test]
async fn a_node_knows_which_of_its_transactions_are_stored() {
    let folder = tempfile::tempdir().unwrap();
    let storage = node(&folder, LONG).await;
    let database = postgres::tests::database_of(folder.path()).await;
    let options = database.options().unwrap();
    let mut open = PgConnection::connect(&database.url).await.unwrap();
    let owner: String = sqlx::query_scalar("SELECT id FROM nodes")
        .fetch_one(&mut open)
        .await
        .unwrap();
    let owner = Owner(owner.parse().unwrap());
    let asked = async |number, within| {
        postgres::commit_end::was_committed(&options, owner, number, Some(within)).await
    };
    for number in 1..=2 {
        let turn = new_turn(TEST_USER, ConversationId::new(), "question");
        commit_one(&storage, &turn.change).await.expect("it is stored");
        assert!(asked(number, LONG).await.unwrap());
        assert!(!asked(number + 1, LONG).await.unwrap());
    }
    // One that is open may still be committed, and is no answer.
    let begin = format!("BEGIN; UPDATE node_commits SET number = 3 WHERE node = '{owner}'");
    open.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await.unwrap();
    let waiting = asked(3, Duration::from_millis(300)).await;
    assert!(matches!(waiting, Err(StorageError::LeaseLost)), "{waiting:?}");
    open.close().await.unwrap();
    assert!(!asked(3, LONG).await.unwrap(), "it was not committed");
    storage.leave().await.unwrap();
    let gone = asked(2, LONG).await;
    assert!(matches!(gone, Err(StorageError::LeaseLost)), "{gone:?}");
}
