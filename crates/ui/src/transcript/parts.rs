//! Answers with very many parts are shown in pieces, as long texts are (`ui::markdown`): the first at once, each
//! further one when a user asks for it.
//!
//! The end of a piece depends on the parts alone, so that the server and the browser agree. Parts that stream to this
//! browser are shown as they arrive, and so is a tool call that a user has to approve.

use crate::state::{PartKind, PartRow};
use parlor_protocol::MessageId;

/// The cost of a piece: the bytes of its texts, plus a fixed cost per part.
const MAX_COST: usize = 768 << 10;
const PART_COST: usize = 1 << 10;
const TOOL_COST: usize = 4 << 10;

/// The shown parts of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    pub first: Vec<PartRow>,
    /// True if parts between the first and the last ones are hidden.
    pub has_more: bool,
    pub last: Vec<PartRow>,
}

impl Shown {
    /// Selects the first `pieces` pieces of an answer, and of the rest the parts that stream or wait for the user.
    pub fn select(parts: &[PartRow], pieces: usize, is_waiting_for_user: bool) -> Self {
        let mut left = MAX_COST.saturating_mul(pieces);
        let is_shown = |part: &&PartRow| {
            let has_room = left > 0;
            left = left.saturating_sub(cost(part));
            has_room
        };
        let first: Vec<PartRow> = parts.iter().take_while(is_shown).cloned().collect();
        let rest = &parts[first.len()..];
        let node = parts.last().map(|part| part.key.0);
        let asks = |part: &PartRow| {
            is_waiting_for_user && Some(part.key.0) == node && matches!(part.kind, PartKind::Tool(_))
        };
        let last: Vec<PartRow> = rest
            .iter()
            .filter(|part| part.is_streamed || asks(part))
            .cloned()
            .collect();
        Self {
            has_more: last.len() < rest.len(),
            first,
            last,
        }
    }
}

fn cost(part: &PartRow) -> usize {
    match part.kind {
        PartKind::Tool(_) => TOOL_COST,
        _ => PART_COST + part.prose_bytes(),
    }
}

/// The prefix of the ids inside a part, unique on the page.
pub fn part_id(message: MessageId, (node, part): (usize, usize)) -> String {
    [
        &message.to_string(),
        "-",
        &node.to_string(),
        "-",
        &part.to_string(),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use leptos::prelude::Owner;

    use super::*;
    use parlor_protocol::{JoinedPart, JoinedPartKind, ToolCall, ToolStatus};

    fn all(shown: &Shown) -> impl Iterator<Item = &PartRow> {
        shown.first.iter().chain(&shown.last)
    }

    fn parts(texts: &[(usize, &str)], live: bool) -> Vec<PartRow> {
        let part = |(index, (node, text)): (usize, &(usize, &str))| {
            let joined = JoinedPart {
                key: (*node, index),
                kind: JoinedPartKind::Text,
                texts: vec![text],
            };
            PartRow::new(&joined, true, live)
        };
        texts.iter().enumerate().map(part).collect()
    }

    #[test]
    fn pieces_end_by_their_texts_and_their_number() {
        Owner::new().with(|| {
            let half = "w".repeat(MAX_COST / 2);
            let long = parts(&[(0, &*half), (0, &*half), (0, "a"), (0, "b")], false);
            let shown = Shown::select(&long, 1, false);
            assert_eq!(
                (shown.first.len(), shown.last.len(), shown.has_more),
                (2, 0, true)
            );
            let shown = Shown::select(&long, 2, false);
            assert_eq!((shown.first, shown.has_more), (long, false));
            let many = parts(&vec![(0, "a"); 100_000], false);
            let count = |pieces| all(&Shown::select(&many, pieces, false)).count();
            assert!((700..800).contains(&count(1)), "{}", count(1));
            assert!((1400..1600).contains(&count(2)), "{}", count(2));
        });
    }

    #[test]
    fn what_streams_and_what_asks_is_shown() {
        Owner::new().with(|| {
            let mut long = parts(&vec![(0, "a"); 2000], false);
            let call = ToolCall::for_test("look", ToolStatus::Waiting);
            let asking = JoinedPart {
                key: (1, 0),
                kind: JoinedPartKind::ToolCall(&call),
                texts: Vec::new(),
            };
            long.push(PartRow::new(&asking, false, false));
            assert!(Shown::select(&long, 1, false).last.is_empty());
            let shown = Shown::select(&long, 1, true);
            assert_eq!((&shown.last[..], shown.has_more), (&long[2000..], true));
            let streamed = parts(&vec![(0, "a"); 2000], true);
            let shown = Shown::select(&streamed, 1, false);
            assert!(!shown.has_more && all(&shown).eq(&streamed));
        });
    }
}
