//! The errors in which a server refuses tools: single ones, by their position or name, or all beyond a number.

use crate::rejection_text::RejectionText;
use parlor_model::ModelError;

/// A refusal of tools.
#[derive(Debug, PartialEq, Eq)]
pub enum ToolRefusal {
    /// The tools at these positions of the request.
    Tools(Vec<usize>),
    /// All beyond this number.
    TooMany(usize),
}

/// The names of lists of tools in the paths of fields, in lower case.
const LISTS: [&str; 4] = [
    "function_declarations",
    "functiondeclarations",
    "tools",
    "functions",
];

/// The names of lists in a list.
const INNER_LISTS: [&str; 2] = ["function_declarations", "functiondeclarations"];

/// Fields of a tool that are Parlor's own: without them the tool may be taken.
const OWN_FIELDS: [&str; 3] = ["cache_control", "strict", "tool_choice"];

/// Words before the name of a refused tool.
const INTRODUCTIONS: [&str; 8] = [
    "function ",
    "tool ",
    "function: ",
    "tool: ",
    "named ",
    "because ",
    "name ",
    "name: ",
];

/// Words for the description of a tool's arguments.
const SCHEMA_WORDS: [&str; 5] = [
    "schema",
    "parameters",
    "input_schema",
    "declaration",
    "properties",
];

/// The beginnings of words after a maximum number of tools.
const TOOL_UNITS: [&str; 2] = ["tool", "function"];

/// The beginnings of words after a maximum of something else.
const OTHER_UNITS: [&str; 8] = [
    "byte",
    "char",
    "enum",
    "key",
    "level",
    "parameter",
    "propert",
    "value",
];

/// Phrases that refuse the number of tools.
const NUMBER_PHRASES: [&str; 13] = [
    "array too long",
    "too many tools",
    "too many functions",
    "too many function",
    "maximum number of tools",
    "maximum number of functions",
    "maximum number of function",
    "maximum number of items",
    "number of tools",
    "tools limit",
    "at most",
    "maximum tools",
    "max_tools",
];

/// Returns the refusal in an error. `names` are the names of the tools in their order in the request.
pub fn find_refusal(error: &ModelError, names: &[&str]) -> Option<ToolRefusal> {
    let text = RejectionText::from_error(error)?;
    let positions = named_positions(text.as_str(), names.len());
    if !positions.is_empty() {
        return Some(ToolRefusal::Tools(positions));
    }
    // A limit within a named tool is not one of the number of tools.
    let positions = introduced_positions(&text, names);
    if !positions.is_empty() {
        return Some(ToolRefusal::Tools(positions));
    }
    max_number(&text, names.len()).map(ToolRefusal::TooMany)
}

/// Returns the positions of the tools whose schemas a text refuses by their names.
fn introduced_positions(text: &RejectionText, names: &[&str]) -> Vec<usize> {
    if text.contains(&OWN_FIELDS) || !text.contains(&SCHEMA_WORDS) {
        return Vec::new();
    }
    let is_named =
        |(at, name): (usize, &&str)| is_introduced(text.as_str(), &name.to_lowercase()).then_some(at);
    names.iter().enumerate().filter_map(is_named).collect()
}

/// Returns the positions in paths such as `tools.3.custom.input_schema`, `tools[3].function.parameters`,
/// `tools[0].function_declarations[3].parameters` and `(body, tools, 3, function)`.
fn named_positions(text: &str, count: usize) -> Vec<usize> {
    let mut positions = Vec::new();
    for list in LISTS {
        for (at, _) in text.match_indices(list) {
            let begins_word = !text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let Some((position, rest)) = read_index(&text[at + list.len()..]).filter(|_| begins_word) else {
                continue;
            };
            // The index of a list of lists.
            let is_outer = INNER_LISTS
                .iter()
                .any(|inner| rest.trim_start_matches(['.', ']', ' ']).starts_with(inner));
            let path: String = rest
                .chars()
                .take_while(|c| !c.is_whitespace() && *c != ':')
                .collect();
            let is_own = OWN_FIELDS.iter().any(|field| path.contains(field));
            if !is_outer && !is_own && position < count && !positions.contains(&position) {
                positions.push(position);
            }
        }
    }
    positions
}

/// Reads an index after the name of a list, and returns what follows it.
fn read_index(text: &str) -> Option<(usize, &str)> {
    let separators = ["[", ".[", ".", ", ", " -> ", "->", "/"];
    let rest = separators.iter().find_map(|separator| {
        let rest = text.strip_prefix(separator)?;
        rest.starts_with(|c: char| c.is_ascii_digit()).then_some(rest)
    })?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    Some((rest[..end].parse().ok()?, &rest[end..]))
}

/// Returns true if a name stands in a text behind a word that says that it is a tool's.
fn is_introduced(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        let before = &text[..at];
        let ends = !text[at + name.len()..].starts_with(is_part);
        ends && INTRODUCTIONS.iter().any(|words| before.ends_with(words))
    })
}

/// Returns the maximum number of tools that a text names.
fn max_number(text: &RejectionText, count: usize) -> Option<usize> {
    let is_about_tools = text.contains(&["tools", "function"]) && !text.contains(&["token"]);
    if !is_about_tools || !text.contains(&NUMBER_PHRASES) {
        return None;
    }
    let is_about_schema = text.contains(&SCHEMA_WORDS);
    let numbers = numbers_with_rest(text.as_str()).filter(|(_, rest)| {
        let unit = rest.trim_start_matches([' ', '-']);
        let has_unit = |units: &[&str]| units.iter().any(|word| unit.starts_with(word));
        has_unit(&TOOL_UNITS) || !(is_about_schema || has_unit(&OTHER_UNITS))
    });
    let numbers = numbers.map(|(number, _)| number);
    numbers.filter(|number| (1..count).contains(number)).max()
}

/// Returns the numbers in a text, each with the text after it.
fn numbers_with_rest(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[rest.find(|c: char| c.is_ascii_digit())?..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        rest = after;
        Some((digits.parse().ok(), after))
    })
    .filter_map(|(number, after)| Some((number?, after)))
}
