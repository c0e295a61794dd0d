//! The cost of idle streams: every open tab has one.

use std::time::{Duration, Instant};

use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    client::{Error, StreamingResponse},
    figures::IdleResult,
    load,
    log_reader::LogReader,
    machine,
    server_process::{Binaries, ServerProcess},
};

/// The time limit until all streams have received an event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(30);

/// Opens this number of streams on an idle server, and sends one message.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    streams: usize,
) -> Result<IdleResult, Error> {
    let parlor = programs.start_parlor("idle", upstream).await?;
    // The first stream initialises the server, which must not count as the others' cost.
    let _first = open_stream(&parlor).await?;
    load::run(parlor.client(), 10, 0.0, false).await;
    sleep(Duration::from_secs(1)).await;
    let before = machine::resident_mb(parlor.pid());
    let mut opened = Vec::with_capacity(streams);
    for _ in 0..streams {
        opened.push(open_stream(&parlor).await?);
    }
    sleep(Duration::from_secs(1)).await;
    let grown = machine::resident_mb(parlor.pid()) - before;

    let mut listening = JoinSet::new();
    for stream in opened {
        listening.spawn(wait_for_first_event(stream));
    }
    let asked = Instant::now();
    load::run(parlor.client(), 1, 0.0, false).await;
    let told = async {
        while let Some(told) = listening.join_next().await {
            told??;
        }
        Ok::<(), Error>(())
    };
    timeout(EVENT_TIMEOUT, told)
        .await
        .map_err(|_| "not all streams were told")??;
    let told_ms = asked.elapsed().as_secs_f64() * 1e3;
    parlor.stop().await?;
    Ok(IdleResult {
        streams,
        kb_each: grown * 1e3 / streams as f64,
        told_ms,
    })
}

/// Opens a stream of new events and reads its first heartbeat.
async fn open_stream(parlor: &ServerProcess) -> Result<StreamingResponse, Error> {
    let mut stream = parlor.client().get("/api/events").await?;
    if !stream.status.is_success() {
        return Err(stream.into_error().await);
    }
    stream.chunk().await?;
    Ok(stream)
}

async fn wait_for_first_event(mut stream: StreamingResponse) -> Result<(), Error> {
    let mut log = LogReader::new(0);
    while log.events == 0 {
        let bytes = stream.chunk().await?.ok_or("a stream ended")?;
        log.push(&bytes);
    }
    Ok(())
}
