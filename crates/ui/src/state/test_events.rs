//! Test data: the events of one conversation, and its state after any number of them.

use parlor_protocol::{
    ConversationEvent, ConversationId, Event, EventBody, MessageId, Position, RunEvent, Timestamp,
    Transcript, transcript,
};

/// A conversation with one question and one streamed answer.
pub struct Story {
    pub conversation_id: ConversationId,
    pub question: MessageId,
    pub answer: MessageId,
    /// Created, saved, started, one event per delta, complete; at the positions 1, 2, 3 …
    pub events: Vec<Event>,
}

impl Story {
    pub fn new(question_text: &str, deltas: &[&str]) -> Self {
        let (question, answer) = (MessageId::new(), MessageId::new());
        let at = Timestamp(1_795_300_051_123);
        let mut bodies = vec![
            (
                None,
                EventBody::Conversation(ConversationEvent::ConversationCreated {
                    title: question_text.into(),
                    created_at: at,
                    temporary: false,
                    project_id: None,
                }),
            ),
            (
                None,
                EventBody::Conversation(ConversationEvent::UserMessageSaved {
                    user_message_id: question,
                    expected_assistant_message_id: answer,
                    parent_id: None,
                    text: question_text.into(),
                    files: Vec::new(),
                    interaction: Default::default(),
                    created_at: at,
                }),
            ),
            (
                Some(answer),
                EventBody::Run(RunEvent::RunStarted {
                    parent_id: question,
                    model: "tour/tour".into(),
                    created_at: at,
                }),
            ),
        ];
        let mut offset = 0;
        for delta in deltas {
            bodies.push((
                Some(answer),
                EventBody::Run(RunEvent::TextDelta {
                    node: 0,
                    part: 0,
                    offset,
                    text: (*delta).into(),
                }),
            ));
            offset += delta.len();
        }
        bodies.push((
            Some(answer),
            EventBody::Run(RunEvent::Complete {
                ended_at: at,
                worked_ms: 1500,
                finish_reason: None,
                is_quiet: false,
            }),
        ));
        let conversation_id = ConversationId::new();
        let events = bodies
            .into_iter()
            .zip(1..)
            .map(|((message_id, body), position)| Event {
                position: Position(position),
                conversation_id,
                message_id,
                body,
            })
            .collect();
        Self {
            conversation_id,
            question,
            answer,
            events,
        }
    }

    /// The snapshot after the first `count` events.
    pub fn after(&self, count: usize) -> Transcript {
        let mut transcript = Transcript::new(self.conversation_id);
        for event in &self.events[..count] {
            transcript::apply(&mut transcript, event).expect("the events of a story follow each other");
        }
        transcript
    }
}
