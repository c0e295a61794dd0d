//! Views of payloads: converts the data of a tool or a model to a form that the panel can draw.
//!
//! Each type has one function, in one file. It accepts data that fit the type and limits their size. Other
//! data and unknown types are shown as a [`tree`]. Nothing is stored or drawn here.

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

use serde_json::Value;

pub use self::{
    file::{CSV_MEDIA_TYPE, CSV_START, PayloadFile, csv_lines, file_name, titled_name, to_file},
    preview::{to_preview, to_ref},
    proposals::add as add_proposal,
    table::{MAX_COLUMNS, shown_row},
};

#[cfg(test)]
pub use self::proposals::add_built_in;
use parlor_protocol::{
    Payload,
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

/// Returns true if data can be shown as a type.
pub fn is_valid(kind: &str, data: &Value) -> bool {
    read(kind, data).is_some_and(|body| !matches!(body, PanelBody::Tree(_)))
}

fn read(kind: &str, data: &Value) -> Option<PanelBody> {
    match PAYLOAD_TYPES.iter().find(|(known, _)| *known == kind) {
        Some((_, read)) => read(data),
        None => proposals::read(kind, data),
    }
}

/// Returns the names of the fields that a proposal changes; empty for a proposal without fields.
pub fn proposed_fields(payload: &Payload) -> Vec<String> {
    let data: Value = serde_json::from_str(payload.data.as_str()).unwrap_or_default();
    match proposals::read(&payload.kind, &data) {
        Some(PanelBody::Proposal(view)) => view.fields.into_iter().map(|field| field.change.name).collect(),
        _ => Vec::new(),
    }
}

/// Returns true if the user can accept or reject a payload.
pub fn is_proposal(payload: &Payload) -> bool {
    let data: Value = serde_json::from_str(payload.data.as_str()).unwrap_or_default();
    is_proposal_data(&payload.kind, &data)
}

fn is_proposal_data(kind: &str, data: &Value) -> bool {
    match kind {
        // A new version of another document.
        "text_document" => data["of"].is_string() && document::is_document(data),
        _ => proposals::read(kind, data).is_some(),
    }
}

/// Returns the view of a payload. A comparison of long texts may take a second.
pub fn view(payload: &Payload) -> PanelView {
    let data = payload.data.as_str();
    // Data that are nested too deeply for the parser are shown as text.
    let data: Value = serde_json::from_str(data).unwrap_or_else(|_| data.into());
    PanelView {
        summary: payload.summary.clone(),
        is_proposal: is_proposal_data(&payload.kind, &data),
        obstacle: None,
        body: read(&payload.kind, &data).unwrap_or_else(|| PanelBody::Tree(tree::build(&data))),
    }
}

#[cfg(test)]
mod tests;
