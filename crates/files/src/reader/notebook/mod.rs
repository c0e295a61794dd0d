//! Notebooks of Jupyter (nbformat 3 to 5): their Markdown as it is, their code in fences with its output as text. Pictures are
//! only named.

use std::borrow::Cow;

use serde_json::Value;

use super::{document::Document, text};
use crate::IPYNB;
use parlor_base::text::terminal::plain_text;
use parlor_protocol::FilePreview;

/// The maximum output of a cell, in bytes: one that prints much must not hide the cells after it.
const MAX_OUTPUT_BYTES: usize = 8 << 10;

/// The room for the note at the end of a text that was cut, in bytes.
const NOTE_BYTES: usize = 80;

/// The maximum length of a language's name, in bytes.
const MAX_LANGUAGE_BYTES: usize = 20;

/// The language of code that names none.
const USUAL_LANGUAGE: &str = "python";

/// The text in place of a picture.
const PICTURE: &str = "[image]";

/// The forms of an output that are text, the preferred first, by their names in nbformat 4 and 3.
const TEXT_FORMS: [&str; 5] = ["text/markdown", "text/plain", "text", "text/latex", "latex"];

/// Reads a notebook. What is none is read as a text.
pub fn read(data: &[u8], max_bytes: usize) -> Document {
    let Some(decoded) = text::decode(data) else {
        return Document::UNUSABLE;
    };
    let Some(text) = notebook_text(&decoded, max_bytes) else {
        return text::read(data, max_bytes);
    };
    Document::new(
        IPYNB,
        Ok(FilePreview {
            text,
            ..FilePreview::default()
        }),
    )
}

/// Returns the text of a notebook; `None` if it is none.
fn notebook_text(json: &str, max_bytes: usize) -> Option<String> {
    let notebook: Value = serde_json::from_str(json).ok()?;
    let cells = cells(&notebook)?;
    let language = language(&notebook);
    let mut text = String::new();
    for (index, cell) in cells.iter().enumerate() {
        text.push_str(&cell_text(index + 1, cell, &language));
        if text.len() > max_bytes {
            text.truncate(text.floor_char_boundary(max_bytes.saturating_sub(NOTE_BYTES)));
            let count = cells.len();
            text.push_str(&format!(
                "\n[The rest is not shown: the notebook has {count} cells.]"
            ));
            return Some(text);
        }
    }
    if cells.is_empty() {
        text.push_str("[A notebook without cells.]");
    }
    Some(text)
}

/// Returns the cells of a notebook; those of nbformat 3 are in worksheets.
fn cells(notebook: &Value) -> Option<Vec<&Value>> {
    if let Some(cells) = notebook["cells"].as_array() {
        return Some(cells.iter().collect());
    }
    let sheets = notebook["worksheets"].as_array()?.iter();
    Some(
        sheets
            .filter_map(|sheet| sheet["cells"].as_array())
            .flatten()
            .collect(),
    )
}

/// Returns the name of the notebook's language.
fn language(notebook: &Value) -> String {
    let metadata = &notebook["metadata"];
    let named = [
        &metadata["language_info"]["name"],
        &metadata["kernelspec"]["language"],
    ];
    let named = named
        .into_iter()
        .find_map(Value::as_str)
        .unwrap_or(USUAL_LANGUAGE);
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "+#-_".contains(c);
    match !named.is_empty() && named.len() <= MAX_LANGUAGE_BYTES && named.chars().all(is_letter) {
        true => named.to_owned(),
        false => USUAL_LANGUAGE.into(),
    }
}

/// Returns a cell with its mark.
fn cell_text(number: usize, cell: &Value, language: &str) -> String {
    let source = match &cell["source"] {
        // nbformat 3.
        Value::Null => joined(&cell["input"]),
        source => joined(source),
    };
    let source = without_pictures(source.trim_end());
    let content = match cell["cell_type"].as_str() {
        Some("code") => {
            let output = output_text(&cell["outputs"]);
            let code = fenced(language, &source);
            match output.is_empty() {
                true => code,
                false => format!("{code}Output:\n{}", fenced("", &output)),
            }
        }
        Some("heading") => {
            let level = cell["level"].as_u64().unwrap_or(1).clamp(1, 6);
            // At most 6.
            format!("{} {source}\n", "#".repeat(level as usize))
        }
        _ => format!("{source}\n"),
    };
    format!("[Cell {number}]\n{content}\n")
}

/// Returns a text in a fence that it can't end.
fn fenced(language: &str, text: &str) -> String {
    let longest = text
        .split(|c: char| c != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let text = text.trim_end();
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// Returns the outputs of a cell as text.
fn output_text(outputs: &Value) -> String {
    let mut shown = String::new();
    for output in outputs.as_array().into_iter().flatten() {
        let text = match output["output_type"].as_str() {
            Some("stream") => joined(&output["text"]),
            Some("error" | "pyerr") => error_text(output).into(),
            _ => display_text(output.get("data").unwrap_or(output)),
        };
        let text = plain_text(&without_pictures(&text));
        if text.is_empty() {
            continue;
        }
        if !shown.is_empty() && !shown.ends_with('\n') {
            shown.push('\n');
        }
        shown.push_str(&text);
    }
    let end = shown.floor_char_boundary(MAX_OUTPUT_BYTES);
    let omitted = shown.len() - end;
    if omitted > 0 {
        shown.truncate(end);
        shown.push_str(&format!("\n[{omitted} more bytes are not shown.]"));
    }
    shown
}

/// Returns a shown value as text. Of one with several forms, a picture is named, as its text is only a name such as
/// `<Figure size 640x480 with 1 Axes>`.
fn display_text(forms: &Value) -> Cow<'_, str> {
    let is_picture = |form: &String| form.starts_with("image/") || matches!(&**form, "png" | "jpeg" | "svg");
    let names = || forms.as_object().into_iter().flat_map(|forms| forms.keys());
    if names().any(is_picture) {
        return PICTURE.into();
    }
    let text = TEXT_FORMS
        .iter()
        .map(|form| joined(&forms[*form]))
        .find(|text| !text.is_empty());
    text.unwrap_or_else(|| match names().any(|form| form.ends_with("html")) {
        true => "[HTML]".into(),
        false => "".into(),
    })
}

/// Returns an exception: its traceback, which usually ends with its name and message, or these alone.
fn error_text(output: &Value) -> String {
    let lines = output["traceback"].as_array().into_iter().flatten();
    let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
    let traceback = plain_text(&lines.join("\n"));
    let summary = format!("{}: {}", joined(&output["ename"]), joined(&output["evalue"]));
    let summary = plain_text(summary.trim_end_matches([':', ' ']));
    match traceback.contains(&summary) {
        true => traceback,
        false if traceback.is_empty() => summary,
        false => format!("{traceback}\n{summary}"),
    }
}

/// Returns a text that is stored whole or as a list of its lines; empty for anything else.
fn joined(text: &Value) -> Cow<'_, str> {
    match text {
        Value::String(text) => text.into(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect::<String>().into(),
        _ => "".into(),
    }
}

/// Returns a text with a word in place of each picture that is a `data:` URL.
fn without_pictures(text: &str) -> Cow<'_, str> {
    const START: &str = "data:image/";
    let Some(first) = text.find(START) else {
        return text.into();
    };
    let mut kept = text[..first].to_owned();
    let mut rest = &text[first..];
    while !rest.is_empty() {
        let is_end = |c: char| c.is_whitespace() || "\"'()<>\\`".contains(c);
        let (url, after) = rest.split_at(rest.find(is_end).unwrap_or(rest.len()));
        kept.push_str(if url.contains(";base64,") { PICTURE } else { url });
        let next = after.find(START).unwrap_or(after.len());
        kept.push_str(&after[..next]);
        rest = &after[next..];
    }
    kept.into()
}

#[cfg(test)]
mod tests;
