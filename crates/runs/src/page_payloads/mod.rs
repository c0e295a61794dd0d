//! The payloads of a run: the types of its page, and the payloads made before, which
//! the model is given again and can make new versions of.

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value;

use crate::agent::PayloadFactory;
use parlor_markup::web_link;
use parlor_model::{Toolbox, control::Marker};
use parlor_pages::{
    payload_config::{BASE_FIELD, PayloadConfig},
    payloads::PayloadViews,
};
use parlor_protocol::{
    AssistantMessage, DRAFTS_FIELD, Message, PageContext, Part, Payload, PayloadRef, ToolCall, ToolStatus,
};
use parlor_storage::{RunKey, Storage, StorageError};
use parlor_tools::NewPayload;

/// Maximum size in bytes of earlier payloads given to the model with their data, newest first.
/// Older ones are only listed.
const MAX_EARLIER_PAYLOAD_BYTES: usize = 128 << 10;
/// Maximum number of earlier payloads given to the model with their data.
const MAX_EARLIER_PAYLOADS: usize = 50;

/// The offer of a page, and the payloads made so far.
#[derive(Debug)]
pub(super) struct PagePayloads {
    pub payloads: Vec<&'static PayloadConfig>,
    views: PayloadViews,
    /// The types of all pages: payloads of the conversation may come from another one.
    all_types: Vec<&'static PayloadConfig>,
    /// Maximum size of a payload in bytes.
    pub max_payload_bytes: usize,
    /// The payloads that the model has made on this branch.
    created: Mutex<Vec<Payload>>,
    /// The messages that lead to the run.
    history: Arc<[Message]>,
    /// The drafts of the page as the user had them on the screen, by their names.
    drafts: Value,
}

impl PagePayloads {
    pub fn new(
        payloads: Vec<&'static PayloadConfig>,
        all_types: Vec<&'static PayloadConfig>,
        limit: usize,
        created: Vec<Payload>,
        history: Arc<[Message]>,
    ) -> Self {
        Self {
            views: PayloadViews::new(all_types.iter().copied()),
            payloads,
            all_types,
            max_payload_bytes: limit,
            created: Mutex::new(created),
            history,
            drafts: Value::Null,
        }
    }

    /// Sets the drafts in the context of the question.
    pub fn with_drafts(mut self, context: Option<&PageContext>) -> Self {
        let mut fields = context.into_iter().flat_map(|context| &context.own_fields);
        let drafts = fields.find(|(name, _)| name == DRAFTS_FIELD);
        self.drafts = drafts
            .and_then(|(_, drafts)| serde_json::from_str(drafts.as_str()).ok())
            .unwrap_or_default();
        self
    }

    /// Returns the model's source text of a payload, also on a page with other types. `None` for
    /// older payloads.
    pub fn source_text(&self, payload_id: &str) -> Option<String> {
        let created = self.created.lock();
        let payload = created.iter().find(|payload| payload.payload_id == payload_id)?;
        let mut types = self.all_types.iter();
        types
            .find(|config| config.payload_type == payload.kind)?
            .render_for_model(payload)
    }

    fn config(&self, kind: &str) -> Option<&'static PayloadConfig> {
        let mut configs = self.payloads.iter();
        configs.find(|config| config.payload_type == kind).copied()
    }

    /// Returns the data of a new payload, merged with those of the earlier payload if it is a new
    /// version of one.
    fn with_versions(&self, kind: &str, mut written: Value) -> Value {
        let Some(revise) = self.config(kind).and_then(|config| config.revise) else {
            return written;
        };
        let id = written.as_object_mut().and_then(|written| written.remove("id"));
        let Some(id) = id.as_ref().and_then(Value::as_str) else {
            return written;
        };
        let created = self.created.lock();
        let earlier = created
            .iter()
            .find(|payload| payload.payload_id == id && payload.kind == kind);
        // A version of an unknown payload stands for itself.
        earlier
            .and_then(|earlier| serde_json::from_str(earlier.data.as_str()).ok())
            .map(|earlier| revise(&written, id, &earlier))
            .filter(|versions| versions.to_string().len() <= self.max_payload_bytes)
            .unwrap_or(written)
    }
}

impl PayloadFactory for PagePayloads {
    fn markers(&self) -> Vec<Marker> {
        self.payloads.iter().map(|config| config.as_marker()).collect()
    }

    fn status_text(&self, kind: &str) -> String {
        self.config(kind)
            .map_or_else(String::new, |config| config.progress_text.into())
    }

    fn create_payload(&self, kind: &str, mut data: Value) -> Result<Payload, String> {
        // Only a query has its rows in a file.
        let base = self
            .config(kind)
            .and_then(|config| (config.base?)(&data, &self.drafts));
        if let Some(fields) = data.as_object_mut() {
            fields.remove("stored");
            fields.remove(BASE_FIELD);
            fields.extend(base.map(|base| (BASE_FIELD.into(), base)));
        }
        let data = self.with_versions(kind, data);
        let new = NewPayload {
            kind: kind.into(),
            data,
        };
        let payload = new.into_payload(self.max_payload_bytes)?;
        self.created.lock().push(payload.clone());
        Ok(payload)
    }

    fn to_ref(&self, payload: &Payload) -> PayloadRef {
        self.views.to_ref(payload)
    }

    fn is_known_url(&self, url: &str, tools: &dyn Toolbox) -> bool {
        let gave = |call: &ToolCall| {
            let output = call.output.as_deref().unwrap_or_default();
            call.status == ToolStatus::Complete
                && tools.finds_sources(&call.tool)
                && web_link::contains_url(url, output)
        };
        let mut answers = self.history.iter().filter_map(Message::assistant);
        answers.any(|answer| {
            answer.tool_calls().any(gave) || answer.sources.iter().any(|source| source.url == url)
        })
    }
}

/// Returns the newest payloads on the branch that leads to an answer, and in the answer.
pub(super) async fn load_earlier_payloads(
    storage: &dyn Storage,
    run: RunKey,
    history: &[Message],
    answer: &AssistantMessage,
) -> Result<Vec<Payload>, StorageError> {
    let answers = history.iter().filter_map(Message::assistant).chain([answer]);
    let parts = answers
        .flat_map(|answer| &answer.nodes)
        .flat_map(|node| &node.parts);
    let mut ids: Vec<&str> = parts
        .filter_map(|part| match part {
            Part::Payload { payload } => Some(payload.payload_id.as_str()),
            _ => None,
        })
        .collect();
    ids.reverse();
    ids.truncate(MAX_EARLIER_PAYLOADS);
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    storage
        .payloads(run.user_id, run.conversation_id, &ids, MAX_EARLIER_PAYLOAD_BYTES)
        .await
}

#[cfg(test)]
mod tests;
