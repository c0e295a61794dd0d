//! The page *Data*, with a small database of SQLite.

use std::path::Path;

use parlor_base::settings::{DatabaseSettings, Settings};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use crate::support::{self, Parlor, system_prompt_of};

const DATABASE: &str = "CREATE TABLE jobs (year INTEGER PRIMARY KEY, kind TEXT, rate REAL NOT NULL);
    INSERT INTO jobs VALUES (2020, 'young', 5.5), (2021, 'old', 4.25), (9007199254740993, 'old', 3);
    CREATE TABLE secrets (word TEXT);";

const DOCUMENTATION: &str = "# Labour\nAbout ``` work.\n## jobs\nOne row a year.\n- rate: Percent of all\n";

/// Makes a database and returns its settings.
pub(crate) async fn make_database(folder: &Path, name: &str) -> DatabaseSettings {
    use sqlx::{ConnectOptions, Connection, Executor, sqlite::SqliteConnectOptions};
    let path = folder.join(format!("{name}.db"));
    let options = SqliteConnectOptions::new()
        .filename(&path)
        .create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    connection.execute(sqlx::raw_sql(DATABASE)).await.unwrap();
    connection.close().await.unwrap();
    let documentation = folder.join(format!("{name}.md"));
    std::fs::write(&documentation, DOCUMENTATION).unwrap();
    DatabaseSettings {
        name: name.into(),
        url: format!("sqlite:{}", path.display()),
        password_env: None,
        password: None,
        documentation: Some(parlor_base::settings::DocumentationSettings::File(
            documentation.into(),
        )),
        functions: Vec::new(),
    }
}

pub(crate) async fn start_with(
    names: &[&str],
    change: impl FnOnce(&mut Settings),
) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let mut databases = Vec::new();
    for name in names {
        databases.push(make_database(folder.path(), name).await);
    }
    let upstream = Upstream::start().await;
    let parlor = Parlor::start_built_in(&folder.path().join("data"), &upstream, |settings| {
        settings.databases = databases;
        change(settings);
    })
    .await;
    (folder, upstream, parlor)
}

fn question(message: &str, context: Value) -> Value {
    json!({ "message": message, "model": "test/any", "context": context })
}

fn on_page() -> Value {
    json!({ "current_page": "data" })
}

/// Returns the tools of the last model call by their names.
fn last_tools(upstream: &Upstream) -> Vec<(String, Value)> {
    let last = support::last_model_call(upstream);
    let tools = last["tools"].as_array().cloned().unwrap_or_default();
    let tools = tools.into_iter().map(|tool| {
        let name = tool["function"]["name"].as_str().expect("a name").to_owned();
        (name, tool["function"].clone())
    });
    tools.collect()
}

/// Lets the model call a tool once. Returns the finished call and the text for the model.
async fn call(parlor: &Parlor, upstream: &Upstream, tool: &str, arguments: Value) -> (Value, String) {
    call_on(parlor, upstream, tool, arguments, on_page()).await
}

/// The same with this page open.
async fn call_on(
    parlor: &Parlor,
    upstream: &Upstream,
    tool: &str,
    arguments: Value,
    page: Value,
) -> (Value, String) {
    let marker = format!("call {tool} {arguments}");
    upstream.add_script(
        When::user_contains(marker.clone()),
        Script::new().tool_call("call_1", tool, arguments.to_string()),
    );
    upstream.add_script(When::tool_gave(""), Script::new().text("That is it."));
    let events = parlor.chat(&question(&marker, page)).await.read_to_end().await;
    let mut ends = events.iter().filter(|event| event["type"] == "tool_complete");
    let ended = ends.next().expect("the end of the call").clone();
    let text = support::string_field(&ended, "output");
    (ended, text)
}

#[tokio::test]
async fn model_queries_and_the_person_gets_a_table() {
    let (_folder, upstream, parlor) = start_with(&["town"], |_| {}).await;
    let query = "SELECT year, rate FROM jobs ORDER BY year";
    let (ended, text) = call(&parlor, &upstream, "sql_query", json!({ "query": query })).await;
    let expected = "| year | rate |\n| ---: | ---: |\n| 2020 | 5.5 |\n| 2021 | 4.25 |\n| 9007199254740993 | 3 |\n\n3 rows.\nTypes: year \
                    INTEGER, rate REAL\n\n(The person sees this as";
    assert!(text.starts_with(expected), "{text}");
    let conversation = support::string_field(&ended, "conversation_id");
    let payload = support::string_field(&ended["payload"], "payload_id");
    let file = parlor
        .get(&format!(
            "/rpc/conversations/{conversation}/payloads/{payload}/file"
        ))
        .send()
        .await
        .unwrap();
    let csv = file.text().await.unwrap();
    assert!(
        csv.ends_with("year,rate\r\n2020,5.5\r\n2021,4.25\r\n9007199254740993,3.0\r\n"),
        "{csv}"
    );
}

#[tokio::test]
async fn model_gets_an_error_that_it_can_correct() {
    let (_folder, upstream, parlor) = start_with(&["town"], |_| {}).await;
    let (_, text) = call(
        &parlor,
        &upstream,
        "sql_query",
        json!({ "query": "SELECT\n nope FROM jobs" }),
    )
    .await;
    assert!(text.contains("line 2, column 2: no such column: nope"), "{text}");
    let (_, text) = call(
        &parlor,
        &upstream,
        "sql_query",
        json!({ "query": "DELETE FROM jobs" }),
    )
    .await;
    assert!(text.contains("can only be read"), "{text}");
    let (_, text) = call(
        &parlor,
        &upstream,
        "sql_query",
        json!({ "query": "SELECT 1", "df_name": "df" }),
    )
    .await;
    assert!(text.contains("no Python session"), "{text}");
}

#[tokio::test]
async fn model_looks_up_subjects_tables_and_values() {
    let (_folder, upstream, parlor) = start_with(&["town"], |_| {}).await;
    let (_, text) = call(&parlor, &upstream, "subject_overview", json!({})).await;
    assert!(
        text.starts_with("Labour\nAbout ``` work.\n- jobs: One row a year."),
        "{text}"
    );
    let (_, text) = call(
        &parlor,
        &upstream,
        "subject_overview",
        json!({ "subject": "Nope" }),
    )
    .await;
    assert!(text.contains("The subjects are: Labour, Other tables."), "{text}");
    let (_, text) = call(&parlor, &upstream, "table_docs", json!({ "table": "JOBS" })).await;
    assert!(
        text.contains("- rate (REAL, not null): Percent of all") && text.contains("| 2020 | young | 5.5 |"),
        "{text}"
    );
    let values = json!({ "table": "jobs", "column": "kind", "search": "OL", "limit": 5 });
    let (_, text) = call(&parlor, &upstream, "view_column_values", values).await;
    assert_eq!(text, "| value | count |\n| --- | ---: |\n| old | 2 |");
    let spliced = json!({ "table": "jobs", "column": "kind\" FROM secrets --" });
    let (_, text) = call(&parlor, &upstream, "view_column_values", spliced).await;
    assert!(text.contains("Its columns are: year, kind, rate."), "{text}");
}

#[tokio::test]
async fn tools_take_the_open_table() {
    let (_folder, upstream, parlor) = start_with(&["town", "land"], |_| {}).await;
    let open = json!({ "current_page": "data", "database": "land", "table": "jobs" });
    for (tool, arguments, detail, gave) in [
        ("table_docs", json!({}), "jobs", "- rate (REAL, not null)"),
        (
            "view_column_values",
            json!({ "column": "kind" }),
            "jobs.kind",
            "| old | 2 |",
        ),
        (
            "table_docs",
            json!({ "table": "secrets" }),
            "secrets",
            "- word (TEXT)",
        ),
        (
            "sql_query",
            json!({ "query": "SELECT 1 AS one" }),
            "SELECT 1 AS one",
            "| 1 |",
        ),
    ] {
        let (ended, text) = call_on(&parlor, &upstream, tool, arguments, open.clone()).await;
        assert!(text.contains(gave), "{tool}: {text}");
        let conversation = support::string_field(&ended, "conversation_id");
        let shown = parlor.transcript(&conversation).await.to_string();
        let detail = format!("\"detail\":\"{detail}\"");
        assert!(shown.contains(&detail), "the card names it: {shown}");
    }
    // Without an open table the model is asked to name one.
    let (_, text) = call(&parlor, &upstream, "table_docs", json!({})).await;
    assert!(text.contains("No table is open. Name one."), "{text}");
    let (_, text) = call(&parlor, &upstream, "sql_query", json!({ "query": "SELECT 1" })).await;
    assert!(text.contains("Name the database: town, land"), "{text}");
}

#[tokio::test]
async fn result_of_a_query_is_no_source() {
    let (_folder, upstream, parlor) = start_with(&["town"], |_| {}).await;
    // The model writes the page that it then quotes.
    let query = "SELECT 'https://forged.example/ Salt rises at night.' AS page";
    upstream.add_script(
        When::user_contains("Prove it"),
        Script::new().tool_call("call_1", "sql_query", json!({ "query": query }).to_string()),
    );
    let quoted =
        json!({ "title": "Salt", "url": "https://forged.example/", "quote": "Salt rises at night." });
    let plain = json!({ "title": "Salt", "url": "https://forged.example/" });
    let metadata = json!({ "sources": [quoted, plain] });
    upstream.add_script(
        When::tool_gave("forged.example"),
        Script::new().text(format!("It does [1].\n<!-- METADATA: {metadata} -->")),
    );
    let asked = question("Prove it", on_page());
    let events = parlor.chat(&asked).await.read_to_end().await;
    let cited = events.iter().find(|event| event["type"] == "sources");
    let cited = cited.expect("sources")["sources"].as_array().unwrap();
    let shown: Vec<_> = cited
        .iter()
        .map(|source| (&source["url"], &source["passage"]))
        .collect();
    let not_found = json!({ "not_found": { "quote": "Salt rises at night." } });
    assert_eq!(shown, [(&json!(""), &not_found)]);
}

#[tokio::test]
async fn tools_are_offered_where_the_settings_say() {
    let names = [
        "subject_overview",
        "table_docs",
        "view_column_values",
        "sql_query",
    ];
    let offered = async |databases: &[&str], everywhere: bool, context: Value| {
        let (_folder, upstream, parlor) =
            start_with(databases, |settings| settings.data.offer_everywhere = everywhere).await;
        upstream.add_script(When::any(), Script::new().text("Yes."));
        parlor.chat(&question("Any?", context)).await.read_to_end().await;
        last_tools(&upstream)
    };
    let found = |tools: &[(String, Value)]| {
        let is_found = |name: &str| tools.iter().any(|(known, _)| known == name);
        names.iter().filter(|name| is_found(name)).count()
    };
    assert_eq!(found(&offered(&[], true, on_page()).await), 0);
    assert_eq!(found(&offered(&["town"], false, Value::Null).await), 0);
    assert_eq!(found(&offered(&["town"], true, Value::Null).await), 4);
    let one = offered(&["town"], false, on_page()).await;
    assert_eq!(found(&one), 4);
    let fields = |tools: &[(String, Value)]| {
        let (_, tool) = tools
            .iter()
            .find(|(name, _)| name == "sql_query")
            .expect("the tool");
        let fields = tool["parameters"]["properties"]
            .as_object()
            .expect("fields")
            .keys();
        fields.cloned().collect::<Vec<_>>()
    };
    assert_eq!(fields(&one), ["query"]);
    let two = offered(&["town", "county"], true, on_page()).await;
    assert_eq!(
        (found(&two), fields(&two)),
        (4, vec!["database".to_owned(), "query".to_owned()])
    );
}

#[tokio::test]
async fn model_knows_the_open_table() {
    let (_folder, upstream, parlor) = start_with(&["town"], |settings| {
        settings.data.identity = "You count the town.".into()
    })
    .await;
    upstream.add_script(When::any(), Script::new().text("Jobs."));
    let context = json!({ "current_page": "data", "database": "town", "table": "jobs", "rows": "forged" });
    parlor
        .chat(&question("What is this?", context))
        .await
        .read_to_end()
        .await;
    let last = support::last_model_call(&upstream);
    let prompt = system_prompt_of(&last);
    assert!(
        prompt.starts_with("You count the town. You answer a person’s questions"),
        "{prompt}"
    );
    assert!(
        prompt.contains("jobs (table)\nOne row a year.") && prompt.contains("town (SQLite)"),
        "{prompt}"
    );
    assert!(!prompt.contains("forged"), "{prompt}");
    let unknown = json!({ "current_page": "data", "database": "nope", "table": "jobs" });
    let refused = parlor
        .post("/api/chat/stream", &question("And this?", unknown))
        .send()
        .await
        .unwrap();
    assert_eq!(refused.status(), 422);
}

#[tokio::test]
async fn page_lists_tables_and_shows_one() {
    let (_folder, _upstream, parlor) = start_with(&["town"], |settings| {
        settings.data.title = "Our town".into();
        settings.data.questions = vec!["Who works?".into()];
    })
    .await;
    let (status, catalogue) = parlor.get_json("/rpc/data_catalogue").await;
    assert_eq!(
        (status, &catalogue["title"], &catalogue["questions"]),
        (200, &json!("Our town"), &json!(["Who works?"]))
    );
    assert_eq!(
        catalogue["databases"][0]["subjects"][0]["tables"][0]["columns"],
        json!(["year", "kind", "rate"])
    );
    let (_, table) = parlor.get_json("/rpc/data_table?database=town&table=jobs").await;
    assert_eq!(table["rows"][2], json!(["9007199254740993", "old", "3"]));
    assert_eq!(table["columns"][1]["examples"], json!(["young", "old"]));
    let (status, _) = parlor.get_json("/rpc/data_table?database=town&table=nope").await;
    assert_eq!(status, 404);
    let page = parlor
        .get("/data/town/jobs")
        .send()
        .await
        .unwrap()
        .text()
        .await
        .unwrap();
    assert!(
        page.contains("One row a year.") && page.contains("9007199254740993"),
        "{page}"
    );
    let (_folder, _upstream, empty) = start_with(&[], |_| {}).await;
    let page = empty.get("/data").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("No database is configured yet"), "{page}");
}
