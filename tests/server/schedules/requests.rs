//! The requests to `/api/schedules`, and the page.

use serde_json::json;
use upstream::{Script, Upstream, When};

use super::{TestClock, Timed, daily, new_key, with};

#[tokio::test]
async fn repeated_requests_count_once() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |_| {}).await;
    let (_, none) = timed.parlor.get_json("/api/schedules").await;
    assert_eq!(none, json!({ "schedules": [], "limit": 50 }));
    let id = timed.save(daily("Morning", "08:00", "UTC")).await;
    clock.set("2026-11-30T09:00:00Z");
    let (_, again) = timed.put(&id, &daily("Morning", "08:00", "UTC")).await;
    assert_eq!(
        again["next_at"],
        json!(super::instant("2026-11-30T08:00:00Z").as_millisecond()),
        "it skips no planned time"
    );
    let key = new_key();
    let first = timed.run(&id, &key).await;
    assert_eq!(first.0, 200);
    assert_eq!(timed.run(&id, &key).await, first);
    assert_eq!(timed.titles().await, ["Morning, Nov 30"]);
    let other = timed.save(daily("Evening", "20:00", "UTC")).await;
    assert_eq!(timed.run(&other, &key).await.0, 409);
    assert!(
        page(&timed).await.contains("Every day at 08:00 (UTC)"),
        "the page shows it without scripts"
    );
    let pages = timed.parlor.get_json("/rpc/listed_pages").await.1;
    assert!(pages.to_string().contains("schedules"), "{pages}");
    timed.delete(&id).await;
    assert_eq!(timed.run(&id, &key).await, first, "it needs no schedule");
    assert_eq!(timed.run(&id, &new_key()).await.0, 404);
    timed.stop().await;
}

/// Returns the page as the server renders it.
async fn page(timed: &Timed) -> String {
    let response = timed.parlor.get("/schedules").send().await.unwrap();
    response.text().await.unwrap()
}

#[tokio::test]
async fn invalid_schedules_are_refused_with_a_reason() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |settings| {
        settings.schedules.per_user = 1;
    })
    .await;
    let id = uuid::Uuid::now_v7().to_string();
    let morning = daily("Morning", "08:00", "UTC");
    for (field, value, words) in [
        ("time", json!("8 o'clock"), "is not a time"),
        ("time_zone", json!("Moon/Base"), "Moon/Base"),
        ("days", json!([]), "at least one day"),
        ("prompt", json!(" "), "what should be asked"),
        ("ends_on", json!("2026-11-29"), "No planned time is left"),
        ("ends_on", json!("tomorrow"), "is not a day"),
        ("name", json!("n".repeat(1000)), "at most"),
        ("run_limit", json!(0), "more than 0"),
        ("month_limit", json!(0), "more than 0"),
    ] {
        let (status, problem) = timed.put(&id, &with(morning.clone(), field, value)).await;
        assert_eq!(status, 400, "{problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(
            detail.contains(words) && detail.contains("Nothing was saved"),
            "{detail}"
        );
    }
    let tools = with(morning.clone(), "tools", json!(["no_such_tool"]));
    let (status, problem) = timed.put(&id, &tools).await;
    assert_eq!((status, &problem["code"]), (422, &json!("unknown_tool")));
    assert_eq!(
        problem["detail"],
        "There is no tool “no_such_tool” to be used. Nothing was changed. No tools are offered."
    );
    let saved = timed.save(morning.clone()).await;
    let (status, problem) = timed.put(&id, &morning).await;
    assert_eq!(status, 413, "{problem}");
    let (status, _) = timed.parlor.get_json(&format!("/api/schedules/{id}")).await;
    assert_eq!(status, 404);
    timed.stop().await;

    let timed = Timed::start(folder.path(), &upstream, &clock, |settings| {
        settings.schedules.enabled = false;
    })
    .await;
    let (status, problem) = timed.put(&id, &morning).await;
    assert_eq!((status, &problem["code"]), (403, &json!("forbidden")));
    // Those that exist are shown, and can be deleted.
    let shown = page(&timed).await;
    assert!(shown.contains("Schedules are switched off") && shown.contains("Morning"));
    assert!(!shown.contains("New schedule") && !shown.contains("Run now"));
    timed.delete(&saved).await;
    timed.stop().await;
}
