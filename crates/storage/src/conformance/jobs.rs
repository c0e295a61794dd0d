//! Jobs: their steps, their ends, their list.

use super::*;
use crate::jobs::{Fence, JobChange, JobLimits, JobOutput, NewJob, StoredJob};
use parlor_protocol::{
    Dollars, JobId, RunError, TokenTotals,
    job::{Job, JobList, JobProgress, JobUpdate},
};

const LIMITS: JobLimits = JobLimits {
    stored: 3,
    running: 2,
};

pub(super) fn change(user_id: UserId, change: JobChange) -> Change {
    Change::Job { user_id, change }
}

pub(super) fn start_as(user_id: UserId, id: JobId, fingerprint: &str) -> Change {
    let job = NewJob {
        id,
        kind: "count".into(),
        version: 1,
        title: "Count".into(),
        input: "{\"to\":3}".into(),
        model: "x/m".into(),
        cost_limit: Some(Dollars(500)),
        fingerprint: fingerprint.into(),
    };
    let limits = LIMITS;
    let scheduled = None;
    change(
        user_id,
        JobChange::Start {
            job,
            limits,
            scheduled,
        },
    )
}

pub(super) fn start(id: JobId) -> Change {
    start_as(TEST_USER, id, "first")
}

pub(super) fn output(job_id: JobId, fence: u64, output: JobOutput) -> Change {
    change(
        TEST_USER,
        JobChange::Output {
            job_id,
            fence: Fence(fence),
            output,
        },
    )
}

pub(super) fn start_step(key: &str) -> JobOutput {
    JobOutput::StartStep {
        key: key.into(),
        kind: "add",
        version: 1,
        input: "1".into(),
    }
}

pub(super) fn finish_step(key: &str, result: Result<&str, RunError>) -> JobOutput {
    JobOutput::FinishStep {
        key: key.into(),
        result: result.map(str::to_owned),
        totals: TokenTotals {
            calls: 1,
            input_tokens: 10,
            cost: Dollars(100),
            ..TokenTotals::default()
        },
        total: 3,
        left_ms: Some(70),
    }
}

pub(super) fn error(code: &str) -> RunError {
    RunError {
        code: code.into(),
        message: "It failed.".into(),
        hint: String::new(),
    }
}

pub(super) fn end(status: RunStatus) -> JobOutput {
    JobOutput::End {
        status,
        error: None,
        result: (status == RunStatus::Complete).then(|| "{\"sum\":6}".into()),
    }
}

pub(super) fn taken(fence: u64) -> Result<Outcome, ChangeRejection> {
    Ok(Outcome::JobTaken {
        fence: Fence(fence),
        again: false,
    })
}

pub(super) async fn stored_job(storage: &dyn Storage, id: JobId) -> StoredJob {
    let stored = storage.job(TEST_USER, id).await.expect("storage works");
    stored.expect("it is there")
}

/// Returns the jobs of the log: the last change of each, newest first.
async fn folded_jobs(storage: &dyn Storage) -> JobList {
    let mut list = JobList::default();
    for event in read_log(storage, TEST_USER).await {
        list.as_of = event.position;
        let EventBody::User(UserEvent::JobChanged { change }) = &event.body else {
            continue;
        };
        match serde_json::from_str(change.as_str()).expect("an update") {
            JobUpdate::Changed(job) => {
                list.jobs.retain(|known| known.id != job.id);
                list.jobs.push(job);
            }
            JobUpdate::Deleted(id) => list.jobs.retain(|known| known.id != id),
        }
    }
    list.jobs
        .sort_by_key(|job: &Job| std::cmp::Reverse((job.created_at, job.id)));
    list
}

/// Commits a change and compares the folded log with the stored list.
pub(super) async fn commit_job(storage: &dyn Storage, change: &Change) -> Result<Outcome, ChangeRejection> {
    let outcome = commit_one(storage, change).await;
    let stored = storage.jobs(TEST_USER).await.expect("storage works");
    assert_eq!(folded_jobs(storage).await, stored, "after {change:?}");
    outcome
}

pub(super) async fn commit_done(storage: &dyn Storage, change: &Change) {
    assert_eq!(commit_job(storage, change).await, Ok(Outcome::Done));
}

pub async fn a_step_has_one_result(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let id = JobId::new();
    assert_eq!(commit_job(&*storage, &start(id)).await, taken(1));
    let commit = async |made| commit_job(&*storage, &output(id, 1, made)).await;
    assert_eq!(commit(start_step("b")).await, Ok(Outcome::Done));
    assert_eq!(commit(start_step("a")).await, Ok(Outcome::Done));
    assert_eq!(commit(start_step("b")).await, Ok(Outcome::Done), "once more");
    assert_eq!(commit(finish_step("b", Ok("2"))).await, Ok(Outcome::Done));
    assert_eq!(
        commit(finish_step("a", Err(error("no_text")))).await,
        Ok(Outcome::Done)
    );
    for again in [
        start_step("b"),
        start_step("a"),
        finish_step("b", Ok("3")),
        finish_step("c", Ok("3")),
    ] {
        assert_eq!(commit(again).await, Err(ChangeRejection::NotFound));
    }
    assert_eq!(commit(end(RunStatus::Complete)).await, Ok(Outcome::Done));
    assert_eq!(commit(start_step("d")).await, Err(ChangeRejection::JobEnded));

    drop(storage);
    let storage = open_storage(backend, &folder).await;
    let steps = storage.job_steps(TEST_USER, id).await.expect("storage works");
    let seen: Vec<_> = steps
        .iter()
        .map(|step| {
            (
                &*step.key,
                step.output.as_deref(),
                step.error.is_some(),
                step.attempts,
            )
        })
        .collect();
    assert_eq!(
        seen,
        [("b", Some("2"), false, 2), ("a", None, true, 1)],
        "in the order of their starts"
    );
    let stored = stored_job(&*storage, id).await;
    assert_eq!(
        (stored.job.status, stored.result.as_deref(), &*stored.input),
        (RunStatus::Complete, Some("{\"sum\":6}"), "{\"to\":3}")
    );
    let progress = JobProgress {
        done: 2,
        total: 3,
        left_ms: None,
    };
    assert_eq!(stored.job.progress, progress);
    assert_eq!(
        (stored.job.totals.cost, stored.job.totals.calls),
        (Dollars(200), 2)
    );
    let used = storage
        .daily_usage(Some(TEST_USER), crate::usage::Day(0))
        .await
        .expect("storage works");
    assert_eq!(used.iter().map(|day| day.usage.cost.0).sum::<u64>(), 200);
}

pub async fn a_job_waits_stops_and_goes_on(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let id = JobId::new();
    let go_on = |cost_limit| {
        change(
            TEST_USER,
            JobChange::Continue {
                job_id: id,
                cost_limit,
                running: 2,
            },
        )
    };
    let stop = change(TEST_USER, JobChange::Stop { job_id: id });
    let status = async || {
        let job = stored_job(&*storage, id).await.job;
        (job.status, job.waits_for, job.cost_limit)
    };
    commit_job(&*storage, &start(id)).await.expect("it starts");
    assert_eq!(
        commit_job(&*storage, &go_on(None)).await,
        Err(ChangeRejection::JobActive)
    );
    let pause = JobOutput::Pause {
        error: error("unknown"),
        waits_for: Some("a".into()),
    };
    commit_done(&*storage, &output(id, 1, start_step("a"))).await;
    commit_done(&*storage, &output(id, 1, pause)).await;
    assert_eq!(storage.running_jobs().await.expect("storage works"), []);
    assert_eq!(
        status().await,
        (RunStatus::Waiting, Some("a".into()), Some(Dollars(500)))
    );
    assert_eq!(commit_job(&*storage, &go_on(Some(Dollars(900)))).await, taken(2));
    assert_eq!(
        status().await,
        (RunStatus::Running, Some("a".into()), Some(Dollars(900))),
        "the user has decided about the step"
    );
    commit_done(&*storage, &output(id, 2, start_step("a"))).await;
    assert_eq!(status().await.1, None);
    let pause = JobOutput::Pause {
        error: error("unknown"),
        waits_for: Some("a".into()),
    };
    commit_done(&*storage, &output(id, 2, pause)).await;
    commit_done(&*storage, &stop).await;
    let stopped = stored_job(&*storage, id).await;
    let expected = Job {
        status: RunStatus::Stopped,
        error: None,
        waits_for: None,
        ended_at: Some(NOON),
        ..stopped.job.clone()
    };
    assert_eq!((stopped.job, stopped.fence), (expected, Fence(3)));
    assert_eq!(commit_job(&*storage, &stop).await, Err(ChangeRejection::JobEnded));
    let late = output(id, 2, finish_step("a", Ok("2")));
    assert_eq!(
        commit_job(&*storage, &late).await,
        Err(ChangeRejection::FenceLost)
    );
    assert_eq!(commit_job(&*storage, &go_on(None)).await, taken(4));
    commit_done(&*storage, &output(id, 4, end(RunStatus::Complete))).await;
    assert_eq!(
        commit_job(&*storage, &go_on(None)).await,
        Err(ChangeRejection::JobEnded)
    );
}

pub async fn an_ended_job_is_unseen_until_looked_at(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let id = JobId::new();
    let is_unseen = async || stored_job(storage, id).await.job.unseen;
    let seen = |user_id| change(user_id, JobChange::MarkSeen { job_id: id });
    commit_job(storage, &start(id)).await.expect("it starts");
    assert!(!is_unseen().await);
    let pause = JobOutput::Pause {
        error: error("unknown"),
        waits_for: None,
    };
    commit_done(storage, &output(id, 1, pause)).await;
    assert!(is_unseen().await, "it waits");
    let go_on = JobChange::Continue {
        job_id: id,
        cost_limit: None,
        running: 2,
    };
    assert_eq!(commit_job(storage, &change(TEST_USER, go_on)).await, taken(2));
    assert!(!is_unseen().await, "the user has decided");
    commit_done(storage, &output(id, 2, end(RunStatus::Complete))).await;
    assert!(is_unseen().await, "it has ended");
    let other = commit_job(storage, &seen(other_user())).await;
    assert_eq!(other, Err(ChangeRejection::NotFound));
    assert!(is_unseen().await, "another has looked");
    commit_done(storage, &seen(TEST_USER)).await;
    assert!(!is_unseen().await);
    assert_eq!(
        commit_job(storage, &seen(TEST_USER)).await,
        Ok(Outcome::Unchanged)
    );
}

pub async fn jobs_are_limited_private_and_deleted(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let ids = [JobId::new(), JobId::new(), JobId::new()];
    commit_job(&*storage, &start(ids[0])).await.expect("it starts");
    let again = Ok(Outcome::JobTaken {
        fence: Fence(1),
        again: true,
    });
    assert_eq!(commit_job(&*storage, &start(ids[0])).await, again);
    let other_request = start_as(TEST_USER, ids[0], "second");
    assert_eq!(
        commit_job(&*storage, &other_request).await,
        Err(ChangeRejection::IntentReused)
    );
    let of_other = start_as(other_user(), ids[0], "first");
    assert_eq!(
        commit_job(&*storage, &of_other).await,
        Err(ChangeRejection::NotFound)
    );
    commit_job(&*storage, &start(ids[1])).await.expect("it starts");
    assert_eq!(
        commit_job(&*storage, &start(ids[2])).await,
        Err(ChangeRejection::TooManyJobs)
    );
    commit_done(&*storage, &output(ids[0], 1, end(RunStatus::Failed))).await;
    commit_job(&*storage, &start(ids[2]))
        .await
        .expect("there is room");
    commit_done(&*storage, &output(ids[1], 1, start_step("secret"))).await;
    assert_eq!(
        commit_job(&*storage, &start(JobId::new())).await,
        Err(ChangeRejection::JobsFull)
    );

    let stranger = other_user();
    for foreign in [
        JobChange::Stop { job_id: ids[1] },
        JobChange::Recover {
            job_id: ids[1],
            fence: Fence(1),
        },
        JobChange::Output {
            job_id: ids[1],
            fence: Fence(1),
            output: end(RunStatus::Complete),
        },
    ] {
        assert_eq!(
            commit_job(&*storage, &change(stranger, foreign)).await,
            Err(ChangeRejection::NotFound)
        );
    }
    let delete = |user_id| change(user_id, JobChange::Delete { job_id: ids[1] });
    assert_eq!(
        commit_job(&*storage, &delete(stranger)).await,
        Ok(Outcome::DataDeleted)
    );
    let seen = storage.job(stranger, ids[1]).await.expect("storage works");
    assert_eq!(seen, None);
    let seen = storage.job_steps(stranger, ids[1]).await.expect("storage works");
    assert_eq!(seen, []);
    let steps = storage.job_steps(TEST_USER, ids[1]).await.expect("storage works");
    assert_eq!(steps.len(), 1, "it is still there");

    assert_eq!(
        commit_job(&*storage, &delete(TEST_USER)).await,
        Ok(Outcome::DataDeleted)
    );
    let left = storage.jobs(TEST_USER).await.expect("storage works");
    let left: Vec<JobId> = left.jobs.iter().map(|job| job.id).collect();
    assert_eq!(left, [ids[2], ids[0]]);
    let log = read_log(&*storage, TEST_USER).await;
    let named = log.iter().filter(|event| match &event.body {
        EventBody::User(UserEvent::JobChanged { change }) => change.as_str().contains(&ids[1].to_string()),
        _ => false,
    });
    assert_eq!(named.count(), 1, "only its deletion");
}

pub async fn jobs_are_listed_newest_first(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let ids = [2, 1].map(|number| JobId(uuid::Uuid::from_u128(number)));
    for (id, at) in ids.iter().zip([NOON.0, NOON.0 + 1]) {
        let started = storage.commit(Timestamp(at), &[start(*id)]).await;
        assert_eq!(started.expect("storage works").outcomes, [taken(1)]);
    }
    let listed = storage.jobs(TEST_USER).await.expect("storage works").jobs;
    let listed: Vec<JobId> = listed.iter().map(|job| job.id).collect();
    assert_eq!(listed, [ids[1], ids[0]], "not by the ids, which clients choose");
    assert_eq!(folded_jobs(&*storage).await.jobs.len(), 2);
}
