//! One user who floods the server, and the first token of another one meanwhile.

use std::time::Duration;

use tokio::{task::JoinSet, time::timeout};

use crate::{
    client::{Client, Error},
    figures::{FloodResult, Percentiles},
    load,
    server_process::{Binaries, PROXY_SETTINGS, ServerProcess},
};

/// The tokens of an answer whose beginning is measured.
const MEASURED_TOKENS: usize = 5;

/// The time limit of one measured answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// Measures the first tokens of a user's answers, one after the other: alone, then while another user has `runs` answers of
/// `tokens` tokens as fast as the model server gives, each followed by the next one.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    runs: usize,
    tokens: usize,
    answers: usize,
) -> Result<FloodResult, Error> {
    let parlor = programs
        .start_parlor_with_text("flood", upstream, PROXY_SETTINGS)
        .await?;
    let (ann, ben) = (parlor.client().with_user("ann"), parlor.client().with_user("ben"));
    // The accounts, and the server's caches.
    first_tokens(&ann, 1).await?;
    first_tokens(&ben, 1).await?;
    let quiet = first_tokens(&ben, answers).await?;
    let mut flood = JoinSet::new();
    for _ in 0..runs {
        let client = ann.clone();
        flood.spawn(async move {
            loop {
                let run = load::run(client.clone(), tokens, 0.0, false).await;
                if let Some(fault) = run.first_fault {
                    return fault;
                }
            }
        });
    }
    // The flood has begun when an answer of another user waits as well.
    first_tokens(&ann, 1).await?;
    let flooded = first_tokens(&ben, answers).await?;
    if let Some(ended) = flood.try_join_next() {
        return Err(["an answer of the flood failed: ", &ended?].concat().into());
    }
    flood.shutdown().await;
    parlor.kill().await?;
    Ok(FloodResult {
        runs,
        first_token_ms: (quiet, flooded),
    })
}

async fn first_tokens(client: &Client, answers: usize) -> Result<Percentiles, Error> {
    let mut micros = Vec::with_capacity(answers);
    for _ in 0..answers {
        let run = load::run(client.clone(), MEASURED_TOKENS, 0.0, false);
        micros.push(timeout(ANSWER_TIMEOUT, run).await?.first_token()?);
    }
    Ok(Percentiles::from_micros(micros))
}
