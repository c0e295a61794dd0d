//! Schedules that make reports of a research stream.

use serde_json::json;
use upstream::Upstream;

use super::{TestClock, Timed, daily, limits::dear, new_key, with};
use crate::{
    jobs::{add_answers, add_pubmed, save_stream, wait_for},
    literature::pubmed_settings,
    support::string_field,
};

#[tokio::test]
async fn planned_time_makes_one_report() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    add_pubmed(&upstream);
    add_answers(&upstream);
    let clock = TestClock::at("2026-11-29T00:00:00Z");
    let ask = pubmed_settings(&upstream);
    let timed = Timed::start(folder.path(), &upstream, &clock, |settings| {
        ask(settings);
        dear(settings);
    })
    .await;
    let stream = save_stream(&timed.parlor).await;
    let report_of = |stream: &str| {
        let mut report = with(daily("", "08:00", "UTC"), "stream_id", json!(stream));
        report.as_object_mut().unwrap().remove("prompt");
        report
    };
    for wrong in [
        with(report_of(&stream), "prompt", json!("And this?")),
        report_of(&new_key()),
    ] {
        assert_eq!(timed.put(&new_key(), &wrong).await.0, 400, "{wrong}");
    }
    let id = timed.save(report_of(&stream)).await;
    assert_eq!(timed.get(&id).await["schedule"]["name"], "Sea level");

    clock.set("2026-11-29T08:00:00Z");
    timed.send_due().await;
    timed.send_due().await;
    let started = string_field(&timed.get(&id).await["last"], "report_id");
    wait_for(&timed.parlor, &started, "complete").await;
    let listed = timed.get(&id).await;
    assert_eq!(listed["last"]["status"], "complete", "{listed}");
    assert!(listed["month_cost"].as_f64().unwrap() > 0.0, "{listed}");
    let jobs = timed.parlor.get_json("/api/jobs").await.1;
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 1, "{jobs}");
    assert_eq!(timed.titles().await, [""; 0], "no conversation");

    // By hand, besides the planned times, once.
    clock.set("2026-11-29T09:00:00Z");
    let key = new_key();
    let (status, by_hand) = timed.run(&id, &key).await;
    assert_eq!((status, &by_hand), (200, &json!({ "report_id": key })));
    assert_eq!(timed.run(&id, &key).await, (200, by_hand));
    wait_for(&timed.parlor, &key, "complete").await;

    // Without its stream there is nothing to report.
    let deleted = json!({ "stream_id": stream });
    timed
        .parlor
        .post("/rpc/delete_stream", &deleted)
        .send()
        .await
        .unwrap();
    clock.set("2026-11-30T08:00:00Z");
    timed.send_due().await;
    let paused = timed.get(&id).await;
    assert_eq!(paused["schedule"]["is_paused"], true, "{paused}");
    let notice = paused["notice"].as_str().unwrap();
    assert!(notice.starts_with("Paused: its stream was deleted."), "{notice}");
    timed.stop().await;
}
