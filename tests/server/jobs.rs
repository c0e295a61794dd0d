//! Jobs over HTTP: a report of a stream, with a scripted model and a scripted PubMed.

use std::path::Path;

use parlor_base::settings::{Price, Settings};
use parlor_protocol::Dollars;
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};
use uuid::Uuid;

use crate::{
    literature::pubmed_settings,
    support::{Parlor, raw_model_calls, read_json, string_field},
};

/// The price of a million tokens: the scripted model counts few.
const DEAR: Dollars = Dollars(1_000_000_000_000);

/// Makes the search of PubMed find articles.
pub(crate) fn find_articles(upstream: &Upstream, pmids: &[&str]) {
    let found = json!({ "esearchresult": { "count": "7", "idlist": pmids } });
    upstream.add_page("/eutils/esearch.fcgi", Page::json(&found));
}

/// A PubMed with three articles: two with abstracts, one without.
pub(crate) fn add_pubmed(upstream: &Upstream) {
    find_articles(upstream, &["101", "102", "103"]);
    let article = |title: &str, kinds: Value| json!({ "title": title, "authors": [], "source": "J", "pubdate": "2024", "pubtype": kinds });
    let summaries = json!({ "result": {
        "uids": ["101", "102", "103"],
        "101": article("Salt and tides", json!(["Retracted Publication"])),
        "102": article("Ships", json!([])),
        "103": article("No abstract", json!([])),
    } });
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&summaries));
    let text = |pmid: &str, text: &str| {
        format!(
            "<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><Abstract><AbstractText>{text}</AbstractText></Abstract>\
             </Article></MedlineCitation></PubmedArticle>"
        )
    };
    let abstracts = [
        text("101", "Salt rises at night by five grams."),
        text("102", "Ships sail by day."),
    ];
    upstream.add_page(
        "/eutils/efetch.fcgi",
        Page::text(format!(
            "<PubmedArticleSet>{}</PubmedArticleSet>",
            abstracts.concat()
        )),
    );
}

/// The answer of a model to whatever a step asks.
pub(crate) fn answer(relevant: bool) -> Value {
    json!({
        "relevant": relevant, "reason": "It is about salt.", "category": "Night",
        "answers": [
            { "name": "amount", "value": 5, "passage": "by five grams" },
            { "name": "Place", "value": "sea", "passage": "in the deep sea" },
        ],
        "claims": [
            { "text": "Salt rises.", "pmid": "101", "passage": "Salt rises at night" },
            { "text": "Ships sink.", "pmid": "101", "passage": "Ships sink at night" },
        ],
    })
}

pub(crate) fn add_answers(upstream: &Upstream) {
    let script = |relevant| Script::new().text(answer(relevant).to_string());
    upstream.add_script(When::any(), script(true));
    upstream.add_script(When::user_contains("Ships sail"), script(false));
    upstream.add_script(When::user_contains("Salt rises"), script(true));
}

pub(crate) async fn start(change: impl FnOnce(&mut Settings)) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    add_pubmed(&upstream);
    add_answers(&upstream);
    let parlor = start_in(folder.path(), &upstream, change).await;
    (folder, upstream, parlor)
}

/// Starts a server that performs one step at a time.
pub(crate) async fn start_in(
    folder: &Path,
    upstream: &Upstream,
    change: impl FnOnce(&mut Settings),
) -> Parlor {
    let ask = pubmed_settings(upstream);
    Parlor::start_built_in(folder, upstream, |settings| {
        ask(settings);
        settings.jobs.concurrency = 1;
        change(settings);
    })
    .await
}

/// Saves a stream, and returns its id.
pub(crate) async fn save_stream(parlor: &Parlor) -> String {
    let id = Uuid::now_v7().to_string();
    let field = |name: &str| json!({ "name": name, "question": "How much?", "type": "text" });
    let stream = json!({ "stream": {
        "id": id, "name": "Sea level", "purpose": "To follow the sea.", "query": "tides", "instructions": "Mind the moon.",
        "schema": [field("Amount"), field("Place")],
        "categories": [{ "name": "Night", "description": "At night." }],
    } });
    let saved = parlor.post("/rpc/save_stream", &stream).send().await.unwrap();
    assert!(saved.status().is_success(), "{}", saved.text().await.unwrap());
    id
}

pub(crate) fn report_of(stream: &str) -> Value {
    json!({ "kind": "report", "input": { "stream_id": stream }, "model": "test/any" })
}

pub(crate) async fn post(parlor: &Parlor, path: &str, body: &Value) -> (u16, Value) {
    let response = parlor.post(path, body).send().await.unwrap();
    (response.status().as_u16(), read_json(response).await)
}

pub(crate) async fn begin(parlor: &Parlor, request: &Value) -> String {
    let (status, job) = post(parlor, "/api/jobs", request).await;
    assert_eq!(status, 201, "{job}");
    string_field(&job, "id")
}

/// Follows the log until a job has this status, and returns the job with its result.
pub(crate) async fn wait_for(parlor: &Parlor, id: &str, status: &str) -> Value {
    let mut log = parlor.follow("/api/events?after=0").await;
    loop {
        let changed = log.next_of_type("job_changed").await["change"]["changed"].clone();
        if changed["id"] == id && changed["status"] == status {
            break;
        }
    }
    parlor.get_json(&format!("/api/jobs/{id}")).await.1
}

#[tokio::test]
async fn a_report_has_checked_passages() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    let job = wait_for(&parlor, &id, "complete").await;
    let report = &job["result"];
    assert_eq!(
        (&report["name"], &report["query"], &report["found"]),
        (&json!("Sea level"), &json!("tides"), &json!(7))
    );
    let passage = |text: &str| json!({ "found": { "text": text, "place": "" } });
    let missing = |quote: &str| json!({ "not_found": { "quote": quote } });
    let [first, second, third] = [0, 1, 2].map(|index| report["articles"][index].clone());
    let cells = json!([
        { "field": "Amount", "value": "5", "passage": passage("by five grams") },
        { "field": "Place", "value": "sea", "passage": missing("in the deep sea") },
    ]);
    assert_eq!(
        (&first["retracted"], &first["category"], &first["cells"]),
        (&json!(true), &json!("Night"), &cells)
    );
    assert!(first["relevance"]["relevant"].is_object(), "{first}");
    assert!(second["relevance"]["not_relevant"].is_object(), "{second}");
    assert_eq!(
        (&third["relevance"], &third["problem"]),
        (&json!("unknown"), &json!("PubMed has no abstract of it."))
    );
    assert_eq!(report["summary"][0]["passage"], passage("Salt rises at night"));
    assert_eq!(report["unsupported"], 1, "{report}");

    // Two were judged, one was read, and the summary: each once.
    assert_eq!(raw_model_calls(&upstream).len(), 4);
    assert_eq!(job["totals"]["calls"], 4, "{job}");
    let steps = parlor.get_json(&format!("/api/jobs/{id}/steps")).await.1;
    let keys: Vec<&str> = steps["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["key"].as_str().unwrap())
        .collect();
    let expected = [
        "stream",
        "search",
        "abstracts/1",
        "screen/101",
        "screen/102",
        "read/101",
        "summary",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        (&job["progress"]["done"], &job["progress"]["total"]),
        (&json!(7), &json!(7))
    );
    let calls = parlor.get_json(&format!("/api/jobs/{id}/diagnostics")).await.1;
    let made: Vec<_> = calls["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| (call["step"].as_str().unwrap(), call["purpose"].as_str().unwrap()))
        .collect();
    assert_eq!(
        made,
        ["screen/101", "screen/102", "read/101", "summary"].map(|step| (step, "step"))
    );
    let list = parlor.get_json("/api/jobs").await.1;
    assert_eq!(list["jobs"][0]["title"], "Sea level");
}

#[tokio::test]
async fn a_stopped_report_continues_without_repetition() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    upstream.add_script_times(1, When::user_contains("Ships sail"), Script::new().gate("never"));
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    upstream.wait_for_gate("never").await;
    let (status, stopped) = post(&parlor, &format!("/api/jobs/{id}/stop"), &json!({})).await;
    assert_eq!((status, &stopped["status"]), (200, &json!("stopped")));
    assert_eq!(stopped["totals"]["calls"], 2, "the cut call counts: {stopped}");
    let (status, _) = post(&parlor, &format!("/api/jobs/{id}/continue"), &json!({})).await;
    assert_eq!(status, 200);
    wait_for(&parlor, &id, "complete").await;
    assert_eq!(
        raw_model_calls(&upstream).len(),
        5,
        "only the cut call is made again"
    );
    let (status, problem) = post(&parlor, &format!("/api/jobs/{id}/continue"), &json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("not_continuable")));

    let deleted = parlor
        .client
        .delete(format!("{}/api/jobs/{id}", parlor.url))
        .send()
        .await;
    assert_eq!(deleted.unwrap().status(), 204);
    let expect_no_job = |(status, problem): (u16, Value)| {
        assert_eq!(
            (status, &problem["detail"]),
            (404, &json!("There is no such job. It may have been deleted."))
        );
    };
    for path in ["", "/steps", "/diagnostics"] {
        expect_no_job(parlor.get_json(&format!("/api/jobs/{id}{path}")).await);
    }
    for path in ["/stop", "/continue"] {
        expect_no_job(post(&parlor, &format!("/api/jobs/{id}{path}"), &json!({})).await);
    }
}

#[tokio::test]
async fn a_cost_limit_waits_for_a_decision() {
    let (_folder, upstream, parlor) = start(|settings| {
        let price = Price {
            input: DEAR,
            output: DEAR,
            ..Price::default()
        };
        settings.models.prices.insert("test/any".into(), price);
    })
    .await;
    let stream = save_stream(&parlor).await;
    let mut request = report_of(&stream);
    request["cost_limit"] = json!(0.0001);
    let id = begin(&parlor, &request).await;
    let job = wait_for(&parlor, &id, "waiting").await;
    assert_eq!(job["error"]["code"], "cost_limit", "{job}");
    assert_eq!(
        raw_model_calls(&upstream).len(),
        1,
        "the next step does not begin"
    );
    let raised = json!({ "cost_limit": 1000 });
    let (status, _) = post(&parlor, &format!("/api/jobs/{id}/continue"), &raised).await;
    assert_eq!(status, 200);
    wait_for(&parlor, &id, "complete").await;
    assert_eq!(raw_model_calls(&upstream).len(), 4);
}

#[tokio::test]
async fn an_answer_of_another_form_is_sent_back_once() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    upstream.add_script_times(
        1,
        When::user_contains("Ships sail"),
        Script::new().text("They sail."),
    );
    upstream.add_script(
        When::user_contains("This is not what was asked for"),
        Script::new().text("Still not."),
    );
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    let job = wait_for(&parlor, &id, "complete").await;
    let second = &job["result"]["articles"][1];
    assert_eq!(second["relevance"], "unknown", "{second}");
    assert!(second["problem"].as_str().unwrap().contains("twice"), "{second}");
    assert_eq!(raw_model_calls(&upstream).len(), 5);
}

#[tokio::test]
async fn a_failed_model_server_keeps_what_was_done() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let refused = Script::new().status(401, json!({ "error": { "message": "No key" } }), &[]);
    upstream.add_script_times(1, When::user_contains("Ships sail"), refused);
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    let job = wait_for(&parlor, &id, "failed").await;
    assert_eq!(job["progress"]["done"], 4, "{job}");
    let (status, _) = post(&parlor, &format!("/api/jobs/{id}/continue"), &json!({})).await;
    assert_eq!(status, 200);
    wait_for(&parlor, &id, "complete").await;
    assert_eq!(raw_model_calls(&upstream).len(), 5);
}

#[tokio::test]
async fn requests_are_checked_and_repeatable() {
    let (_folder, _upstream, parlor) = start(|_| {}).await;
    let stream = save_stream(&parlor).await;
    let unknown = report_of(&Uuid::now_v7().to_string());
    assert_eq!(post(&parlor, "/api/jobs", &unknown).await.0, 404);
    let mut other_kind = report_of(&stream);
    other_kind["kind"] = json!("dance");
    let (status, problem) = post(&parlor, "/api/jobs", &other_kind).await;
    assert_eq!(status, 400);
    assert!(
        problem["detail"].as_str().unwrap().contains("report"),
        "{problem}"
    );
    let key = Uuid::now_v7().to_string();
    let send = async |body: &Value| {
        let request = parlor.post("/api/jobs", body).header("idempotency-key", &key);
        let response = request.send().await.unwrap();
        (response.status().as_u16(), read_json(response).await)
    };
    let request = report_of(&stream);
    let (first, second) = (send(&request).await, send(&request).await);
    assert_eq!((first.0, &first.1["id"]), (201, &json!(key)));
    assert_eq!((second.0, &second.1["id"]), (201, &json!(key)));
    let mut other = request.clone();
    other["cost_limit"] = json!(1);
    let (status, problem) = send(&other).await;
    assert_eq!((status, &problem["code"]), (409, &json!("intent_reused")));
    let list = parlor.get_json("/api/jobs").await.1;
    assert_eq!(list["jobs"].as_array().unwrap().len(), 1);
}
