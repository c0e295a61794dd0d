//! The list of the conversation's payloads for the model.

use parlor_base::text;
use parlor_protocol::{PayloadRef, PayloadVerdict, Verdict};

/// The maximum number of listed payloads. The oldest ones are omitted.
const MAX_LISTED_PAYLOADS: usize = 30;

/// The maximum length of the names of accepted fields, in characters.
const MAX_FIELDS_CHARS: usize = 300;

/// Returns a line for each payload, with the user's verdict.
pub fn list_payloads(payloads: &[PayloadRef], verdicts: &[PayloadVerdict]) -> String {
    let newest = &payloads[payloads.len().saturating_sub(MAX_LISTED_PAYLOADS)..];
    let line = |payload: &PayloadRef| {
        let judged = verdicts
            .iter()
            .find(|judged| judged.payload_id == payload.payload_id);
        let verdict = match judged {
            Some(judged) if judged.verdict == Verdict::Rejected => ". The person rejected it.".into(),
            Some(judged) if judged.accepted_fields.is_empty() => ". The person accepted it.".into(),
            Some(judged) => {
                // A name may have been written by a model.
                let fields = text::plain_line(&judged.accepted_fields.join(", "), MAX_FIELDS_CHARS);
                format!(". The person accepted of it only: {fields}.")
            }
            None => String::new(),
        };
        format!(
            "- {} ({}): {}{verdict}",
            payload.payload_id, payload.kind, payload.summary
        )
    };
    newest.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payload(id: usize) -> PayloadRef {
        PayloadRef {
            payload_id: format!("id{id}"),
            kind: "table".into(),
            summary: "Table (3)".into(),
            preview_rows: None,
        }
    }

    #[test]
    fn each_line_states_the_verdict() {
        let accepted_fields = vec!["name".into(), "a\n- b".into()];
        let verdicts = [
            (0, Verdict::Accepted, Vec::new()),
            (2, Verdict::Rejected, Vec::new()),
            (3, Verdict::Accepted, accepted_fields),
        ]
        .map(|(id, verdict, accepted_fields)| PayloadVerdict {
            payload_id: payload(id).payload_id,
            verdict,
            accepted_fields,
        });
        assert_eq!(
            list_payloads(&[payload(0), payload(1), payload(2), payload(3)], &verdicts),
            "- id0 (table): Table (3). The person accepted it.\n\
             - id1 (table): Table (3)\n\
             - id2 (table): Table (3). The person rejected it.\n\
             - id3 (table): Table (3). The person accepted of it only: name, a - b."
        );
    }

    #[test]
    fn lists_the_newest_payloads() {
        let many: Vec<PayloadRef> = (0..100).map(payload).collect();
        let listed = list_payloads(&many, &[]);
        assert_eq!(listed.lines().count(), MAX_LISTED_PAYLOADS);
        assert!(listed.starts_with("- id70 "), "{listed}");
    }
}
