//! The log as JSON: an object a line, with the ids of the request, the user and the run that a line belongs to.

use std::fmt;

use serde_json::{Map, Value, json};
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id, Record},
};
use tracing_subscriber::{
    Layer,
    fmt::{
        format::Writer,
        time::{FormatTime, SystemTime},
    },
    layer::Context,
    registry::LookupSpan,
};

/// Writes events as JSON. `redact` removes secrets from each text, before it is escaped.
pub struct JsonLog<R, W> {
    redact: R,
    /// Takes a line without its end.
    write: W,
}

/// The fields of a span or an event.
#[derive(Default)]
struct Fields(Map<String, Value>);

impl<R: Fn(&str) -> String, W: Fn(&str)> JsonLog<R, W> {
    pub fn new(redact: R, write: W) -> Self {
        Self { redact, write }
    }

    fn redacted(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String((self.redact)(&text)),
            // A secret may be a number.
            Value::Number(number) => {
                let text = number.to_string();
                let redacted = (self.redact)(&text);
                if redacted == text {
                    Value::Number(number)
                } else {
                    Value::String(redacted)
                }
            }
            value => value,
        }
    }
}

impl<S, R, W> Layer<S> for JsonLog<R, W>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    R: Fn(&str) -> String + 'static,
    W: Fn(&str) + 'static,
{
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_event(&self, event: &Event<'_>, context: Context<'_, S>) {
        let mut line = Map::new();
        // The ids; those of an inner span win.
        for span in context
            .event_scope(event)
            .into_iter()
            .flat_map(|scope| scope.from_root())
        {
            if let Some(fields) = span.extensions().get::<Fields>() {
                line.extend(fields.0.clone());
            }
        }
        for value in line.values_mut() {
            *value = self.redacted(value.take());
        }
        let mut fields = Fields::default();
        event.record(&mut fields);
        let message = fields.0.remove("message").unwrap_or_else(|| json!(""));
        let fields = fields
            .0
            .into_iter()
            .map(|(name, value)| (name, self.redacted(value)));
        let metadata = event.metadata();
        line.insert("time".into(), json!(now()));
        line.insert("level".into(), json!(metadata.level().as_str()));
        line.insert("target".into(), json!(metadata.target()));
        line.insert("message".into(), self.redacted(message));
        line.insert("fields".into(), Value::Object(fields.collect()));
        (self.write)(&Value::Object(line).to_string());
    }
}

fn now() -> String {
    let mut time = String::new();
    // Writing to a text does not fail.
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    time
}

impl Fields {
    fn insert(&mut self, field: &Field, value: impl Into<Value>) {
        self.0.insert(field.name().to_owned(), value.into());
    }
}

impl Visit for Fields {
    fn record_f64(&mut self, field: &Field, value: f64) {
        self.insert(field, value);
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.insert(field, value);
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.insert(field, value);
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.insert(field, value);
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.insert(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.insert(field, format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing_subscriber::layer::SubscriberExt;

    use super::*;

    fn logged(log: impl FnOnce()) -> Vec<Value> {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let written = lines.clone();
        let layer = JsonLog::new(
            |text: &str| text.replace("n7\"42", "•••").replace("7742", "•••"),
            move |line: &str| written.lock().push(line.to_owned()),
        );
        tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), log);
        let lines = lines.lock();
        let parsed = lines.iter().map(|line| serde_json::from_str(line));
        parsed.collect::<Result<_, _>>().expect("each line is JSON")
    }

    #[test]
    fn a_line_has_the_ids_of_its_spans() {
        let lines = logged(|| {
            let request = tracing::error_span!("request", request_id = "r", user_id = tracing::field::Empty);
            request.record("user_id", tracing::field::display("u"));
            let _request = request.enter();
            let _run = tracing::error_span!("run", run_id = %"a", user_id = %"v").entered();
            tracing::warn!(count = 3, error = %"two\nlines", is_known = true, "half {}", "done");
        });
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert!(line["time"].as_str().unwrap().ends_with('Z'), "{line}");
        let mut line = line.clone();
        line.as_object_mut().unwrap().remove("time");
        let expected = json!({
            "level": "WARN", "target": module_path!(), "message": "half done",
            "fields": { "count": 3, "error": "two\nlines", "is_known": true },
            "request_id": "r", "run_id": "a", "user_id": "v",
        });
        assert_eq!(line, expected);
    }

    /// A secret that is removed from a line as it is written could take a part of an escaped character with it.
    #[test]
    fn secrets_are_removed_before_escaping() {
        let lines = logged(|| {
            let _run = tracing::error_span!("run", run_id = "n7\"42").entered();
            tracing::error!(key = "\n7\"42 n7\"42", pin = 7742, "the key is n7\"42");
        });
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!(line["message"], "the key is •••");
        assert_eq!(line["fields"], json!({ "key": "\n7\"42 •••", "pin": "•••" }));
        assert_eq!(line["run_id"], "•••");
    }
}
