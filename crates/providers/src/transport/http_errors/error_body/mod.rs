//! A server's own description of an error, in whatever form it sends it.

use serde_json::Value;

use parlor_model::lenient_json;

/// The fields of an error's words, the most telling first.
const MESSAGE_FIELDS: [&str; 13] = [
    "message",
    "detail",
    "msg",
    "error_description",
    "error_message",
    "error_msg",
    "errorMessage",
    "Message",
    // MiniMax.
    "status_msg",
    // Apigee.
    "faultstring",
    "description",
    "reason",
    "title",
];

/// The fields that hold the error itself. Tencent's begin with capitals.
const NESTED_FIELDS: [&str; 6] = ["error", "errors", "fault", "base_resp", "Response", "Error"];

/// Fields of an event with the content of an answer.
const CONTENT_FIELDS: [&str; 5] = ["candidates", "delta", "content_block", "response", "item"];

/// The maximum number of errors in a list that are read.
const MAX_LISTED: usize = 10;

/// The length in bytes from which a list's words get no more.
const MAX_LISTED_BYTES: usize = 2000;

/// The maximum nesting that is searched.
const MAX_DEPTH: usize = 8;

/// A server's description of an error. The formats differ: `{"error": {message, type, code}}` (OpenAI),
/// `{"error": {message, code, status}}` (Google, also in a list), `{"error": "…"}` (LM Studio),
/// `{"object": "error", "message": …, "code": …}` (vLLM, Mistral), `{"detail": …}` (FastAPI, also a list of
/// `{loc, msg}`), `{"choices": [{"error": …}]}` (OpenRouter), or no JSON at all.
#[derive(Debug, Default, PartialEq)]
pub struct ServerErrorBody {
    pub message: String,
    /// The `code`, the `type` and the `status`, if present, in lower case.
    pub code: String,
}

impl ServerErrorBody {
    pub fn from_body(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match lenient_json::parse::<Value>(event_data(&text)) {
            Ok(json) => Self::from_json(&json),
            Err(_) => Self {
                message: match text.trim_start().starts_with('<') {
                    true => xml_message(&text).unwrap_or_default().to_owned(),
                    false => text.into_owned(),
                },
                ..Self::default()
            },
        }
    }

    pub fn from_json(json: &Value) -> Self {
        Self::read(json, 0).unwrap_or_else(|| Self {
            message: json.to_string(),
            ..Self::default()
        })
    }

    /// Reads a description; `None` if it has no words.
    fn read(json: &Value, depth: usize) -> Option<Self> {
        if depth > MAX_DEPTH {
            return None;
        }
        match json {
            Value::String(text) => Some(Self {
                // Some proxies send the JSON of an error as its message.
                message: match serde_json::from_str(text) {
                    Ok(inner @ (Value::Object(_) | Value::Array(_))) => {
                        Self::read(&inner, depth + 1).map_or_else(|| text.clone(), |inner| inner.message)
                    }
                    _ => text.clone(),
                },
                ..Self::default()
            }),
            Value::Array(entries) => Self::read_list(entries, depth),
            Value::Object(_) => Self::read_object(json, depth),
            _ => None,
        }
    }

    fn read_list(entries: &[Value], depth: usize) -> Option<Self> {
        let read = entries.iter().filter_map(|entry| Self::read(entry, depth + 1));
        let mut read = read.take(MAX_LISTED);
        let mut first = read.next()?;
        for more in read {
            if first.message.len() >= MAX_LISTED_BYTES {
                break;
            }
            if !more.message.is_empty() && !first.message.contains(&more.message) {
                first.message = format!("{}; {}", first.message, more.message);
            }
        }
        Some(first)
    }

    fn read_object(json: &Value, depth: usize) -> Option<Self> {
        let text = |key: &str| match json.get(key) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(other) => Some(other.to_string()),
        };
        let code = [text("code"), text("type"), text("status")];
        let code = code.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let is_there = |value: &&Value| !matches!(value, Value::Null | Value::Bool(_) | Value::Number(_));
        let field = |names: &[&str]| {
            let values = names.iter().filter_map(|name| json.get(name).filter(is_there));
            let read: Vec<Self> = values.filter_map(|value| Self::read(value, depth + 1)).collect();
            let telling = read.iter().position(|read| !read.message.is_empty());
            read.into_iter().nth(telling.unwrap_or(0))
        };
        let nested = field(&NESTED_FIELDS).or_else(|| {
            let choices = json.get("choices")?.as_array()?;
            choices
                .iter()
                .find_map(|choice| Self::read(choice.get("error").filter(is_there)?, depth + 1))
        });
        let own = field(&MESSAGE_FIELDS);
        // The words beside a mere `"error": "Bad Request"` tell more.
        let is_status = json.get("error").is_some_and(Value::is_string);
        let mut found = match (nested, own) {
            (Some(nested), Some(own)) if !nested.message.contains(' ') => Self {
                code: nested.message,
                message: own.message,
            },
            (Some(nested), Some(own)) if is_status && !own.message.is_empty() => Self {
                message: joined(&nested.message, &own.message),
                ..nested
            },
            // .NET: a title, and the errors of each field.
            (None, Some(own)) => match json.get("errors").and_then(field_errors) {
                Some(errors) => Self {
                    message: joined(&own.message, &errors),
                    ..own
                },
                None => own,
            },
            (nested, _) => nested?,
        };
        // FastAPI: the place of the fault.
        if let Some(place) = json.get("loc").and_then(Value::as_array) {
            let steps = place
                .iter()
                .map(|step| step.as_str().map_or(step.to_string(), str::to_owned));
            let place = steps.collect::<Vec<_>>().join(".");
            found.message = format!("{place}: {}", found.message);
        }
        // OpenRouter: the words of the provider behind it.
        let raw = json.pointer("/metadata/raw").filter(is_there);
        if let Some(raw) = raw.and_then(|raw| Self::read(raw, depth + 1))
            && !found.message.contains(&raw.message)
        {
            found.message = format!("{}: {}", found.message.trim_end_matches('.'), raw.message);
        }
        found.code = format!("{} {code}", found.code).trim().to_lowercase();
        Some(found)
    }

    pub fn contains_any(&self, words: &[&str]) -> bool {
        let message = self.message.to_lowercase();
        words
            .iter()
            .any(|word| message.contains(word) || self.code.contains(word))
    }

    pub fn is_unknown_model(&self) -> bool {
        const CODES: [&str; 3] = ["model_not_found", "invalid_model", "model_not_exist"];
        const WORDS: [&str; 7] = [
            "not found",
            "not exist",
            "invalid model",
            "not a valid model",
            "unknown model",
            "no such model",
            "no model",
        ];
        CODES.iter().any(|code| self.code.contains(code))
            // Anthropic: "model: claude-1".
            || (self.code.contains("not_found_error") && self.message.starts_with("model:"))
            || (self.message.to_lowercase().contains("model") && self.contains_any(&WORDS))
    }

    pub fn is_context_overflow(&self) -> bool {
        self.contains_any(&[
            "context_length_exceeded",
            "exceed_context_size",
            "maximum context length",
            "context window",
            "available context size",
            // Anthropic.
            "prompt is too long",
            // Google.
            "exceeds the maximum number of tokens",
        ])
    }
}

/// Returns two messages as one, unless one of them has the other.
fn joined(first: &str, second: &str) -> String {
    match (first.contains(second), second.contains(first)) {
        (true, _) => first.to_owned(),
        (false, true) => second.to_owned(),
        (false, false) => format!("{}: {second}", first.trim_end_matches('.')),
    }
}

/// Returns the errors of fields in words: `{"Model": ["The Model field is required."]}`.
fn field_errors(errors: &Value) -> Option<String> {
    let of_field = |(name, value): (&String, &Value)| {
        let found = ServerErrorBody::read(value, MAX_DEPTH - 1)?;
        Some(format!("{name}: {}", found.message))
    };
    let errors: Vec<String> = errors
        .as_object()?
        .iter()
        .filter_map(of_field)
        .take(MAX_LISTED)
        .collect();
    (!errors.is_empty()).then(|| errors.join("; "))
}

/// Returns the words of an error in XML: `<Error><Code>…</Code><Message>…</Message></Error>`. A proxy's HTML page says less than
/// the status.
fn xml_message(text: &str) -> Option<&str> {
    let begin = ["<Message>", "<message>"].iter().find_map(|tag| {
        let at = text.find(tag)?;
        Some(at + tag.len())
    })?;
    let rest = &text[begin..];
    Some(rest[..rest.find("</")?].trim())
}

/// Returns the JSON of an event, if a body is a stream of one; otherwise the text itself.
fn event_data(text: &str) -> &str {
    let is_stream = ["data:", "event:"]
        .iter()
        .any(|name| text.trim_start().starts_with(name));
    let mut lines = text.lines().filter(|_| is_stream);
    lines.find_map(|line| line.strip_prefix("data:")).unwrap_or(text)
}

/// Returns the error that an event or a whole answer consists of, if it has no content of an answer.
pub fn find_error(json: Value) -> Option<Value> {
    is_error(&json).then_some(json)
}

fn is_error(json: &Value) -> bool {
    let is_there = |value: &Value| match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(entries) => !entries.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => true,
    };
    let has = |value: &Value, name: &str| value.get(name).is_some_and(is_there);
    let says = |name: &str, word: &str| json.get(name).is_some_and(|value| value == word);
    if let Value::Array(entries) = json {
        return entries.iter().any(is_error);
    }
    let kind = json.get("type").and_then(Value::as_str).unwrap_or_default();
    if kind.starts_with("response.") || CONTENT_FIELDS.iter().any(|name| has(json, name)) {
        return false;
    }
    let choices = json
        .get("choices")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    if choices.clone().next().is_some() {
        return choices.into_iter().any(|choice| has(choice, "error")) || has(json, "error");
    }
    let has_words = MESSAGE_FIELDS.iter().any(|name| has(json, name));
    let is_failed_status = || {
        let status = json.pointer("/base_resp/status_code").and_then(Value::as_i64);
        status.is_some_and(|status| status != 0)
    };
    let is_failure = || {
        let code = json.get("code").or_else(|| json.get("status"));
        let is_code = code.is_some_and(|code| code.as_i64().map_or(code.is_string(), |code| code >= 400));
        has_words && (is_code || says("success", "false") || json.get("success") == Some(&Value::Bool(false)))
    };
    ["error", "errors", "fault"].iter().any(|name| has(json, name))
        || says("object", "error")
        || says("type", "error")
        || has(json, "detail")
        || is_failed_status()
        || is_failure()
}

#[cfg(test)]
mod tests;
