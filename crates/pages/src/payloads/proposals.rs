//! Proposals for drafts: their changes, field by field.

use std::collections::BTreeMap;

use parking_lot::RwLock;
use serde_json::Value;

use crate::payload_config::{BASE_FIELD, PayloadConfig, ProposalReader};
use parlor_protocol::panel::{PanelBody, ProposalView, ProposedField};

/// The readers of all kinds, by payload type: those of every page that a server has. They are the same for all servers of a
/// process.
static READERS: RwLock<BTreeMap<&'static str, ProposalReader>> = RwLock::new(BTreeMap::new());

/// Makes the proposals of a page readable.
pub fn add(config: &PayloadConfig) {
    if let Some(reader) = config.proposal {
        READERS.write().insert(config.payload_type, reader);
    }
}

/// Reads a proposal; `None` for other types, and for data that do not fit.
pub(super) fn read(kind: &str, data: &Value) -> Option<PanelBody> {
    let known = READERS.read().get(kind).copied()?;
    let changes = (known.read)(data).ok()?;
    let base = data.get(BASE_FIELD);
    let fields = changes.fields.into_iter().map(|change| {
        let before = base.and_then(|base| base.get(&change.name)?.as_str());
        ProposedField {
            base: before.map(str::to_owned),
            change,
        }
    });
    Some(PanelBody::Proposal(ProposalView {
        kind: kind.into(),
        draft: known.draft.into(),
        fields: fields.collect(),
        explanation: changes.explanation.filter(|text| !text.trim().is_empty()),
    }))
}

/// Makes all proposals of Parlor's own pages readable, without the pages.
#[cfg(test)]
pub fn add_built_in() {
    use crate::payload_config::proposal;
    use parlor_protocol::literature::{
        AiColumnSuggestion, PresentationCategories, QueryProposal, SchemaProposal, StreamSuggestions,
    };

    add(&proposal::<AiColumnSuggestion>());
    add(&proposal::<PresentationCategories>());
    add(&proposal::<QueryProposal>());
    add(&proposal::<SchemaProposal>());
    add(&proposal::<StreamSuggestions>());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(kind: &str, data: &Value) -> Vec<(String, String, Option<String>)> {
        add_built_in();
        let Some(PanelBody::Proposal(view)) = read(kind, data) else {
            panic!("{data}")
        };
        let fields = view.fields.into_iter();
        fields
            .map(|field| (field.change.name, field.change.text, field.base))
            .collect()
    }

    #[test]
    fn stored_base_is_the_text_before() {
        let data = json!({"query": "tides[ti]", "name": "Tides", "base": {"query": "tides", "other": "x"}});
        assert_eq!(
            fields("stream_suggestions", &data),
            [
                ("name".into(), "Tides".into(), None),
                ("query".into(), "tides[ti]".into(), Some("tides".into())),
            ]
        );
    }

    #[test]
    fn queries_of_earlier_versions_are_read() {
        let data = json!({"query": " asthma[mesh]\nAND 2024[pdat] ", "explanation": " ", "more": 1});
        let query = "asthma[mesh]\nAND 2024[pdat]";
        assert_eq!(
            fields("query_suggestion", &data),
            [("query".into(), query.into(), None)]
        );
        assert_eq!(read("query_suggestion", &json!({"query": " "})), None);
    }
}
