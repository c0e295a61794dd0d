//! Readers that read a byte per second: their cost, and their effect on the delay of other clients.

use std::time::{Duration, Instant};

use tokio::{
    io::AsyncReadExt,
    net::TcpStream,
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};

use crate::{
    client::Error,
    figures::SlowReadersResult,
    load::{self, LoadPlan},
    log_reader::LogReader,
    machine,
    server_process::{Binaries, ServerProcess},
};

/// The time limit in which all of them catch up.
const CATCH_UP_TIMEOUT: Duration = Duration::from_secs(60);

/// Executes `plan` without slow readers, then with this number of `readers`, which have to read the events of
/// `history`. After that they read at full speed.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    readers: usize,
    history: &LoadPlan,
    plan: &LoadPlan,
) -> Result<SlowReadersResult, Error> {
    let parlor = programs.start_parlor("slow", upstream).await?;
    let made = load::measure(history, &parlor, upstream).await;
    if made.completed != made.runs {
        return Err("the events to read could not be made".into());
    }
    let without = load::measure(plan, &parlor, upstream).await;

    let before = machine::resident_mb(parlor.pid());
    let (hurry, told) = watch::channel(0);
    let mut reading = JoinSet::new();
    for _ in 0..readers {
        let socket = parlor.client().open_slow("/api/events?after=0").await?;
        reading.spawn(read_slowly(socket, told.clone()));
    }
    // By now the server has allocated its buffers for them.
    sleep(Duration::from_secs(2)).await;
    let grown = machine::resident_mb(parlor.pid()) - before;
    let with = load::measure(plan, &parlor, upstream).await;

    let last = load::run(parlor.client(), 1, 0.0, true).await;
    let head = last
        .recorded_events
        .and_then(|kept| kept.last().map(|(position, _)| *position));
    let hurried = Instant::now();
    hurry.send(head.ok_or("the last run left no event")?)?;
    let mut slow = SlowReadersResult {
        readers,
        kb_each: grown * 1e3 / readers as f64,
        delay_ms: (without.delay_ms, with.delay_ms),
        events: 0,
        caught_up_seconds: 0.0,
        faults: without.faults,
    };
    slow.faults.add(with.faults);
    let caught_up = async {
        while let Some(log) = reading.join_next().await {
            let log = log??;
            slow.events += log.events;
            slow.faults.add(log.faults);
        }
        Ok::<(), Error>(())
    };
    timeout(CATCH_UP_TIMEOUT, caught_up)
        .await
        .map_err(|_| "the slow readers did not catch up")??;
    slow.caught_up_seconds = hurried.elapsed().as_secs_f64();
    parlor.stop().await?;
    Ok(slow)
}

/// Reads a byte per second until it receives a position; then everything up to it.
async fn read_slowly(mut socket: TcpStream, mut told: watch::Receiver<u64>) -> Result<LogReader, Error> {
    let mut log = LogReader::new(0);
    while !told.has_changed()? {
        log.push(&[socket.read_u8().await?]);
        // Until the next byte is due, or a position is received.
        let _ = timeout(Duration::from_secs(1), told.changed()).await;
        if *told.borrow() > 0 {
            break;
        }
    }
    let head = *told.borrow();
    let mut bytes = vec![0; 1 << 16];
    while log.last < head {
        let read = socket.read(&mut bytes).await?;
        if read == 0 {
            return Err("a slow reader's stream ended".into());
        }
        log.push(&bytes[..read]);
    }
    Ok(log)
}
