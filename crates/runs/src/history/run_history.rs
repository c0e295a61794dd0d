//! The input from which a conversation is built, and the selection of provider data for the endpoint
//! in use.

use std::{collections::HashMap, ops::Range};

use parlor_protocol::{AssistantMessage, Message, MessageId, PlacedProviderData, ProviderData};
use parlor_providers::endpoint_name;

/// The branch to a run's answer, with its provider data.
#[derive(Clone, Copy, Debug)]
pub struct RunHistory<'a> {
    /// The messages that lead to the answer, oldest first; the last is the question.
    pub history: &'a [Message],
    /// The answer, as far as it has come.
    pub answer: (MessageId, &'a AssistantMessage),
    /// All its provider data, for providers only.
    pub provider_data: &'a HashMap<MessageId, Vec<PlacedProviderData>>,
    /// The request to correct a payload of the answer. It takes the place of a request to go on.
    pub correction: Option<&'a str>,
}

impl<'a> RunHistory<'a> {
    /// Returns the provider data of one answer that the endpoint in use may receive.
    pub fn answer_provider_data(self, id: MessageId) -> AnswerProviderData<'a> {
        AnswerProviderData {
            endpoint: endpoint_name(&self.answer.1.model),
            placed: self.provider_data.get(&id).map_or(&[], Vec::as_slice),
        }
    }
}

/// The provider data of one answer for one endpoint.
#[derive(Clone, Copy, Debug)]
pub struct AnswerProviderData<'a> {
    endpoint: &'a str,
    placed: &'a [PlacedProviderData],
}

impl AnswerProviderData<'_> {
    /// Returns the data of a part.
    pub fn for_part(self, node: usize, part: usize) -> Vec<ProviderData> {
        self.matching(|placed| placed.node == node && placed.part == Some(part))
    }

    /// Returns the data of these nodes as a whole or of any of their parts, except the parts of one
    /// node given by `but`.
    pub fn for_nodes(self, nodes: Range<usize>, but: (usize, &[usize])) -> Vec<ProviderData> {
        let is_left_out = |placed: &PlacedProviderData| {
            placed.node == but.0 && placed.part.is_some_and(|part| but.1.contains(&part))
        };
        self.matching(|placed| nodes.contains(&placed.node) && !is_left_out(placed))
    }

    fn matching(self, is_it: impl Fn(&PlacedProviderData) -> bool) -> Vec<ProviderData> {
        let own = self
            .placed
            .iter()
            .filter(|placed| placed.endpoint == self.endpoint);
        own.filter(|placed| is_it(placed))
            .map(|placed| placed.data.clone())
            .collect()
    }
}
