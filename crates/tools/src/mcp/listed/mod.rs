//! The tools that a server lists: their names, and their texts for models and people, limited and
//! redacted.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{
    lenient::tool_notes,
    result::{PAYLOAD_META, payload_type},
    server::ConfiguredServer,
};
use parlor_base::{settings::mcp::ApprovalPolicy, text::truncate_bytes};
use parlor_model::{ToolSpec, control::escape_metadata};

/// Maximum number of tools of one server: the first ones. Which of them a request has room for is decided elsewhere.
pub const MAX_TOOLS: usize = 1000;

/// Maximum length of a name that every model server accepts.
const MAX_NAME_CHARS: usize = 64;

/// Maximum size of a description, in bytes: it is part of every prompt.
const MAX_DESCRIPTION_BYTES: usize = 4 << 10;
const MAX_SCHEMA_BYTES: usize = 32 << 10;
pub const MAX_TITLE_BYTES: usize = 60;

/// A listed tool.
pub struct ListedTool {
    /// The server's name for it.
    pub name: String,
    pub title: String,
    /// The required arguments, in the server's order. The first one that is a text is shown as the
    /// subject of a call.
    pub required: Vec<String>,
    pub spec: Arc<ToolSpec>,
    pub needs_approval: bool,
    /// True if the server declares it read-only.
    pub only_reads: bool,
    pub is_idempotent: bool,
    pub finds_sources: bool,
    /// The payload type of its structured content, as its `_meta` or the title of its output schema names it.
    pub payload_type: Option<&'static str>,
}

impl ListedTool {
    /// Returns the tools of a list that can be offered.
    pub fn from_list(server: &ConfiguredServer, tools: Vec<Tool>) -> Vec<Arc<Self>> {
        let settings = &server.settings;
        let mut names = HashSet::new();
        let mut listed: Vec<Arc<Self>> = Vec::new();
        let mut notes = ListNotes::default();
        for tool in tools {
            let is_there = listed.iter().any(|other| other.name == tool.name);
            let is_disabled = settings.disabled_tools.iter().any(|name| *name == tool.name);
            if is_there || is_disabled || server.is_withdrawn(&tool.name) {
                continue;
            }
            let odd = match tool_notes(&tool) {
                Some(odd) if odd.is_unusable => {
                    notes.unusable.push(note_on(&tool, &odd.text));
                    continue;
                }
                odd => odd,
            };
            if listed.len() == MAX_TOOLS {
                notes.has_too_many = true;
                break;
            }
            let name = unique_name(&settings.name, &tool.name, &names);
            match Self::new(&tool, name, settings.approval) {
                Ok(offered) => {
                    names.insert(offered.spec.name.clone());
                    listed.push(Arc::new(offered));
                    notes.odd.extend(odd.map(|odd| note_on(&tool, &odd.text)));
                }
                Err(why) => notes.unusable.push(note_on(&tool, why)),
            }
        }
        server.report_list(&notes);
        listed
    }

    fn new(tool: &Tool, name: String, approval: Option<ApprovalPolicy>) -> Result<Self, &'static str> {
        let hints = tool.annotations.clone().unwrap_or_default();
        let only_reads = hints.read_only_hint == Some(true);
        let titles = [tool.title.as_deref(), hints.title.as_deref(), Some(&tool.name)];
        let titles = titles
            .into_iter()
            .flatten()
            .map(|title| first_line(title, MAX_TITLE_BYTES));
        let needs = tool.input_schema.get("required").and_then(Value::as_array);
        let needs = needs.into_iter().flatten().filter_map(Value::as_str);
        let description = tool.description.as_deref().unwrap_or_default();
        Ok(Self {
            title: titles
                .into_iter()
                .find(|title| !title.is_empty())
                .ok_or("it has no name")?,
            required: needs.map(Into::into).collect(),
            needs_approval: match approval {
                Some(approval) => approval == ApprovalPolicy::Ask,
                None => !only_reads,
            },
            only_reads,
            is_idempotent: only_reads || hints.idempotent_hint == Some(true),
            finds_sources: finds_sources(tool, &hints),
            payload_type: {
                let named = tool.meta.as_ref().and_then(|meta| meta.0.get(PAYLOAD_META));
                let output = tool.output_schema.as_ref().and_then(|schema| schema.get("title"));
                payload_type(named).or_else(|| payload_type(output))
            },
            spec: Arc::new(ToolSpec {
                name,
                description: truncate_bytes(&escape_metadata(description), MAX_DESCRIPTION_BYTES),
                input_schema: input_schema(&tool.input_schema)?,
            }),
            name: tool.name.clone().into_owned(),
        })
    }
}

/// Maximum number of tools named in a note on a list.
const MAX_NAMED_TOOLS: usize = 10;

/// The faults of a list of tools. Each note names its tool.
#[derive(Default)]
pub struct ListNotes {
    /// Tools that can't be offered.
    pub unusable: Vec<String>,
    /// Tools that are offered without a part of their definition.
    pub odd: Vec<String>,
    /// True if there are more tools than are offered of one server.
    pub has_too_many: bool,
}

/// Returns the first of some notes on tools.
pub fn join_notes(notes: &[String]) -> String {
    let named = notes[..notes.len().min(MAX_NAMED_TOOLS)].join("; ");
    match notes.len().saturating_sub(MAX_NAMED_TOOLS) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

fn note_on(tool: &Tool, why: &str) -> String {
    format!("{} ({why})", first_line(&tool.name, MAX_TITLE_BYTES))
}

/// Words for finding pages, in the names and descriptions of tools that only read.
const FINDING_WORDS: [&str; 18] = [
    "find", "finds", "finding", "lookup", "lookups", "fetch", "fetches", "web", "website", "websites",
    "webpage", "webpages", "internet", "news", "browse", "browses", "crawl", "crawls",
];

/// Returns `true` if a tool finds sources that an answer should cite. The server's hint decides if it
/// gives one; otherwise the tool's own description has to say that it searches, or, if it only reads,
/// that it finds pages.
fn finds_sources(tool: &Tool, hints: &ToolAnnotations) -> bool {
    if let Some(is_open) = hints.open_world_hint {
        return is_open && hints.read_only_hint != Some(false);
    }
    let words = [
        Some(&*tool.name),
        tool.title.as_deref(),
        hints.title.as_deref(),
        tool.description.as_deref(),
    ];
    let only_reads = hints.read_only_hint == Some(true);
    let mut words = words.into_iter().flatten();
    words.any(|text| names_search(text) || (only_reads && names_finding(text)))
}

/// Returns `true` if a text names a search ("web_search", "websearch", "searches"). Research is none.
fn names_search(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let mut places = lower.match_indices("search").map(|(at, _)| at);
    // An upper-case letter begins a word of a name ("coreSearch").
    places.any(|at| {
        let begins_word = text[at..].starts_with('S') && text[..at].ends_with(char::is_lowercase);
        begins_word || !lower[..at].ends_with("re")
    })
}

/// Returns `true` if a text has a word for finding pages ("find_pages", "lookUp", "Reads the news.").
fn names_finding(text: &str) -> bool {
    // An upper-case letter begins a word of a name.
    let mut spaced = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_uppercase() && spaced.ends_with(char::is_lowercase) {
            spaced.push(' ');
        }
        spaced.push(character);
    }
    let lower = spaced.to_lowercase();
    let words = lower.split(|character: char| !character.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let looks_up = |pair: &[&str]| matches!(pair[0], "look" | "looks") && pair[1] == "up";
    words.iter().any(|word| FINDING_WORDS.contains(word)) || words.windows(2).any(looks_up)
}

/// Returns the input schema, whose form the adapters of model servers adapt.
///
/// # Errors
///
/// If no object fits it, or it is too large.
fn input_schema(schema: &JsonObject) -> Result<Value, &'static str> {
    let mut schema = schema.clone();
    schema.remove("$schema");
    let accepts_objects = match schema.entry("type").or_insert_with(|| "object".into()) {
        Value::String(kind) => kind == "object",
        Value::Array(kinds) => kinds.iter().any(|kind| kind == "object"),
        _ => false,
    };
    if !accepts_objects {
        return Err("its inputSchema is not that of an object");
    }
    schema.entry("properties").or_insert_with(|| json!({}));
    let mut schema = Value::Object(schema);
    if schema.to_string().len() > MAX_SCHEMA_BYTES {
        return Err("its inputSchema is too large");
    }
    escape_schema_metadata(&mut schema);
    Ok(schema)
}

/// Escapes text that looks like metadata in a schema, since the model reads its texts and names.
fn escape_schema_metadata(schema: &mut Value) {
    match schema {
        Value::String(text) => {
            if let Cow::Owned(other) = escape_metadata(text) {
                *text = other;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(escape_schema_metadata),
        Value::Object(fields) => {
            let is_one = |name: &&String| matches!(escape_metadata(name), Cow::Owned(_));
            let names: Vec<String> = fields.keys().filter(is_one).cloned().collect();
            for name in names {
                if let Some(field) = fields.remove(&name) {
                    fields.insert(escape_metadata(&name).into_owned(), field);
                }
            }
            fields.values_mut().for_each(escape_schema_metadata);
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns the name of a tool for the model. It always includes the server's name, so that it does
/// not depend on other tools.
pub fn unique_name(server: &str, tool: &str, taken: &HashSet<String>) -> String {
    let is_fit = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let fit = |c: char| if is_fit(c) { c } else { '_' };
    let name: String = server.chars().chain(['_']).chain(tool.chars().map(fit)).collect();
    if name.len() <= MAX_NAME_CHARS && !taken.contains(&name) {
        return name;
    }
    // A hash keeps the name stable over time.
    let hash = Uuid::new_v5(&Uuid::NAMESPACE_OID, tool.as_bytes())
        .simple()
        .to_string();
    let (hash, max_chars) = (&hash[..8], MAX_NAME_CHARS - 9);
    format!("{}_{hash}", &name[..name.len().min(max_chars)])
}

/// Returns the first line of a text, cut to a limit.
pub fn first_line(text: &str, max_bytes: usize) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let line: String = line.chars().filter(|c| !c.is_control()).collect();
    truncate_bytes(&line, max_bytes)
}

#[cfg(test)]
mod tests;
