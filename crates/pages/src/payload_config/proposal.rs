//! Proposals for [drafts](mod@parlor_protocol::draft): all that the server knows of them follows from their types.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{PayloadConfig, ProposalReader};
use parlor_protocol::draft::{Draft, Proposal, ProposedChanges};
use parlor_tools::schema;

/// The field of a stored proposal with the texts that its fields had when it was made, by their names.
pub const BASE_FIELD: &str = "base";

/// The payload that the model writes for a proposal.
pub const fn proposal<P: Proposal>() -> PayloadConfig {
    PayloadConfig {
        payload_type: P::KIND.payload_type,
        marker: P::KIND.marker,
        instructions: instructions::<P>,
        progress_text: P::KIND.progress_text,
        parse: |data| read::<P>(data).map(|_| data.clone()),
        schema: schema::for_type::<P>,
        revise: None,
        to_model_input: without_base,
        is_corrected: true,
        base: Some(base::<P>),
        proposal: Some(ProposalReader {
            draft: <P::Draft as Draft>::NAME,
            read: read::<P>,
        }),
    }
}

fn instructions<P: Proposal>() -> String {
    let kind = P::KIND;
    format!(
        "{}, which the person may accept or reject, also in part; leave out what stays:\n{} {}",
        kind.about, kind.marker, kind.example
    )
}

/// Reads a proposal as the model wrote it, or as it is stored.
///
/// # Errors
///
/// A sentence for the model.
pub fn read<P: Proposal>(data: &Value) -> Result<ProposedChanges, String> {
    let proposal = P::deserialize(&without_base(data)).map_err(|error| error.to_string())?;
    let changes = proposal.into_changes();
    changes.check().map(|()| changes)
}

/// Returns the texts of the fields that a proposal changes, as they are in the drafts of a page, by the names of the drafts. Empty
/// if the page does not have the draft.
fn base<P: Proposal>(data: &Value, drafts: &Value) -> Option<Value> {
    let draft = drafts.get(<P::Draft as Draft>::NAME)?;
    let draft = P::Draft::deserialize(draft).ok()?;
    let changes = read::<P>(data).ok()?;
    let texts = changes.fields.into_iter().map(|field| {
        let text = draft.text(&field.name).unwrap_or_default();
        (field.name, Value::String(text))
    });
    Some(Value::Object(texts.collect::<Map<_, _>>()))
}

/// Returns the data as the model wrote them.
fn without_base(data: &Value) -> Value {
    let mut data = data.clone();
    if let Some(fields) = data.as_object_mut() {
        fields.remove(BASE_FIELD);
    }
    data
}
