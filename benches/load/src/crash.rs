//! Kills the server while it streams. "Committed before it is sent" means: the next process has everything
//! that a client has seen, at the same position and with the same text.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    client::{Client, Error},
    figures::CrashResult,
    load,
    server_process::{Binaries, ServerProcess},
    stream_check::{Checker, RunCheck},
};

const DATA_FOLDER: &str = "killed";

/// The time from the start of the runs to the kill.
const KILL_DELAY: Duration = Duration::from_secs(3);

/// The time limit of the next process for returning the log of a run.
const LOG_TIMEOUT: Duration = Duration::from_secs(10);

/// Starts a server and this number of runs, kills it, starts it again and reads everything that was seen.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    runs: usize,
) -> Result<CrashResult, Error> {
    let parlor = programs.start_parlor(DATA_FOLDER, upstream).await?;
    let mut opened = JoinSet::new();
    for _ in 0..runs {
        opened.spawn(load::run(parlor.client(), 100_000, 50.0, true));
    }
    sleep(KILL_DELAY).await;
    parlor.kill().await?;
    let seen = timeout(LOG_TIMEOUT, opened.join_all())
        .await
        .map_err(|_| "the connections outlived the server")?;

    let parlor = programs.start_parlor(DATA_FOLDER, upstream).await?;
    let ready_ms = parlor.startup_time.as_secs_f64() * 1e3;
    let mut killed = CrashResult {
        runs: 0,
        ready_ms,
        seen: 0,
        missing: 0,
        unterminated: 0,
        complaints: Vec::new(),
    };
    for run in seen {
        if let Err(complaint) = compare_with_log(&parlor.client(), run, &mut killed).await {
            killed.complaints.push(complaint.to_string());
        }
    }
    if killed.seen == 0 {
        return Err("the server was killed before anybody had seen an event".into());
    }
    killed.complaints.truncate(3);
    parlor.stop().await?;
    Ok(killed)
}

async fn compare_with_log(client: &Client, seen: RunCheck, killed: &mut CrashResult) -> Result<(), Error> {
    // A run without an id has shown nothing to anybody, so it may be lost.
    let Some(id) = seen.message_id else { return Ok(()) };
    let events = seen.recorded_events.unwrap_or_default();
    killed.runs += 1;
    killed.seen += events.len() as u64;
    let read = timeout(LOG_TIMEOUT, read_stored_run(client, &id)).await;
    let known = read
        .unwrap_or_else(|_| Err("it did not end".into()))
        .inspect_err(|_| {
            killed.unterminated += 1;
            killed.missing += events.len() as u64;
        })?;
    let ended = known.ended;
    let known: HashMap<u64, String> = known.recorded_events.unwrap_or_default().into_iter().collect();
    let missing: Vec<_> = events
        .iter()
        .filter(|(position, data)| known.get(position) != Some(data))
        .collect();
    killed.missing += missing.len() as u64;
    killed.unterminated += u64::from(!ended);
    match missing.first() {
        Some((position, data)) => {
            Err(format!("position {position} is {:?}, and was {data}", known.get(position)).into())
        }
        None if !ended => Err(format!("run {id} has not ended").into()),
        None => Ok(()),
    }
}

/// Reads the stored log of a run to its end.
async fn read_stored_run(client: &Client, run: &str) -> Result<RunCheck, Error> {
    let mut response = client.get(&format!("/api/runs/{run}/events?after=0")).await?;
    if !response.status.is_success() {
        return Err(response.into_error().await);
    }
    // Only the stored events matter here, not whether the tokens are complete.
    let mut checker = Checker::new(Instant::now(), 0, 0.0, true);
    while let Some(bytes) = response.chunk().await? {
        checker.push(&bytes, 0);
    }
    Ok(checker.finish())
}
