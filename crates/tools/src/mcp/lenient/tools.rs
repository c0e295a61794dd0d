//! Lists of tools, read tool by tool. A tool keeps what can be read of it; its notes say what can't.

use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::mcp::listed::first_line;
use parlor_base::text::truncate_bytes;

/// The entry of a tool's metadata that has its notes. Only this module writes it: a server's own metadata are not kept.
const NOTES_FIELD: &str = "parlor/notes";

/// The names of the field with a tool's parameters: that of the protocol, and those of others.
const SCHEMA_FIELDS: [&str; 3] = ["inputSchema", "input_schema", "parameters"];

/// Maximum length of the name of a field's type and the like, in bytes.
const MAX_NAME_BYTES: usize = 60;

/// Notes on the definition of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolNotes {
    /// True if the tool can't be offered.
    pub is_unusable: bool,
    /// The parts of the definition that can't be read.
    pub text: String,
}

/// Returns the notes on a listed tool, if there are any.
pub fn tool_notes(tool: &Tool) -> Option<ToolNotes> {
    ToolNotes::deserialize(tool.meta.as_ref()?.0.get(NOTES_FIELD)?).ok()
}

/// Rewrites a list of tools. Tools that can only be called as tasks, which Parlor can't do and rmcp's type can't say, are
/// removed.
pub fn rewrite_list(result: &mut Map<String, Value>) {
    let tools = match result.remove("tools") {
        Some(Value::Array(tools)) => tools,
        // By their names.
        Some(Value::Object(tools)) => tools.into_iter().map(named_tool).collect(),
        _ => Vec::new(),
    };
    let tools = tools.into_iter().enumerate();
    let tools: Vec<Value> = tools
        .filter(|(_, tool)| !is_task_only(tool))
        .map(|(index, tool)| read_tool(index, tool))
        .collect();
    let cursor = match result.remove("nextCursor") {
        Some(Value::String(cursor)) => Some(cursor),
        _ => None,
    };
    result.clear();
    result.insert("tools".into(), tools.into());
    if let Some(cursor) = cursor {
        result.insert("nextCursor".into(), cursor.into());
    }
}

fn named_tool((name, mut tool): (String, Value)) -> Value {
    if let Value::Object(fields) = &mut tool {
        fields.entry("name").or_insert(name.into());
    }
    tool
}

fn is_task_only(tool: &Value) -> bool {
    tool.pointer("/execution/taskSupport").and_then(Value::as_str) == Some("required")
}

/// Returns a tool with what can be read of it.
fn read_tool(index: usize, tool: Value) -> Value {
    let mut reader = ToolReader::default();
    let unnamed = format!("number {}", index + 1);
    let Value::Object(mut fields) = tool else {
        return placeholder(&unnamed, &format!("it is {}", kind(&tool)));
    };
    let name = match fields.remove("name") {
        Some(Value::String(name)) if !name.trim().is_empty() => name,
        Some(Value::Number(number)) => number.to_string(),
        _ => return placeholder(&unnamed, "it has no name"),
    };
    let mut schemas = SCHEMA_FIELDS.iter().filter_map(|field| fields.get(*field));
    let schema = schemas.find(|schema| !schema.is_null()).cloned().map(from_text);
    let schema = match schema {
        Some(Value::Object(schema)) => schema,
        // Servers omit it for tools without parameters.
        None => {
            reader.note("it has no inputSchema and is offered without parameters");
            Map::new()
        }
        Some(other) => {
            return placeholder(&name, &format!("its inputSchema is {}", kind(&other)));
        }
    };
    let mut read = Map::from_iter([("inputSchema".into(), Value::Object(schema))]);
    for field in ["title", "description"] {
        reader.copy(field, fields.remove(field), Value::is_string, &mut read);
    }
    if let Some(Value::Object(mut hints)) = reader.object("annotations", fields.remove("annotations")) {
        let mut kept = Map::new();
        reader.copy("title", hints.remove("title"), Value::is_string, &mut kept);
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            reader.copy(hint, hints.remove(hint), Value::is_boolean, &mut kept);
        }
        read.insert("annotations".into(), kept.into());
    }
    if !reader.notes.is_empty() {
        let notes = reader.notes.join(", ");
        read.insert("_meta".into(), meta(false, &notes));
    }
    read.insert("name".into(), name.into());
    Value::Object(read)
}

/// Returns an object that is written as a text; any other value as it is.
fn from_text(value: Value) -> Value {
    let object = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    object.filter(Value::is_object).unwrap_or(value)
}

/// Returns a tool that stands for one that can't be offered.
fn placeholder(name: &str, why: &str) -> Value {
    let name = first_line(name, MAX_NAME_BYTES);
    json!({ "name": name, "inputSchema": {}, "_meta": meta(true, why) })
}

fn meta(is_unusable: bool, text: &str) -> Value {
    let text = truncate_bytes(text, super::MAX_QUOTED_BYTES);
    json!({ NOTES_FIELD: ToolNotes { is_unusable, text } })
}

/// Collects the notes on one tool.
#[derive(Default)]
struct ToolReader {
    notes: Vec<String>,
}

impl ToolReader {
    fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Copies a field if it is of its type; an absent one is fine.
    fn copy(
        &mut self,
        field: &str,
        value: Option<Value>,
        fits: fn(&Value) -> bool,
        into: &mut Map<String, Value>,
    ) {
        match value {
            None | Some(Value::Null) => {}
            Some(value) if fits(&value) => {
                into.insert(field.into(), value);
            }
            Some(value) => self.note(format!("its {field} is {}", kind(&value))),
        }
    }

    /// Returns a field that has to be an object; an absent one is fine.
    fn object(&mut self, field: &str, value: Option<Value>) -> Option<Value> {
        let mut kept = Map::new();
        self.copy(field, value, Value::is_object, &mut kept);
        kept.remove(field)
    }
}

/// Returns the kind of a value, with a short one itself.
fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(truth) => truth.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text “{}”", first_line(text, MAX_NAME_BYTES)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}
