//! Results of queries as data frames of the session.

use parlor_base::settings::DatabaseSettings;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Connection, Executor, sqlite::SqliteConnectOptions};
use upstream::Upstream;

use super::{
    conversations::{output, start_in},
    script_call,
};
use crate::support::{self, Parlor, string_field};

pub const DATABASE: &str = "CREATE TABLE jobs (year INTEGER PRIMARY KEY, kind TEXT, rate REAL);
    INSERT INTO jobs VALUES (2020, 'young', 5.5), (2021, 'old', NULL), (2022, 'old', 3);";

pub async fn execute(path: &std::path::Path, statement: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut connection = options.connect().await.unwrap();
    connection.execute(sqlx::raw_sql(statement)).await.unwrap();
    connection.close().await.unwrap();
}

pub fn town(path: &std::path::Path) -> DatabaseSettings {
    DatabaseSettings {
        name: "town".into(),
        url: format!("sqlite:{}", path.display()),
        password_env: None,
        password: None,
        documentation: None,
        functions: Vec::new(),
    }
}

/// Asks on the page *Data*; the model answers with one call. Returns the events.
pub async fn call(
    parlor: &Parlor,
    upstream: &Upstream,
    conversation: Option<&str>,
    tool: &str,
    arguments: Value,
) -> Vec<Value> {
    let question = format!("call {tool} {arguments}");
    script_call(upstream, &question, tool, &arguments);
    let body = json!({
        "message": question, "conversation_id": conversation, "model": "test/any", "context": { "current_page": "data" },
    });
    parlor.chat(&body).await.read_to_end().await
}

#[tokio::test]
async fn query_result_frame_is_restored_from_rows() {
    let folder = tempfile::tempdir().unwrap();
    let (path, data) = (folder.path().join("town.db"), folder.path().join("data"));
    execute(&path, DATABASE).await;
    let upstream = Upstream::start().await;
    let start = || {
        start_in(&data, &upstream, |settings| {
            settings.databases = vec![town(&path)]
        })
    };
    let parlor = start().await;
    let query = json!({ "query": "SELECT * FROM jobs ORDER BY year", "df_name": "jobs" });
    let events = call(&parlor, &upstream, None, "sql_query", query).await;
    let text = output(&events);
    assert!(
        text.starts_with(
            "Stored as jobs\n\n| year | kind | rate |\n| ---: | --- | ---: |\n| 2020 | young | 5.5 |"
        ),
        "{text}"
    );
    assert!(
        text.contains("3 rows.\nTypes: year INTEGER, kind TEXT, rate REAL"),
        "{text}"
    );
    let conversation = string_field(&events[0], "conversation_id");
    let id = Some(&*conversation);
    let describe = json!({ "code": "print([str(t) for t in jobs.dtypes][::2], jobs.rate.sum(), jobs.rate.isna().sum())", "show": [] });
    let described = "['int64', 'float64'] 8.5 1";
    let events = call(&parlor, &upstream, id, "jupyter_notebook", describe.clone()).await;
    assert_eq!(output(&events), described);
    let show = json!({ "code": "best = jobs.head(1)", "show": ["best"] });
    let events = call(&parlor, &upstream, id, "jupyter_notebook", show).await;
    assert!(
        output(&events).starts_with("| year | kind | rate |\n"),
        "{}",
        output(&events)
    );
    // The rows of the answer count, not those of the database by now.
    parlor.stop().await;
    execute(&path, "DELETE FROM jobs").await;
    let parlor = start().await;
    let again = json!({ "code": describe["code"], "show": ["best"] });
    let events = call(&parlor, &upstream, id, "jupyter_notebook", again).await;
    assert!(output(&events).starts_with(described), "{}", output(&events));
    let wrong = json!({ "query": "SELECT 1", "df_name": "a b" });
    let events = call(&parlor, &upstream, id, "sql_query", wrong).await;
    assert!(
        output(&events).contains("must be a name of Python"),
        "{}",
        output(&events)
    );
}

#[tokio::test]
async fn large_result_frame_is_restored_from_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let (path, data) = (folder.path().join("town.db"), folder.path().join("data"));
    execute(&path, DATABASE).await;
    execute(
        &path,
        "CREATE TABLE ids (n INTEGER, half REAL, name TEXT); \
        WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x LIMIT 30000) \
        INSERT INTO ids SELECT n, CASE WHEN n % 2 THEN n / 2.0 END, 'é' || n FROM x",
    )
    .await;
    let upstream = Upstream::start().await;
    let start = || {
        start_in(&data, &upstream, |settings| {
            settings.databases = vec![town(&path)]
        })
    };
    let parlor = start().await;
    let query = json!({ "query": "SELECT * FROM ids ORDER BY n", "df_name": "ids" });
    let events = call(&parlor, &upstream, None, "sql_query", query).await;
    let text = output(&events);
    assert!(text.contains("30000 rows. The first 20 are above"), "{text}");
    let conversation = string_field(&events[0], "conversation_id");
    let id = Some(&*conversation);
    let describe = json!({ "code": "print(len(ids), [str(t) for t in ids.dtypes][:2], ids.half.sum(), ids.half.isna().sum(), ids.name.iloc[-1])" });
    let described = "30000 ['int64', 'float64'] 112500000.0 15000 é30000";
    let events = call(&parlor, &upstream, id, "jupyter_notebook", describe.clone()).await;
    assert_eq!(output(&events), described);
    parlor.stop().await;
    execute(&path, "DELETE FROM ids").await;
    let parlor = start().await;
    let events = call(&parlor, &upstream, id, "jupyter_notebook", describe).await;
    assert_eq!(output(&events), described);
    // The session read a link to the file.
    let payload = format!("/rpc/table_rows?conversation_id={conversation}&payload_id=");
    let transcript = parlor.transcript(&conversation).await.to_string();
    let start = transcript.find("\"payload_id\":\"").expect("a payload") + 14;
    let (status, page) = parlor
        .get_json(&format!(
            "{payload}{}&offset=29999",
            &transcript[start..start + 8]
        ))
        .await;
    assert_eq!((status, &page["rows"][0][0]), (200, &json!("30000")));
}

#[tokio::test]
async fn rows_that_are_not_stored_are_queried_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, data) = (folder.path().join("town.db"), folder.path().join("data"));
    execute(&path, DATABASE).await;
    let upstream = Upstream::start().await;
    let start = || {
        start_in(&data, &upstream, |settings| {
            settings.databases = vec![town(&path)];
            settings.limits.payload_bytes = 10;
        })
    };
    let mut parlor = start().await;
    let query = json!({ "query": "SELECT * FROM jobs ORDER BY year", "df_name": "jobs" });
    let events = call(&parlor, &upstream, None, "sql_query", query).await;
    let conversation = string_field(&events[0], "conversation_id");
    let count = json!({ "code": "len(jobs)" });
    for (statement, rows, is_said) in [
        ("SELECT 1", "3", false),
        ("DELETE FROM jobs WHERE year = 2021", "2", true),
    ] {
        parlor.stop().await;
        execute(&path, statement).await;
        parlor = start().await;
        let events = call(
            &parlor,
            &upstream,
            Some(&conversation),
            "jupyter_notebook",
            count.clone(),
        )
        .await;
        assert_eq!(output(&events), rows);
        let prompt = support::last_system_prompt(&upstream);
        assert_eq!(
            prompt.contains("its query ran again, and what it shows has changed"),
            is_said,
            "{prompt}"
        );
    }
}
