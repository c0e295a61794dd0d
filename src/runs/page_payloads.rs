//! The payloads of a run: the types and actions of its page, and the payloads made before, which
//! the model is given again and can make new versions of.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::{
    agent::PayloadFactory,
    control::Marker,
    pages::{actions::ClientAction, payload_config::PayloadConfig},
    protocol::{AssistantMessage, Message, Part, Payload, ToolCall, ToolStatus},
    storage::{RunKey, Storage, StorageError},
    tools::NewPayload,
    web_link,
};

/// Maximum size in bytes of earlier payloads given to the model with their data, newest first.
/// Older ones are only listed.
const MAX_EARLIER_PAYLOAD_BYTES: usize = 128 << 10;
/// Maximum number of earlier payloads given to the model with their data.
const MAX_EARLIER_PAYLOADS: usize = 50;

/// The offer of a page, and the payloads made so far.
#[derive(Debug)]
pub(super) struct PagePayloads {
    pub payloads: Vec<&'static PayloadConfig>,
    pub actions: Vec<&'static ClientAction>,
    /// The types of all pages: payloads of the conversation may come from another one.
    all_types: Vec<&'static PayloadConfig>,
    /// Maximum size of a payload in bytes.
    pub max_payload_bytes: usize,
    /// The payloads that the model has made on this branch.
    created: Mutex<Vec<Payload>>,
    /// The messages that lead to the run.
    history: Arc<[Message]>,
}

impl PagePayloads {
    pub fn new(
        payloads: Vec<&'static PayloadConfig>,
        actions: Vec<&'static ClientAction>,
        all_types: Vec<&'static PayloadConfig>,
        limit: usize,
        created: Vec<Payload>,
        history: Arc<[Message]>,
    ) -> Self {
        Self {
            payloads,
            actions,
            all_types,
            max_payload_bytes: limit,
            created: Mutex::new(created),
            history,
        }
    }

    /// Returns the model's source text of a payload, also on a page with other types. `None` for
    /// older payloads.
    pub fn source_text(&self, payload_id: &str) -> Option<String> {
        let created = self.lock_created();
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
        let created = self.lock_created();
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

    fn lock_created(&self) -> MutexGuard<'_, Vec<Payload>> {
        self.created.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn create_payload(&self, kind: &str, data: Value) -> Result<Payload, String> {
        let data = self.with_versions(kind, data);
        let new = NewPayload {
            kind: kind.into(),
            data,
        };
        let payload = new.into_payload(self.max_payload_bytes)?;
        self.lock_created().push(payload.clone());
        Ok(payload)
    }

    fn supports_action(&self, action: &str) -> bool {
        self.actions.iter().any(|known| known.name == action)
    }

    fn is_earlier_source(&self, url: &str) -> bool {
        let gave = |call: &ToolCall| {
            let output = call.output.as_deref().unwrap_or_default();
            call.status == ToolStatus::Complete && web_link::contains_address(url, output)
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
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        literature::QUERY_SUGGESTION,
        pages::payload_config::COMMON_PAYLOADS,
        protocol::{CitedSource, MessageBody, MessageId, Node, Timestamp},
    };

    fn page_payloads(limit: usize) -> PagePayloads {
        PagePayloads::new(
            COMMON_PAYLOADS.to_vec(),
            Vec::new(),
            COMMON_PAYLOADS.to_vec(),
            limit,
            Vec::new(),
            Arc::new([]),
        )
    }

    fn data(payload: &Payload) -> Value {
        serde_json::from_str(payload.data.as_str()).unwrap()
    }

    #[test]
    fn new_version_includes_earlier_versions() {
        let page_payloads = page_payloads(1000);
        let first = page_payloads
            .create_payload("text_document", json!({"title": "T", "text": "a"}))
            .unwrap();
        let written = json!({"id": first.payload_id, "text": "b"});
        let second = page_payloads.create_payload("text_document", written).unwrap();
        assert_ne!(first.payload_id, second.payload_id);
        assert_eq!(data(&first), json!({"title": "T", "text": "a"}));
        let expected =
            json!({"title": "T", "of": first.payload_id, "versions": [{"text": "a"}, {"text": "b"}]});
        assert_eq!(data(&second), expected);
        let again = format!(
            r#"DOCUMENT: {{"id":"{}","text":"b","title":"T"}}"#,
            first.payload_id
        );
        assert_eq!(page_payloads.source_text(&second.payload_id), Some(again));
    }

    #[test]
    fn finds_payloads_of_another_page() {
        let data = json!({"query": "asthma[mesh]"});
        let proposal = NewPayload {
            kind: "query_suggestion".into(),
            data,
        };
        let proposal = proposal.into_payload(1000).unwrap();
        let id = proposal.payload_id.clone();
        let page_payloads = PagePayloads::new(
            COMMON_PAYLOADS.to_vec(),
            Vec::new(),
            vec![&QUERY_SUGGESTION],
            1000,
            vec![proposal],
            [].into(),
        );
        assert_eq!(
            page_payloads.source_text(&id).as_deref(),
            Some(r#"QUERY_SUGGESTION: {"query":"asthma[mesh]"}"#)
        );
    }

    #[test]
    fn version_of_another_type_is_a_new_document() {
        let page_payloads = page_payloads(1000);
        let table = page_payloads
            .create_payload("table", json!({"columns": ["a"], "rows": []}))
            .unwrap();
        for id in ["unknown1", &table.payload_id] {
            let written = json!({"id": id, "text": "b"});
            let made = page_payloads.create_payload("text_document", written).unwrap();
            assert_eq!(data(&made), json!({"text": "b"}));
        }
    }

    #[test]
    fn oversized_versions_stay_separate() {
        let page_payloads = page_payloads(50);
        let text = "x".repeat(30);
        let first = page_payloads
            .create_payload("text_document", json!({ "text": text }))
            .unwrap();
        let written = json!({"id": first.payload_id, "text": text});
        let second = page_payloads.create_payload("text_document", written).unwrap();
        assert_eq!(data(&second), json!({ "text": text }));
        assert!(
            page_payloads
                .create_payload("text_document", json!({"text": "x".repeat(60)}))
                .is_err()
        );
    }

    #[test]
    fn accepts_addresses_of_earlier_turns() {
        let call = ToolCall {
            output: Some("See https://found.example/page.".into()),
            ..ToolCall::for_test("web_search", ToolStatus::Complete)
        };
        let mut answer = AssistantMessage::new("x/m");
        answer.nodes.push(Node {
            parts: vec![Part::ToolCall(Box::new(call))],
        });
        answer.sources.push(CitedSource {
            number: 1,
            title: String::new(),
            url: "https://cited.example".into(),
        });
        let message = Message {
            id: MessageId::new(),
            parent_id: None,
            created_at: Timestamp(0),
            body: MessageBody::Assistant(answer),
        };
        let page_payloads = PagePayloads::new(
            Vec::new(),
            Vec::new(),
            Vec::new(),
            0,
            Vec::new(),
            Arc::new([message]),
        );
        for (url, given) in [
            ("https://found.example/page", true),
            ("https://cited.example", true),
            ("https://found.example", false),
        ] {
            assert_eq!(page_payloads.is_earlier_source(url), given, "{url}");
        }
    }
}
