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
        // A node of an earlier version does not say it.
        let as_of = match (view.as_of, before) {
            (Position(0), Some(before)) => before.as_of,
            (as_of, _) => as_of,
        };
        others.retain(|_, heard_at| *heard_at <= as_of);
        Self {
            as_of,
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
mod tests;
