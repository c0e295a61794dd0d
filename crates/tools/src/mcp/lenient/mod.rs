//! Reads the messages of servers leniently. rmcp reads a message as a whole: one odd field in one of a server's tools, or one
//! unknown part of a result, makes all of it unreadable. So lists of tools, results and introductions are rewritten here,
//! entry by entry, with only what Parlor uses, before rmcp reads them. JSON that is not valid is mended first
//! ([`lenient_json`]).

mod content;
mod introduction;
mod tools;

use std::borrow::Cow;

use rmcp::model::{ErrorCode, ServerJsonRpcMessage};
use serde_json::{Map, Value, json};

pub use self::tools::tool_notes;
use parlor_model::lenient_json::{self, Halves};

/// Maximum length of a value that is quoted because it can't be read, in bytes.
const MAX_QUOTED_BYTES: usize = 2000;

/// Parses a message.
///
/// # Errors
///
/// If it can't be read even so.
pub fn parse(message: &str) -> serde_json::Result<ServerJsonRpcMessage> {
    lenient_json::parse(&make_readable(message))
}

/// Returns a message in the form that rmcp reads.
pub fn make_readable(message: &str) -> Cow<'_, str> {
    let message = message.trim_start_matches('\u{feff}');
    let (message, parsed) = match serde_json::from_str(message) {
        Ok(parsed) => (Cow::Borrowed(message), parsed),
        Err(_) => match mend(message) {
            Some((mended, parsed)) => (Cow::Owned(mended), parsed),
            None => return message.into(),
        },
    };
    let Value::Object(mut fields) = parsed else {
        return message;
    };
    let has_error = fields.get("error").is_some_and(Value::is_object);
    // Some servers send it beside an error.
    let has_null = has_error && fields.get("result").is_some_and(Value::is_null);
    if has_null {
        fields.remove("result");
    }
    let is_rewritten = match fields.get_mut("result") {
        Some(Value::Object(result)) => rewrite_result(result),
        Some(_) => false,
        None => rewrite_error(&mut fields),
    };
    if is_rewritten || has_null {
        Value::Object(fields).to_string().into()
    } else {
        message
    }
}

/// Mends a message that is not valid JSON, and parses it.
fn mend(message: &str) -> Option<(String, Value)> {
    let mended = lenient_json::mend(message, Halves::Replace)?.text;
    let parsed = serde_json::from_str(&mended).ok()?;
    Some((mended.into_owned(), parsed))
}

/// Rewrites a result. Returns `false` if it is of another kind.
fn rewrite_result(result: &mut Map<String, Value>) -> bool {
    if result.contains_key("tools") {
        tools::rewrite_list(result);
    } else if introduction::is_introduction(result) {
        introduction::rewrite(result);
    } else if let Some(contents) = result.get_mut("contents") {
        content::rewrite_contents(contents);
        result.retain(|field, _| field == "contents");
    } else if result.contains_key("task") || result.contains_key("inputRequests") {
        return false;
    } else if result.contains_key("content") || result.contains_key("structuredContent") {
        content::rewrite_call_result(result);
    } else {
        return false;
    }
    true
}

/// Rewrites an error whose parts are not of their types. Returns `false` if it can be read as it is.
fn rewrite_error(fields: &mut Map<String, Value>) -> bool {
    let Some(error) = fields.get_mut("error").filter(|error| !error.is_null()) else {
        return false;
    };
    let code = error.get("code").and_then(Value::as_i64);
    let code = code.and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str);
    if code.is_some() && message.is_some() {
        return false;
    }
    let message = message.map_or_else(|| quoted(error), str::to_owned);
    *error = json!({ "code": code.unwrap_or(ErrorCode::INTERNAL_ERROR.0), "message": message });
    true
}

/// Returns a value as a text of limited length: a text as it is, anything else as JSON.
fn quoted(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => parlor_base::text::truncate_bytes(&other.to_string(), MAX_QUOTED_BYTES),
    }
}

#[cfg(test)]
mod tests;
