//! Many runs at once: opens them, reads every event, and aggregates the results.

use std::{
    slice,
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use serde_json::json;
use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use crate::{
    client::{Client, Error},
    figures::{BareResult, LoadResult, Memory, Percentiles},
    machine::{self, CpuTime},
    server_process::ServerProcess,
    stream_check::{Checker, Faults, RunCheck},
};

/// The model of the scripted server that reads its output from the message.
pub const BENCH_MODEL: &str = "openai/bench";

/// The maximum number of printed faults; the others are similar.
const MAX_LISTED_FAULTS: usize = 3;

/// A plan of runs.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    pub name: String,
    pub runs: usize,
    /// The number of users, each with the same number of runs; `None` if the server has no accounts.
    pub users: Option<usize>,
    pub tokens: usize,
    pub per_second: f64,
    /// The time over which the runs begin, evenly; zero starts all at once.
    pub ramp: Duration,
    /// The time limit of all runs.
    pub timeout: Duration,
}

impl LoadPlan {
    /// Returns the client of a run.
    fn client(&self, parlor: &ServerProcess, run: usize) -> Client {
        match self.users {
            Some(users) => parlor.client().with_user(&format!("user-{}", run % users.max(1))),
            None => parlor.client(),
        }
    }
}

/// Opens one run in a new conversation and reads it to its end, or to the end of the connection.
pub async fn run(client: Client, tokens: usize, per_second: f64, keep: bool) -> RunCheck {
    run_with_model(client, BENCH_MODEL, tokens, per_second, keep).await
}

/// Like [`run`], with this model.
pub async fn run_with_model(
    client: Client,
    model: &str,
    tokens: usize,
    per_second: f64,
    keep: bool,
) -> RunCheck {
    let started = Instant::now();
    let checker = Checker::new(started, tokens, per_second, keep);
    let body = json!({"message": message(tokens, per_second), "model": model}).to_string();
    read(&client, "/api/chat/stream", body, checker, Checker::push).await
}

/// Reads an answer of the model server without Parlor.
async fn bare_run(client: Client, tokens: usize, per_second: f64) -> RunCheck {
    let checker = Checker::new(Instant::now(), tokens, per_second, false);
    let messages = json!([{"role": "user", "content": message(tokens, per_second)}]);
    let body = json!({"model": "bench", "stream": true, "messages": messages}).to_string();
    let path = "/v1/chat/completions";
    read(&client, path, body, checker, Checker::push_completions).await
}

/// Returns the message that asks the scripted model for these tokens.
fn message(tokens: usize, per_second: f64) -> String {
    json!({"tokens": tokens, "per_second": per_second}).to_string()
}

/// Posts `body` and reads the response with `push`.
async fn read(
    client: &Client,
    path: &str,
    body: String,
    mut checker: Checker,
    push: fn(&mut Checker, &[u8], u64),
) -> RunCheck {
    let read = async {
        let mut response = client.post(path, body).await?;
        if !response.status.is_success() {
            return Err(response.into_error().await);
        }
        while let Some(bytes) = response.chunk().await? {
            push(&mut checker, &bytes, now_micros());
        }
        Ok(())
    };
    if let Err(error) = read.await {
        checker.run.first_fault.get_or_insert_with(|| error.to_string());
    }
    checker.finish()
}

/// Runs a number of tasks, with limited concurrency.
pub async fn run_concurrently<T: Send + 'static, F>(
    count: usize,
    at_once: usize,
    one: impl Fn() -> F,
) -> Result<Vec<T>, Error>
where
    F: Future<Output = Result<T, Error>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(at_once));
    let mut begun = JoinSet::new();
    for _ in 0..count {
        let (places, one) = (places.clone(), one());
        begun.spawn(async move {
            let _place = places.acquire().await;
            one.await
        });
    }
    let mut made = Vec::with_capacity(count);
    while let Some(one) = begun.join_next().await {
        made.push(one??);
    }
    Ok(made)
}

/// Executes a plan without Parlor, then with it.
pub async fn measure_beside_bare(
    plan: &LoadPlan,
    parlor: &ServerProcess,
    upstream: &ServerProcess,
) -> LoadResult {
    let (bare, fault) = measure_bare(plan, upstream).await;
    let mut load = measure(plan, parlor, upstream).await;
    load.bare = Some(bare);
    load.complaints
        .extend(fault.map(|fault| format!("without Parlor: {fault}")));
    load
}

/// Executes a plan and measures it.
pub async fn measure(plan: &LoadPlan, parlor: &ServerProcess, upstream: &ServerProcess) -> LoadResult {
    measure_on(plan, slice::from_ref(parlor), upstream).await
}

/// Executes a plan on several servers, which get the runs in turn. The CPU time and the memory are those of all of them.
pub async fn measure_on(plan: &LoadPlan, nodes: &[ServerProcess], upstream: &ServerProcess) -> LoadResult {
    let pids: Vec<_> = nodes.iter().map(ServerProcess::pid).collect();
    let sum_of = |memory: fn(u32) -> f64| pids.iter().copied().map(memory).sum();
    let before = sum_of(machine::resident_mb);
    pids.iter().copied().for_each(machine::reset_peak);
    let cpu = CpuTime::now(&pids, upstream.pid());
    let started = Instant::now();

    let (runs, in_time) = execute(plan, |number| {
        let client = plan.client(&nodes[number % nodes.len()], number);
        run(client, plan.tokens, plan.per_second, false)
    })
    .await;
    let seconds = started.elapsed().as_secs_f64();
    let used = CpuTime::now(&pids, upstream.pid());
    let peak = sum_of(machine::peak_mb);
    // The allocator and SQLite return memory with a short delay.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let memory_mb = Memory {
        before,
        peak,
        after: sum_of(machine::resident_mb),
    };
    let mut load = summarize(plan, runs, seconds);
    if !in_time {
        load.complaints
            .push(format!("not done after {:.0} s", plan.timeout.as_secs_f64()));
    }
    LoadResult {
        cpu_per_10k: per_10k(used.servers_since(cpu), load.tokens),
        cores: used.cores_since(cpu, seconds),
        memory_mb,
        ..load
    }
}

/// Executes a plan with the model server alone: what it and this client need without Parlor. Also returns the first fault.
async fn measure_bare(plan: &LoadPlan, upstream: &ServerProcess) -> (BareResult, Option<String>) {
    let cpu = CpuTime::now(&[], upstream.pid());
    let started = Instant::now();
    let one = |_| bare_run(upstream.client(), plan.tokens, plan.per_second);
    let (runs, _) = execute(plan, one).await;
    let seconds = started.elapsed().as_secs_f64();
    let used = CpuTime::now(&[], upstream.pid());
    let load = summarize(plan, runs, seconds);
    let bare = BareResult {
        tokens_per_second: load.tokens_per_second,
        delay_ms: load.delay_ms,
        first_token_ms: load.first_token_ms,
        cpu_per_10k: per_10k(used.upstream_since(cpu), load.tokens),
    };
    (bare, load.complaints.into_iter().next())
}

/// Opens the runs of a plan and waits for all of them. Returns false after its time limit.
async fn execute<F>(plan: &LoadPlan, open: impl Fn(usize) -> F) -> (Vec<RunCheck>, bool)
where
    F: Future<Output = RunCheck> + Send + 'static,
{
    let mut opened = JoinSet::new();
    let pause = plan
        .ramp
        .checked_div(u32::try_from(plan.runs).unwrap_or(1))
        .unwrap_or_default();
    for number in 0..u32::try_from(plan.runs).unwrap_or(0) {
        let run = open(number as usize);
        opened.spawn(async move {
            tokio::time::sleep(pause * number).await;
            run.await
        });
    }
    let mut runs = Vec::with_capacity(plan.runs);
    let all = async {
        while let Some(run) = opened.join_next().await {
            runs.extend(run.ok());
        }
    };
    let in_time = timeout(plan.timeout, all).await.is_ok();
    (runs, in_time)
}

/// Returns the CPU seconds for 10,000 tokens.
pub fn per_10k(cpu_seconds: f64, tokens: u64) -> f64 {
    cpu_seconds * 1e4 / (tokens.max(1) as f64)
}

fn summarize(plan: &LoadPlan, runs: Vec<RunCheck>, seconds: f64) -> LoadResult {
    let mut faults = Faults::default();
    let (mut delays, mut behind, mut first) = (Vec::new(), Vec::new(), Vec::new());
    let (mut events, mut completed, mut complaints) = (0, 0, Vec::new());
    for run in runs {
        completed += usize::from(run.first_fault.is_none());
        faults.add(run.faults);
        events += run.events;
        delays.extend(run.delays);
        behind.extend(run.lateness);
        first.extend(
            run.first_token_micros
                .map(|micros| u32::try_from(micros).unwrap_or(u32::MAX)),
        );
        complaints.extend(run.first_fault);
    }
    complaints.truncate(MAX_LISTED_FAULTS);
    let tokens = delays.len() as u64;
    LoadResult {
        name: plan.name.clone(),
        runs: plan.runs,
        per_second: plan.per_second,
        completed,
        seconds,
        tokens,
        tokens_per_second: tokens as f64 / seconds,
        events_per_second: events as f64 / seconds,
        delay_ms: Percentiles::from_micros(delays),
        behind_ms: Percentiles::from_micros(behind),
        first_token_ms: Percentiles::from_micros(first),
        faults,
        cpu_per_10k: 0.0,
        cores: Default::default(),
        memory_mb: Memory::default(),
        complaints,
        bare: None,
    }
}

pub fn now_micros() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_micros()).unwrap_or_default()
}
