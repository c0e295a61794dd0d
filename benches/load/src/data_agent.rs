//! Databases and Python: the first rows of a large table, a large result, and the sessions of kernels.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Instant,
};

use serde_json::{Value, json};

use crate::{
    client::Error,
    figures::{DataAgentResult, Percentiles},
    machine,
    server_process::{Binaries, ServerProcess},
};

/// The times that the page of a table is asked for.
const PAGES: usize = 20;

/// The calls that a session is restored from.
const CELLS: usize = 10;

/// The code of a call: it shows how many calls the session has had.
const CELL: &str = "calls = globals().get('calls', 0) + 1\ncalls";

/// The table, whose number of rows is the second argument.
const MAKE_DATABASE: &str = "import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute('CREATE TABLE measures (id INTEGER PRIMARY KEY, place TEXT, value REAL)')
db.execute('''INSERT INTO measures WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
    SELECT i, 'place ' || (i % 1000), i * 0.5 FROM n''', (int(sys.argv[2]),))
db.commit()";

/// The size of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub table_rows: usize,
    pub result_rows: usize,
    pub sessions: usize,
}

/// Returns the Python of the tests; `None` if they have not been run here.
pub fn find_python() -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/test-python/bin/python");
    path.exists().then_some(path)
}

pub async fn measure(
    programs: &Binaries,
    upstream: &ServerProcess,
    python: &Path,
    size: Size,
) -> Result<DataAgentResult, Error> {
    let database = programs.folder.join("measures.db");
    let made = Command::new(python)
        .args(["-c", MAKE_DATABASE])
        .arg(&database)
        .arg(size.table_rows.to_string())
        .status()?;
    if !made.success() {
        return Err("the database could not be made".into());
    }
    let settings = settings(&database, python, size);
    let start = || programs.start_parlor_with_text("data-agent", upstream, &settings);
    let query = format!("SELECT * FROM measures LIMIT {}", size.result_rows);
    script(upstream, "cell", "jupyter_notebook", json!({ "code": CELL })).await?;
    script(
        upstream,
        "rows",
        "sql_query",
        json!({ "query": query, "df_name": "rows" }),
    )
    .await?;

    let parlor = start().await?;
    let table_ms = table_pages(&parlor).await?;
    let (first_ms, conversation) = turn(&parlor, "cell 1", None, "1").await?;
    let mut next = Vec::new();
    for number in 2..=CELLS {
        let question = format!("cell {number}");
        let (ms, _) = turn(&parlor, &question, Some(&conversation), &number.to_string()).await?;
        next.push((ms * 1e3) as u32);
    }
    let call_ms = Percentiles::from_micros(next);
    parlor.stop().await?;

    let parlor = start().await?;
    // Databases and models are looked at when the server starts.
    table_pages(&parlor).await?;
    let (restored_ms, _) = turn(&parlor, "cell 11", Some(&conversation), "11").await?;
    machine::reset_peak(parlor.pid());
    let before = machine::resident_mb(parlor.pid());
    let (query_ms, _) = turn(&parlor, "rows", None, "Stored as rows").await?;
    let query_grown_mb = machine::peak_mb(parlor.pid()) - before;
    for _ in 2..size.sessions {
        turn(&parlor, "cell 1", None, "1").await?;
    }
    let sessions_mb = machine::descendants_mb(parlor.pid());
    parlor.stop().await?;
    Ok(DataAgentResult {
        table_rows: size.table_rows,
        table_ms,
        result_rows: size.result_rows,
        query_ms,
        query_grown_mb,
        kernel_start_ms: first_ms - call_ms.p50,
        call_ms,
        cells: CELLS,
        restore_ms: restored_ms - call_ms.p50,
        sessions: size.sessions,
        session_mb: sessions_mb / size.sessions as f64,
    })
}

fn settings(database: &Path, python: &Path, size: Size) -> String {
    let quoted = |path: String| Value::from(path).to_string();
    let url = quoted(format!("sqlite:{}", database.display()));
    let (rows, sessions) = (size.result_rows, size.sessions);
    format!(
        "[agent]\nrepetitions = 0\n[[databases]]\nname = \"bench\"\nurl = {url}\n\
         [data]\nresult_rows = {rows}\nresult_bytes = 1_000_000_000\nquery_timeout = \"2m\"\n\
         [python]\ninterpreter = {}\nsessions = {sessions}\nstart_timeout = \"2m\"\n",
        quoted(python.display().to_string())
    )
}

/// Lets the model answer a question with a call.
async fn script(upstream: &ServerProcess, question: &str, tool: &str, arguments: Value) -> Result<(), Error> {
    let call = json!({ "id": "call_1", "name": tool, "arguments": arguments.to_string() });
    for script in [
        json!({ "when": { "user_contains": question }, "steps": [{ "tool_call": call }] }),
        json!({ "when": { "user_contains": question, "tool_gave": "" }, "steps": [{ "text": "Done." }] }),
    ] {
        let client = upstream.client();
        client
            .post("/control/scripts", script.to_string())
            .await?
            .bytes()
            .await?;
    }
    Ok(())
}

/// Asks for the page of the table, several times.
async fn table_pages(parlor: &ServerProcess) -> Result<Percentiles, Error> {
    let mut micros = Vec::with_capacity(PAGES);
    // The first one reads the catalogue.
    for number in 0..=PAGES {
        let began = Instant::now();
        let page = parlor.client().get("/data/bench/measures").await?.bytes().await?;
        let took = began.elapsed();
        if !String::from_utf8_lossy(&page).contains("place 1") {
            return Err("the page of the table does not show its first rows".into());
        }
        if number > 0 {
            micros.push(u32::try_from(took.as_micros())?);
        }
    }
    Ok(Percentiles::from_micros(micros))
}

/// Asks a question and waits for the end of its answer, in which the call must give `expected`. Returns the milliseconds, and the
/// conversation.
async fn turn(
    parlor: &ServerProcess,
    question: &str,
    conversation: Option<&str>,
    expected: &str,
) -> Result<(f64, String), Error> {
    let body = json!({
        "message": question, "model": "openai/bench", "conversation_id": conversation,
        "context": { "current_page": "data" },
    });
    let began = Instant::now();
    let stream = parlor.client().post("/api/chat/stream", body.to_string()).await?;
    let events = String::from_utf8(stream.bytes().await?)?;
    let took = began.elapsed().as_secs_f64() * 1e3;
    let mut events = events
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .filter_map(|data| serde_json::from_str::<Value>(data).ok());
    let called = events.clone().find(|event| event["type"] == "tool_complete");
    let output = called.as_ref().and_then(|event| event["output"].as_str());
    if !output.is_some_and(|output| output.starts_with(expected)) {
        return Err(format!("the call of “{question}” gave {output:?}").into());
    }
    let first = events.next().unwrap_or_default();
    let id = first["conversation_id"].as_str().ok_or("no conversation")?;
    Ok((took, id.to_owned()))
}
