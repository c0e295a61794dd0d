//! The content of an open card: the arguments of the tool and its result.

use leptos::prelude::*;

use crate::{
    protocol::ToolCall,
    protocol::json,
    ui::{
        components::copy::CopyButton, components::highlight::highlighted, markdown::MarkdownView,
        markdown::Prose, runtime::erase::Erase,
    },
};

/// The length of an output that is shown at first, in bytes.
const MAX_INITIAL_BYTES: usize = 4000;

/// Common names of arguments that are code, with their most likely language.
const CODE_ARGUMENTS: [(&str, &str); 7] = [
    ("query", "query"),
    ("expression", "js"),
    ("code", "python"),
    ("script", "sh"),
    ("command", "sh"),
    ("sql", "sql"),
    ("diff", "diff"),
];

/// The arguments and the result.
#[component]
pub fn CallDetails(call: ArcRwSignal<ToolCall>, prefix: String) -> impl IntoView {
    let (input, output) = (call.clone(), call);
    let arguments = Memo::new(move |_| input.with(argument_sections));
    let given = Memo::new(move |_| output.with(|call| call.output.clone()));
    let part = |(name, text, language): (String, String, String)| {
        view! {
            <section class="tool-part">
                <h3>{name}</h3>
                {text_view(text, language)}
            </section>
        }
        .erase()
    };
    view! {
        {move || arguments.get().into_iter().map(part).collect::<Vec<_>>()}
        {move || given.get().map(|given| view! {
            <section class="tool-part">
                <h3>"Result"</h3>
                {result_view(given, prefix.clone())}
            </section>
        })}
    }
}

/// The arguments: code as code blocks with name and language, the others as JSON.
fn argument_sections(call: &ToolCall) -> Vec<(String, String, String)> {
    let arguments = call.arguments();
    let mut code = Vec::new();
    let mut others = Vec::new();
    for (name, value) in &arguments {
        let known = CODE_ARGUMENTS.iter().find(|(field, _)| field == name);
        match (known, json::parse::<String>(value.as_str().as_bytes())) {
            (Some((_, usual)), Ok(text)) if !text.is_empty() => {
                let language = language(&arguments, &text).unwrap_or_else(|| (*usual).into());
                code.push((argument_title(name), text, language));
            }
            _ => others.push(["\"", name, "\":", value.as_str()].concat()),
        }
    }
    // A name with a character that JSON would have to escape.
    let is_odd = arguments.iter().any(|(name, _)| name.contains(['"', '\\', '\n']));
    if code.is_empty() || is_odd {
        code.clear();
        others = vec![call.input.as_str().to_owned()];
    } else if !others.is_empty() {
        others = vec![["{", &others.join(","), "}"].concat()];
    }
    let others = others
        .iter()
        .map(|json| ("Asked".into(), json::pretty_print(json), "json".into()));
    code.into_iter().chain(others).collect()
}

/// The language of a piece of code, as far as another argument or the code itself shows it.
fn language(arguments: &[(String, json::RawJson)], code: &str) -> Option<String> {
    let named = arguments
        .iter()
        .find(|(name, _)| name == "language" || name == "lang");
    if let Some(Ok(named)) = named.map(|(_, named)| json::parse::<String>(named.as_str().as_bytes())) {
        return Some(named);
    }
    let first = code.split_whitespace().next()?;
    let sql = ["select", "with", "insert", "update", "delete", "create"];
    sql.iter()
        .any(|word| first.eq_ignore_ascii_case(word))
        .then(|| "sql".into())
}

/// The title of an argument such as `sql_query`: with a capital letter, and spaces.
fn argument_title(name: &str) -> String {
    let mut title = name.replace('_', " ");
    if let Some(first) = title.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    title
}

/// The result: a table as a table, JSON highlighted, other text as it is.
fn result_view(given: String, prefix: String) -> AnyView {
    if is_table(&given) {
        return table_view(given, prefix);
    }
    let is_json = given.trim_start().starts_with(['{', '[']) && given.trim_end().ends_with(['}', ']']);
    text_view(given, if is_json { "json".into() } else { String::new() })
}

/// Returns true if a text is a Markdown table and nothing else: in a longer text, a table may be part of a page or a
/// log.
fn is_table(text: &str) -> bool {
    let mut lines = text.trim().lines().map(str::trim);
    let is_row = |line: &str| line.len() > 1 && line.starts_with('|');
    let is_rule = |line: &str| is_row(line) && line.contains('-') && line.chars().all(|c| "|-: ".contains(c));
    lines.next().is_some_and(is_row) && lines.next().is_some_and(is_rule) && lines.all(is_row)
}

/// A table with its first rows.
fn table_view(given: String, prefix: String) -> AnyView {
    let beginning = preview_end(&given);
    let all = RwSignal::new(beginning == given.len());
    let (shown, copied) = (given.clone(), given);
    let rows = move || {
        let shown = if all.get() { &shown } else { &shown[..beginning] };
        view! { <MarkdownView prose=Prose::finished(shown) prefix=prefix.clone()/> }
    };
    view! {
        <div class="tool-text">{rows} <CopyButton name="Copy" text=move || copied.clone()/></div>
        {show_all(all)}
    }
    .erase()
}

/// The end of the first rows: whole ones, and at least one below the head and its rule.
fn preview_end(table: &str) -> usize {
    if table.len() <= MAX_INITIAL_BYTES {
        return table.len();
    }
    let start = table.len() - table.trim_start().len();
    let ends = table.match_indices('\n').map(|(end, _)| end);
    let mut ends = ends.filter(|end| *end > start).skip(2);
    let Some(first) = ends.next() else {
        return table.len();
    };
    ends.take_while(|end| *end <= MAX_INITIAL_BYTES)
        .last()
        .unwrap_or(first)
}

fn show_all(all: RwSignal<bool>) -> impl IntoView {
    move || {
        (!all.get()).then(|| view! {
            <button type="button" class="button button-quiet" on:click=move |_| all.set(true)>"Show all"</button>
        })
    }
}

/// A verbatim text, with its beginning at first.
fn text_view(text: String, language: String) -> AnyView {
    let all = RwSignal::new(text.len() <= MAX_INITIAL_BYTES);
    let beginning = text.floor_char_boundary(MAX_INITIAL_BYTES);
    let (shown, copied) = (text.clone(), text);
    let code = move || {
        let shown = if all.get() { &shown } else { &shown[..beginning] };
        highlighted(shown, &language)
    };
    view! {
        <div class="tool-text">
            <pre tabindex="0"><code>{code}</code></pre>
            <CopyButton name="Copy" text=move || copied.clone()/>
        </div>
        {show_all(all)}
    }
    .erase()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{RawJson, RequestedCall, ToolStatus};

    /// The titles and texts of the argument sections.
    fn sections(input: &str) -> Vec<(String, String, String)> {
        let call = RequestedCall {
            node: 0,
            part: 0,
            index: 0,
            tool_use_id: "1".into(),
            tool: "tool".into(),
            input: RawJson::parse_or_quote(input),
            label: "Doing".into(),
            detail: None,
        };
        argument_sections(&call.to_tool_call(ToolStatus::Running, None))
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
}
