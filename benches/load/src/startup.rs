//! How long it takes until the server is there, with conversations stored.

use std::{fs, time::Duration};

use tokio::time::sleep;

use crate::{
    client::Error,
    figures::Startup,
    load, machine,
    program::{Program, Programs},
};

const DATA: &str = "stored";

/// Conversations that are made at the same time.
const AT_ONCE: usize = 40;

/// Tokens of each stored answer.
const TOKENS: usize = 100;

/// Stores conversations through the API, then starts the server `starts` times.
pub async fn measure(
    programs: &Programs,
    upstream: &Program,
    conversations: usize,
    starts: usize,
) -> Result<Startup, Error> {
    fill(programs, upstream, conversations).await?;
    let (mut ready, mut healthz, mut page) = (Vec::new(), Vec::new(), Vec::new());
    let mut idle_mb = 0.0;
    for start in 1..=starts {
        let parlor = programs.parlor(DATA, upstream).await?;
        ready.push(parlor.ready_after);
        parlor.client().get("/healthz").await?.bytes().await?;
        healthz.push(parlor.started.elapsed());
        parlor.client().get("/").await?.bytes().await?;
        page.push(parlor.started.elapsed());
        if start == starts {
            sleep(Duration::from_secs(2)).await;
            idle_mb = machine::resident(parlor.pid());
        }
        parlor.stop().await?;
    }
    // The database, and its log as the last process left it.
    let mut bytes = 0;
    for file in fs::read_dir(programs.data(DATA))? {
        bytes += file?.metadata()?.len();
    }
    Ok(Startup {
        conversations,
        starts,
        ready_ms: median_and_slowest(ready),
        healthz_ms: median_and_slowest(healthz),
        page_ms: median_and_slowest(page),
        idle_mb,
        database_mb: bytes as f64 / 1e6,
    })
}

async fn fill(programs: &Programs, upstream: &Program, conversations: usize) -> Result<(), Error> {
    let parlor = programs.parlor(DATA, upstream).await?;
    let conversation = || {
        let client = parlor.client();
        async move {
            match load::run(client, TOKENS, 0.0, false).await.complaint {
                Some(complaint) => Err(format!("a conversation could not be stored: {complaint}").into()),
                None => Ok(()),
            }
        }
    };
    load::make(conversations, AT_ONCE, conversation).await?;
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
