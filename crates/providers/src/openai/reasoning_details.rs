//! Reasoning that is sent back to the server: lists whose entries arrive in fragments.

use serde_json::{Map, Value};

use super::PROVIDER_KIND;
use parlor_model::{ModelEvent, ProviderDataTarget, UnreadableContent};
use parlor_protocol::{ProviderData, RawJson};

/// The maximum number of bytes held of one list.
const MAX_LIST_BYTES: usize = 4 << 20;

/// Fields whose fragments are joined. For any other field the last non-empty value is kept.
const JOINED_FIELDS: [&str; 3] = ["text", "summary", "thinking"];

/// A list, such as OpenRouter's `reasoning_details`.
#[derive(Debug)]
pub struct DetailList {
    field: &'static str,
    entries: Vec<DetailEntry>,
    bytes: usize,
}

#[derive(Debug)]
struct DetailEntry {
    /// The raw entry, if it arrived whole.
    raw: Option<RawJson>,
    fields: Map<String, Value>,
}

impl DetailList {
    pub fn new(field: &'static str) -> Self {
        Self {
            field,
            entries: Vec::new(),
            bytes: 0,
        }
    }

    /// Adds the next part of the list.
    pub fn push(&mut self, list: &RawJson) {
        self.bytes += list.as_str().len();
        if self.bytes > MAX_LIST_BYTES {
            self.entries.clear();
            return;
        }
        for raw in serde_json::from_str::<Vec<RawJson>>(list.as_str()).unwrap_or_default() {
            let Ok(fields) = serde_json::from_str::<Map<String, Value>>(raw.as_str()) else {
                continue;
            };
            match self
                .entries
                .last_mut()
                .filter(|last| last.continues_with(&fields))
            {
                Some(last) => last.join(fields),
                None => self.entries.push(DetailEntry {
                    raw: Some(raw),
                    fields,
                }),
            }
        }
    }

    /// Returns the whole list as an event when the answer is complete.
    pub fn take_event(&mut self) -> Option<ModelEvent> {
        if self.bytes > MAX_LIST_BYTES {
            let what = format!("{}: {} bytes, more than is kept", self.field, self.bytes);
            return Some(ModelEvent::Unreadable {
                what: UnreadableContent::TooLarge(what),
                raw: String::new(),
            });
        }
        if self.entries.is_empty() {
            return None;
        }
        let entries: Vec<String> = self.entries.drain(..).map(DetailEntry::into_json_text).collect();
        let data = ProviderData {
            kind: PROVIDER_KIND.into(),
            field: self.field.into(),
            value: RawJson::parse_or_quote(&format!("[{}]", entries.join(","))),
        };
        Some(ModelEvent::ProviderData {
            target: ProviderDataTarget::Answer,
            data,
        })
    }
}

impl DetailEntry {
    /// Returns true if `next` is another fragment of the same entry: text of the same kind, before the
    /// signature.
    fn continues_with(&self, next: &Map<String, Value>) -> bool {
        let same = |name: &str| match (self.fields.get(name), next.get(name)) {
            (None | Some(Value::Null), _) | (_, None | Some(Value::Null)) => true,
            (one, other) => one == other,
        };
        let has_words =
            |fields: &Map<String, Value>| JOINED_FIELDS.iter().any(|name| fields.contains_key(*name));
        let signature = self.fields.get("signature").and_then(Value::as_str);
        has_words(&self.fields)
            && has_words(next)
            && self.fields.get("type") == next.get("type")
            && ["index", "id"].into_iter().all(same)
            && signature.is_none_or(str::is_empty)
    }

    fn join(&mut self, next: Map<String, Value>) {
        self.raw = None;
        for (name, value) in next {
            match (self.fields.get_mut(&name), value) {
                (_, Value::Null) => {}
                (Some(Value::String(text)), Value::String(more)) if JOINED_FIELDS.contains(&&*name) => {
                    text.push_str(&more);
                }
                (_, value) => {
                    self.fields.insert(name, value);
                }
            }
        }
    }

    fn into_json_text(self) -> String {
        let joined = || Value::Object(self.fields).to_string();
        self.raw.map_or_else(joined, |raw| raw.as_str().into())
    }
}
