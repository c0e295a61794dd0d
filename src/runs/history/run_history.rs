//! The input from which a conversation is built, and the selection of opaque data for the endpoint
//! in use.

use std::{collections::HashMap, ops::Range};

use crate::{
    protocol::{AssistantMessage, Message, MessageId, Opaque, PlacedOpaque},
    providers::endpoint_name,
};

/// The branch to a run's answer, with its opaque data.
#[derive(Clone, Copy, Debug)]
pub struct RunHistory<'a> {
    /// The messages that lead to the answer, oldest first; the last is the question.
    pub history: &'a [Message],
    /// The answer, as far as it has come.
    pub answer: (MessageId, &'a AssistantMessage),
    /// All its opaque data, for providers only.
    pub opaque: &'a HashMap<MessageId, Vec<PlacedOpaque>>,
}

impl<'a> RunHistory<'a> {
    /// Returns the opaque data of one answer that the endpoint in use may receive.
    pub fn answer_opaque(self, id: MessageId) -> AnswerOpaque<'a> {
        AnswerOpaque {
            endpoint: endpoint_name(&self.answer.1.model),
            placed: self.opaque.get(&id).map_or(&[], Vec::as_slice),
        }
    }
}

/// The opaque data of one answer for one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct AnswerOpaque<'a> {
    endpoint: &'a str,
    placed: &'a [PlacedOpaque],
}

impl AnswerOpaque<'_> {
    /// Returns the data of a part.
    pub fn for_part(self, node: usize, part: usize) -> Vec<Opaque> {
        self.matching(|placed| placed.node == node && placed.part == Some(part))
    }

    /// Returns the data of these nodes as a whole or of any of their parts, except the parts of one
    /// node given by `but`.
    pub fn for_nodes(self, nodes: Range<usize>, but: (usize, &[usize])) -> Vec<Opaque> {
        let is_left_out = |placed: &PlacedOpaque| {
            placed.node == but.0 && placed.part.is_some_and(|part| but.1.contains(&part))
        };
        self.matching(|placed| nodes.contains(&placed.node) && !is_left_out(placed))
    }

    fn matching(self, is_it: impl Fn(&PlacedOpaque) -> bool) -> Vec<Opaque> {
        let own = self
            .placed
            .iter()
            .filter(|placed| placed.endpoint == self.endpoint);
        own.filter(|placed| is_it(placed))
            .map(|placed| placed.data.clone())
            .collect()
    }
}
