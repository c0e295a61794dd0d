//! The time to open a conversation when there are many, and when it is long.

use std::time::Instant;

use crate::{
    client::{Client, Error},
    figures::{Percentiles, StoredResult},
    load::{self, BENCH_MODEL},
    server_process::{Binaries, ServerProcess},
};
use serde_json::json;

const DATA_FOLDER: &str = "many";

/// The number of conversations that are created concurrently.
const MAX_CONCURRENT: usize = 40;

/// The number of turns of each conversation except the long one.
const TURNS_PER_CONVERSATION: usize = 10;

/// The number of conversations that are opened.
const OPENED_CONVERSATIONS: usize = 200;

/// Stores conversations through the API, then opens some of them, and the long one as often.
pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    conversations: usize,
    long_turns: usize,
) -> Result<StoredResult, Error> {
    let parlor = programs.start_parlor(DATA_FOLDER, upstream).await?;
    let ids = load::run_concurrently(conversations, MAX_CONCURRENT, || {
        store_conversation(parlor.client(), TURNS_PER_CONVERSATION)
    })
    .await?;
    let long = store_conversation(parlor.client(), long_turns).await?;
    parlor.stop().await?;

    let parlor = programs.start_parlor(DATA_FOLDER, upstream).await?;
    let client = parlor.client();
    let some: Vec<&str> = ids
        .iter()
        .step_by((ids.len() / OPENED_CONVERSATIONS).max(1))
        .map(String::as_str)
        .collect();
    let the_long_one = vec![long.as_str(); some.len()];
    let snapshot = |id: &str| format!("/rpc/conversation?conversation_id={id}");
    let page = |id: &str| format!("/c/{id}");
    let stored = StoredResult {
        conversations: ids.len() + 1,
        messages: 2 * (ids.len() * TURNS_PER_CONVERSATION + long_turns),
        long_messages: 2 * long_turns,
        snapshot_ms: measure_requests(&client, some.iter().map(|id| snapshot(id))).await?,
        page_ms: measure_requests(&client, some.iter().map(|id| page(id))).await?,
        long_snapshot_ms: measure_requests(&client, the_long_one.iter().map(|id| snapshot(id))).await?,
        long_page_ms: measure_requests(&client, the_long_one.iter().map(|id| page(id))).await?,
        growing_snapshot_ms: measure_growing_answer(&client, snapshot).await?,
    };
    parlor.stop().await?;
    Ok(stored)
}

/// Measures a conversation whose running answer has reached 200 KB.
async fn measure_growing_answer(
    client: &Client,
    snapshot: impl Fn(&str) -> String,
) -> Result<Percentiles, Error> {
    const ANSWER_BYTES: usize = 200_000;
    // Each token has 20 bytes.
    let message = json!({"tokens": ANSWER_BYTES / 10, "per_second": ANSWER_BYTES / 200}).to_string();
    let body = json!({"message": message, "model": BENCH_MODEL}).to_string();
    let mut response = client.post("/api/chat/stream", body).await?;
    let (mut id, mut come) = (None, 0);
    while come < ANSWER_BYTES {
        let bytes = response
            .chunk()
            .await?
            .ok_or("the answer ended before it was long")?;
        id = id.or_else(|| first_conversation(&bytes));
        come = last_offset(&bytes).unwrap_or(come);
    }
    let id = id.ok_or("the stream names no conversation")?;
    measure_requests(client, (0..OPENED_CONVERSATIONS / 10).map(|_| snapshot(&id))).await
}

async fn measure_requests(
    client: &Client,
    paths: impl Iterator<Item = String>,
) -> Result<Percentiles, Error> {
    let mut micros = Vec::new();
    for path in paths {
        let started = Instant::now();
        client.get_compressed(&path).await?.bytes().await?;
        micros.push(u32::try_from(started.elapsed().as_micros())?);
    }
    Ok(Percentiles::from_micros(micros))
}

/// Creates a conversation and returns its id.
async fn store_conversation(client: Client, turns: usize) -> Result<String, Error> {
    let message = json!({"tokens": 20, "per_second": 0}).to_string();
    let mut id = None;
    for _ in 0..turns {
        let body = json!({"message": message, "model": BENCH_MODEL, "conversation_id": id});
        let events = client
            .post("/api/chat/stream", body.to_string())
            .await?
            .bytes()
            .await?;
        if id.is_none() {
            id = Some(first_conversation(&events).ok_or("the stream names no conversation")?);
        }
    }
    id.ok_or_else(|| "a conversation has at least one turn".into())
}

/// Returns the length of the answer before the last of these events, if they are complete.
fn last_offset(events: &[u8]) -> Option<usize> {
    let events = std::str::from_utf8(events).ok()?;
    let (_, rest) = events.rsplit_once("\"offset\":")?;
    rest.split(|next: char| !next.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

fn first_conversation(events: &[u8]) -> Option<String> {
    let events = std::str::from_utf8(events).ok()?;
    let data = events.lines().find_map(|line| line.strip_prefix("data: "))?;
    let event: serde_json::Value = serde_json::from_str(data).ok()?;
    event.get("conversation_id")?.as_str().map(str::to_owned)
}
