//! Tests of the cells, and of their form: that which the schema of nbformat 4.5 demands.

use std::collections::HashSet;

use bytes::Bytes;
use serde_json::{Value, json};

use super::{
    CodeCall,
    cells::notebook,
    content::{Picture, StoredContent},
    has_code,
};
use parlor_protocol::{
    AssistantMessage, Attachment, AttachmentId, ConversationId, Interaction, Message, MessageBody, MessageId,
    Node, Part, PayloadRef, RawJson, Timestamp, ToolCall, ToolStatus, Transcript, attachment::PLOTLY_CHART,
    tool_kind,
};

fn call(tool: &str, arguments: &Value, status: ToolStatus, output: &str) -> ToolCall {
    ToolCall {
        input: RawJson::parse_or_quote(&arguments.to_string()),
        output: Some(output.into()),
        ..ToolCall::for_test(tool, status)
    }
}

fn code(code: &str, output: &str) -> ToolCall {
    call(
        "execute_code",
        &json!({ "code": code }),
        ToolStatus::Complete,
        output,
    )
}

fn file(name: &str, media_type: &str) -> Attachment {
    Attachment {
        id: AttachmentId::new(),
        name: name.into(),
        media_type: media_type.into(),
        bytes: 4,
        width: None,
        height: None,
        text_bytes: None,
        problem: None,
    }
}

fn text(text: &str) -> Part {
    Part::Text { text: text.into() }
}

fn made(call: ToolCall) -> Part {
    Part::ToolCall(Box::new(call))
}

/// Returns a conversation with one answer of these nodes.
fn conversation(nodes: Vec<Vec<Part>>) -> Transcript {
    let mut transcript = Transcript::new(ConversationId::new());
    transcript.title = "Jobs & tides".into();
    let question = MessageBody::User {
        text: "How many?\n\n- now".into(),
        files: vec![file("a`b.csv", "text/csv")],
        interaction: Interaction::TextInput,
    };
    let answer = AssistantMessage {
        nodes: nodes.into_iter().map(|parts| Node { parts }).collect(),
        ..AssistantMessage::new("test/any")
    };
    let mut parent_id = None;
    for body in [question, MessageBody::Assistant(answer)] {
        let id = MessageId::new();
        transcript.messages.push(Message {
            id,
            parent_id,
            created_at: Timestamp(0),
            body,
        });
        parent_id = Some(id);
    }
    transcript.active_leaf = parent_id;
    transcript
}

fn joined(lines: &Value) -> String {
    let lines = lines.as_array().expect("lines");
    lines.iter().map(|line| line.as_str().expect("a line")).collect()
}

/// Checks an object's fields, which the schema names.
fn assert_fields(object: &Value, fields: &[&str]) {
    let found: HashSet<&str> = object
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(found, fields.iter().copied().collect(), "{object}");
}

fn assert_output_is_valid(output: &Value) {
    match output["output_type"].as_str().expect("a type") {
        "stream" => {
            assert_fields(output, &["output_type", "name", "text"]);
            joined(&output["text"]);
        }
        "display_data" => {
            assert_fields(output, &["output_type", "data", "metadata"]);
            assert!(output["data"].is_object() && output["metadata"].is_object());
        }
        "error" => {
            assert_fields(output, &["output_type", "ename", "evalue", "traceback"]);
            assert!(output["ename"].is_string() && output["evalue"].is_string());
            let lines = output["traceback"].as_array().expect("lines");
            assert!(lines.iter().all(Value::is_string), "{output}");
        }
        other => panic!("{other}"),
    }
}

/// Returns the cells of a conversation's notebook: their kinds with source and outputs.
fn cells(transcript: &Transcript, content: &StoredContent) -> Vec<(String, String, Vec<Value>)> {
    let notebook = notebook(transcript, content);
    assert_fields(&notebook, &["nbformat", "nbformat_minor", "metadata", "cells"]);
    assert_eq!(
        (&notebook["nbformat"], &notebook["nbformat_minor"]),
        (&json!(4), &json!(5))
    );
    assert_eq!(notebook["metadata"]["kernelspec"]["name"], "python3");
    assert_eq!(notebook["metadata"]["language_info"]["name"], "python");
    let mut ids = HashSet::new();
    let cells = notebook["cells"].as_array().expect("cells").iter().map(|cell| {
        let id = cell["id"].as_str().expect("an id");
        assert!(id.len() <= 64 && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
        assert!(ids.insert(id.to_owned()), "{id} twice");
        assert!(cell["metadata"].is_object());
        let mut kind = cell["cell_type"].as_str().expect("a type").to_owned();
        let mut outputs = Vec::new();
        if kind == "code" {
            let fields = [
                "id",
                "cell_type",
                "metadata",
                "source",
                "execution_count",
                "outputs",
            ];
            assert_fields(cell, &fields);
            outputs.clone_from(cell["outputs"].as_array().expect("outputs"));
            outputs.iter().for_each(assert_output_is_valid);
            kind = format!("code {}", cell["execution_count"]);
        } else {
            assert_fields(cell, &["id", "cell_type", "metadata", "source"]);
        }
        (kind, joined(&cell["source"]), outputs)
    });
    cells.collect()
}

/// Returns the outputs of a call.
fn outputs(call: ToolCall, content: &StoredContent) -> Vec<Value> {
    let cells = cells(&conversation(vec![vec![made(call)]]), content);
    cells.last().expect("a cell").2.clone()
}

#[test]
fn kinds_of_cells_are_cells() {
    for kind in tool_kind::ALL {
        let argument = kind.code.map_or("text", |argument| argument.name);
        let call = call(kind.name, &json!({ argument: "1" }), ToolStatus::Complete, "1");
        let is_cell = CodeCall::from_call(&call).is_some();
        assert_eq!(is_cell, kind.is_notebook_cell, "{}", kind.name);
    }
}

#[test]
fn cells_have_the_order_of_the_conversation() {
    let thinking = Part::Thinking { text: "hm".into() };
    let transcript = conversation(vec![
        vec![
            thinking,
            text("First, count.\n"),
            made(code("x = 1\nprint(x)", "1")),
        ],
        vec![
            made(call(
                "calculate",
                &json!({ "code": "1" }),
                ToolStatus::Complete,
                "1",
            )),
            made(call(
                "execute_code",
                &json!({ "code": "stopped" }),
                ToolStatus::Stopped,
                "",
            )),
            made(code("x", "1")),
        ],
        vec![text("That is *one*.")],
    ]);
    let found = cells(&transcript, &StoredContent::default());
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(kind, source, _)| (&**kind, &**source))
        .collect();
    assert_eq!(
        found,
        [
            ("markdown", "# Jobs & tides"),
            (
                "markdown",
                "**Question**\n\nHow many?\n\n- now\n\nAttached: `a'b.csv`"
            ),
            ("markdown", "First, count."),
            ("code 1", "x = 1\nprint(x)"),
            ("code 2", "x"),
            ("markdown", "That is *one*."),
        ]
    );
}

#[test]
fn output_has_text_tables_and_pictures() {
    let mut call = code("df", "one\n\ntwo\n\n| a |\n| --- |\n| 1 |\n\n1 row × 1 column");
    let read = file("plot-1", "image/png");
    let lost = file("plot-2", "image/jpeg");
    let [drawn, not_drawn] = ["chart-1.json", "chart-2.json"].map(|name| file(name, PLOTLY_CHART));
    call.attachments = vec![
        read.clone(),
        lost.clone(),
        file("plot-3", "image/png"),
        drawn.clone(),
        not_drawn.clone(),
        file("x.html", "text/html"),
    ];
    let pictures = [
        (read.id, Picture::Read(Bytes::from_static(b"\x89PNG"))),
        (lost.id, Picture::Missing("deleted")),
        (drawn.id, Picture::Read(Bytes::from_static(b"{\"data\":[]}"))),
        (not_drawn.id, Picture::Read(Bytes::from_static(b"{}"))),
    ];
    let content = StoredContent {
        pictures: pictures.into(),
        chart_pictures: [(drawn.id, Bytes::from_static(b"\x89PNG"))].into(),
        ..StoredContent::default()
    };
    let table = json!(["| a |\n", "| --- |\n", "| 1 |"]);
    let display = |data: Value| json!({ "output_type": "display_data", "data": data, "metadata": {} });
    let stream = |text: Value| json!({ "output_type": "stream", "name": "stdout", "text": text });
    assert_eq!(
        outputs(call, &content),
        [
            stream(json!(["one\n", "\n", "two\n"])),
            display(json!({ "text/markdown": table, "text/plain": table })),
            stream(json!(["1 row × 1 column\n"])),
            display(json!({ "image/png": "iVBORw==" })),
            display(json!({ "text/plain": "[The picture plot-2 is deleted.]" })),
            display(json!({ "text/plain": "[The picture plot-3 is missing.]" })),
            display(json!({ PLOTLY_CHART: { "data": [] }, "image/png": "iVBORw==" })),
            display(json!({ PLOTLY_CHART: {} })),
        ]
    );
}

#[test]
fn exception_is_an_error() {
    let traceback = "Traceback (most recent call last):\nValueError: no";
    let failed = call(
        "execute_code",
        &json!({ "code": "x" }),
        ToolStatus::Failed,
        &format!("before\n\n{traceback}"),
    );
    assert_eq!(
        outputs(failed, &StoredContent::default()),
        [
            json!({ "output_type": "stream", "name": "stdout", "text": ["before\n"] }),
            json!({ "output_type": "error", "ename": "ValueError", "evalue": "no", "traceback": traceback.lines().collect::<Vec<_>>() }),
        ]
    );
}

#[test]
fn usual_names_are_imported_once() {
    let run = |code: &str| {
        call(
            "execute_code",
            &json!({ "code": code }),
            ToolStatus::Complete,
            "1",
        )
    };
    let codes = [
        "px.bar(np.zeros(2))",
        "np.ones(2)",
        "import pandas as pd\npd.Series()",
        "pd.Series()",
    ];
    let parts = codes.iter().map(|code| made(run(code))).collect();
    let found = cells(&conversation(vec![parts]), &StoredContent::default());
    let shown: Vec<(&str, &str)> = found[2..]
        .iter()
        .map(|(kind, source, _)| (&**kind, &**source))
        .collect();
    assert_eq!(
        shown,
        [
            ("code null", "import numpy as np\nimport plotly.express as px"),
            ("code 1", codes[0]),
            ("code 2", codes[1]),
            ("code 3", codes[2]),
            ("code 4", codes[3]),
        ]
    );
}

#[test]
fn query_is_code_with_its_stored_rows() {
    let arguments = json!({ "query": "SELECT * FROM jobs", "df_name": "jobs" });
    let output = "Stored as jobs\n\n| n |\n| --- |\n| 1 |\n\n2 rows.";
    let mut query = call("sql_query", &arguments, ToolStatus::Complete, output);
    query.payload = Some(PayloadRef {
        payload_id: "p1".into(),
        kind: "table".into(),
        summary: "Table".into(),
        preview_rows: None,
    });
    let failed = call("sql_query", &arguments, ToolStatus::Failed, "no such table: jobs");
    let parts = || vec![vec![made(query.clone()), made(failed.clone())]];
    let stored = StoredContent {
        tables: [("p1".into(), "| n |\n| --- |\n| 1 |\n| 2 |\n\n2 rows".into())].into(),
        ..StoredContent::default()
    };
    let found = cells(&conversation(parts()), &stored);
    let kinds: Vec<&str> = found[2..].iter().map(|(kind, ..)| &**kind).collect();
    assert_eq!(kinds, ["code null", "code 1", "code 2"], "one setup");
    assert!(found[2].1.ends_with("\nimport pandas as pd"));
    assert!(found[3].1.contains("jobs = pd.read_sql("), "{}", found[3].1);
    let rows = |outputs: &[Value]| {
        let tables = outputs.iter().map(|output| &output["data"]["text/markdown"]);
        tables
            .filter_map(|table| Some(table.as_array()?.len() - 2))
            .collect::<Vec<_>>()
    };
    assert_eq!(rows(&found[3].2), [2]);
    assert_eq!(found[4].2[0]["evalue"], "no such table: jobs");
    // Rows that were too many to be stored are those that the model got.
    let found = cells(&conversation(parts()), &StoredContent::default());
    assert_eq!(rows(&found[3].2), [1]);
    assert_eq!(found[3].2.len(), 3);
}

#[test]
fn only_finished_code_makes_a_notebook() {
    let has = |part: Part| has_code(&conversation(vec![vec![part]]));
    assert!(has(made(code("1", "1"))));
    let query = json!({ "query": "SELECT 1" });
    assert!(has(made(call("sql_query", &query, ToolStatus::Complete, "1"))));
    assert!(!has(made(call("sql_query", &query, ToolStatus::Running, ""))));
    assert!(!has(text("```python\n1\n```")));
    // Other branches do not count.
    let mut transcript = conversation(vec![vec![made(code("1", "1"))]]);
    transcript.active_leaf = transcript.messages[0].parent_id;
    assert!(!has_code(&transcript));
}
