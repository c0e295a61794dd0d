//! Views of payloads: converts the data of a tool or a model to a form that the panel can draw.
//!
//! Each type has one function, in one file. It accepts data that fit the type and limits their size. Other
//! data and unknown types are shown as a [`tree`]. Nothing is stored or drawn here. The proposals of a page are among its payloads, so
//! [`PayloadViews`] belong to the registered pages.

mod articles;
mod chart;
mod document;
mod file;
mod formatting;
pub mod links;
mod preview;
mod proposals;
mod search_results;
mod table;
mod tree;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;

pub use self::{
    file::{CSV_MEDIA_TYPE, CSV_START, PayloadFile, csv_lines, file_name, titled_name, to_file},
    preview::to_preview,
    table::{MAX_COLUMNS, shown_row},
};

use crate::{
    literature::{EDIT_STREAM, LITERATURE, STREAMS},
    payload_config::{PayloadConfig, ProposalReader},
};
use parlor_protocol::{
    Payload, PayloadRef,
    panel::{PanelBody, PanelView},
};

/// Reads data of a type; `None` if they do not fit.
type ReadPayload = fn(&Value) -> Option<PanelBody>;

/// The known types, besides proposals.
const PAYLOAD_TYPES: [(&str, ReadPayload); 6] = [
    ("chart", chart::read),
    ("pubmed_article", articles::read_article),
    ("pubmed_search_results", articles::read_list),
    ("table", table::read),
    ("text_document", document::read),
    ("web_search_results", search_results::read),
];

/// Returns true if data can be shown as a type that is no proposal.
pub fn is_valid(kind: &str, data: &Value) -> bool {
    let body = PAYLOAD_TYPES.iter().find(|(known, _)| *known == kind);
    body.and_then(|(_, read)| read(data))
        .is_some_and(|body| !matches!(body, PanelBody::Tree(_)))
}

/// The views of all payload types of some pages. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct PayloadViews {
    /// The readers of proposals, by payload type.
    proposals: Arc<BTreeMap<&'static str, ProposalReader>>,
}

impl PayloadViews {
    /// Creates the views of pages with these types.
    pub fn new<'a>(configs: impl IntoIterator<Item = &'a PayloadConfig>) -> Self {
        let proposals = configs
            .into_iter()
            .filter_map(|config| Some((config.payload_type, config.proposal?)));
        Self {
            proposals: Arc::new(proposals.collect()),
        }
    }

    /// Creates those of Parlor's own pages.
    pub fn built_in() -> Self {
        let pages = [&LITERATURE, &STREAMS, &EDIT_STREAM];
        let scopes = pages.into_iter().flat_map(|page| page.scopes());
        Self::new(scopes.flat_map(|scope| scope.payloads.iter().copied()))
    }

    /// Returns the view of a payload. A comparison of long texts may take a second.
    pub fn view(&self, payload: &Payload) -> PanelView {
        let data = payload.data.as_str();
        // Data that are nested too deeply for the parser are shown as text.
        let data: Value = serde_json::from_str(data).unwrap_or_else(|_| data.into());
        PanelView {
            summary: payload.summary.clone(),
            is_proposal: self.is_proposal_data(&payload.kind, &data),
            obstacle: None,
            body: self
                .read(&payload.kind, &data)
                .unwrap_or_else(|| PanelBody::Tree(tree::build(&data))),
        }
    }

    /// Returns the reference to a new payload, with the size of its preview.
    pub fn to_ref(&self, payload: &Payload) -> PayloadRef {
        PayloadRef {
            preview_rows: self.preview_rows(payload),
            ..payload.to_ref()
        }
    }

    /// Returns the names of the fields that a proposal changes; empty for a proposal without fields.
    pub fn proposed_fields(&self, payload: &Payload) -> Vec<String> {
        let data: Value = serde_json::from_str(payload.data.as_str()).unwrap_or_default();
        match self.read_proposal(&payload.kind, &data) {
            Some(PanelBody::Proposal(view)) => {
                view.fields.into_iter().map(|field| field.change.name).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns true if the user can accept or reject a payload.
    pub fn is_proposal(&self, payload: &Payload) -> bool {
        let data: Value = serde_json::from_str(payload.data.as_str()).unwrap_or_default();
        self.is_proposal_data(&payload.kind, &data)
    }

    fn is_proposal_data(&self, kind: &str, data: &Value) -> bool {
        match kind {
            // A new version of another document.
            "text_document" => data["of"].is_string() && document::is_document(data),
            _ => self.read_proposal(kind, data).is_some(),
        }
    }

    fn read(&self, kind: &str, data: &Value) -> Option<PanelBody> {
        match PAYLOAD_TYPES.iter().find(|(known, _)| *known == kind) {
            Some((_, read)) => read(data),
            None => self.read_proposal(kind, data),
        }
    }

    fn read_proposal(&self, kind: &str, data: &Value) -> Option<PanelBody> {
        proposals::read(self.proposals.get(kind)?, kind, data)
    }
}

#[cfg(test)]
mod tests;
