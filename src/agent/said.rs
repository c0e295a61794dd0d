//! What the model said, once its control text is taken out: text for the person, suggestions, sources.

use super::{
    Agent, Effect,
    control::{self, ControlFilter, Item},
};
use crate::protocol::{AssistantMessage, EventBody, Part, PieceKind, Source};

/// A filter for the next answer of a run that has come to this.
pub(super) fn filter_for(message: &AssistantMessage) -> ControlFilter {
    let mut filter = ControlFilter::new(Vec::new(), control::DEFAULT_LIMIT);
    let mut pieces = message.pieces().into_iter().rev();
    // A text that goes on may have thoughts before that.
    let last = pieces.find(|piece| piece.kind != PieceKind::Thinking);
    if let Some(broken_off) = last.filter(|last| last.kind == PieceKind::Text) {
        filter.go_on_from(&broken_off.texts.concat());
    }
    filter
}

impl Agent {
    /// Adds to the run what the filter makes of the model's words.
    pub(super) fn take_in(&mut self, items: Vec<Item>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for item in items {
            // Where a text goes depends on what was logged before it.
            if let Some(event) = self.event_of(item) {
                effects.push(self.log(event));
            }
        }
        effects
    }

    fn event_of(&self, item: Item) -> Option<EventBody> {
        match item {
            Item::Text(text) => {
                let (part, offset) = self.place(|part| matches!(part, Part::Text { .. }));
                Some(EventBody::TextDelta {
                    node: self.node,
                    part,
                    offset,
                    text,
                })
            }
            Item::Values(values) => Some(EventBody::SuggestedValues { values }),
            Item::Actions(actions) => Some(EventBody::SuggestedActions { actions }),
            Item::Sources(sources) => {
                let sources = sources
                    .into_iter()
                    .filter(|source| self.has_seen(source))
                    .collect();
                Some(EventBody::Sources { sources })
            }
            // No markers are given, so there are none.
            Item::Payload { .. } => None,
        }
    }

    /// Whether a source is one that a tool of this run has really had, and can be a link.
    fn has_seen(&self, source: &Source) -> bool {
        let is_link = source.url.starts_with("https://") || source.url.starts_with("http://");
        let has = |text: &str| text.contains(&source.url);
        is_link
            && self
                .message
                .tool_calls()
                .any(|call| has(call.input.as_str()) || call.output.as_deref().is_some_and(has))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::*;
    use crate::protocol::{Json, Node, RunStatus, ToolCall, ToolStatus};

    #[derive(Debug)]
    struct NoTools;

    impl Toolbox for NoTools {
        fn plan(&self, tool: &str, _: &str) -> Result<Plan, String> {
            Err(format!("There is no tool {tool}."))
        }
    }

    /// A run that has searched and found `output`.
    fn having_found(output: &str) -> AssistantMessage {
        let mut message = AssistantMessage::started("x/m");
        let call = ToolCall {
            tool_use_id: "1".into(),
            index: 0,
            tool: "web_search".into(),
            input: Json::or_string(r#"{"query": "x"}"#),
            label: "Searched".into(),
            detail: None,
            status: ToolStatus::Complete,
            progress: None,
            output: Some(output.into()),
            payload: None,
            attachments: Vec::new(),
            started_at: None,
            ended_at: None,
        };
        message.nodes.push(Node {
            parts: vec![Part::ToolCall(Box::new(call))],
        });
        message
    }

    fn answered(message: AssistantMessage, deltas: &[&str], end: Input) -> AssistantMessage {
        let at = Timestamp(0);
        let mut agent = Agent::new(message, Arc::new(NoTools), 5);
        agent.step(Input::Start, at);
        for delta in deltas {
            agent.step(Input::Model(ModelEvent::Text((*delta).into())), at);
        }
        agent.step(end, at);
        agent.message().clone()
    }

    const FINISHED: Input = Input::Model(ModelEvent::Finished(FinishReason::Stop));

    #[test]
    fn what_is_suggested_is_no_text() {
        let deltas = [
            "Shall I?\n\nSUGGESTED_VAL",
            "UES: [{\"label\": \"Yes\", \"value\": \"Yes, please\"}]\n",
            "SUGGESTED_ACTIONS: [{\"label\": \"New\", \"action\": \"new_chat\", \"handler\": \"client\"}]",
        ];
        let answer = answered(AssistantMessage::started("x/m"), &deltas, FINISHED);
        assert_eq!(
            (answer.text().as_str(), answer.status),
            ("Shall I?", RunStatus::Complete)
        );
        assert_eq!(answer.suggested_values[0].value, "Yes, please");
        assert_eq!(answer.suggested_actions[0].action, "new_chat");
    }

    #[test]
    fn only_what_a_tool_has_had_is_a_source() {
        let metadata = r#"It is so.
<!-- METADATA:
{"sources": [{"title": "A", "url": "https://a.example/1"}, {"title": "B", "url": "https://made.up/"},
 {"title": "C", "url": "javascript:alert(1)"}]}
-->"#;
        let found = having_found("1. https://a.example/1 javascript:alert(1)");
        let answer = answered(found, &[metadata], FINISHED);
        assert_eq!(answer.text(), "It is so.");
        let urls: Vec<&str> = answer.sources.iter().map(|source| source.url.as_str()).collect();
        assert_eq!(urls, ["https://a.example/1"]);
    }

    #[test]
    fn what_was_held_back_when_it_broke_off_was_on_no_screen() {
        let half = "Because.\n\nSUGGESTED_VALUES: [{\"lab";
        for end in [Input::Stop, Input::BrokeOff] {
            let answer = answered(AssistantMessage::started("x/m"), &[half], end);
            assert_eq!(answer.text().trim_end(), "Because.");
        }
        let answer = answered(AssistantMessage::started("x/m"), &[half], FINISHED);
        assert_eq!(answer.text(), half, "the model ended like this: it is text");
    }
}
