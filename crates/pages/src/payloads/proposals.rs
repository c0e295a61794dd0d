//! Proposals for drafts: their changes, field by field.

use serde_json::Value;

use crate::payload_config::{BASE_FIELD, ProposalReader};
use parlor_protocol::panel::{PanelBody, ProposalView, ProposedField};

/// Reads a proposal of a type; `None` for data that do not fit.
pub(super) fn read(reader: &ProposalReader, kind: &str, data: &Value) -> Option<PanelBody> {
    let changes = (reader.read)(data).ok()?;
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
        draft: reader.draft.into(),
        fields: fields.collect(),
        explanation: changes.explanation.filter(|text| !text.trim().is_empty()),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::payloads::PayloadViews;

    fn fields(kind: &str, data: &Value) -> Vec<(String, String, Option<String>)> {
        let Some(PanelBody::Proposal(view)) = PayloadViews::built_in().read(kind, data) else {
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
        assert_eq!(
            PayloadViews::built_in().read("query_suggestion", &json!({"query": " "})),
            None
        );
    }
}
