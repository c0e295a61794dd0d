//! The job that fills the columns on the screen, as the log has it. Pure state: it decides when the cells are loaded again.

use std::collections::BTreeMap;

use crate::state::replica::Replicated;
use parlor_protocol::{
    JobId, Position, RunStatus,
    columns::{COLUMNS, ColumnsView},
    job::{Job, JobUpdate},
    transcript::MissingEventError,
};

/// While a job fills cells, they are loaded again after each such part of its steps.
const PARTS: usize = 20;

/// The job of the loaded columns, with the changes of the log since.
#[derive(Clone, Debug, Default)]
pub struct FollowedJob {
    as_of: Position,
    pub job: Option<Job>,
    /// The number of finished steps in the loaded cells, and the status of the job then.
    loaded: Option<(usize, RunStatus)>,
    /// Other jobs that fill columns, with the position at which each was first heard of. Perhaps of these rows, until columns
    /// are loaded that include it and have another job.
    others: BTreeMap<JobId, Position>,
    /// True if the loaded cells lack what this page shows of the job by now.
    pub is_outdated: bool,
}

impl FollowedJob {
    /// Starts from loaded columns.
    pub fn new(view: &ColumnsView, before: Option<&Self>) -> Self {
        let mut others = before.map(|before| before.others.clone()).unwrap_or_default();
        others.retain(|_, heard_at| *heard_at <= view.as_of);
        Self {
            as_of: view.as_of,
            job: view.job.clone(),
            loaded: view.job.as_ref().map(|job| (job.progress.done, job.status)),
            others,
            is_outdated: false,
        }
    }

    fn is_of_these_rows(&self, id: JobId) -> bool {
        self.job.as_ref().is_some_and(|job| job.id == id)
    }

    /// Returns true if a change of the job is worth another load of the cells.
    fn has_more_cells(&self, job: &Job) -> bool {
        self.loaded.is_none_or(|(done, status)| {
            let next = done + (job.progress.total / PARTS).max(1);
            job.status != status || job.progress.done >= next
        })
    }
}

impl Replicated for FollowedJob {
    type Change = (Position, JobUpdate);
    type Update = ();

    fn apply(&mut self, (position, update): &Self::Change) -> Result<(), MissingEventError> {
        if *position <= self.as_of {
            return Ok(());
        }
        self.as_of = *position;
        match update {
            JobUpdate::Changed(job) if self.is_of_these_rows(job.id) => {
                self.is_outdated |= self.has_more_cells(job);
                self.job = Some(job.clone());
            }
            JobUpdate::Changed(job) if job.kind == COLUMNS => {
                self.others.entry(job.id).or_insert_with(|| {
                    self.is_outdated = true;
                    *position
                });
            }
            JobUpdate::Changed(_) => {}
            JobUpdate::Deleted(id) => self.is_outdated |= self.is_of_these_rows(*id),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
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
}
