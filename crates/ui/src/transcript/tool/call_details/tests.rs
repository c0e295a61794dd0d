//! The details of calls as they are shown.

use super::*;
use parlor_protocol::{PayloadRef, RawJson, RequestedCall};

/// The titles and texts of the argument sections of an external tool.
fn sections(input: &str) -> Vec<(String, String, String)> {
    sections_of("tool", input)
}

/// Those of a tool with this name.
fn sections_of(tool: &str, input: &str) -> Vec<(String, String, String)> {
    let call = RequestedCall {
        node: 0,
        part: 0,
        index: 0,
        tool_use_id: "1".into(),
        tool: tool.into(),
        input: RawJson::parse_or_quote(input),
        label: "Doing".into(),
        detail: None,
    };
    argument_sections(&call.to_tool_call(ToolStatus::Running, None))
}

#[test]
fn shows_a_change_as_a_difference() {
    let change = "a\n-b\n+c\n d".replacen('a', " a", 1);
    for input in [
        r#"{"path":"x.rs","old_string":"a\nb\nd","new_string":"a\nc\nd"}"#,
        r#"{"path":"x.rs","edits":[{"oldText":"a\nb\nd","newText":"a\nc\nd"}]}"#,
    ] {
        assert_eq!(
            sections(input),
            [
                part("Change", &change, "diff"),
                part("Asked", "{\n  \"path\": \"x.rs\"\n}", "json"),
            ]
        );
    }
    // What is more than a change is not left out.
    let more = r#"{"edits":[{"oldText":"a","newText":"b","all":true}]}"#;
    assert_eq!(sections(more), [part("Asked", &json::pretty_print(more), "json")]);
    assert_eq!(
        sections(r#"{"path":"x","content":"a\nb"}"#)[0],
        part("Content", "a\nb", "")
    );
}

fn part(name: &str, text: &str, language: &str) -> (String, String, String) {
    (name.into(), text.into(), language.into())
}

#[test]
fn shows_code_as_code_and_rest_as_json() {
    assert_eq!(
        sections(r#"{"query":"CRISPR AND 2024","count":5.5,"deep":{"a":[]}}"#),
        [
            part("Query", "CRISPR AND 2024", "query"),
            part(
                "Asked",
                "{\n  \"count\": 5.5,\n  \"deep\": {\n    \"a\": []\n  }\n}",
                "json"
            ),
        ]
    );
    assert_eq!(
        sections(r#"{"query":"Select *\nfrom \"t\""}"#),
        [part("Query", "Select *\nfrom \"t\"", "sql")]
    );
    assert_eq!(
        sections(r#"{"code":"let a;","language":"Rust"}"#),
        [
            part("Code", "let a;", "Rust"),
            part("Asked", "{\n  \"language\": \"Rust\"\n}", "json"),
        ]
    );
}

#[test]
fn known_tools_have_one_language() {
    // Some words of Python are those of SQL, too.
    assert_eq!(
        sections_of("execute_code", r#"{"code":"with open('a') as file:\n    pass"}"#),
        [part("Code", "with open('a') as file:\n    pass", "python")]
    );
    assert_eq!(
        sections_of("web_search", r#"{"query":"with love"}"#),
        [part("Query", "with love", "query")]
    );
    assert_eq!(
        sections_of("sql_query", r#"{"query":"VALUES (1)","df_name":"df","limit":1}"#),
        [
            part("Query", "VALUES (1)", "sql"),
            part("Data frame", "→ df", ""),
            part("Asked", "{\n  \"limit\": 1\n}", "json"),
        ]
    );
    assert_eq!(sections(r#"{"df_name":"df"}"#)[0].0, "Asked");
}

#[test]
fn only_known_outputs_are_blocks() {
    let result = |tool: &str| {
        let output = Some("two\n\n| a |\n|---|\n\n0 rows".into());
        shown_result(&ToolCall {
            output,
            ..ToolCall::for_test(tool, ToolStatus::Complete)
        })
    };
    for tool in [
        "execute_code",
        "jupyter_notebook",
        "sql_query",
        "view_column_values",
    ] {
        assert!(matches!(result(tool), Some(ShownResult::Blocks(_))), "{tool}");
    }
    for tool in ["tool", "fetch_webpage"] {
        assert!(matches!(result(tool), Some(ShownResult::Text(_))), "{tool}");
    }
}

#[test]
fn only_a_whole_table_is_a_table() {
    for table in ["| a | b |\n|---|:-:|\n| 1 | 2 |\n", "\n|a|\n|-|"] {
        assert!(is_table(table), "{table}");
    }
    for text in [
        "",
        "|",
        "| a |",
        "text\n| a |\n|---|",
        "| a |\n|---|\n| 1 |\n\n# log",
        "| a |\n| b |",
    ] {
        assert!(!is_table(text), "{text}");
    }
}

#[test]
fn results_are_made_of_blocks() {
    let table = "| a |\n|---|\n| 1 |";
    let given = [
        "one\n\ntwo\n\n",
        table,
        "\n\n1 row × 1 column\n\nthree\n\n",
        table,
    ]
    .concat();
    assert_eq!(
        result_blocks(&given),
        [
            ResultBlock::Text("one\n\ntwo".into()),
            ResultBlock::Table(table.into()),
            ResultBlock::Note("1 row × 1 column".into()),
            ResultBlock::Text("three".into()),
            ResultBlock::Table(table.into()),
        ]
    );
}

#[test]
fn table_preview_has_whole_rows() {
    let head = "\n| a |\n|---|";
    let wide = ["| ", &"w".repeat(MAX_INITIAL_BYTES), " |"].concat();
    let begins = |table: &str| table[..preview_end(table)].to_owned();
    let whole = [head, "\n| 1 |\n"].concat();
    assert_eq!(begins(&whole), whole);
    let first = [head, "\n", &wide].concat();
    assert_eq!(begins(&first), first);
    assert_eq!(begins(&[&first, "\n| 2 |"].concat()), first);
    let one = [head, "\n| 1 |"].concat();
    assert_eq!(begins(&[&one, "\n", &wide, "\n| 3 |"].concat()), one);
    let many = [head, &"\n| row |".repeat(1000)].concat();
    assert!(begins(&many).ends_with("| row |") && begins(&many).len() <= MAX_INITIAL_BYTES);
}

#[test]
fn shows_arguments_without_code_whole() {
    for odd in [
        "{}",
        "[1]",
        "\"text\"",
        "7",
        r#"{"query":7}"#,
        r#"{"query":""}"#,
        "no JSON",
    ] {
        let input = RawJson::parse_or_quote(odd);
        assert_eq!(
            sections(odd),
            [part("Asked", &json::pretty_print(input.as_str()), "json")],
            "{odd}"
        );
    }
    let odd = r#"{"query":"a","b\"c":1}"#;
    assert_eq!(sections(odd), [part("Asked", &json::pretty_print(odd), "json")]);
}

#[test]
fn leaves_out_what_the_answer_shows() {
    let payload = |preview_rows| PayloadRef {
        payload_id: "p1".into(),
        kind: "table".into(),
        summary: "2 rows".into(),
        preview_rows,
    };
    let table = "| year |\n| ---: |\n| 2020 |";
    let shown = |tool: &str, output: &str, payload: Option<PayloadRef>| {
        let note = payload.as_ref().map(PayloadRef::model_note);
        shown_result(&ToolCall {
            output: Some(output.to_owned() + &note.unwrap_or_default()),
            payload,
            ..ToolCall::for_test(tool, ToolStatus::Complete)
        })
    };
    let noted = |table: Option<&str>| {
        let table = table.map(|table| ResultBlock::Table(table.to_owned()));
        let note = ResultBlock::Note("2 rows.".to_owned());
        Some(ShownResult::Blocks(table.into_iter().chain([note]).collect()))
    };
    let output = [table, "\n\n2 rows."].concat();
    assert_eq!(shown("sql_query", &output, Some(payload(Some(2)))), noted(None));
    assert_eq!(shown("sql_query", &output, None), noted(Some(table)));
    assert_eq!(shown("other", table, Some(payload(Some(2)))), None);
    assert_eq!(
        shown("other", "Found.", Some(payload(None))),
        Some(ShownResult::Text("Found.".to_owned()))
    );
}
