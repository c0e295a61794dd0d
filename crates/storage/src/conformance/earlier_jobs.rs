//! The complete job before a job, with the same kind and input.

use super::{
    jobs::{change, commit_done, end, output, start_as, taken},
    *,
};
use crate::jobs::{JobChange, JobLimits, NewJob};
use parlor_protocol::JobId;

pub async fn a_job_knows_the_complete_one_before_it(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    let storage = &*storage;
    let other_user = other_user();
    let ids = [1, 2, 3, 4].map(|number| JobId(uuid::Uuid::from_u128(number)));
    let limits = JobLimits {
        stored: 9,
        running: 9,
    };
    let start_with = |id: JobId, user_id: UserId, input: &str| match start_as(user_id, id, "first") {
        Change::Job {
            change: JobChange::Start { job, .. },
            ..
        } => change(
            user_id,
            JobChange::Start {
                job: NewJob {
                    input: input.into(),
                    ..job
                },
                limits,
                scheduled: None,
            },
        ),
        other => other,
    };
    for (at, start) in [
        start_with(ids[0], TEST_USER, "1"),
        start_with(ids[1], TEST_USER, "1"),
        start_with(ids[2], TEST_USER, "2"),
        start_with(ids[3], TEST_USER, "1"),
        start_with(JobId::new(), other_user, "1"),
    ]
    .iter()
    .enumerate()
    {
        let started = storage
            .commit(Timestamp(NOON.0 + at as i64), std::slice::from_ref(start))
            .await;
        assert_eq!(started.expect("storage works").outcomes, [taken(1)]);
    }
    let before = async |id| {
        let before = storage.job_before(TEST_USER, id).await.expect("storage works");
        before.map(|stored| stored.job.id)
    };
    assert_eq!(before(ids[3]).await, None, "none is complete");
    for id in &ids {
        commit_done(storage, &output(*id, 1, end(RunStatus::Complete))).await;
    }
    assert_eq!(
        before(ids[3]).await,
        Some(ids[1]),
        "not the one with another input"
    );
    assert_eq!(before(ids[1]).await, Some(ids[0]));
    assert_eq!(before(ids[0]).await, None);
    assert_eq!(before(ids[2]).await, None);
    assert!(storage.has_jobs(TEST_USER, "count").await.expect("storage works"));
    assert!(!storage.has_jobs(TEST_USER, "other").await.expect("storage works"));
    let hidden = storage
        .job_before(other_user, ids[3])
        .await
        .expect("storage works");
    assert_eq!(hidden, None, "the job of another user");
}
