//! Jobs whose work is interrupted: by a restart, a slow model, their deletion, or that of their user.

use std::time::Duration;

use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::{
    accounts::{Browser, with_passwords},
    jobs::{begin, post, report_of, save_stream, start, start_in, wait_for},
    support::raw_model_calls,
};

/// Has the model stay once, in the call about an article with these words, before its answer.
fn add_gate(upstream: &Upstream, words: &str) {
    upstream.add_script_times(1, When::user_contains(words), Script::new().gate("never"));
}

#[tokio::test]
async fn a_changed_limit_of_articles_keeps_what_was_found() {
    let (folder, upstream, parlor) = start(|_| {}).await;
    add_gate(&upstream, "Ships sail");
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    upstream.wait_for_gate("never").await;
    parlor.stop().await;

    let parlor = start_in(folder.path(), &upstream, |settings| {
        settings.agent.max_resumptions = 1;
        settings.jobs.articles = 1;
    })
    .await;
    let job = wait_for(&parlor, &id, "complete").await;
    assert_eq!(job["result"]["articles"].as_array().unwrap().len(), 3, "{job}");
}

#[tokio::test]
async fn an_article_that_is_found_twice_is_reported_once() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let found = json!({ "esearchresult": { "count": "7", "idlist": ["101", "102", "101", "103"] } });
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    let job = wait_for(&parlor, &id, "complete").await;
    let articles = job["result"]["articles"].as_array().unwrap();
    let pmids: Vec<&Value> = articles
        .iter()
        .map(|article| &article["article"]["pmid"])
        .collect();
    assert_eq!(pmids, ["101", "102", "103"]);
}

#[tokio::test]
async fn a_call_without_an_answer_in_time_is_made_again() {
    let (folder, upstream, parlor) =
        start(|settings| settings.jobs.call_timeout = Duration::from_secs(5)).await;
    add_gate(&upstream, "Ships sail");
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    let job = wait_for(&parlor, &id, "failed").await;
    assert_eq!(job["error"]["code"], "too_long", "{job}");
    // With more time, which a busy machine may need.
    parlor.stop().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let (status, _) = post(&parlor, &format!("/api/jobs/{id}/continue"), &json!({})).await;
    assert_eq!(status, 200);
    let job = wait_for(&parlor, &id, "complete").await;
    let second = &job["result"]["articles"][1];
    assert!(second["relevance"]["not_relevant"].is_object(), "{second}");
    assert_eq!(raw_model_calls(&upstream).len(), 5);
}

#[tokio::test]
async fn a_deleted_job_counts_its_cut_call() {
    let (_folder, upstream, parlor) = start(|settings| settings.accounts.tokens_per_day = Some(1)).await;
    add_gate(&upstream, "Salt rises");
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    upstream.wait_for_gate("never").await;
    let delete = parlor.client.delete(format!("{}/api/jobs/{id}", parlor.url));
    assert_eq!(delete.send().await.unwrap().status(), 204);

    let next = begin(&parlor, &report_of(&stream)).await;
    let job = wait_for(&parlor, &next, "waiting").await;
    assert_eq!(job["error"]["code"], "limit_reached", "{job}");
}

#[tokio::test]
async fn jobs_of_a_deleted_account_are_stopped() {
    let (_folder, upstream, mut parlor) = start(with_passwords).await;
    let mut ann = Browser::new(&parlor);
    ann.set_up(&parlor, "ann").await;
    let ben = ann.invite(&parlor, "ben").await;
    parlor.client = ben.signed_in_client();
    add_gate(&upstream, "Ships sail");
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    upstream.wait_for_gate("never").await;
    let user = ann.user_id("ben").await;
    let heir = ann.administrator_id("ben").await;
    let fields = [("user", user.as_str()), ("sure", "yes"), ("heir", heir.as_str())];
    let done = ann.submit("/settings/users/delete", &fields).await;
    assert_eq!(done.headers()["location"], "/settings/users?done=handed-over");
    upstream.wait_until_closed().await;
    parlor.client = ann.signed_in_client();
    let job = parlor.get_json(&format!("/api/jobs/{id}")).await.1;
    assert_eq!(job["status"], "stopped", "{job}");
    assert_eq!(job["totals"]["calls"], 2, "the cut call counts: {job}");
    assert!(
        job["ended_at"].is_number() && job["progress"]["left_ms"].is_null(),
        "{job}"
    );
}
