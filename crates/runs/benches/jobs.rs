//! The speed of jobs: steps a second of a job whose steps do nothing, which is the cost of the journal.
//!
//! `cargo bench -p parlor-runs --bench jobs` prints it for 1 and for 16 steps at a time; `-- --steps 10000` makes more of them.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "its output is the figures, and no figure is better than a wrong one"
)]

use std::{sync::Arc, time::Instant};

use futures::{FutureExt, future::BoxFuture};

use parlor_base::settings::Settings;
use parlor_files::Files;
use parlor_journal::{Journal, hub::Hub};
use parlor_pages::Pages;
use parlor_protocol::{ApiError, JobId, RawJson, RunStatus, UserId};
use parlor_providers::{Models, ModelsConfig};
use parlor_runs::{
    Runs,
    jobs::{JobContext, JobEnd, JobKind, JobRequest, Jobs, PreparedJob, Step, StepContext, StepError},
};
use parlor_storage::{Storage, sqlite::SqliteStorage};
use parlor_tools::ToolRegistry;

const DEFAULT_STEPS: u64 = 2000;

/// A step that does nothing.
struct Nothing;

impl Step for Nothing {
    type Input = u64;
    type Output = u64;

    const KIND: &'static str = "nothing";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, _: &StepContext<'_>, number: u64) -> Result<u64, StepError> {
        Ok(number)
    }
}

/// A job of as many steps as its input says.
struct Steps;

impl JobKind for Steps {
    fn name(&self) -> &'static str {
        "steps"
    }

    fn version(&self) -> u32 {
        1
    }

    fn prepare<'a>(&'a self, _: UserId, input: &'a RawJson) -> BoxFuture<'a, Result<PreparedJob, ApiError>> {
        let prepared = PreparedJob {
            title: "Steps".into(),
            input: input.as_str().into(),
        };
        async move { Ok(prepared) }.boxed()
    }

    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, Result<String, JobEnd>> {
        async move {
            let count: u64 = job.input().parse().expect("a number");
            let step = |number: u64| {
                async move { job.step(format!("step/{number}"), &Nothing, number).await }.boxed()
            };
            job.for_each(0..count, step).await?;
            Ok("null".into())
        }
        .boxed()
    }
}

/// Runs a job to its end. Returns the steps a second.
async fn measure(steps: u64, concurrency: usize) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let mut settings = Settings::default();
    settings.jobs.concurrency = concurrency;
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let models = Arc::new(Models::new(ModelsConfig::default()));
    let files = Files::open(folder.path(), storage.clone(), journal.clone(), &settings).unwrap();
    let (tools, pages) = (ToolRegistry::default(), Pages::new(0));
    let runs = Runs::new(storage.clone(), journal, models, tools, pages, files, &settings);
    let jobs = Jobs::new(runs, vec![Arc::new(Steps)], &settings);
    let mut commits = storage.watch_commits().await;
    let request = JobRequest {
        id: JobId::new(),
        kind: "steps".into(),
        input: RawJson::parse_or_quote(&steps.to_string()),
        model: Some("parlor/tour".into()),
        cost_limit: None,
        scheduled: None,
        fingerprint: String::new(),
    };
    let id = request.id;
    let begun = Instant::now();
    jobs.start(UserId::LOCAL, request).await.unwrap();
    while jobs.require(UserId::LOCAL, id).await.unwrap().job.status != RunStatus::Complete {
        commits.changed().await.unwrap();
    }
    #[expect(clippy::cast_precision_loss, reason = "it is a rate")]
    let rate = steps as f64 / begun.elapsed().as_secs_f64();
    rate
}

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let asked = arguments.iter().position(|argument| argument == "--steps");
    let steps = asked.and_then(|at| arguments.get(at + 1)?.parse().ok());
    let steps = steps.unwrap_or(DEFAULT_STEPS);
    for concurrency in [1, 16] {
        let rate = measure(steps, concurrency).await;
        println!("{steps} steps, {concurrency} at a time: {rate:.0} steps/s");
    }
}
