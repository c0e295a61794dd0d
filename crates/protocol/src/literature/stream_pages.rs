//! The pages *Streams* and *Edit stream*: their addresses and their contexts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::StreamForm;
use crate::{PageContext, PageFields, PageInfo, ResearchStreamId};

/// The page that lists all streams.
pub static STREAMS_PAGE: PageInfo = PageInfo {
    name: "streams",
    path: "/streams",
    title: "Streams",
    has_tray: true,
};

/// The page on which a stream is edited.
pub static EDIT_STREAM_PAGE: PageInfo = PageInfo {
    name: "edit_stream",
    path: "/stream",
    title: "Edit stream",
    has_tray: true,
};

/// The last part of the address of a new stream.
const NEW: &str = "new";

/// An address of the page *Edit stream*.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EditStreamLocation {
    /// The open stream; `None` for a new one.
    pub stream_id: Option<ResearchStreamId>,
}

impl EditStreamLocation {
    /// Parses a URL. Returns `None` if it is not on this page.
    pub fn parse(url: &str) -> Option<Self> {
        let path = url.split(['?', '#']).next().unwrap_or_default();
        let id = path.strip_prefix(EDIT_STREAM_PAGE.path)?.strip_prefix('/')?;
        let stream_id = match id.trim_end_matches('/') {
            NEW => None,
            id => Some(id.parse().ok()?),
        };
        Some(Self { stream_id })
    }

    /// The address as a URL.
    pub fn to_url(self) -> String {
        let id = self.stream_id.map(|id| id.to_string());
        [EDIT_STREAM_PAGE.path, "/", id.as_deref().unwrap_or(NEW)].concat()
    }
}

/// The context of the page *Streams*: nothing is open there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StreamsFields {}

impl PageFields for StreamsFields {
    const PAGE: &'static str = STREAMS_PAGE.name;
}

/// The context of the page *Edit stream*.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EditStreamFields {
    /// The stream that is edited; missing for a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stream_id: Option<ResearchStreamId>,
    /// The stream as it stands on the screen, with changes that are not saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft: Option<StreamForm>,
    /// The parts of the draft that were left out, since the context would be too large.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
}

impl PageFields for EditStreamFields {
    const PAGE: &'static str = EDIT_STREAM_PAGE.name;
}

impl EditStreamFields {
    /// Leaves out the largest parts of the draft, until the context has at most `max_bytes`.
    #[must_use]
    pub fn fitted(mut self, max_bytes: usize) -> Self {
        let too_large = |fields: &Self| {
            let context = PageContext::with_fields(None, fields);
            serde_json::to_vec(&context).is_ok_and(|json| json.len() > max_bytes)
        };
        while too_large(&self) {
            let Some(form) = &mut self.draft else { break };
            let Some(omitted) = form.remove_largest() else {
                break;
            };
            self.omitted.push(omitted.into());
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::literature::{Category, StreamDraft};

    #[test]
    fn addresses_round_trip() {
        for stream_id in [None, Some(ResearchStreamId::new())] {
            let location = EditStreamLocation { stream_id };
            assert_eq!(EditStreamLocation::parse(&location.to_url()), Some(location));
        }
        for elsewhere in ["/stream", "/stream/x", "/streams/new", "/", "/stream/new/x"] {
            assert_eq!(EditStreamLocation::parse(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn omits_the_largest_parts_by_name() {
        let form = StreamForm {
            stream: StreamDraft {
                name: "Tides".into(),
                instructions: "x".repeat(3000),
                purpose: "y".repeat(300),
                ..StreamDraft::default()
            },
            categories: crate::draft::DraftList(vec![Category {
                name: "Trials".into(),
                description: "z".repeat(2000),
            }]),
            ..StreamForm::default()
        };
        let fields = EditStreamFields {
            draft: Some(form),
            ..EditStreamFields::default()
        };
        assert_eq!(fields.clone().fitted(10_000), fields);
        let fitted = fields.fitted(1000);
        assert_eq!(fitted.omitted, ["instructions", "categories"]);
        let draft = fitted.draft.unwrap();
        assert_eq!(
            (draft.stream.name.as_str(), draft.stream.purpose.len()),
            ("Tides", 300)
        );
        assert!(draft.stream.instructions.is_empty() && draft.categories.is_empty());
    }
}
