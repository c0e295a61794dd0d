//! Kills the server while it streams. "Committed before it is sent" means: whatever a client has seen, the next
//! process knows, at the same position and with the same words.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    check::{Checker, Run},
    client::{Client, Error},
    figures::Killed,
    load,
    program::{Program, Programs},
};

const DATA: &str = "killed";

/// How long after the start of the runs the server dies.
const LIFE: Duration = Duration::from_secs(3);

/// How long the next process may take to tell what it knows of a run.
const PATIENCE: Duration = Duration::from_secs(10);

/// Starts a server and `runs` runs, kills it, starts it again and asks it for everything that was seen.
pub async fn measure(programs: &Programs, upstream: &Program, runs: usize) -> Result<Killed, Error> {
    let parlor = programs.parlor(DATA, upstream).await?;
    let mut opened = JoinSet::new();
    for _ in 0..runs {
        opened.spawn(load::run(parlor.client(), 100_000, 50.0, true));
    }
    sleep(LIFE).await;
    parlor.kill().await?;
    let seen = timeout(PATIENCE, opened.join_all())
        .await
        .map_err(|_| "the connections outlived the server")?;

    let parlor = programs.parlor(DATA, upstream).await?;
    let ready_ms = parlor.ready_after.as_secs_f64() * 1e3;
    let mut killed = Killed {
        runs: 0,
        ready_ms,
        seen: 0,
        missing: 0,
        unterminated: 0,
        complaints: Vec::new(),
    };
    for run in seen {
        if let Err(complaint) = compare(&parlor.client(), run, &mut killed).await {
            killed.complaints.push(complaint.to_string());
        }
    }
    killed.complaints.truncate(3);
    parlor.stop().await?;
    Ok(killed)
}

async fn compare(client: &Client, seen: Run, killed: &mut Killed) -> Result<(), Error> {
    // What has no id yet has shown nothing to anybody: it may be gone.
    let Some(id) = seen.message_id else { return Ok(()) };
    let events = seen.kept.unwrap_or_default();
    killed.runs += 1;
    killed.seen += events.len() as u64;
    let read = timeout(PATIENCE, stored(client, &id)).await;
    let known = read
        .unwrap_or_else(|_| Err("it did not end".into()))
        .inspect_err(|_| {
            killed.unterminated += 1;
            killed.missing += events.len() as u64;
        })?;
    let ended = known.ended;
    let known: HashMap<u64, String> = known.kept.unwrap_or_default().into_iter().collect();
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

/// What the log has of a run, to its end.
async fn stored(client: &Client, run: &str) -> Result<Run, Error> {
    let mut answer = client.get(&format!("/api/runs/{run}/events?after=0")).await?;
    if !answer.status.is_success() {
        return Err(answer.refusal().await);
    }
    // Only what it keeps is of interest here, not whether the tokens are complete.
    let mut checker = Checker::new(Instant::now(), 0, 0.0, true);
    while let Some(bytes) = answer.chunk().await? {
        checker.push(&bytes, 0);
    }
    Ok(checker.finish())
}
