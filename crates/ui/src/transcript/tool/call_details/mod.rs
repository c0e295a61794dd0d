//! The content of an open card: the arguments of the tool and its result.

mod rows;
#[cfg(test)]
mod tests;

use leptos::prelude::*;

use self::rows::{field_rows, fields, json_part, table_of_objects};
use super::changes::add_changes;
use crate::{
    components::{copy::CopyButton, highlight::highlighted},
    markdown::{MarkdownView, Prose},
    runtime::erase::Erase,
    transcript::texts,
};
use parlor_protocol::{
    ToolCall, ToolStatus, json,
    tool_kind::{ToolKind, ToolOutput},
};

/// The length of an output that is shown at first, in bytes.
const MAX_INITIAL_BYTES: usize = 4000;

/// Common names of arguments of external tools that are code, with their most likely language.
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
pub fn CallDetails(
    call: ArcRwSignal<ToolCall>,
    prefix: String,
    /// True if the user decides about the call, or has found it, so that nothing of it is left out.
    is_whole: bool,
) -> impl IntoView {
    let (input, output) = (call.clone(), call);
    let arguments = Memo::new(move |_| input.with(argument_sections));
    let given = Memo::new(move |_| output.with(|call| Some((shown_result(call)?, call.status))));
    let part = move |(name, text, language): (String, String, String)| {
        let fields = if language == "json" {
            fields(&text, is_whole)
        } else {
            None
        };
        if let Some(fields) = fields {
            let json = text.clone();
            return json_part(name, json, is_whole, move || field_rows(&fields, text.clone()));
        }
        view! {
            <section class="tool-part">
                <h3>{name}</h3>
                {text_view(text, language, is_whole)}
            </section>
        }
        .erase()
    };
    view! {
        {move || arguments.get().into_iter().map(part).collect::<Vec<_>>()}
        {move || given.get().map(|(given, status)| {
            let title = if status == ToolStatus::Failed { texts::ERROR } else { texts::RESULT };
            result_part(title, given, prefix.clone(), is_whole)
        })}
    }
}

fn result_part(title: &'static str, given: ShownResult, prefix: String, is_whole: bool) -> AnyView {
    if let ShownResult::Text(text) = &given
        && let Some(table) = table_of_objects(text)
    {
        let json = json::pretty_print(text);
        return json_part(title.into(), json, is_whole, move || {
            table_view(table.clone(), prefix.clone(), is_whole)
        });
    }
    view! {
        <section class="tool-part">
            <h3>{title}</h3>
            {result_view(given, prefix, is_whole)}
        </section>
    }
    .erase()
}

/// The arguments: changes as differences, code and texts of several lines as code blocks with name and language, the
/// others as JSON.
fn argument_sections(call: &ToolCall) -> Vec<(String, String, String)> {
    let mut arguments = call.arguments();
    let mut code = Vec::new();
    let mut others = Vec::new();
    let mut changes = Vec::new();
    let shown = add_changes(&arguments, &mut changes);
    arguments.retain(|(name, _)| !shown.contains(name));
    code.extend(
        changes
            .into_iter()
            .map(|change| (texts::CHANGE.into(), change, "diff".into())),
    );
    let kind = call.kind();
    let data_frame = kind.and_then(|kind| kind.data_frame);
    for (name, value) in &arguments {
        let text = json::parse::<String>(value.as_str().as_bytes()).ok();
        let text = text.filter(|text| !text.is_empty());
        let language = text
            .as_deref()
            .and_then(|text| code_language(kind, &arguments, name, text));
        match (text, language) {
            (Some(text), Some(language)) => code.push((argument_title(name), text, language)),
            (Some(text), None) if data_frame.is_some_and(|argument| argument == name) => {
                code.push((texts::DATA_FRAME.into(), ["→ ", &text].concat(), String::new()));
            }
            (Some(text), None) if text.contains('\n') => {
                code.push((argument_title(name), text, String::new()));
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
        .map(|json| (texts::ASKED.into(), json::pretty_print(json), "json".into()));
    code.into_iter().chain(others).collect()
}

/// The language of an argument that is code; `None` for others.
fn code_language(
    kind: Option<&ToolKind>,
    arguments: &[(String, json::RawJson)],
    name: &str,
    text: &str,
) -> Option<String> {
    let known = kind
        .and_then(|kind| kind.code)
        .filter(|argument| argument.name == name);
    if let Some(argument) = known {
        return Some(argument.language.into());
    }
    let (_, usual) = CODE_ARGUMENTS.iter().find(|(common, _)| *common == name)?;
    Some(guess_language(arguments, text).unwrap_or_else(|| (*usual).into()))
}

/// The language of a piece of code, as far as another argument or the code itself shows it.
fn guess_language(arguments: &[(String, json::RawJson)], code: &str) -> Option<String> {
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

/// A result as the open card shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ShownResult {
    Text(String),
    Table(String),
    Blocks(Vec<ResultBlock>),
}

/// A part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ResultBlock {
    Table(String),
    /// A line about the table above.
    Note(String),
    Text(String),
}

/// The result without what is for the model only, and without the table that the answer shows below the card; `None` if
/// nothing is left.
fn shown_result(call: &ToolCall) -> Option<ShownResult> {
    let mut output = call.output.clone()?;
    if let Some(payload) = &call.payload {
        output = output.replacen(&payload.model_note(), "", 1);
    }
    let has_preview = call
        .payload
        .as_ref()
        .is_some_and(|payload| payload.preview_rows.is_some());
    if is_table(&output) {
        return (!has_preview).then_some(ShownResult::Table(output));
    }
    if call.kind().is_some_and(|kind| kind.output == ToolOutput::Blocks) {
        let mut blocks = result_blocks(&output);
        if blocks.iter().any(is_table_block) {
            if has_preview {
                blocks.retain(|block| !is_table_block(block));
            }
            return Some(ShownResult::Blocks(blocks));
        }
    }
    Some(ShownResult::Text(output))
}

fn is_table_block(block: &ResultBlock) -> bool {
    matches!(block, ResultBlock::Table(_))
}

/// The blocks of a result: tables, each with the note below it, and the texts between them.
fn result_blocks(given: &str) -> Vec<ResultBlock> {
    let mut blocks: Vec<ResultBlock> = Vec::new();
    for block in given.split("\n\n") {
        let is_below_table = blocks.last().is_some_and(is_table_block);
        match blocks.last_mut() {
            _ if is_table(block) => blocks.push(ResultBlock::Table(block.to_owned())),
            _ if is_below_table => blocks.push(ResultBlock::Note(block.to_owned())),
            Some(ResultBlock::Text(text)) => {
                text.push_str("\n\n");
                text.push_str(block);
            }
            _ => blocks.push(ResultBlock::Text(block.to_owned())),
        }
    }
    blocks
}

/// The result: tables as tables, JSON highlighted, other text as it is.
fn result_view(result: ShownResult, prefix: String, is_whole: bool) -> AnyView {
    match result {
        ShownResult::Blocks(blocks) => {
            let views = blocks
                .into_iter()
                .zip(0_usize..)
                .map(|(block, index)| match block {
                    ResultBlock::Table(table) => {
                        table_view(table, [&*prefix, "-", &index.to_string()].concat(), is_whole)
                    }
                    ResultBlock::Note(note) => view! { <p class="tool-note">{note}</p> }.erase(),
                    ResultBlock::Text(text) => text_view(text, String::new(), is_whole),
                });
            views.collect::<Vec<_>>().erase()
        }
        ShownResult::Table(table) => table_view(table, prefix, is_whole),
        ShownResult::Text(text) => {
            let is_json = text.trim_start().starts_with(['{', '[']) && text.trim_end().ends_with(['}', ']']);
            text_view(
                text,
                if is_json { "json".into() } else { String::new() },
                is_whole,
            )
        }
    }
}

/// Returns true if a text is a Markdown table and nothing else: in a longer text, a table may be part of a page or a
/// log.
fn is_table(text: &str) -> bool {
    let mut lines = text.trim().lines().map(str::trim);
    let is_row = |line: &str| line.len() > 1 && line.starts_with('|');
    let is_rule = |line: &str| is_row(line) && line.contains('-') && line.chars().all(|c| "|-: ".contains(c));
    lines.next().is_some_and(is_row) && lines.next().is_some_and(is_rule) && lines.all(is_row)
}

/// A table with its first rows, or all of them.
fn table_view(given: String, prefix: String, is_whole: bool) -> AnyView {
    let beginning = if is_whole {
        given.len()
    } else {
        preview_end(&given)
    };
    let all = RwSignal::new(beginning == given.len());
    let (shown, copied) = (given.clone(), given);
    let rows = move || {
        let shown = if all.get() { &shown } else { &shown[..beginning] };
        view! { <MarkdownView prose=Prose::finished(shown) prefix=prefix.clone()/> }
    };
    view! {
        <div class="tool-text">{rows} <CopyButton name=texts::COPY text=move || copied.clone()/></div>
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

fn show_all(all: RwSignal<bool>) -> AnyView {
    let button = move || {
        (!all.get()).then(|| view! {
            <button type="button" class="button button-quiet" on:click=move |_| all.set(true)>{texts::SHOW_ALL}</button>
        })
    };
    button.erase()
}

/// A verbatim text, with its beginning at first unless it is to be whole.
fn text_view(text: String, language: String, is_whole: bool) -> AnyView {
    let all = RwSignal::new(is_whole || text.len() <= MAX_INITIAL_BYTES);
    let beginning = text.floor_char_boundary(MAX_INITIAL_BYTES);
    let (shown, copied) = (text.clone(), text);
    let code = move || {
        let shown = if all.get() { &shown } else { &shown[..beginning] };
        highlighted(shown, &language)
    };
    view! {
        <div class="tool-text">
            <pre tabindex="0"><code>{code}</code></pre>
            <CopyButton name=texts::COPY text=move || copied.clone()/>
        </div>
        {show_all(all)}
    }
    .erase()
}
