//! Schedules over HTTP: prompts that are sent at planned times, with a clock that the test moves.

mod limits;
mod reports;
mod requests;
mod times;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
    time::Duration,
};

use parlor::server::{ScheduleTimer, Server, built_in_pages};
use parlor_base::{clock::Clock, settings::Settings};
use parlor_protocol::Timestamp;
use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use upstream::Upstream;

use crate::support::{Parlor, read_json, settings, with_database};

/// A clock that the test moves.
#[derive(Clone, Default)]
pub(crate) struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(SeqCst))
    }
}

impl TestClock {
    /// Returns a clock at an instant, such as `2026-03-28T12:00:00Z`.
    pub(crate) fn at(text: &str) -> Self {
        let clock = Self::default();
        clock.set(text);
        clock
    }

    pub(crate) fn set(&self, text: &str) {
        self.set_milliseconds(instant(text).as_millisecond());
    }

    fn set_milliseconds(&self, at: i64) {
        self.0.store(at, SeqCst);
    }
}

fn instant(text: &str) -> jiff::Timestamp {
    text.parse().expect("an instant")
}

/// A server whose schedules look at the test's clock, when the test says so.
pub(crate) struct Timed {
    parlor: Parlor,
    timer: ScheduleTimer,
}

impl Timed {
    pub(crate) async fn start(
        data: &Path,
        upstream: &Upstream,
        clock: &TestClock,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::start_with_tools(data, upstream, clock, ToolRegistry::default(), change).await
    }

    async fn start_with_tools(
        data: &Path,
        upstream: &Upstream,
        clock: &TestClock,
        tools: ToolRegistry,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let settings = settings(data, upstream, |settings| {
            // Besides the look at the start.
            settings.schedules.interval = Duration::from_secs(3600);
            change(settings);
        });
        let server = Server::open_with(with_database(settings).await, |_| tools, built_in_pages).await;
        let server = server.expect("a server").with_clock(Arc::new(clock.clone()));
        let timer = server.schedule_timer();
        Self {
            parlor: Parlor::serve(server).await,
            timer,
        }
    }

    pub(crate) async fn stop(self) {
        drop(self.timer);
        self.parlor.stop().await;
    }

    pub(crate) async fn send_due(&self) {
        self.timer.send_due().await.expect("storage works");
    }

    async fn put(&self, id: &str, schedule: &Value) -> (u16, Value) {
        put(&self.parlor, id, schedule).await
    }

    /// Saves a schedule, and returns its id.
    pub(crate) async fn save(&self, schedule: Value) -> String {
        let id = uuid::Uuid::now_v7().to_string();
        let (status, saved) = self.put(&id, &schedule).await;
        assert_eq!(status, 200, "{saved}");
        id
    }

    /// Runs a schedule by hand, and returns the status and the started run.
    async fn run(&self, id: &str, key: &str) -> (u16, Value) {
        let path = format!("/api/schedules/{id}/run");
        let run = self.parlor.post(&path, &Value::Null);
        let response = run.header("Idempotency-Key", key).send().await;
        let response = response.expect("a response");
        (response.status().as_u16(), read_json(response).await)
    }

    async fn delete(&self, id: &str) {
        let url = format!("{}/api/schedules/{id}", self.parlor.url);
        let deleted = self.parlor.client.delete(url).send().await;
        assert_eq!(deleted.expect("a response").status(), 204);
    }

    /// Returns a schedule with its state.
    async fn get(&self, id: &str) -> Value {
        self.parlor.get_json(&format!("/api/schedules/{id}")).await.1
    }

    /// Returns the titles of all conversations, the newest first.
    pub(crate) async fn titles(&self) -> Vec<String> {
        let (_, list) = self.parlor.get_json("/api/conversations?limit=100").await;
        let all = list["conversations"].as_array().expect("a list");
        let titles = all.iter().map(|one| one["title"].as_str().expect("a title"));
        titles.map(str::to_owned).collect()
    }

    /// Waits until the last answer of a schedule has ended, and returns its conversation.
    pub(crate) async fn ended(&self, id: &str) -> String {
        let schedule = self.get(id).await;
        let conversation = schedule["last"]["conversation_id"]
            .as_str()
            .expect("a conversation");
        let transcript = self.parlor.transcript(conversation).await;
        let run = transcript["active_leaf"].as_str().expect("an answer");
        let events = self.parlor.follow(&format!("/api/runs/{run}/events")).await;
        events.read_to_end().await;
        conversation.to_owned()
    }
}

/// Returns a new key of a request that may be repeated.
fn new_key() -> String {
    uuid::Uuid::now_v7().to_string()
}

pub(crate) async fn put(parlor: &Parlor, id: &str, schedule: &Value) -> (u16, Value) {
    let request = parlor.client.put(format!("{}/api/schedules/{id}", parlor.url));
    let request = request
        .header("content-type", "application/json")
        .body(schedule.to_string());
    let response = request.send().await.expect("a response");
    (response.status().as_u16(), read_json(response).await)
}

/// Returns a schedule for each day at this time.
pub(crate) fn daily(name: &str, time: &str, zone: &str) -> Value {
    json!({
        "name": name,
        "prompt": "What is new?",
        "model": "test/any",
        "days": ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"],
        "time": time,
        "time_zone": zone,
    })
}

fn with(mut schedule: Value, name: &str, value: Value) -> Value {
    schedule[name] = value;
    schedule
}
