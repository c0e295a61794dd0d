//! The page *Reports*: a report, its differences from the one before, its files, and the assistant beside it.

use serde_json::{Value, json};
use upstream::{Script, When};

use crate::{
    jobs::{answer, begin, find_articles, report_of, save_stream, start, wait_for},
    literature::{last_prompt_and_tools, question_on_page},
    support::{Parlor, raw_model_calls},
};

async fn html_of(parlor: &Parlor, path: &str) -> String {
    let response = parlor
        .client
        .get(format!("{}{path}", parlor.url))
        .send()
        .await
        .unwrap();
    assert_eq!(response.status(), 200, "{path}");
    response.text().await.unwrap()
}

/// Makes two reports of a stream; the second finds another relevant article. Returns their ids.
async fn make_two(parlor: &Parlor, upstream: &upstream::Upstream) -> (String, String) {
    find_articles(upstream, &["101"]);
    let stream = save_stream(parlor).await;
    let first = begin(parlor, &report_of(&stream)).await;
    wait_for(parlor, &first, "complete").await;
    find_articles(upstream, &["101", "102", "103"]);
    upstream.add_script(
        When::user_contains("Ships sail"),
        Script::new().text(answer(true).to_string()),
    );
    let second = begin(parlor, &report_of(&stream)).await;
    wait_for(parlor, &second, "complete").await;
    (first, second)
}

#[tokio::test]
async fn a_report_is_compared_with_the_one_before() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let (first, second) = make_two(&parlor, &upstream).await;
    // Screened, read and summarised twice; the article of both reports is read once.
    assert_eq!(raw_model_calls(&upstream).len(), 6);
    let view = parlor
        .get_json(&format!("/rpc/report?report_id={second}"))
        .await
        .1;
    let compared = &view["comparison"];
    assert_eq!(compared["report_id"], first, "{view}");
    assert_eq!(
        compared["comparison"],
        json!({ "new": ["102"], "moved": [], "gone": [] })
    );
    assert!(view["report"]["articles"][0]["text"].is_null(), "{view}");
    let before = parlor.get_json(&format!("/rpc/report?report_id={first}")).await.1;
    assert!(before["comparison"].is_null(), "{before}");
    let article = parlor
        .get_json(&format!("/rpc/report_article?report_id={second}&pmid=101"))
        .await
        .1;
    assert_eq!(
        article["text"],
        json!(["Salt and tides", "Salt rises at night by five grams."])
    );
    let missing = parlor
        .get_json(&format!("/rpc/report_article?report_id={second}&pmid=999"))
        .await;
    assert_eq!(missing.0, 404, "{missing:?}");

    let html = html_of(&parlor, &format!("/reports/{second}")).await;
    for words in [
        "1 new",
        "Salt rises.",
        "no source found",
        "PubMed has no abstract of it.",
    ] {
        assert!(html.contains(words), "{words}: {html}");
    }
    let html = html_of(&parlor, &format!("/reports/{second}/articles")).await;
    assert!(html.contains("Ships") && html.contains("Amount"), "{html}");
    let html = html_of(
        &parlor,
        &format!("/reports/{second}/articles/101?quote=by+five+grams"),
    )
    .await;
    assert!(html.contains("<mark>by five grams</mark>"), "{html}");
}

#[tokio::test]
async fn a_report_is_unseen_until_looked_at() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let unseen = async || parlor.get_json("/rpc/unseen_reports").await.1;
    assert_eq!(unseen().await, json!([]));
    let (first, second) = make_two(&parlor, &upstream).await;
    assert_eq!(unseen().await, json!([second, first]));
    let looked_at = json!({ "report_id": second });
    let marked = parlor
        .post("/rpc/mark_report_seen", &looked_at)
        .send()
        .await
        .unwrap();
    assert_eq!(marked.status(), 200);
    assert_eq!(unseen().await, json!([first]));
    let job = parlor.get_json(&format!("/api/jobs/{first}")).await.1;
    assert_eq!(job["unseen"], true, "{job}");
}

#[tokio::test]
async fn a_report_is_exported_once_it_is_complete() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    upstream.add_script_times(1, When::user_contains("Ships sail"), Script::new().gate("never"));
    let stream = save_stream(&parlor).await;
    let id = begin(&parlor, &report_of(&stream)).await;
    let export = async |format: &str| {
        let url = format!("{}/api/jobs/{id}/export?format={format}", parlor.url);
        let response = parlor.client.get(url).send().await.unwrap();
        let header = |name: &str| {
            let value = response.headers().get(name).map(|value| value.to_str().unwrap());
            value.unwrap_or_default().to_owned()
        };
        let (kind, name) = (header("content-type"), header("content-disposition"));
        (
            response.status().as_u16(),
            kind,
            name,
            response.text().await.unwrap(),
        )
    };
    upstream.wait_for_gate("never").await;
    assert_eq!(export("csv").await.0, 400, "it is not complete");
    upstream.open_gate("never");
    wait_for(&parlor, &id, "complete").await;
    for (format, kind, ending, words) in [
        ("markdown", "text/markdown", "md", "## Night"),
        ("html", "text/html", "html", "<h1"),
        ("csv", "text/csv", "csv", "101,Salt and tides"),
        ("bibtex", "application/x-bibtex", "bib", "@article{pmid101"),
        ("ris", "application/x-research-info-systems", "ris", "AN  - 101"),
    ] {
        let (status, got, name, content) = export(format).await;
        assert_eq!(status, 200);
        assert!(got.starts_with(&format!("{kind}; charset=utf-8")), "{got}");
        assert_eq!(name, format!("attachment; filename=\"Sea level.{ending}\""));
        assert!(content.contains(words), "{content}");
    }
    assert_eq!(export("pdf").await.0, 400);
}

#[tokio::test]
async fn assistant_sees_the_open_report_and_its_article() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let (first, second) = make_two(&parlor, &upstream).await;
    let ask = async |context: Value| {
        parlor.chat(&question_on_page(context)).await.read_to_end().await;
        last_prompt_and_tools(&upstream)
    };
    let (prompt, tools) = ask(json!({ "current_page": "reports", "report_id": second })).await;
    for words in [
        "Report: Sea level",
        "new: PMID 102",
        "Salt rises. (PMID 101: “Salt rises at night”)",
        "PMID 101 [Night] RETRACTED Salt and tides",
        "Amount: 5.",
        "Could not be read in full: PMID 103",
    ] {
        assert!(prompt.contains(words), "{words}: {prompt}");
    }
    assert!(tools.contains(&"read_report".to_owned()), "{tools:?}");
    assert!(!tools.contains(&"save_article".to_owned()), "{tools:?}");

    let (prompt, tools) = ask(json!({
        "current_page": "reports", "active_tab": "articles", "active_subtab": "article", "report_id": first, "article_id": "101",
    }))
    .await;
    assert!(prompt.contains("Salt rises at night by five grams."), "{prompt}");
    assert!(tools.contains(&"save_article".to_owned()), "{tools:?}");

    for wrong in [
        json!({ "current_page": "reports", "report_id": uuid::Uuid::now_v7() }),
        json!({ "current_page": "reports", "report_id": first, "article_id": "999" }),
    ] {
        let refused = parlor
            .post("/api/chat/stream", &question_on_page(wrong))
            .send()
            .await;
        assert_eq!(refused.unwrap().status(), 422);
    }
}

#[tokio::test]
async fn a_tool_reads_the_open_report() {
    let (_folder, upstream, parlor) = start(|_| {}).await;
    let (_, second) = make_two(&parlor, &upstream).await;
    upstream.add_script_times(
        1,
        When::user_contains("Which ships"),
        Script::new()
            .tool_call("1", "read_report", json!({ "filter": "ships" }).to_string())
            .finish("tool_calls"),
    );
    upstream.add_script(When::tool_gave("PMID 102"), Script::new().text("Two."));
    let question = json!({
        "message": "Which ships?", "model": "test/any", "context": { "current_page": "reports", "report_id": second },
    });
    let events = parlor.chat(&question).await.read_to_end().await;
    let result = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    let text = result["output"].as_str().unwrap_or_default();
    assert!(
        text.contains("PMID 102") && !text.contains("PMID 101 ["),
        "{result}"
    );
}
