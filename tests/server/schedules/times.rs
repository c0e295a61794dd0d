//! The planned times, with the clock moved by hand.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use super::{TestClock, Timed, daily, instant, new_key, with};

/// Moves the clock to an instant, with a look before and at each planned time of a schedule. Returns the times at which it was
/// sent.
async fn pass(timed: &Timed, clock: &TestClock, until: &str, id: &str) -> Vec<String> {
    let end = instant(until).as_millisecond();
    let mut sent = Vec::new();
    while let Some(next) = timed.get(id).await["next_at"]
        .as_i64()
        .filter(|next| *next <= end)
    {
        clock.set_milliseconds(next - 1);
        timed.send_due().await;
        assert_eq!(timed.get(id).await["next_at"], json!(next), "it is not due yet");
        clock.set_milliseconds(next);
        timed.send_due().await;
        assert_eq!(timed.get(id).await["last"]["planned_at"], json!(next));
        sent.push(jiff::Timestamp::from_millisecond(next).unwrap().to_string());
    }
    clock.set(until);
    timed.send_due().await;
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
    assert!(
        notice.contains("could not be sent at 207 planned times"),
        "{notice}"
    );
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
    timed.delete(&id).await;
    clock.set("2027-01-30T00:00:00Z");
    timed.send_due().await;
    assert_eq!(timed.titles().await.len(), 3, "its conversations stay");
    timed.stop().await;
}

#[tokio::test]
async fn edits_keep_a_due_time() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Nothing much."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let morning = with(daily("Morning", "08:00", "UTC"), "ends_on", json!("2026-11-30"));
    let id = timed.save(morning.clone()).await;
    clock.set("2026-11-30T08:05:00Z");
    let (_, edited) = timed
        .put(&id, &with(morning.clone(), "name", json!("Dawn")))
        .await;
    let due = instant("2026-11-30T08:00:00Z").as_millisecond();
    assert_eq!(edited["next_at"], json!(due));
    timed.send_due().await;
    assert_eq!(timed.titles().await, ["Dawn, Nov 30"]);
    // One that has ended can be edited, too, and stays ended.
    let (status, edited) = timed.put(&id, &morning).await;
    assert_eq!((status, &edited["next_at"]), (200, &Value::Null));
    timed.stop().await;
}

#[tokio::test]
async fn run_by_hand_at_a_planned_time_counts_for_it() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Nothing much."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let id = timed.save(daily("Morning", "08:00", "UTC")).await;
    clock.set("2026-11-30T08:00:00Z");
    assert_eq!(timed.run(&id, &new_key()).await.0, 200);
    timed.send_due().await;
    let listed = timed.get(&id).await;
    let next = instant("2026-12-01T08:00:00Z").as_millisecond();
    assert_eq!(
        (&listed["next_at"], &listed["notice"]),
        (&json!(next), &Value::Null)
    );
    assert_eq!(timed.titles().await, ["Morning, Nov 30"]);
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
    // It looks by itself.
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let mut log = timed.parlor.follow("/api/events?after=0").await;
    log.next_of_type("run_started").await;
    drop(log);
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
