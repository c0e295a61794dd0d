//! A client that loses its connection while a lot happens: how long until it gets the first event that it missed.

use std::time::{Duration, Instant};

use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    check::Faults,
    client::Error,
    figures::{Reconnect, Spread},
    load::{self, Plan},
    log::Log,
    program::{Program, Programs},
};

/// How long a connection lives, and how long the client is gone.
const CONNECTED: Duration = Duration::from_millis(100);
const GONE: Duration = Duration::from_millis(200);

/// How long the first missed event may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Connects again and again for as long as the plan's runs are under way.
pub async fn measure(programs: &Programs, upstream: &Program, plan: &Plan) -> Result<Reconnect, Error> {
    let parlor = programs.parlor("reconnect", upstream).await?;
    let mut runs = JoinSet::new();
    for _ in 0..plan.runs {
        runs.spawn(load::run(parlor.client(), plan.tokens, plan.per_second, false));
    }
    sleep(Duration::from_secs(1)).await;
    let client = parlor.client();
    let (mut last, mut micros, mut faults) = (0, Vec::new(), Faults::default());
    while runs.try_join_next().is_none() {
        let asked = Instant::now();
        let mut answer = client.get(&format!("/api/events?after={last}")).await?;
        let mut log = Log::after(last);
        while log.events == 0 || asked.elapsed() < CONNECTED {
            let bytes = match timeout(PATIENCE, answer.chunk()).await {
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
        drop(answer);
        sleep(GONE).await;
    }
    parlor.stop().await?;
    Ok(Reconnect {
        runs: plan.runs,
        times: micros.len(),
        first_missed_ms: Spread::of(micros),
        faults,
    })
}
