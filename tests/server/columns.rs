//! Columns of the saved articles, filled by jobs with a scripted model.

use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};
use uuid::Uuid;

use crate::{
    jobs::{add_pubmed, start_in, wait_for},
    support::{Parlor, raw_model_calls, read_json, string_field, system_prompt_of},
};

/// Saves a column of the saved articles with these fields, and returns its id.
pub async fn save_column(parlor: &Parlor, name: &str, fields: Value) -> String {
    let id = Uuid::now_v7().to_string();
    let (status, answer) = save(parlor, &id, name, fields).await;
    assert_eq!(status, 200, "{answer}");
    id
}

async fn save(parlor: &Parlor, id: &str, name: &str, fields: Value) -> (u16, Value) {
    let mut column = json!({ "id": id, "name": name, "question": format!("{name}?"), "type": "text" });
    for (field, value) in fields.as_object().unwrap() {
        column[field] = value.clone();
    }
    post(
        parlor,
        "save_column",
        json!({ "source": "articles", "column": column }),
    )
    .await
}

async fn post(parlor: &Parlor, function: &str, arguments: Value) -> (u16, Value) {
    let response = parlor
        .post(&format!("/rpc/{function}"), &arguments)
        .send()
        .await
        .unwrap();
    (response.status().as_u16(), read_json(response).await)
}

async fn correct(parlor: &Parlor, column: &str, row: &str, value: Option<&str>) {
    let arguments = json!({ "column_id": column, "row": row, "value": value });
    let (status, answer) = post(parlor, "correct_cell", arguments).await;
    assert_eq!(status, 200, "{answer}");
}

async fn begin(parlor: &Parlor) -> String {
    let id = Uuid::now_v7().to_string();
    let arguments = json!({ "job_id": id, "source": "articles", "model": "test/any", "cost_limit": null });
    let (status, answer) = post(parlor, "fill_columns", arguments).await;
    assert_eq!(status, 200, "{answer}");
    id
}

async fn fill(parlor: &Parlor) -> Value {
    let id = begin(parlor).await;
    wait_for(parlor, &id, "complete").await
}

async fn view(parlor: &Parlor) -> Value {
    parlor.get_json("/rpc/columns?source=articles").await.1
}

/// Returns the cells of a column as the page shows them.
async fn cells(parlor: &Parlor, column: &str) -> Value {
    let view = view(parlor).await;
    let mut cells = view["cells"].as_array().unwrap().iter();
    cells.find(|cells| cells["column_id"] == column).unwrap()["cells"].clone()
}

/// Returns the names of the columns that the calls since then have asked, and empties them.
fn asked(upstream: &Upstream, from: usize) -> Vec<String> {
    let calls = raw_model_calls(upstream).into_iter().skip(from);
    let names = calls.map(|call| {
        let prompt = system_prompt_of(&call).to_owned();
        let (_, rest) = prompt.split_once("The column: ").unwrap();
        rest.lines().next().unwrap().to_owned()
    });
    names.collect()
}

/// Adds a fourth article to those of the reports.
fn add_articles(upstream: &Upstream) {
    let titles = [
        ("101", "Salt and tides"),
        ("102", "Ships"),
        ("103", "No abstract"),
        ("104", "Winds"),
    ];
    let mut result = json!({ "uids": titles.map(|(pmid, _)| pmid) });
    for (pmid, title) in titles {
        result[pmid] =
            json!({ "title": title, "authors": [], "source": "J", "pubdate": "2024", "pubtype": [] });
    }
    upstream.add_page("/eutils/esummary.fcgi", Page::json(&json!({ "result": result })));
    let texts = [
        ("101", "Salt rises at night by five grams."),
        ("102", "Ships sail by day."),
        ("104", "Winds blow."),
    ];
    let texts = texts.map(|(pmid, text)| {
        format!(
            "<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><Abstract><AbstractText>{text}</AbstractText></Abstract>\
             </Article></MedlineCitation></PubmedArticle>"
        )
    });
    let texts = format!("<PubmedArticleSet>{}</PubmedArticleSet>", texts.concat());
    upstream.add_page("/eutils/efetch.fcgi", Page::text(texts));
}

/// A server with four saved articles: one says five grams, one has no answer, one has no abstract, one gets a wrong answer.
async fn start() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    add_pubmed(&upstream);
    add_articles(&upstream);
    let answer = |value: Value, passage: &str| {
        Script::new().text(json!({ "value": value, "passage": passage }).to_string())
    };
    upstream.add_script(When::any(), answer(json!("many"), ""));
    upstream.add_script(When::user_contains("Ships"), answer(json!(""), ""));
    upstream.add_script(
        When::user_contains("Salt rises"),
        answer(json!("5 g"), "by five grams"),
    );
    let parlor = start_in(folder.path(), &upstream, |settings| settings.jobs.columns = 2).await;
    for pmid in ["101", "102", "103", "104"] {
        // Its abstract is known before it is saved.
        parlor.get_json(&format!("/rpc/article?pmid={pmid}")).await;
        let (status, answer) = post(
            &parlor,
            "save_article",
            json!({ "pmid": pmid, "note": "", "saved_at": null }),
        )
        .await;
        assert_eq!(status, 200, "{answer}");
    }
    (folder, upstream, parlor)
}

#[tokio::test]
async fn each_cell_is_a_step_with_a_checked_passage() {
    let (_folder, upstream, parlor) = start().await;
    let amount = save_column(&parlor, "Amount", json!({ "type": "number" })).await;
    let words = save_column(&parlor, "Words", json!({})).await;
    let job = fill(&parlor).await;
    assert_eq!(
        job["result"],
        json!({
            "columns": ["Amount", "Words"], "rows": 4, "left_out": 0,
            "answered": 3, "without_passage": 1, "no_answer": 2, "no_text": 2, "failed": 1,
        })
    );
    let steps = parlor
        .get_json(&format!("/api/jobs/{}/steps", string_field(&job, "id")))
        .await
        .1;
    let keys = steps["steps"].as_array().unwrap().iter();
    let keys: Vec<_> = keys.map(|step| string_field(step, "key")).collect();
    assert_eq!(keys.len(), 10, "{keys:?}");
    assert!(keys.contains(&format!("cell/{amount}/101")), "{keys:?}");

    let shown = cells(&parlor, &amount).await;
    let reason = string_field(&shown[3]["state"]["failed"], "reason");
    assert!(reason.contains("not a number alone"), "{reason}");
    assert_eq!(
        [&shown[0], &shown[1], &shown[2]],
        [
            &json!({ "row": "101", "state": { "answered": { "value": "5", "has_passage": true } } }),
            &json!({ "row": "102", "state": "no_answer" }),
            &json!({ "row": "103", "state": "no_text" }),
        ]
    );
    let unsupported = &cells(&parlor, &words).await[3]["state"]["answered"];
    assert_eq!(*unsupported, json!({ "value": "many", "has_passage": false }));
    let cell = |row: &str| format!("/rpc/column_cell?source=articles&column_id={amount}&row={row}");
    let details = parlor.get_json(&cell("101")).await.1;
    assert_eq!(details["passage"]["found"]["text"], "by five grams", "{details}");
    assert_eq!(details["model"], "test/any", "{details}");
    let none = parlor.get_json(&cell("102")).await.1;
    assert_eq!(
        (&none["passage"], &none["state"]),
        (&Value::Null, &json!("no_answer"))
    );
    assert_eq!(raw_model_calls(&upstream).len(), 6);
}

#[tokio::test]
async fn a_changed_question_is_asked_alone() {
    let (_folder, upstream, parlor) = start().await;
    let words = save_column(&parlor, "Words", json!({})).await;
    let other = save_column(&parlor, "Other", json!({})).await;
    fill(&parlor).await;
    let before = raw_model_calls(&upstream).len();
    save(&parlor, &other, "Other", json!({ "question": "Which else?" })).await;
    assert_eq!(
        cells(&parlor, &other).await,
        json!([]),
        "its answers were to another question"
    );
    assert_eq!(cells(&parlor, &words).await.as_array().unwrap().len(), 4);
    fill(&parlor).await;
    assert_eq!(asked(&upstream, before), ["Other"; 3]);
    let jobs = parlor.get_json("/api/jobs").await.1;
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 2, "{jobs}");

    // The same question again, and another name, which changes no answer.
    let before = raw_model_calls(&upstream).len();
    save(
        &parlor,
        &words,
        "Renamed",
        json!({ "question": "Words?", "revision": 1 }),
    )
    .await;
    save(
        &parlor,
        &other,
        "Another name",
        json!({ "question": "Which else?" }),
    )
    .await;
    fill(&parlor).await;
    assert_eq!(asked(&upstream, before), ["Renamed"; 3]);
    let jobs = parlor.get_json("/api/jobs").await.1;
    assert_eq!(
        jobs["jobs"].as_array().unwrap().len(),
        2,
        "jobs that nothing shows are deleted: {jobs}"
    );

    let (status, _) = post(&parlor, "delete_column", json!({ "column_id": words })).await;
    assert_eq!(status, 200);
    let view = view(&parlor).await;
    assert_eq!(view["columns"].as_array().unwrap().len(), 1, "{view}");
}

#[tokio::test]
async fn a_correction_stays_and_is_told() {
    let (_folder, upstream, parlor) = start().await;
    let words = save_column(&parlor, "Words", json!({})).await;
    fill(&parlor).await;
    correct(&parlor, &words, "101", Some("5 grams of salt")).await;
    correct(&parlor, &words, "102", Some("")).await;
    let before = raw_model_calls(&upstream).len();
    fill(&parlor).await;
    assert_eq!(
        raw_model_calls(&upstream).len(),
        before,
        "a correction asks nothing again"
    );
    save(&parlor, &words, "Words", json!({ "question": "Which exactly?" })).await;
    fill(&parlor).await;
    let calls = raw_model_calls(&upstream).split_off(before);
    let prompt_of = |title: &str| {
        let mut calls = calls.iter();
        let call = calls.find(|call| call["messages"][1].to_string().contains(title));
        system_prompt_of(call.unwrap()).to_owned()
    };
    let prompt = prompt_of("Winds");
    assert!(prompt.contains("Salt and tides: 5 grams of salt\n"), "{prompt}");
    assert!(prompt.contains("Ships: (empty)"), "{prompt}");
    let own = prompt_of("Salt rises");
    assert!(
        !own.contains("5 grams of salt") && own.contains("Ships: (empty)"),
        "{own}"
    );

    let shown = cells(&parlor, &words).await;
    assert_eq!(shown[0]["correction"], "5 grams of salt");
    assert_eq!(shown[0]["state"]["answered"]["value"], "5 g");
    assert_eq!(
        (&shown[1]["correction"], &shown[1]["state"]),
        (&json!(""), &json!("no_answer"))
    );
    correct(&parlor, &words, "101", None).await;
    let shown = cells(&parlor, &words).await;
    assert_eq!(shown[0]["correction"], Value::Null, "{shown}");
    assert_eq!(shown[0]["state"]["answered"]["value"], "5 g");
}

#[tokio::test]
async fn a_stopped_job_keeps_its_cells() {
    let (_folder, upstream, parlor) = start().await;
    upstream.add_script_times(1, When::user_contains("Ships"), Script::new().gate("never"));
    let words = save_column(&parlor, "Words", json!({})).await;
    let id = begin(&parlor).await;
    upstream.wait_for_gate("never").await;
    let second = json!({ "job_id": Uuid::now_v7(), "source": "articles", "model": null, "cost_limit": null });
    let (status, refused) = post(&parlor, "fill_columns", second).await;
    assert_eq!(
        (status, &refused["code"]),
        (409, &json!("run_active")),
        "{refused}"
    );
    let (status, _) = post(&parlor, "stop_job", json!({ "job_id": id })).await;
    assert_eq!(status, 200);
    let stopped = view(&parlor).await;
    assert_eq!(stopped["job"]["status"], "stopped");
    assert_eq!(
        stopped["cells"][0]["cells"][0]["row"], "103",
        "the last saved is the first"
    );
    // Another job takes over what this one has.
    let before = raw_model_calls(&upstream).len();
    let next = begin(&parlor).await;
    wait_for(&parlor, &next, "complete").await;
    assert_eq!(raw_model_calls(&upstream).len() - before, 2);

    let before = raw_model_calls(&upstream).len();
    let (status, _) = post(
        &parlor,
        "continue_job",
        json!({ "job_id": id, "cost_limit": null }),
    )
    .await;
    assert_eq!(status, 200);
    wait_for(&parlor, &id, "complete").await;
    assert_eq!(raw_model_calls(&upstream).len() - before, 2);
    assert_eq!(cells(&parlor, &words).await.as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn columns_that_can_not_be_asked_are_refused() {
    let (_folder, upstream, parlor) = start().await;
    let nothing =
        json!({ "job_id": Uuid::now_v7(), "source": "articles", "model": null, "cost_limit": null });
    let (status, refused) = post(&parlor, "fill_columns", nothing).await;
    assert_eq!(status, 400, "{refused}");
    let id = || Uuid::now_v7().to_string();
    for (fields, status) in [
        (json!({ "name": " " }), 400),
        (json!({ "question": "" }), 400),
        (json!({ "type": "choice", "choices": ["A", "A", " "] }), 400),
        (json!({ "question": "x".repeat(5000) }), 413),
    ] {
        let refused = save(&parlor, &id(), "Words", fields.clone()).await;
        assert_eq!(refused.0, status, "{fields}: {refused:?}");
    }
    for name in ["One", "Two"] {
        save_column(&parlor, name, json!({})).await;
    }
    let (status, full) = save(&parlor, &id(), "Three", json!({})).await;
    assert_eq!(status, 413, "{full}");
    assert!(string_field(&full, "message").contains("jobs.columns"), "{full}");
    assert_eq!(view(&parlor).await["columns"].as_array().unwrap().len(), 2);
    assert!(raw_model_calls(&upstream).is_empty());
}

/// A server whose model shows a table and answers about its rows. Returns the source.
async fn start_with_table() -> (tempfile::TempDir, Upstream, Parlor, String) {
    let (folder, upstream, parlor) = start().await;
    let table = json!({ "title": "Ships", "columns": ["Name", "Year"], "rows": [["Vasa", 1628], ["Wasa", null], ["", null]] });
    upstream.add_script(
        When::user_contains("Show them"),
        Script::new().text(format!("TABLE: {table}")),
    );
    let answer = json!({ "value": "old", "passage": "Year: 1628" });
    upstream.add_script(
        When::user_contains("Name: Vasa"),
        Script::new().text(answer.to_string()),
    );
    let turn = parlor.turn(None, "Show them").await;
    let made = turn.iter().find(|event| event["type"] == "payload_made").unwrap();
    let (conversation, payload) = (
        string_field(made, "conversation_id"),
        string_field(&made["payload"], "payload_id"),
    );
    (
        folder,
        upstream,
        parlor,
        format!("payload:{conversation}/{payload}"),
    )
}

async fn put(parlor: &Parlor, path: &str, body: &Value) -> (u16, Value) {
    let request = parlor.client.put(format!("{}{path}", parlor.url));
    let response = request
        .header("content-type", "application/json")
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    let status = response.status().as_u16();
    let text = response.text().await.unwrap();
    (status, serde_json::from_str(&text).unwrap_or_default())
}

/// Adds a column to a source, and fills it.
async fn fill_source(parlor: &Parlor, source: &str) -> (String, Value) {
    let column = Uuid::now_v7().to_string();
    let saved = json!({ "source": source, "name": "Age", "question": "How old?", "type": "text" });
    let (status, answer) = put(parlor, &format!("/api/columns/{column}"), &saved).await;
    assert_eq!(status, 204, "{answer}");
    let job = json!({ "kind": "columns", "input": { "source": source }, "model": "test/any" });
    let started = parlor.post("/api/jobs", &job).send().await.unwrap();
    let job = read_json(started).await;
    let job = wait_for(parlor, &string_field(&job, "id"), "complete").await;
    (column, job)
}

#[tokio::test]
async fn rows_of_a_table_are_asked_and_erased_with_it() {
    let (_folder, _upstream, parlor, source) = start_with_table().await;
    let rows = parlor
        .get_json(&format!("/api/columns/rows?source={source}"))
        .await
        .1;
    assert_eq!(
        rows,
        json!({
            "title": "Ships",
            "columns": [{ "name": "Name", "numeric": false }, { "name": "Year", "numeric": true }],
            "rows": [["Vasa", "1628"], ["Wasa", ""], ["", ""]],
            "left_out": 0,
        })
    );
    let (column, job) = fill_source(&parlor, &source).await;
    assert_eq!(job["title"], "Ships");
    assert_eq!(
        (&job["result"]["answered"], &job["result"]["no_text"]),
        (&json!(2), &json!(1)),
        "{job}"
    );
    let list = format!("/api/columns?source={source}");
    let view = parlor.get_json(&list).await.1;
    assert_eq!(
        view["cells"][0]["cells"][0],
        json!({ "row": "1", "state": { "answered": { "value": "old", "has_passage": true } } })
    );
    let cell = format!("/api/columns/{column}/cells/1");
    let details = parlor.get_json(&cell).await.1;
    assert_eq!(details["passage"]["found"]["text"], "Year: 1628", "{details}");
    let (status, answer) = put(&parlor, &cell, &json!({ "value": "Rumpelstilzchen" })).await;
    assert_eq!(status, 204, "{answer}");
    assert_eq!(
        parlor.get_json(&cell).await.1["correction"]["value"],
        "Rumpelstilzchen"
    );
    let estimate = parlor
        .get_json(&format!("/api/columns/estimate?source={source}&model=test/any"))
        .await
        .1;
    assert_eq!(
        (&estimate["cells"], &estimate["questions"]),
        (&json!(3), &json!(0))
    );
    let (conversation, payload) = source["payload:".len()..].split_once('/').unwrap();
    let panel = format!("/rpc/payload?conversation_id={conversation}&payload_id={payload}&is_preview=false");
    let shown = parlor.get_json(&panel).await.1;
    assert_eq!(shown["body"]["table"]["has_columns"], true, "{shown}");

    let delete = format!("{}/api/conversations/{conversation}", parlor.url);
    let deleted = parlor.client.delete(delete).send().await.unwrap();
    assert!(deleted.status().is_success());
    assert_eq!(parlor.get_json(&list).await.0, 404);
    assert_eq!(parlor.get_json(&cell).await.0, 404);
    let jobs = parlor.get_json("/api/jobs").await.1;
    assert_eq!(jobs["jobs"], json!([]), "{jobs}");
}

#[tokio::test]
async fn rows_of_a_csv_file_are_asked() {
    let (_folder, _upstream, parlor, _) = start_with_table().await;
    let (status, file) = parlor
        .upload("ships.csv", None, "Name,Year\nVasa,1628\nWasa,\n")
        .await;
    assert_eq!(status, 201, "{file}");
    let id = string_field(&file, "id");
    let source = format!("file:{id}");
    let (_, job) = fill_source(&parlor, &source).await;
    assert_eq!(
        (&job["title"], &job["result"]["answered"]),
        (&json!("ships.csv"), &json!(2))
    );
    let list = format!("/api/columns?source={source}");
    let view = parlor.get_json(&list).await.1;
    assert_eq!(view["cells"][0]["cells"][0]["state"]["answered"]["value"], "old");
    let delete = json!({ "ids": [id] });
    let (status, answer) = post(&parlor, "delete_files", delete).await;
    assert_eq!(status, 200, "{answer}");
    assert_eq!(parlor.get_json(&list).await.0, 404);
    assert_eq!(parlor.get_json("/api/jobs").await.1["jobs"], json!([]));
    let (_, text) = parlor.upload("notes.txt", None, "Vasa").await;
    let source = format!("/api/columns/rows?source=file:{}", string_field(&text, "id"));
    assert_eq!(parlor.get_json(&source).await.0, 400);
}

#[tokio::test]
async fn a_continued_job_asks_the_present_question() {
    let (_folder, upstream, parlor) = start().await;
    upstream.add_script_times(1, When::user_contains("Ships"), Script::new().gate("never"));
    let words = save_column(&parlor, "Words", json!({})).await;
    let id = begin(&parlor).await;
    upstream.wait_for_gate("never").await;
    let job = json!({ "kind": "columns", "input": { "source": "articles" }, "model": "test/any" });
    let second = parlor.post("/api/jobs", &job).send().await.unwrap();
    assert_eq!(second.status().as_u16(), 409);
    let (status, _) = post(&parlor, "stop_job", json!({ "job_id": id })).await;
    assert_eq!(status, 200);
    save(&parlor, &words, "Words", json!({ "question": "Which now?" })).await;
    let before = raw_model_calls(&upstream).len();
    let (status, _) = post(
        &parlor,
        "continue_job",
        json!({ "job_id": id, "cost_limit": null }),
    )
    .await;
    assert_eq!(status, 200);
    wait_for(&parlor, &id, "complete").await;
    let calls = raw_model_calls(&upstream).split_off(before);
    assert_eq!(calls.len(), 3);
    let asks_now = |call: &Value| system_prompt_of(call).contains("Which now?");
    assert!(calls.iter().all(asks_now), "{calls:?}");
    assert_eq!(cells(&parlor, &words).await.as_array().unwrap().len(), 4);
}
