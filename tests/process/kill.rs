//! `kill -9` at any moment: what a client has seen is there afterwards, and every run has its end.

use std::time::{Duration, Instant};

use parlor::protocol::{MessageBody, RunStatus};
use serde_json::json;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};
use upstream::{Script, Upstream, When};

use crate::{
    SOON, Server,
    client::{Seen, log, query, stored},
};

/// How often the server is killed, and how many conversations stream each time.
const ROUNDS: usize = 50;
const CONVERSATIONS: usize = 5;

/// How soon after the restart every run must have its end.
const RECOVERY: Duration = Duration::from_secs(2);

async fn check(url: &str, seen: &[Seen], after: u64, restarted: Instant) {
    let last = |seen: &Seen| seen.events.last().map_or(0, |event| event.position.0);
    let until = seen.iter().map(last).max().unwrap_or(0).max(after + 1);
    let log = log(url, after, until).await;
    let positions: Vec<u64> = log.iter().map(|event| event.position.0).collect();
    let all: Vec<u64> = (after + 1..=*positions.last().expect("events")).collect();
    assert_eq!(positions, all, "the log has no gaps");
    for seen in seen {
        for event in &seen.events {
            let index = usize::try_from(event.position.0 - after - 1).expect("a position");
            assert_eq!(log.get(index), Some(event), "what was seen has changed");
        }
        let (Some(run), Some(answer)) = (seen.run, &seen.answer) else {
            continue;
        };
        let message = stored(url, run).await;
        let MessageBody::Assistant(kept) = message.body else {
            panic!("a run's message is an answer")
        };
        assert_eq!(kept.status, RunStatus::Interrupted);
        assert!(
            kept.text().starts_with(&answer.text()),
            "seen: {:?}\nkept: {:?}",
            answer.text(),
            kept.text()
        );
    }
    assert!(restarted.elapsed() < RECOVERY, "{:?}", restarted.elapsed());
}

async fn kill_at_random(seed: u64) {
    parlor::outgoing::install_tls();
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.script(When::any(), Script::new().think("Well…").tokens(100_000, 200.0));
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut head, mut seen_in_all) = (0, 0);
    let mut server = Server::start(folder.path(), &upstream).await;
    for round in 0..ROUNDS {
        let mut clients = JoinSet::new();
        for _ in 0..CONVERSATIONS {
            let ask = json!({ "message": "count", "model": "openai/m" });
            clients.spawn(Seen::until_the_end(server.url.clone(), ask, None));
        }
        sleep(Duration::from_micros(random.u64(0..400_000))).await;
        server.kill().await;
        let seen = timeout(SOON, clients.join_all())
            .await
            .expect("the connections break");
        seen_in_all += seen.iter().map(|seen| seen.events.len()).sum::<usize>();

        let restarted = Instant::now();
        server = Server::start(folder.path(), &upstream).await;
        if seen.iter().any(|seen| !seen.events.is_empty()) {
            check(&server.url, &seen, head, restarted).await;
        }
        let open: i64 = query(
            folder.path(),
            "SELECT count(*) FROM runs WHERE status = 'running'",
        )
        .await;
        assert_eq!(open, 0, "round {round}: a run has no end");
        head = query::<i64>(folder.path(), "SELECT coalesce(max(position), 0) FROM events")
            .await
            .unsigned_abs();
    }
    println!("{seen_in_all} events were seen before {ROUNDS} kills");
    let integrity: String = query(folder.path(), "PRAGMA integrity_check").await;
    assert_eq!(integrity, "ok");
    assert!(
        seen_in_all > ROUNDS * CONVERSATIONS,
        "the clients saw next to nothing: {seen_in_all}"
    );
}

/// Where `make fuzz` looks for randomised tests.
mod properties {
    use fuzzing::seeds;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn kills_lose_nothing_that_was_seen() {
        let test = "kill::properties::kills_lose_nothing_that_was_seen";
        for seed in seeds(env!("CARGO_MANIFEST_DIR"), test) {
            super::kill_at_random(seed).await;
        }
    }
}
