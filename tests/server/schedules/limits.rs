//! The limits of schedules: those of a user's day, of one answer and of a month; what a schedule may leave unsaid; and approvals.

use std::sync::{Arc, atomic::AtomicUsize};

use parlor_base::settings::{Price, Settings};
use parlor_protocol::Dollars;
use parlor_tools::ToolRegistry;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use super::{TestClock, Timed, daily, new_key, put, with};
use crate::{
    accounts::{Browser, with_passwords},
    support::{last_model_call, string_field},
    tools::ApprovalTool,
};

/// A dollar for each token: the prices are those of a million.
pub(super) fn dear(settings: &mut Settings) {
    let price = Price {
        input: Dollars(1_000_000_000_000_000),
        output: Dollars(1_000_000_000_000_000),
        ..Price::default()
    };
    settings.models.prices = [("test/any".to_owned(), price)].into();
}

/// Returns the names of the tools that the last model call was offered.
fn offered_tools(upstream: &Upstream) -> Vec<String> {
    let call = last_model_call(upstream);
    let tools = call["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|tool| string_field(&tool["function"], "name"))
        .collect()
}

#[tokio::test]
async fn limit_of_the_day_skips_only_its_user() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let mut timed = Timed::start(folder.path(), &upstream, &clock, |settings| {
        with_passwords(settings);
        settings.accounts.tokens_per_day = Some(1);
    })
    .await;
    let mut ann = Browser::new(&timed.parlor);
    ann.set_up(&timed.parlor, "ann").await;
    let ben = ann.invite(&timed.parlor, "ben").await;
    let mut ids = Vec::new();
    for user in [&ann, &ben] {
        timed.parlor.client = user.signed_in_client();
        ids.push(timed.save(daily("Morning", "08:00", "UTC")).await);
    }
    timed.parlor.client = ann.signed_in_client();
    timed.parlor.turn(None, "Hello").await;
    clock.set("2026-11-30T08:00:00Z");
    timed.send_due().await;
    let skipped = timed.get(&ids[0]).await;
    let notice = skipped["notice"].as_str().unwrap();
    assert!(
        notice.starts_with("Not sent at 2026-11-30 08:00 UTC: Your answers have used"),
        "{notice}"
    );
    assert_eq!((&skipped["last"], timed.titles().await.len()), (&Value::Null, 1));
    assert!(skipped["next_at"].is_i64(), "it goes on tomorrow");
    let (status, _) = put(&timed.parlor, &ids[1], &daily("Mine", "08:00", "UTC")).await;
    assert_eq!(status, 404, "it is another user's");

    timed.parlor.client = ben.signed_in_client();
    assert_eq!(timed.titles().await, ["Morning, Nov 30"]);
    timed.ended(&ids[1]).await;
    timed.stop().await;
}

#[tokio::test]
async fn waits_for_an_end_of_its_users_answers() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    upstream.add_script(When::user_contains("slow"), Script::new().text("One").gate("end"));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, |settings| {
        settings.accounts.runs = Some(1);
    })
    .await;
    let id = timed.save(daily("Morning", "08:00", "UTC")).await;
    let due = timed.get(&id).await["next_at"].clone();
    let slow = json!({ "message": "slow", "model": "test/any" });
    let slow = timed.parlor.chat(&slow).await;
    upstream.wait_for_gate("end").await;
    clock.set("2026-11-30T08:00:00Z");
    timed.send_due().await;
    let waiting = timed.get(&id).await;
    assert_eq!((&waiting["next_at"], &waiting["last"]), (&due, &Value::Null));
    upstream.open_gate("end");
    slow.read_to_end().await;
    // Parlor was running all the time: the notice says no more than that it is late.
    clock.set("2026-11-30T08:30:00Z");
    timed.send_due().await;
    let sent = timed.get(&id).await;
    assert_eq!(
        (&sent["last"]["planned_at"], sent["next_at"] == due),
        (&due, false)
    );
    assert_eq!(
        sent["notice"],
        json!("The prompt could not be sent at 2026-11-30 08:00 UTC, and was sent later.")
    );
    timed.ended(&id).await;
    timed.stop().await;
}

#[tokio::test]
async fn limit_of_a_month_pauses() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Yes."));
    let clock = TestClock::at("2026-11-29T00:00:00Z");
    let timed = Timed::start(folder.path(), &upstream, &clock, dear).await;
    let limited = with(daily("Morning", "08:00", "UTC"), "month_limit", json!(1.5));
    let id = timed.save(limited.clone()).await;
    clock.set("2026-11-29T08:00:00Z");
    timed.send_due().await;
    timed.ended(&id).await;
    clock.set("2026-11-30T08:00:00Z");
    timed.send_due().await;
    let paused = timed.get(&id).await;
    assert_eq!(paused["schedule"]["is_paused"], json!(true));
    assert!(paused["month_cost"].as_f64().unwrap() >= 1.5, "{paused}");
    let notice = paused["notice"].as_str().unwrap();
    assert!(notice.contains("this month; the limit is $1.5"), "{notice}");
    assert_eq!(timed.titles().await, ["Morning, Nov 29"]);
    // Another month, and resumed.
    clock.set("2026-12-01T00:00:00Z");
    timed.put(&id, &limited).await;
    clock.set("2026-12-01T08:00:00Z");
    timed.send_due().await;
    assert_eq!(timed.titles().await.len(), 2);
    timed.ended(&id).await;
    timed.stop().await;
}

#[tokio::test]
async fn limit_of_an_answer_ends_it() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::any(),
        Script::new()
            .text("I look.")
            .tool_call("id0", "calculate", r#"{"expression":"6*7"}"#),
    );
    let clock = TestClock::at("2026-11-29T00:00:00Z");
    let tools = ToolRegistry::default().with_tool(parlor_tools::calculate::Calculate);
    let timed = Timed::start_with_tools(folder.path(), &upstream, &clock, tools, dear).await;
    // Also one that costs more than what is left for the month.
    for (limit, time) in [("run_limit", "08:00"), ("month_limit", "09:00")] {
        let id = timed
            .save(with(daily("Dear", time, "UTC"), limit, json!(1)))
            .await;
        clock.set(&format!("2026-11-29T{time}:00Z"));
        timed.send_due().await;
        let conversation = timed.ended(&id).await;
        let answer = &timed.parlor.transcript(&conversation).await["messages"][1];
        let why = answer["error"]["message"].as_str().unwrap();
        assert!(why.contains("the limit of its schedule is $1"), "{answer}");
        assert!(answer.to_string().contains("I look."), "what was written is kept");
    }
    timed.stop().await;
}

#[tokio::test]
async fn nothing_new_is_not_unread() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("News!"));
    upstream.add_script(
        When::user_contains("quiet"),
        Script::new().tool_call("id0", "nothing_new", "{}"),
    );
    upstream.add_script(
        When::tool_gave("not notified"),
        Script::new().text("Nothing new."),
    );
    let clock = TestClock::at("2026-11-29T00:00:00Z");
    let tools =
        ToolRegistry::default().with_scoped_tools(vec![parlor_tools::any_tool(parlor_tools::NothingNew)]);
    let timed = Timed::start_with_tools(folder.path(), &upstream, &clock, tools, |_| {}).await;
    let unread = async |conversation: &str| {
        let (_, listed) = timed
            .parlor
            .get_json(&format!("/api/conversations/{conversation}"))
            .await;
        listed["unseen"].clone()
    };
    let quiet = with(daily("Quiet", "08:00", "UTC"), "prompt", json!("Be quiet"));
    for (schedule, is_unread, tools) in [
        (
            with(quiet, "only_new", json!(true)),
            false,
            vec!["nothing_new".to_owned()],
        ),
        (
            with(daily("Loud", "08:00", "UTC"), "only_new", json!(true)),
            true,
            vec!["nothing_new".to_owned()],
        ),
        (daily("Plain", "08:00", "UTC"), true, Vec::new()),
    ] {
        let id = timed.save(schedule).await;
        assert_eq!(timed.run(&id, &new_key()).await.0, 200);
        let conversation = timed.ended(&id).await;
        assert_eq!(unread(&conversation).await, json!(is_unread), "{id}");
        assert_eq!(offered_tools(&upstream), tools);
    }
    timed.stop().await;
}

#[tokio::test]
async fn approval_waits_across_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(
        When::user_contains("What is new"),
        Script::new().tool_call("id0", "asking", r#"{"name":"a"}"#),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("Done."));
    let clock = TestClock::at("2026-11-30T00:00:00Z");
    let count = Arc::new(AtomicUsize::new(0));
    let start = async || {
        let tools = ToolRegistry::default().with_tool(ApprovalTool(count.clone()));
        Timed::start_with_tools(folder.path(), &upstream, &clock, tools, |_| {}).await
    };
    let timed = start().await;
    let id = timed
        .save(with(daily("Monday", "08:00", "UTC"), "days", json!(["monday"])))
        .await;
    clock.set("2026-11-30T08:00:00Z");
    timed.send_due().await;
    let mut log = timed.parlor.follow("/api/events?after=0").await;
    let waiting = log.next_of_type("waiting").await;
    drop(log);
    assert_eq!(timed.get(&id).await["last"]["status"], json!("waiting"));
    timed.stop().await;

    clock.set("2026-12-02T12:00:00Z");
    let timed = start().await;
    assert_eq!(timed.get(&id).await["last"]["status"], json!("waiting"));
    let run = string_field(&waiting, "message_id");
    let path = format!("/api/runs/{run}/approvals");
    let answered = timed
        .parlor
        .post(&path, &json!({ "index": 0, "answer": "allow" }));
    assert!(answered.send().await.unwrap().status().is_success());
    timed.ended(&id).await;
    assert_eq!(timed.get(&id).await["last"]["status"], json!("complete"));
    timed.stop().await;
}
