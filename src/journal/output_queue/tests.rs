use std::time::Duration;

use futures::FutureExt;
use tokio::{sync::oneshot, task::unconstrained, time::timeout};

use super::{
    super::test_changes::{append_entry, run_key, text_delta},
    *,
};
use crate::storage::{Change, RunKey};

/// Adds the first delta of a new run and returns the run.
async fn push_run(queue: &OutputQueue, user_id: UserId) -> RunKey {
    let run = run_key(user_id);
    queue.push(user_id, append_entry(run, text_delta(0, "a"))).await;
    run
}

/// Returns the runs of the appends.
fn runs(changes: &[QueuedChange]) -> Vec<RunKey> {
    let run = |queued: &QueuedChange| match &queued.change {
        Change::AppendEvents { run, .. } => Some(*run),
        _ => None,
    };
    changes.iter().filter_map(run).collect()
}

#[tokio::test]
async fn divides_a_commit_among_users() {
    let queue = OutputQueue::default();
    let (busy, other) = (UserId::new(), UserId::new());
    let mut busy_runs = Vec::new();
    for _ in 0..4 * SHARED_COMMIT_CHANGES {
        busy_runs.push(push_run(&queue, busy).await);
    }
    assert_eq!(runs(&queue.take_next()), busy_runs[..SHARED_COMMIT_CHANGES]);
    let run = push_run(&queue, other).await;
    let taken = runs(&queue.take_next());
    assert_eq!(taken.len(), SHARED_COMMIT_CHANGES / 2 + 1);
    assert!(taken.contains(&run));
    // The rest stays in order.
    let mut rest = Vec::new();
    while !queue.is_empty() {
        rest.extend(runs(&queue.take_next()));
    }
    assert_eq!(
        rest,
        busy_runs[SHARED_COMMIT_CHANGES + SHARED_COMMIT_CHANGES / 2..]
    );
}

#[tokio::test]
async fn takes_something_of_each_of_many_users() {
    let queue = OutputQueue::default();
    for _ in 0..SHARED_COMMIT_CHANGES {
        let user_id = UserId::new();
        for _ in 0..2 * MIN_USER_CHANGES {
            push_run(&queue, user_id).await;
        }
    }
    for _ in 0..2 {
        assert_eq!(queue.take_next().len(), MIN_USER_CHANGES * SHARED_COMMIT_CHANGES);
    }
    assert!(queue.is_empty());
}

#[tokio::test]
async fn rest_is_merged_with_what_follows() {
    let queue = OutputQueue::default();
    let user_id = UserId::new();
    for _ in 0..SHARED_COMMIT_CHANGES {
        push_run(&queue, user_id).await;
    }
    let last = push_run(&queue, user_id).await;
    queue.take_next();
    queue.push(user_id, append_entry(last, text_delta(1, "b"))).await;
    let taken = queue.take_next();
    assert!(
        matches!(
            &taken[..],
            [QueuedChange { change: Change::AppendEvents { run, events }, slots: 2, .. }]
                if *run == last && *events == [text_delta(0, "ab")]
        ),
        "{taken:?}"
    );
}

#[tokio::test]
async fn only_users_with_full_queues_wait() {
    let queue = OutputQueue::default();
    let (busy, other) = (UserId::new(), UserId::new());
    for _ in 0..MAX_USER_CHANGES {
        push_run(&queue, busy).await;
    }
    // A test that has done much has to yield to the runtime, which is not what is meant by waiting here.
    let mut waiting = Box::pin(unconstrained(push_run(&queue, busy)));
    assert!(waiting.as_mut().now_or_never().is_none());
    assert!(unconstrained(push_run(&queue, other)).now_or_never().is_some());
    queue.take_next();
    assert!(waiting.now_or_never().is_some());
}

#[tokio::test(start_paused = true)]
async fn users_are_active_for_a_while() {
    let queue = OutputQueue::default();
    push_run(&queue, UserId::new()).await;
    queue.take_next();
    let busy = UserId::new();
    for _ in 0..2 * SHARED_COMMIT_CHANGES {
        push_run(&queue, busy).await;
    }
    assert_eq!(queue.take_next().len(), SHARED_COMMIT_CHANGES / 2);
    tokio::time::advance(ACTIVE_TIME).await;
    // Alone again.
    assert_eq!(queue.take_next().len(), SHARED_COMMIT_CHANGES);
    while !queue.is_empty() {
        queue.take_next();
    }
    queue.take_next();
    assert_eq!(queue.users.lock().as_ref().map(BTreeMap::len), Some(0));
}

#[tokio::test]
async fn closed_queue_drops_changes_and_their_replies() {
    let queue = OutputQueue::default();
    let user_id = UserId::new();
    for _ in 0..MAX_USER_CHANGES {
        push_run(&queue, user_id).await;
    }
    let mut waiting = Box::pin(unconstrained(push_run(&queue, user_id)));
    assert!(waiting.as_mut().now_or_never().is_none());
    queue.close();
    assert!(waiting.now_or_never().is_some());
    let (reply, outcome) = oneshot::channel();
    let queued = QueuedChange {
        reply: Some(reply),
        ..append_entry(run_key(user_id), text_delta(0, "a"))
    };
    queue.push(user_id, queued).await;
    assert!(
        timeout(Duration::from_secs(10), outcome)
            .await
            .is_ok_and(|outcome| outcome.is_err())
    );
    assert!(queue.is_empty());
}
