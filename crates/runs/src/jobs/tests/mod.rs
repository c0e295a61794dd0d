//! The engine with scripted steps: each has its effect once, whatever ends the process.

mod accounts;
mod reuse;

use std::{collections::BTreeMap, path::Path, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};
use parking_lot::Mutex;
use tokio::{runtime::Runtime, sync::watch, time::timeout};

use super::*;
use parlor_base::settings::Settings;
use parlor_files::Files;
use parlor_journal::{Journal, hub::Hub};
use parlor_pages::Pages;
use parlor_protocol::{RunError, RunStatus};
use parlor_providers::{Models, ModelsConfig};
use parlor_storage::{Storage, sqlite::SqliteStorage};
use parlor_tools::ToolRegistry;

const WAIT: Duration = Duration::from_secs(30);

/// The effects of all steps, whatever process they were in, and where a step stays.
#[derive(Clone)]
struct World(Arc<WorldState>);

struct WorldState {
    effects: Mutex<BTreeMap<String, usize>>,
    /// The key of the step that stays, and whether it does after its effect.
    stays: Mutex<Option<(String, bool)>>,
    /// The key of the step that stays now.
    staying: watch::Sender<Option<String>>,
}

impl World {
    fn new() -> Self {
        Self(Arc::new(WorldState {
            effects: Mutex::default(),
            stays: Mutex::default(),
            staying: watch::Sender::new(None),
        }))
    }

    /// Has a step stay before or after its effect, or none.
    fn stay(&self, step: Option<(&str, bool)>) {
        *self.0.stays.lock() = step.map(|(key, after)| (key.to_owned(), after));
        self.0.staying.send_replace(None);
    }

    async fn wait_until_staying(&self) {
        let mut staying = self.0.staying.subscribe();
        let waited = timeout(WAIT, staying.wait_for(Option::is_some)).await;
        waited.expect("a step stays").expect("the world exists");
    }

    async fn pass(&self, key: &str, after: bool) {
        let stays = self.0.stays.lock().as_ref() == Some(&(key.to_owned(), after));
        if stays {
            self.0.staying.send_replace(Some(key.to_owned()));
            std::future::pending::<()>().await;
        }
    }

    fn effects(&self) -> BTreeMap<String, usize> {
        self.0.effects.lock().clone()
    }
}

/// Doubles a number; fails for 13. Its name is its effect.
struct Double<const IS_IDEMPOTENT: bool>(World);

impl<const IS_IDEMPOTENT: bool> Step for Double<IS_IDEMPOTENT> {
    type Input = (String, u64);
    type Output = u64;

    const KIND: &'static str = "double";
    const IS_IDEMPOTENT: bool = IS_IDEMPOTENT;
    const IS_REUSED: bool = IS_IDEMPOTENT;

    async fn run(&self, _: &StepContext<'_>, (key, number): (String, u64)) -> Result<u64, StepError> {
        self.0.pass(&key, false).await;
        *self.0.0.effects.lock().entry(key.clone()).or_default() += 1;
        self.0.pass(&key, true).await;
        match number {
            13 => Err(StepError::of_step("unlucky", "It is 13.", "")),
            99 => Err(StepError::of_job("down", "The server is down.", "")),
            _ => Ok(2 * number),
        }
    }
}

/// Doubles each number of its input and adds the results.
struct Sum<const IS_IDEMPOTENT: bool>(World);

impl<const IS_IDEMPOTENT: bool> JobKind for Sum<IS_IDEMPOTENT> {
    fn name(&self) -> &'static str {
        "sum"
    }

    fn version(&self) -> u32 {
        1
    }

    fn prepare<'a>(&'a self, _: UserId, input: &'a RawJson) -> BoxFuture<'a, Result<PreparedJob, ApiError>> {
        let prepared = PreparedJob {
            title: "Sum".into(),
            input: input.as_str().into(),
        };
        async move { Ok(prepared) }.boxed()
    }

    fn run<'a>(&'a self, job: &'a JobContext) -> BoxFuture<'a, Result<String, JobEnd>> {
        async move {
            let numbers: Vec<u64> = serde_json::from_str(job.input()).unwrap();
            job.expect_steps(numbers.len());
            let results = job
                .for_each(numbers, |number| {
                    async move {
                        let key = format!("double/{number}");
                        let step = Double::<IS_IDEMPOTENT>(self.0.clone());
                        job.step(key.clone(), &step, (key, number)).await
                    }
                    .boxed()
                })
                .await?;
            let sum: u64 = results.iter().flatten().sum();
            let failed = results.iter().filter(|result| result.is_err()).count();
            Ok(format!("[{sum},{failed}]"))
        }
        .boxed()
    }
}

/// A process: all its tasks end when it is killed, as by a signal.
struct Process {
    runtime: Runtime,
    jobs: Jobs,
    storage: Arc<dyn Storage>,
}

impl Process {
    fn start<const IS_IDEMPOTENT: bool>(folder: &Path, world: &World, max_resumptions: usize) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let mut settings = Settings::default();
        settings.agent.max_resumptions = max_resumptions;
        settings.jobs.concurrency = 1;
        let kind: Arc<dyn JobKind> = Arc::new(Sum::<IS_IDEMPOTENT>(world.clone()));
        let (jobs, storage) = runtime.block_on(async {
            let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder).await.unwrap());
            let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
            let models = Arc::new(Models::new(ModelsConfig::default()));
            let files = Files::open(folder, storage.clone(), journal.clone(), &settings).unwrap();
            let runs = Runs::new(
                storage.clone(),
                journal,
                models,
                ToolRegistry::default(),
                Pages::new(0),
                files,
                &settings,
            );
            let jobs = Jobs::new(runs, vec![kind], &settings);
            jobs.recover().await;
            (jobs, storage)
        });
        Self {
            runtime,
            jobs,
            storage,
        }
    }

    fn begin(&self, numbers: &[u64]) -> JobId {
        let request = JobRequest {
            id: JobId::new(),
            kind: "sum".into(),
            input: RawJson::parse_or_quote(&serde_json::to_string(numbers).unwrap()),
            model: Some("parlor/tour".into()),
            cost_limit: None,
            scheduled: None,
            fingerprint: "f".into(),
        };
        let id = request.id;
        let started = self.runtime.block_on(self.jobs.start(UserId::LOCAL, request));
        assert_eq!(started.unwrap().job.id, id);
        id
    }

    /// Waits until a job has this status.
    fn wait_for(&self, id: JobId, status: RunStatus) -> StoredJob {
        self.runtime.block_on(async {
            let mut commits = self.storage.watch_commits().await;
            let found = timeout(WAIT, async {
                loop {
                    let job = self.storage.job(UserId::LOCAL, id).await.unwrap().unwrap();
                    if job.job.status == status {
                        return job;
                    }
                    commits.changed().await.unwrap();
                }
            });
            found.await.expect("the status")
        })
    }

    fn go_on(&self, id: JobId) {
        let continued = self.jobs.go_on(UserId::LOCAL, id, None);
        self.runtime.block_on(continued).unwrap();
    }

    fn wait_until_staying(&self, world: &World) {
        self.runtime.block_on(world.wait_until_staying());
    }

    fn kill(self) {
        self.runtime.shutdown_timeout(WAIT);
    }
}

fn once(numbers: &[u64]) -> BTreeMap<String, usize> {
    numbers
        .iter()
        .map(|number| (format!("double/{number}"), 1))
        .collect()
}

#[test]
fn finished_steps_are_not_repeated_after_kills() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let numbers = [1, 2, 13, 4, 5];
    world.stay(Some(("double/1", false)));
    let mut process = Process::start::<true>(folder.path(), &world, 3);
    let id = process.begin(&numbers);
    // Each start but the first finishes one step, and is killed before the effect of the next one.
    for stays in ["double/2", "double/13", "double/4", "double/5"] {
        process.wait_until_staying(&world);
        world.stay(Some((stays, false)));
        process.kill();
        process = Process::start::<true>(folder.path(), &world, 3);
    }
    process.wait_until_staying(&world);
    world.stay(None);
    process.kill();
    let process = Process::start::<true>(folder.path(), &world, 3);
    let job = process.wait_for(id, RunStatus::Complete);
    assert_eq!(job.result.as_deref(), Some("[24,1]"));
    assert_eq!((job.job.progress.done, job.job.progress.total), (5, 5));
    assert_eq!(world.effects(), once(&numbers));
    process.kill();
}

#[test]
fn unknown_outcome_of_an_effect_waits_for_the_user() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    world.stay(Some(("double/2", true)));
    let process = Process::start::<false>(folder.path(), &world, 3);
    let id = process.begin(&[1, 2, 3]);
    process.wait_until_staying(&world);
    world.stay(None);
    process.kill();

    let process = Process::start::<false>(folder.path(), &world, 3);
    let job = process.wait_for(id, RunStatus::Waiting);
    assert_eq!(job.job.waits_for.as_deref(), Some("double/2"));
    assert_eq!(
        job.job.error.map(|error| error.code).as_deref(),
        Some("outcome_unknown")
    );
    process.kill();
    let process = Process::start::<false>(folder.path(), &world, 3);
    assert_eq!(world.effects(), once(&[1, 2]), "a restart decides nothing");
    process.go_on(id);
    let job = process.wait_for(id, RunStatus::Complete);
    assert_eq!(job.result.as_deref(), Some("[12,0]"));
    let mut effects = once(&[1, 2, 3]);
    effects.insert("double/2".into(), 2);
    assert_eq!(world.effects(), effects, "the user has decided");
    process.kill();
}

#[test]
fn an_idempotent_step_runs_again_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    world.stay(Some(("double/2", true)));
    let process = Process::start::<true>(folder.path(), &world, 3);
    let id = process.begin(&[1, 2, 3]);
    process.wait_until_staying(&world);
    world.stay(None);
    process.kill();
    let process = Process::start::<true>(folder.path(), &world, 3);
    let job = process.wait_for(id, RunStatus::Complete);
    assert_eq!(job.result.as_deref(), Some("[12,0]"));
    process.kill();
}

#[test]
fn a_stopped_job_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    world.stay(Some(("double/2", false)));
    let process = Process::start::<true>(folder.path(), &world, 3);
    let id = process.begin(&[1, 2, 3]);
    process.wait_until_staying(&world);
    let stopped = process.runtime.block_on(process.jobs.stop(UserId::LOCAL, id));
    assert_eq!(stopped.unwrap().job.status, RunStatus::Stopped);
    assert_eq!(world.effects(), once(&[1]));
    world.stay(None);
    process.go_on(id);
    process.wait_for(id, RunStatus::Complete);
    assert_eq!(world.effects(), once(&[1, 2, 3]));
    let again = process.runtime.block_on(process.jobs.stop(UserId::LOCAL, id));
    assert_eq!(again.unwrap().job.status, RunStatus::Complete);
    process.kill();
}

#[test]
fn trouble_of_the_surroundings_is_no_result() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    let process = Process::start::<true>(folder.path(), &world, 3);
    let id = process.begin(&[1, 99, 3]);
    let job = process.wait_for(id, RunStatus::Failed);
    let error = RunError {
        code: "down".into(),
        message: "The server is down.".into(),
        hint: String::new(),
    };
    assert_eq!(job.job.error, Some(error));
    process.go_on(id);
    process.wait_for(id, RunStatus::Failed);
    let mut effects = once(&[1, 99]);
    effects.insert("double/99".into(), 2);
    assert_eq!(world.effects(), effects, "only this step runs again");
    process.kill();
}

#[test]
fn a_job_without_progress_does_not_go_on_for_ever() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new();
    world.stay(Some(("double/1", false)));
    let mut process = Process::start::<true>(folder.path(), &world, 2);
    let id = process.begin(&[1, 2]);
    for _ in 0..2 {
        process.wait_until_staying(&world);
        world.0.staying.send_replace(None);
        process.kill();
        process = Process::start::<true>(folder.path(), &world, 2);
    }
    process.wait_until_staying(&world);
    process.kill();
    let process = Process::start::<true>(folder.path(), &world, 2);
    process.wait_for(id, RunStatus::Interrupted);
    world.stay(None);
    process.go_on(id);
    process.wait_for(id, RunStatus::Complete);
    process.kill();
}
