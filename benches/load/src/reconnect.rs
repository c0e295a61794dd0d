//! A client that loses its connection during many runs: the time until it gets the first missed event.

use std::time::{Duration, Instant};

use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    client::Error,
    figures::{Percentiles, ReconnectResult},
    load::{self, LoadPlan},
    log_reader::LogReader,
    server_process::{Binaries, ServerProcess},
    stream_check::Faults,
};

/// The time for which a connection lives, and for which the client is disconnected.
const CONNECTED_TIME: Duration = Duration::from_millis(100);
const DISCONNECTED_TIME: Duration = Duration::from_millis(200);

/// The time limit for the first missed event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects repeatedly during the plan's runs.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    plan: &LoadPlan,
) -> Result<ReconnectResult, Error> {
    let parlor = programs.start_parlor("reconnect", upstream).await?;
    let mut runs = JoinSet::new();
    for _ in 0..plan.runs {
        runs.spawn(load::run(parlor.client(), plan.tokens, plan.per_second, false));
    }
    sleep(Duration::from_secs(1)).await;
    let client = parlor.client();
    let (mut last, mut micros, mut faults) = (0, Vec::new(), Faults::default());
    while runs.try_join_next().is_none() {
        let asked = Instant::now();
        let mut response = client.get(&format!("/api/events?after={last}")).await?;
        let mut log = LogReader::new(last);
        while log.events == 0 || asked.elapsed() < CONNECTED_TIME {
            let bytes = match timeout(EVENT_TIMEOUT, response.chunk()).await {
                Ok(bytes) => bytes?.ok_or("the stream ended")?,
                Err(_) if runs.try_join_next().is_some() => break,
                Err(_) => return Err("what was missed did not come".into()),
            };
            let first = log.events == 0;
            log.push(&bytes);
            if first && log.events > 0 {
                micros.push(u32::try_from(asked.elapsed().as_micros()).unwrap_or(u32::MAX));
            }
        }
        last = log.last;
        faults.add(log.faults);
        drop(response);
        sleep(DISCONNECTED_TIME).await;
    }
    parlor.stop().await?;
    if micros.is_empty() {
        return Err("the runs ended before a connection was broken".into());
    }
    Ok(ReconnectResult {
        runs: plan.runs,
        times: micros.len(),
        first_missed_ms: Percentiles::from_micros(micros),
        faults,
    })
}
