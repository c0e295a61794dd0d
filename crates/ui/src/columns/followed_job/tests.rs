//! Loads of the cells after changes of a job.

use super::*;
use crate::state::{remote::Remote, replica::Replica};
use parlor_protocol::job::JobProgress;

fn job(id: JobId, done: usize, total: usize) -> Job {
    Job {
        id,
        kind: COLUMNS.into(),
        title: String::new(),
        status: match done == total {
            true => RunStatus::Complete,
            false => RunStatus::Running,
        },
        model: String::new(),
        progress: JobProgress {
            done,
            total,
            left_ms: None,
        },
        totals: Default::default(),
        cost_limit: None,
        error: None,
        waits_for: None,
        unseen: false,
        created_at: Default::default(),
        ended_at: None,
    }
}

fn change(position: u64, job: &Job) -> (Position, JobUpdate) {
    (Position(position), JobUpdate::Changed(job.clone()))
}

fn view(as_of: u64, job: Option<Job>) -> ColumnsView {
    ColumnsView {
        as_of: Position(as_of),
        job,
        ..ColumnsView::default()
    }
}

/// Loads columns as the page does.
fn finish_load(followed: &mut Replica<FollowedJob>, view: &ColumnsView) -> bool {
    let loaded = FollowedJob::new(view, followed.get());
    assert!(followed.finish_load(loaded).is_ok());
    is_outdated(followed)
}

fn is_outdated(followed: &Replica<FollowedJob>) -> bool {
    followed.get().is_some_and(|followed| followed.is_outdated)
}

#[test]
fn a_step_that_ends_while_cells_are_loaded_is_loaded_afterwards() {
    let id = JobId::new();
    for known in [None, Some(job(id, 0, 2))] {
        let mut followed = Replica::new(FollowedJob::new(&view(1, known), None));
        followed.begin_load();
        followed.apply(&change(2, &job(id, 0, 2)));
        followed.apply(&change(3, &job(id, 1, 2)));
        // What was read before the step ended comes now.
        assert!(finish_load(&mut followed, &view(2, Some(job(id, 0, 2)))));
        let shown = followed.get().and_then(|followed| followed.job.as_ref());
        assert_eq!(shown.map(|job| job.progress.done), Some(1));

        followed.begin_load();
        assert!(!finish_load(&mut followed, &view(3, Some(job(id, 1, 2)))));
        followed.apply(&change(4, &job(id, 2, 2)));
        assert!(is_outdated(&followed));
    }
}

#[test]
fn a_job_that_begins_before_the_first_load_ends_is_found() {
    let id = JobId::new();
    let mut followed = Replica::from(Remote::NotRequested);
    followed.begin_load();
    followed.apply(&change(2, &job(id, 0, 2)));
    assert!(finish_load(&mut followed, &view(1, None)));
    followed.begin_load();
    assert!(!finish_load(&mut followed, &view(2, Some(job(id, 0, 2)))));
}

#[test]
fn a_job_of_other_rows_is_loaded_once() {
    let (own, other) = (JobId::new(), JobId::new());
    let mut followed = Replica::new(FollowedJob::new(&view(1, Some(job(own, 2, 2))), None));
    followed.apply(&change(2, &job(other, 0, 9)));
    assert!(is_outdated(&followed));
    followed.begin_load();
    followed.apply(&change(3, &job(other, 1, 9)));
    assert!(!finish_load(&mut followed, &view(2, Some(job(own, 2, 2)))));
    followed.apply(&change(4, &job(other, 2, 9)));
    assert!(!is_outdated(&followed));
}

#[test]
fn a_node_of_an_earlier_version_is_asked_once() {
    let other = JobId::new();
    let mut followed = Replica::new(FollowedJob::new(&view(0, None), None));
    followed.apply(&change(2, &job(other, 0, 9)));
    assert!(is_outdated(&followed));
    followed.begin_load();
    assert!(!finish_load(&mut followed, &view(0, None)));
    followed.apply(&change(3, &job(other, 1, 9)));
    assert!(!is_outdated(&followed));
}

#[test]
fn long_jobs_are_loaded_in_parts() {
    let id = JobId::new();
    let mut followed = Replica::new(FollowedJob::new(&view(1, Some(job(id, 0, 100))), None));
    for done in 1..5 {
        followed.apply(&change(1 + done as u64, &job(id, done, 100)));
        assert!(!is_outdated(&followed));
    }
    followed.apply(&change(6, &job(id, 5, 100)));
    assert!(is_outdated(&followed));
}

#[test]
fn a_deleted_job_and_one_that_goes_on_are_loaded() {
    let id = JobId::new();
    let ended = Job {
        status: RunStatus::Stopped,
        ..job(id, 1, 2)
    };
    let loaded = FollowedJob::new(&view(1, Some(ended)), None);
    for update in [JobUpdate::Deleted(id), JobUpdate::Changed(job(id, 1, 2))] {
        let mut followed = Replica::new(loaded.clone());
        followed.apply(&(Position(2), update));
        assert!(is_outdated(&followed));
    }
    let mut followed = Replica::new(loaded);
    followed.apply(&(Position(2), JobUpdate::Deleted(JobId::new())));
    assert!(!is_outdated(&followed));
}
