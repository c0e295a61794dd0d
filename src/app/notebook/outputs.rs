//! The outputs of a code cell.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    CodeCall,
    content::{Picture, StoredContent, is_picture},
};
use parlor_files::is_chart;
use parlor_protocol::{Attachment, ToolCall};
use parlor_python::CellError;

/// Returns the outputs of a call, in the form of nbformat 4.
pub fn outputs(call: &ToolCall, code: &CodeCall, content: &StoredContent) -> Vec<Value> {
    let mut outputs = Vec::new();
    match code {
        CodeCall::Python(cell) => {
            push_text(&mut outputs, &cell.text);
            let pictures = call.attachments.iter().filter(|file| is_picture(file));
            outputs.extend(pictures.map(|file| picture(file, content)));
            outputs.extend(cell.error.as_ref().map(error));
        }
        CodeCall::Query(query) if query.has_failed => {
            outputs.push(error(&CellError::from_traceback(&query.output)));
        }
        CodeCall::Query(query) => {
            let stored = query.payload_id.as_ref().and_then(|id| content.tables.get(id));
            push_text(&mut outputs, stored.unwrap_or(&query.output));
        }
    }
    outputs
}

/// Returns a text as nbformat stores it: as a list of its lines.
pub fn lines(text: &str) -> Value {
    text.split_inclusive('\n').collect()
}

/// Adds the output of a call, which is blocks with an empty line between them: tables as Markdown, other text as a stream.
fn push_text(outputs: &mut Vec<Value>, text: &str) {
    let mut printed = String::new();
    for block in text.split("\n\n") {
        if is_table(block) {
            push_stream(outputs, &mut printed);
            let data = json!({ "text/markdown": lines(block), "text/plain": lines(block) });
            outputs.push(display(data));
        } else {
            if !printed.is_empty() {
                printed.push_str("\n\n");
            }
            printed.push_str(block);
        }
    }
    push_stream(outputs, &mut printed);
}

fn push_stream(outputs: &mut Vec<Value>, printed: &mut String) {
    if !printed.trim().is_empty() {
        printed.push('\n');
        outputs.push(json!({ "output_type": "stream", "name": "stdout", "text": lines(printed) }));
    }
    printed.clear();
}

fn display(data: Value) -> Value {
    json!({ "output_type": "display_data", "data": data, "metadata": {} })
}

fn picture(file: &Attachment, content: &StoredContent) -> Value {
    let missing = match content.pictures.get(&file.id) {
        Some(Picture::Read(data)) if is_chart(file) => match serde_json::from_slice(data) {
            Ok(chart) => return display(chart_forms(file, chart, content)),
            Err(_) => "damaged",
        },
        Some(Picture::Read(data)) => {
            let data = json!({ &*file.media_type: BASE64_STANDARD.encode(data) });
            return display(data);
        }
        Some(Picture::Missing(why)) => why,
        None => "missing",
    };
    let note = format!("[The picture {} is {missing}.]", file.name);
    display(json!({ "text/plain": note }))
}

/// Returns a chart, with its picture for programs that don't draw it.
fn chart_forms(file: &Attachment, chart: Value, content: &StoredContent) -> Value {
    let mut forms = json!({ &*file.media_type: chart });
    if let Some(picture) = content.chart_pictures.get(&file.id) {
        forms["image/png"] = BASE64_STANDARD.encode(picture).into();
    }
    forms
}

fn error(error: &CellError) -> Value {
    let traceback: Vec<&str> = error.traceback.lines().collect();
    json!({ "output_type": "error", "ename": error.name, "evalue": error.message, "traceback": traceback })
}

/// Returns true if a block is a Markdown table and nothing else.
fn is_table(block: &str) -> bool {
    let mut lines = block.trim().lines();
    let is_row = |line: &str| line.len() > 1 && line.starts_with('|');
    let is_rule = |line: &str| is_row(line) && line.contains('-') && line.chars().all(|c| "|-: ".contains(c));
    lines.next().is_some_and(is_row) && lines.next().is_some_and(is_rule) && lines.all(is_row)
}
