//! The job as its plan sees it. Performs its steps: each once.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
use parking_lot::Mutex;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    Inner, Jobs,
    end::{JobEnd, cost_limit_reached, unknown_outcome},
    step::{Step, StepContext, StepError},
};
use parlor_base::crash_point;
use parlor_protocol::{Dollars, RunError, TokenTotals, UserId};
use parlor_storage::jobs::{JobKey, JobOutput, StoredJob, StoredStep};

/// The result of a step: an output or an error of its own.
pub type StepResult<S> = Result<<S as Step>::Output, RunError>;

/// A job as its plan sees it.
pub struct JobContext {
    jobs: Jobs,
    key: JobKey,
    model: String,
    input: String,
    cost_limit: Option<Dollars>,
    /// The step that its user has decided to run again.
    decided: Option<String>,
    /// The steps that were started before the job was taken.
    stored: HashMap<String, StoredStep>,
    /// The steps of the last complete job of the same kind and input and of those after it, with the same model.
    earlier: HashMap<String, StoredStep>,
    stop: CancellationToken,
    taken_at: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The keys of this replay.
    keys: HashSet<String>,
    /// The number of steps that finished before the job was taken, and since.
    done_before: usize,
    done: usize,
    /// The number of known steps.
    total: usize,
    totals: TokenTotals,
    /// The first end of a step. No step begins after it.
    end: Option<JobEnd>,
}

impl JobContext {
    pub(super) fn new(
        jobs: Jobs,
        key: JobKey,
        job: StoredJob,
        (steps, earlier): (Vec<StoredStep>, Vec<StoredStep>),
        stop: CancellationToken,
    ) -> Self {
        let by_key = |steps: Vec<StoredStep>| {
            let steps = steps.into_iter();
            steps.map(|step| (step.key.clone(), step)).collect()
        };
        let done = steps.iter().filter(|step| has_result(step)).count();
        Self {
            jobs,
            key,
            model: job.job.model,
            input: job.input,
            cost_limit: job.job.cost_limit,
            decided: job.job.waits_for,
            stored: by_key(steps),
            earlier: by_key(earlier),
            stop,
            taken_at: Instant::now(),
            state: Mutex::new(State {
                done_before: done,
                total: done,
                totals: job.job.totals,
                ..State::default()
            }),
        }
    }

    pub fn user_id(&self) -> UserId {
        self.key.user_id
    }

    /// The input of the job, as its kind has prepared it.
    pub fn input(&self) -> &str {
        &self.input
    }

    /// The model of its steps, as `endpoint/model`.
    pub fn model(&self) -> &str {
        &self.model
    }

    pub(super) fn key(&self) -> JobKey {
        self.key
    }

    pub(super) fn jobs(&self) -> &Inner {
        &self.jobs.0
    }

    /// Says how many steps the plan has, as far as that is known.
    pub fn expect_steps(&self, total: usize) {
        let mut state = self.state.lock();
        state.total = state.total.max(total);
    }

    /// Performs a step, or returns its stored result. The key is unique in the job and the same in each replay.
    ///
    /// # Errors
    ///
    /// The end of the job's work. The plan returns it.
    pub async fn step<S: Step>(
        &self,
        key: impl Into<String>,
        step: &S,
        input: S::Input,
    ) -> Result<StepResult<S>, JobEnd> {
        let key = key.into();
        let performed = self.find_or_perform(&key, step, input).await;
        performed.inspect_err(|end| {
            self.state.lock().end.get_or_insert_with(|| end.clone());
        })
    }

    /// Performs something for each item, at most the number in the settings at a time. Returns the results in the order of the
    /// items. If one ends the job, those in progress end first, and no other begins a step.
    ///
    /// # Errors
    ///
    /// The end of the job's work. The plan returns it.
    pub async fn for_each<'a, T, R: Send + 'a>(
        &'a self,
        items: impl IntoIterator<Item = T>,
        each: impl Fn(T) -> BoxFuture<'a, Result<R, JobEnd>>,
    ) -> Result<Vec<R>, JobEnd> {
        let work = items.into_iter().map(each).collect();
        let results = join_in_order(work, self.jobs().settings.concurrency).await;
        results.into_iter().collect()
    }

    /// Returns the first end of a step, if there is one.
    pub(super) fn take_end(&self) -> Option<JobEnd> {
        self.state.lock().end.take()
    }

    async fn find_or_perform<S: Step>(
        &self,
        key: &str,
        step: &S,
        input: S::Input,
    ) -> Result<StepResult<S>, JobEnd> {
        if !self.state.lock().keys.insert(key.to_owned()) {
            return Err(JobEnd::invalid_plan(&format!("two steps have the key “{key}”")));
        }
        let json = serde_json::to_string(&input).map_err(|error| {
            JobEnd::invalid_plan(&format!("the input of “{key}” can't be written: {error}"))
        })?;
        if let Some(known) = self.stored.get(key) {
            if has_result(known) {
                return read_result::<S>(known, &json);
            }
            if !S::IS_IDEMPOTENT && self.decided.as_deref() != Some(key) {
                return Err(unknown_outcome(key));
            }
        }
        self.check_may_begin()?;
        let earlier = self.earlier_output::<S>(key, &json);
        let start = JobOutput::StartStep {
            key: key.to_owned(),
            kind: S::KIND,
            version: S::VERSION,
            input: json,
        };
        self.jobs.store(self.key, start).await?;
        crash_point!("job::started");
        match earlier {
            Some(output) => self.finish::<S>(key, Ok(output), TokenTotals::default()).await,
            None => self.perform(key, step, input).await,
        }
    }

    /// Returns the output that an earlier job has of the same step.
    fn earlier_output<S: Step>(&self, key: &str, input: &str) -> Option<S::Output> {
        let earlier = self.earlier.get(key).filter(|_| S::IS_REUSED)?;
        read_result::<S>(earlier, input).ok()?.ok()
    }

    /// Performs a step whose start is committed, and commits its result.
    async fn perform<S: Step>(&self, key: &str, step: &S, input: S::Input) -> Result<StepResult<S>, JobEnd> {
        let context = StepContext::new(self, key);
        let performed = tokio::select! {
            biased;
            () = self.stop.cancelled() => Err(JobEnd::Stopped),
            () = self.jobs().shutdown.cancelled() => Err(JobEnd::ShuttingDown),
            result = step.run(&context, input) => match result {
                Ok(output) => Ok(Ok(output)),
                Err(StepError::OfStep(error)) => Ok(Err(error)),
                Err(StepError::OfJob(error)) => Err(JobEnd::Failed(error)),
                Err(StepError::Limit(error)) => Err(JobEnd::Waiting { error, waits_for: None }),
            },
        };
        crash_point!("job::performed");
        let totals = context.end_totals();
        let result = match performed {
            Ok(result) => result,
            Err(end) => {
                if !totals.is_empty() {
                    self.jobs
                        .store(self.key, JobOutput::CountCalls { totals })
                        .await?;
                }
                return Err(end);
            }
        };
        self.finish::<S>(key, result, totals).await
    }

    /// Commits the result of a step.
    async fn finish<S: Step>(
        &self,
        key: &str,
        result: StepResult<S>,
        totals: TokenTotals,
    ) -> Result<StepResult<S>, JobEnd> {
        let written = match &result {
            Ok(output) => Ok(serde_json::to_string(output).map_err(|error| {
                JobEnd::invalid_plan(&format!("the output of “{key}” can't be written: {error}"))
            })?),
            Err(error) => Err(error.clone()),
        };
        let (total, left_ms) = self.count(totals);
        let finish = JobOutput::FinishStep {
            key: key.to_owned(),
            result: written,
            totals,
            total,
            left_ms,
        };
        self.jobs.store(self.key, finish).await?;
        crash_point!("job::finished");
        Ok(result)
    }

    fn check_may_begin(&self) -> Result<(), JobEnd> {
        if self.stop.is_cancelled() {
            return Err(JobEnd::Stopped);
        }
        if self.jobs().shutdown.is_cancelled() {
            return Err(JobEnd::ShuttingDown);
        }
        let state = self.state.lock();
        if let Some(end) = &state.end {
            return Err(end.clone());
        }
        match self.cost_limit {
            Some(limit) if state.totals.cost >= limit => Err(cost_limit_reached(
                &state.totals.cost.to_label(),
                &limit.to_label(),
            )),
            _ => Ok(()),
        }
    }

    /// Counts a finished step. Returns the number of known steps and the estimated time left in milliseconds, at the speed since the
    /// job was taken.
    fn count(&self, totals: TokenTotals) -> (usize, Option<u64>) {
        let mut state = self.state.lock();
        state.done += 1;
        state.totals = state.totals.plus(totals);
        let done = state.done_before + state.done;
        state.total = state.total.max(done);
        let left_ms = estimate_left_ms(self.taken_at.elapsed(), state.done, state.total - done);
        (state.total, left_ms)
    }
}

/// Awaits futures, at most `concurrency` at a time, each as soon as another has ended. Returns their outputs in their order.
async fn join_in_order<F: Future>(work: Vec<F>, concurrency: usize) -> Vec<F::Output> {
    let work = work.into_iter().enumerate();
    let numbered = work.map(|(index, work)| work.map(move |output| (index, output)));
    let mut outputs: Vec<_> = stream::iter(numbered)
        .buffer_unordered(concurrency.max(1))
        .collect()
        .await;
    outputs.sort_by_key(|(index, _)| *index);
    outputs.into_iter().map(|(_, output)| output).collect()
}

/// Returns the time for the steps that are left, at the speed of those done, in milliseconds; `None` if no step that is left is
/// known.
fn estimate_left_ms(elapsed: Duration, done: usize, left: usize) -> Option<u64> {
    let left_ms = elapsed.as_millis() * left as u128 / done.max(1) as u128;
    (left > 0).then(|| u64::try_from(left_ms).ok()).flatten()
}

fn has_result(step: &StoredStep) -> bool {
    step.output.is_some() || step.error.is_some()
}

/// Reads the stored result of a step.
fn read_result<S: Step>(known: &StoredStep, input: &str) -> Result<StepResult<S>, JobEnd> {
    let key = &known.key;
    if (known.kind.as_str(), known.version) != (S::KIND, S::VERSION) || known.input != input {
        return Err(JobEnd::invalid_plan(&format!(
            "the step “{key}” is another one than before"
        )));
    }
    if let Some(error) = &known.error {
        return Ok(Err(error.clone()));
    }
    let output = known.output.as_deref().unwrap_or_default();
    let read = serde_json::from_str(output);
    read.map(Ok)
        .map_err(|error| JobEnd::invalid_plan(&format!("the result of “{key}” can't be read: {error}")))
}

/// Contexts are shared by the steps in progress.
const _: fn() = || {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Arc<JobContext>>();
};

#[cfg(test)]
mod tests {
    use super::*;
    use futures::future::Either;
    use tokio::sync::oneshot;

    #[test]
    fn a_slow_item_does_not_delay_others() {
        let (sender, receiver) = oneshot::channel();
        let waits_for_the_last = async {
            receiver.await.expect("the last one begins");
            0
        };
        let last = async {
            sender.send(()).expect("the first one waits");
            3
        };
        let quick = |number| Either::Right(Either::Left(async move { number }));
        let work = vec![
            Either::Left(waits_for_the_last),
            quick(1),
            quick(2),
            Either::Right(Either::Right(last)),
        ];
        assert_eq!(join_in_order(work, 2).now_or_never(), Some(vec![0, 1, 2, 3]));
    }

    #[test]
    fn time_left_is_unknown_without_known_steps() {
        let second = Duration::from_secs(1);
        assert_eq!(estimate_left_ms(second, 2, 3), Some(1500));
        assert_eq!(estimate_left_ms(second, 2, 0), None);
    }
}
