//! The time until the server is ready, with conversations stored.

use std::{fs, time::Duration};

use tokio::time::sleep;

use crate::{
    client::Error,
    figures::StartupResult,
    load, machine,
    server_process::{Binaries, ServerProcess},
};

const DATA_FOLDER: &str = "stored";

/// The number of conversations that are created concurrently.
const MAX_CONCURRENT: usize = 40;

/// The number of tokens of each stored answer.
const ANSWER_TOKENS: usize = 100;

/// Stores conversations through the API, then starts the server `starts` times.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    conversations: usize,
    starts: usize,
) -> Result<StartupResult, Error> {
    store_conversations(programs, upstream, conversations).await?;
    let (mut ready, mut healthz, mut page) = (Vec::new(), Vec::new(), Vec::new());
    let mut idle_mb = 0.0;
    for start in 1..=starts {
        let parlor = programs.start_parlor(DATA_FOLDER, upstream).await?;
        ready.push(parlor.startup_time);
        parlor.client().get("/healthz").await?.bytes().await?;
        healthz.push(parlor.started.elapsed());
        parlor.client().get("/").await?.bytes().await?;
        page.push(parlor.started.elapsed());
        if start == starts {
            sleep(Duration::from_secs(2)).await;
            idle_mb = machine::resident_mb(parlor.pid());
        }
        parlor.stop().await?;
    }
    // The database, and its log as the last process left it.
    let mut bytes = 0;
    for file in fs::read_dir(programs.data_folder(DATA_FOLDER))? {
        bytes += file?.metadata()?.len();
    }
    Ok(StartupResult {
        conversations,
        starts,
        ready_ms: median_and_slowest(ready),
        healthz_ms: median_and_slowest(healthz),
        page_ms: median_and_slowest(page),
        idle_mb,
        database_mb: bytes as f64 / 1e6,
    })
}

async fn store_conversations(
    programs: &Binaries,
    upstream: &ServerProcess,
    conversations: usize,
) -> Result<(), Error> {
    let parlor = programs.start_parlor(DATA_FOLDER, upstream).await?;
    let conversation = || {
        let client = parlor.client();
        async move {
            match load::run(client, ANSWER_TOKENS, 0.0, false).await.first_fault {
                Some(complaint) => Err(format!("a conversation could not be stored: {complaint}").into()),
                None => Ok(()),
            }
        }
    };
    load::run_concurrently(conversations, MAX_CONCURRENT, conversation).await?;
    parlor.stop().await
}

fn median_and_slowest(mut times: Vec<Duration>) -> (f64, f64) {
    times.sort_unstable();
    let milliseconds = |time: Option<&Duration>| time.map_or(0.0, |time| time.as_secs_f64() * 1e3);
    (
        milliseconds(times.get(times.len() / 2)),
        milliseconds(times.last()),
    )
}
