//! Columns of the saved articles, filled by jobs with a scripted model.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
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

/// A server with three saved articles: one says five grams, one has no answer, one has no abstract and gets a wrong answer.
async fn start() -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    add_pubmed(&upstream);
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
    for pmid in ["101", "102", "103"] {
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
            "columns": ["Amount", "Words"], "rows": 3, "left_out": 0,
            "answered": 3, "without_passage": 1, "no_answer": 2, "failed": 1,
        })
    );
    let steps = parlor
        .get_json(&format!("/api/jobs/{}/steps", string_field(&job, "id")))
        .await
        .1;
    let keys = steps["steps"].as_array().unwrap().iter();
    let keys: Vec<_> = keys.map(|step| string_field(step, "key")).collect();
    assert_eq!(keys.len(), 8, "{keys:?}");
    assert!(keys.contains(&format!("cell/{amount}/101")), "{keys:?}");

    let shown = cells(&parlor, &amount).await;
    let reason = string_field(&shown[2]["state"]["failed"], "reason");
    assert!(reason.contains("not a number alone"), "{reason}");
    assert_eq!(
        [&shown[0], &shown[1]],
        [
            &json!({ "row": "101", "state": { "answered": { "value": "5", "has_passage": true } } }),
            &json!({ "row": "102", "state": "no_answer" }),
        ]
    );
    let unsupported = &cells(&parlor, &words).await[2]["state"]["answered"];
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
    assert_eq!(cells(&parlor, &words).await.as_array().unwrap().len(), 3);
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
    let prompt = prompt_of("No abstract");
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
    let (status, _) = post(&parlor, "stop_columns", json!({ "job_id": id })).await;
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
        "continue_columns",
        json!({ "job_id": id, "cost_limit": null }),
    )
    .await;
    assert_eq!(status, 200);
    wait_for(&parlor, &id, "complete").await;
    assert_eq!(raw_model_calls(&upstream).len() - before, 2);
    assert_eq!(cells(&parlor, &words).await.as_array().unwrap().len(), 3);
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
