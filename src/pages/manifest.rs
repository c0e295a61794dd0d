//! What was made for the panel so far, as the model is told of it.

use crate::protocol::{Judged, PayloadRef, Verdict};

/// Payloads beyond so many newest ones are not listed.
const MOST: usize = 30;

/// A line for each, with what the person thinks of it.
pub fn manifest(payloads: &[PayloadRef], verdicts: &[Judged]) -> String {
    let newest = &payloads[payloads.len().saturating_sub(MOST)..];
    let line = |payload: &PayloadRef| {
        let judged = verdicts
            .iter()
            .find(|judged| judged.payload_id == payload.payload_id);
        let verdict = match judged.map(|judged| judged.verdict) {
            Some(Verdict::Accepted) => ". The person accepted it.",
            Some(Verdict::Rejected) => ". The person rejected it.",
            None => "",
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
        }
    }

    #[test]
    fn each_has_a_line_with_what_the_person_did() {
        let verdicts = [(0, Verdict::Accepted), (2, Verdict::Rejected)].map(|(id, verdict)| Judged {
            payload_id: payload(id).payload_id,
            verdict,
        });
        assert_eq!(
            manifest(&[payload(0), payload(1), payload(2)], &verdicts),
            "- id0 (table): Table (3). The person accepted it.\n\
             - id1 (table): Table (3)\n\
             - id2 (table): Table (3). The person rejected it."
        );
    }

    #[test]
    fn the_newest_of_many_are_listed() {
        let many: Vec<PayloadRef> = (0..100).map(payload).collect();
        let listed = manifest(&many, &[]);
        assert_eq!(listed.lines().count(), MOST);
        assert!(listed.starts_with("- id70 "), "{listed}");
    }
}
