//! A log that is read with cuts, delays and repeats folds to the same transcript as one that is read without
//! interruptions, and to the model's output.

use std::time::Duration;

use fastrand::Rng;
use futures::future::join_all;
use parlor_protocol::{
    ConversationId, Event, MessageBody, Part, Position, RunStatus, Transcript,
    transcript::{self, apply},
};
use serde_json::{Value, json};
use tokio::time::sleep;
use upstream::{Script, Upstream, When};

use crate::support::{Parlor, parlor_answering, read_json};

/// A random answer: thinking and text of all kinds, in many small deltas.
struct RandomAnswer {
    script: Script,
    thinking: String,
    text: String,
}

impl RandomAnswer {
    fn random(random: &mut Rng) -> Self {
        const TEXT_DELTAS: [&str; 12] = [
            "a",
            " word",
            "\n",
            "\n\n",
            "**bold",
            "**",
            "```rust\n",
            "| a | b |\n",
            "é",
            "漢字",
            "🦀",
            "e\u{301}",
        ];
        let mut answer = Self {
            script: Script::new(),
            thinking: String::new(),
            text: String::new(),
        };
        for _ in 0..random.usize(1..15) {
            let delta = TEXT_DELTAS[random.usize(..TEXT_DELTAS.len())];
            answer.thinking += delta;
            answer.script = answer.script.think(delta);
        }
        // An answer of white space alone is none.
        for number in 0..random.usize(1..60) {
            let deltas = if number == 0 { 2 } else { TEXT_DELTAS.len() };
            let delta = TEXT_DELTAS[random.usize(..deltas)];
            answer.text += delta;
            answer.script = answer.script.text(delta);
            if random.usize(..6) == 0 {
                answer.script = answer.script.pause(random.u64(1..8));
            }
        }
        answer
    }

    /// Returns true if a conversation consists of the question and this answer.
    fn matches(&self, transcript: &Transcript) -> bool {
        let [_, answer] = &transcript.messages[..] else {
            return false;
        };
        let MessageBody::Assistant(answer) = &answer.body else {
            return false;
        };
        let parts = [
            Part::Thinking {
                text: self.thinking.clone(),
            },
            Part::Text {
                text: self.text.clone(),
            },
        ];
        answer.status == RunStatus::Complete && answer.nodes.len() == 1 && answer.nodes[0].parts == parts
    }
}

/// Returns the conversation as the server stores it, without the position at which it was read.
async fn stored_transcript(parlor: &Parlor, id: ConversationId) -> Transcript {
    let response = parlor
        .get(&format!("/rpc/conversation?conversation_id={id}"))
        .send()
        .await
        .unwrap();
    let mut transcript: Transcript = serde_json::from_value(read_json(response).await).unwrap();
    transcript.as_of = Position(0);
    transcript
}

fn fold_events(id: ConversationId, events: &[Event]) -> Transcript {
    let mut state = Transcript::new(id);
    for event in events {
        apply(&mut state, event).expect("no gap");
    }
    state.as_of = Position(0);
    state
}

fn is_run_end(event: &Event) -> bool {
    event.body.terminal_status().is_some()
}

/// Reads the log after a position, up to `limit` events or the end of the last of `runs` runs that ends after
/// `seen`.
async fn read_log(parlor: &Parlor, after: u64, limit: usize, seen: u64, mut runs: usize) -> Vec<Event> {
    let mut stream = parlor.follow(&format!("/api/events?after={after}")).await;
    let mut events = Vec::new();
    while events.len() < limit && runs > 0 {
        let event: Value = stream.next().await.expect("the log continues");
        let event: Event = serde_json::from_value(event).unwrap();
        runs -= usize::from(event.position.0 > seen && is_run_end(&event));
        events.push(event);
    }
    events
}

async fn check_every_cut(seed: u64) {
    let answer = RandomAnswer::random(&mut Rng::with_seed(seed));
    let (_folder, _upstream, parlor) = parlor_answering(answer.script.clone()).await;
    let id = ConversationId::new();
    let ask = json!({ "message": "go", "model": "test/any", "conversation_id": id });
    parlor.chat(&ask).await.read_to_end().await;

    let whole = read_log(&parlor, 0, usize::MAX, 0, 1).await;
    let expected = fold_events(id, &whole);
    assert_eq!(
        expected,
        stored_transcript(&parlor, id).await,
        "live is as stored"
    );
    assert!(answer.matches(&expected), "seed {seed}: {expected:?}");
    for cut in 0..whole.len() {
        // Once exactly from there, once with some events repeated.
        for again in [0, cut.min(5)] {
            let mut events = whole[..cut].to_vec();
            events.extend(read_log(&parlor, (cut - again) as u64, usize::MAX, cut as u64, 1).await);
            assert_eq!(
                fold_events(id, &events),
                expected,
                "seed {seed}, cut at {cut}, {again} again"
            );
        }
    }
}

/// Follows several conversations over a connection that breaks repeatedly.
async fn follow_over_broken_connection(
    parlor: &Parlor,
    ids: &[ConversationId],
    mut random: Rng,
) -> Vec<Transcript> {
    let mut states: Vec<Transcript> = ids.iter().copied().map(Transcript::new).collect();
    let (mut cursor, mut left) = (0, ids.len());
    while left > 0 {
        let repeated = random.u64(..4).min(cursor);
        let events = read_log(parlor, cursor - repeated, random.usize(5..12), cursor, left).await;
        for event in events {
            for state in &mut states {
                let touched = apply(state, &event).unwrap_or_else(|gap| panic!("{gap}"));
                assert!(
                    touched == transcript::TranscriptUpdate::Nothing || event.position.0 > cursor,
                    "an event counts once"
                );
            }
            left -= usize::from(event.position.0 > cursor && is_run_end(&event));
            cursor = cursor.max(event.position.0);
        }
        sleep(Duration::from_millis(random.u64(..15))).await;
    }
    states.iter_mut().for_each(|state| state.as_of = Position(0));
    states
}

async fn check_broken_connections(seeds: impl Iterator<Item = u64>) {
    const CONVERSATIONS: usize = 4;
    const CLIENTS: usize = 6;
    for seed in seeds {
        let mut random = Rng::with_seed(seed);
        let folder = tempfile::tempdir().unwrap();
        let upstream = Upstream::start().await;
        let answers: Vec<RandomAnswer> = (0..CONVERSATIONS)
            .map(|_| RandomAnswer::random(&mut random))
            .collect();
        for (n, answer) in answers.iter().enumerate() {
            upstream.add_script(
                When::user_contains(format!("question {n}.")),
                answer.script.clone(),
            );
        }
        let parlor = Parlor::start(folder.path(), &upstream).await;
        let ids: Vec<ConversationId> = answers.iter().map(|_| ConversationId::new()).collect();
        let asked = ids.iter().enumerate().map(|(n, id)| {
            let ask =
                json!({ "message": format!("question {n}."), "model": "test/any", "conversation_id": id });
            let parlor = &parlor;
            // The client disconnects at once: the runs continue without it.
            async move { drop(parlor.chat(&ask).await) }
        });
        let clients: Vec<Rng> = (0..CLIENTS).map(|_| random.fork()).collect();
        let followed = clients
            .into_iter()
            .map(|random| follow_over_broken_connection(&parlor, &ids, random));
        let (_, followed) = tokio::join!(join_all(asked), join_all(followed));
        for (n, (id, answer)) in ids.iter().zip(&answers).enumerate() {
            let expected = stored_transcript(&parlor, *id).await;
            assert!(answer.matches(&expected), "seed {seed}: {expected:?}");
            for states in &followed {
                assert_eq!(states[n], expected, "seed {seed}");
            }
        }
    }
}

/// The module in which `make fuzz` finds randomised tests.
mod properties {
    #[tokio::test]
    async fn a_cut_at_any_position_leaves_no_trace() {
        for seed in fuzzing::test_seeds!() {
            super::check_every_cut(seed).await;
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn bad_connections_end_up_with_the_same() {
        // Other answers, conversations and connections each time.
        let seeds = fuzzing::test_seeds!()
            .into_iter()
            .flat_map(|seed| (0..5).map(move |n| seed.wrapping_add(n)));
        super::check_broken_connections(seeds).await;
    }
}
