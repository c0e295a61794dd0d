//! The planned times, with the clock moved by hand.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use super::{TestClock, Timed, daily, instant, with};

/// Moves the clock to an instant in steps, and returns the planned times at which a schedule was sent meanwhile.
async fn pass(timed: &Timed, clock: &TestClock, until: &str, id: &str) -> Vec<String> {
    let until = instant(until).as_millisecond();
    let planned = |listed: &Value| listed["last"]["planned_at"].as_i64();
    let mut last = planned(&timed.get(id).await);
    let mut sent = Vec::new();
    while parlor_base::clock::Clock::now(clock).0 < until {
        clock.add_minutes(30);
        timed.send_due().await;
        let now = planned(&timed.get(id).await);
        if now != last {
            let at = jiff::Timestamp::from_millisecond(now.expect("a time")).expect("a time");
            sent.push(at.to_string());
            last = now;
        }
    }
    sent
}

#[tokio::test]
async fn changes_of_daylight_saving_send_once_a_day() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Nothing much."));
    let clock = TestClock::at("2026-03-27T12:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let id = timed.save(daily("Night", "02:30", "Europe/Berlin")).await;
    // 02:30 does not exist on 29 March: the clock goes from 02:00 to 03:00.
    assert_eq!(
        pass(&timed, &clock, "2026-03-30T12:00:00Z", &id).await,
        [
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:30:00Z"
        ]
    );
    // It exists twice on 25 October. The server was off in between: once, and said.
    clock.set("2026-10-23T12:00:00Z");
    timed.send_due().await;
    let late = timed.get(&id).await;
    let notice = late["notice"].as_str().unwrap();
    assert!(notice.contains("not running at 207 planned times"), "{notice}");
    assert_eq!(
        pass(&timed, &clock, "2026-10-26T12:00:00Z", &id).await,
        [
            "2026-10-24T00:30:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-26T01:30:00Z"
        ]
    );
    assert_eq!(timed.get(&id).await["notice"], Value::Null, "it is in time again");
    let titles = timed.titles().await;
    assert_eq!(titles.len(), 7, "one conversation a time: {titles:?}");
    assert_eq!(titles[0], "Night, Oct 26");
    timed.stop().await;
}

#[tokio::test]
async fn changed_paused_and_deleted_schedules_keep_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Nothing much."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let morning = daily("Morning", "08:00", "Europe/Berlin");
    let id = timed.save(morning.clone()).await;
    let next = |listed: Value| {
        let at = listed["next_at"].as_i64().map(jiff::Timestamp::from_millisecond);
        at.map(|at| at.unwrap().to_string())
    };
    assert_eq!(next(timed.get(&id).await).unwrap(), "2026-11-30T07:00:00Z");
    // Another zone, and only some days.
    let moved = with(morning.clone(), "time_zone", json!("America/New_York"));
    let moved = with(moved, "days", json!(["tuesday", "friday"]));
    let (_, listed) = timed.put(&id, &moved).await;
    assert_eq!(next(listed).unwrap(), "2026-12-01T13:00:00Z");
    assert_eq!(
        pass(&timed, &clock, "2026-12-06T00:00:00Z", &id).await,
        ["2026-12-01T13:00:00Z", "2026-12-04T13:00:00Z"]
    );
    // Paused, it is not sent; resumed, what was left out is not made up for.
    let (_, paused) = timed
        .put(&id, &with(moved.clone(), "is_paused", json!(true)))
        .await;
    assert_eq!(next(paused), None);
    assert!(pass(&timed, &clock, "2026-12-12T00:00:00Z", &id).await.is_empty());
    let (_, resumed) = timed.put(&id, &moved).await;
    assert_eq!(next(resumed).unwrap(), "2026-12-15T13:00:00Z");
    // The last day ends it.
    timed
        .put(&id, &with(moved.clone(), "ends_on", json!("2026-12-15")))
        .await;
    assert_eq!(
        pass(&timed, &clock, "2026-12-30T00:00:00Z", &id).await,
        ["2026-12-15T13:00:00Z"]
    );
    let ended = timed.get(&id).await;
    assert_eq!(
        (next(ended.clone()), &ended["schedule"]["is_paused"]),
        (None, &json!(false))
    );

    timed.put(&id, &morning).await;
    let deleted = timed
        .parlor
        .client
        .delete(format!("{}/api/schedules/{id}", timed.parlor.url));
    assert_eq!(deleted.send().await.unwrap().status(), 204);
    clock.set("2027-01-30T00:00:00Z");
    timed.send_due().await;
    assert_eq!(timed.titles().await.len(), 3, "its conversations stay");
    timed.stop().await;
}

#[tokio::test]
async fn missed_time_is_made_up_for_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Nothing much."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let id = timed.save(daily("Morning", "08:00", "UTC")).await;
    timed.stop().await;
    clock.set("2026-12-02T20:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    timed.send_due().await;
    assert_eq!(timed.titles().await, ["Morning, Dec 2"]);
    let listed = timed.get(&id).await;
    let notice = listed["notice"].as_str().unwrap();
    assert!(
        notice.contains("3 planned times, the last at 2026-12-02 08:00 UTC"),
        "{notice}"
    );
    let conversation = timed.ended(&id).await;
    let transcript = timed.parlor.transcript(&conversation).await;
    let question = &transcript["messages"][0];
    assert_eq!(
        (
            &question["interaction_type"],
            &question["missed"],
            &question["schedule_id"]
        ),
        (&json!("scheduled"), &json!(3), &json!(id)),
        "the conversation says it, too: {question}"
    );
    timed.stop().await;
}
