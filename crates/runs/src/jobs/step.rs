//! Steps: the trait of their kinds, and the job as a step sees it.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Serialize, de::DeserializeOwned};

use super::context::JobContext;
use crate::{agent::run_error, side_call::SideCall};
use parlor_protocol::{RunError, TokenTotals, UserId};

/// A kind of step.
pub trait Step: Send + Sync {
    /// The data that the step works on. It is stored with the step's start, and is the same in each replay of the plan.
    type Input: Serialize + Send + Sync;
    /// The result. It is stored, and read in each replay of the plan.
    type Output: Serialize + DeserializeOwned + Send;

    /// The name in the database.
    const KIND: &'static str;
    /// The version of the input and the output.
    const VERSION: u32 = 1;
    /// True if the step may run again when its outcome is unknown: it only reads, or its effect is the same twice.
    const IS_IDEMPOTENT: bool;
    /// True if the output depends on the input and the model of the job alone: a job takes it over from the last complete one of the
    /// same kind and input, or from a later one, if that has the same model, and does not perform the step again.
    const IS_REUSED: bool = false;

    fn run(
        &self,
        context: &StepContext<'_>,
        input: Self::Input,
    ) -> impl Future<Output = Result<Self::Output, StepError>> + Send;
}

/// The reason why a step has no output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepError {
    /// It is about this step alone, and is its result: the step is not repeated.
    OfStep(RunError),
    /// It is about the surroundings, such as a server that does not answer. The job fails, and the step has no result.
    OfJob(RunError),
    /// A limit is reached. The job waits, and the step has no result.
    Limit(RunError),
}

impl StepError {
    /// An error about this step alone.
    pub fn of_step(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self::OfStep(run_error(code, message.into(), hint))
    }

    /// An error about the surroundings.
    pub fn of_job(code: &str, message: impl Into<String>, hint: &str) -> Self {
        Self::OfJob(run_error(code, message.into(), hint))
    }
}

/// A job as its step sees it.
pub struct StepContext<'a> {
    pub(super) job: &'a JobContext,
    pub(super) key: &'a str,
    calls: Mutex<StepCalls>,
}

/// The model calls of a step.
#[derive(Default)]
struct StepCalls {
    /// The tokens of those that have ended.
    totals: TokenTotals,
    /// Those in progress.
    open: Vec<Arc<SideCall>>,
}

impl<'a> StepContext<'a> {
    pub(super) fn new(job: &'a JobContext, key: &'a str) -> Self {
        Self {
            job,
            key,
            calls: Mutex::default(),
        }
    }

    pub fn user_id(&self) -> UserId {
        self.job.user_id()
    }

    pub(super) fn begin_call(&self, call: Arc<SideCall>) {
        self.calls.lock().open.push(call);
    }

    pub(super) fn end_call(&self, call: &Arc<SideCall>, totals: TokenTotals) {
        let mut calls = self.calls.lock();
        calls.open.retain(|open| !Arc::ptr_eq(open, call));
        calls.totals = calls.totals.plus(totals);
    }

    /// Returns the tokens of all calls. Those in progress are given up.
    pub(super) fn end_totals(&self) -> TokenTotals {
        let mut calls = self.calls.lock();
        let open = std::mem::take(&mut calls.open);
        let cut = open.iter().filter_map(|call| call.take_cut_totals());
        cut.fold(std::mem::take(&mut calls.totals), TokenTotals::plus)
    }
}
