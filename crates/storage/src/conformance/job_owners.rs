//! The owners of jobs: the process that works on a job, and the account of its user.

use super::{
    accounts::{apply, make_accounts},
    jobs::{
        change, commit_done, commit_job, end, error, finish_step, output, start, start_step, stored_job,
        taken,
    },
    *,
};
use crate::{
    accounts::AccountChange,
    jobs::{Fence, JobChange, JobOutput},
};
use parlor_protocol::{JobId, ModelCallId, TokenTotals};

fn recover(job_id: JobId) -> Change {
    recover_taken(job_id, 1)
}

/// Recovers a job that was taken under a number.
fn recover_taken(job_id: JobId, fence: u64) -> Change {
    let fence = Fence(fence);
    change(TEST_USER, JobChange::Recover { job_id, fence })
}

pub async fn output_under_an_older_fence_is_refused(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let id = JobId::new();
    commit_job(&*storage, &start(id)).await.expect("it starts");
    commit_done(&*storage, &output(id, 1, start_step("a"))).await;
    let first_owner = stored_job(&*storage, id).await.owner;
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert_eq!(commit_job(&*storage, &recover(id)).await, taken(2));
    let call = RecordedModelCall {
        id: ModelCallId::new(),
        request: Some("{}".into()),
        response: "{}".into(),
    };
    let record = || JobOutput::RecordCall {
        step: "a".into(),
        call: call.clone(),
    };
    let late = || {
        [
            start_step("b"),
            finish_step("a", Ok("2")),
            record(),
            JobOutput::CountCalls {
                totals: TokenTotals::default(),
            },
            JobOutput::Pause {
                error: error("late"),
                waits_for: None,
            },
            end(RunStatus::Complete),
        ]
    };
    for late in late() {
        assert_eq!(
            commit_job(&*storage, &output(id, 1, late)).await,
            Err(ChangeRejection::FenceLost)
        );
    }
    let stored = stored_job(&*storage, id).await;
    assert_ne!(stored.owner, first_owner);
    assert_eq!((stored.fence, stored.resumptions), (Fence(2), 1));
    assert_eq!(stored.job.totals, TokenTotals::default());
    commit_done(&*storage, &output(id, 2, finish_step("a", Ok("2")))).await;
    commit_done(&*storage, &output(id, 2, record())).await;
    let calls = storage.job_calls(TEST_USER, id).await.expect("storage works");
    assert_eq!(calls, [("a".to_owned(), call)]);
}

pub async fn a_process_recovers_only_jobs_of_others(backend: &dyn Backend) {
    let (folder, storage) = temp_storage(backend).await;
    let id = JobId::new();
    commit_job(&*storage, &start(id)).await.expect("it starts");
    for _ in 0..2 {
        let before = stored_job(&*storage, id).await;
        assert_eq!(
            commit_job(&*storage, &recover(id)).await,
            Err(ChangeRejection::JobActive)
        );
        assert_eq!(stored_job(&*storage, id).await, before);
    }
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    // Its answer may be lost.
    for _ in 0..2 {
        assert_eq!(commit_job(&*storage, &recover(id)).await, taken(2));
    }
    for fence in [2, 3] {
        assert_eq!(
            commit_job(&*storage, &recover_taken(id, fence)).await,
            Err(ChangeRejection::JobActive),
            "it is its own now"
        );
    }
    drop(storage);
    let storage = open_storage(backend, &folder).await;
    assert_eq!(
        commit_job(&*storage, &recover(id)).await,
        Err(ChangeRejection::JobActive),
        "another has taken it since"
    );
}

pub async fn jobs_of_disabled_accounts_begin_no_step(backend: &dyn Backend) {
    let (_folder, storage) = temp_storage(backend).await;
    make_accounts(&*storage).await;
    let keeps_administrator = AccountChange::SetRole {
        user_id: other_user(),
        role: parlor_protocol::Role::Administrator,
        keeps_administrator: true,
    };
    apply(&*storage, keeps_administrator).await.unwrap();
    let id = JobId::new();
    commit_job(&*storage, &start(id)).await.expect("it starts");
    commit_done(&*storage, &output(id, 1, start_step("a"))).await;
    let disable = |is_disabled| AccountChange::SetDisabled {
        user_id: TEST_USER,
        is_disabled,
    };
    apply(&*storage, disable(true)).await.unwrap();
    commit_done(&*storage, &output(id, 1, finish_step("a", Ok("2")))).await;
    let next = output(id, 1, start_step("b"));
    assert_eq!(
        commit_job(&*storage, &next).await,
        Err(ChangeRejection::AccountDisabled)
    );
    apply(&*storage, disable(false)).await.unwrap();
    commit_done(&*storage, &next).await;
}
