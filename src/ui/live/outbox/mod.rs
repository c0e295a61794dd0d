//! Messages on their way to the server: pure state.
//!
//! The ids are made here, once a message. If it is not known whether a message got through, sending the same
//! text again uses the same ids, so that it is there once whatever happened the first time.

use crate::{
    protocol::{
        ConversationId, IntentId, MessageId, Transcript,
        intent::{SendMessage, Started},
    },
    ui::place::Place,
};

/// A message between the press of *Send* and the start of its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sending {
    pub intent: SendMessage,
    /// Where it was written.
    pub from: Place,
    /// The person pressed *Stop* before there was a run to stop.
    stop: bool,
}

/// What became of a conversation's messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// A run began that the person did not want any more.
    pub stop: Option<MessageId>,
    /// A message that came back is there all the same: nobody should send it again.
    pub got_through: Option<Sending>,
}

/// The messages on their way, and those that came back.
#[derive(Debug, Default)]
pub struct Outbox {
    sending: Vec<Sending>,
    returned: Vec<Sending>,
}

impl Outbox {
    /// Takes a message and gives what is to be sent.
    pub fn begin(&mut self, from: Place, text: String, model: Option<String>) -> SendMessage {
        let again = self
            .returned
            .iter()
            .position(|sending| sending.from == from && sending.intent.text == text);
        let intent = match again {
            Some(index) => self.returned.remove(index).intent,
            None => SendMessage {
                intent_id: IntentId::new(),
                conversation_id: from.conversation().unwrap_or_default(),
                user_message_id: MessageId::new(),
                text,
                model,
            },
        };
        self.returned.retain(|sending| sending.from != from);
        self.sending.push(Sending {
            intent: intent.clone(),
            from,
            stop: false,
        });
        intent
    }

    /// The message of a conversation that waits for its run.
    pub fn of(&self, id: ConversationId) -> Option<&Sending> {
        self.sending
            .iter()
            .find(|sending| sending.intent.conversation_id == id)
    }

    /// The person wants no answer to the message that is on its way: true if there is one.
    pub fn stop(&mut self, id: ConversationId) -> bool {
        let found = self
            .sending
            .iter_mut()
            .find(|sending| sending.intent.conversation_id == id);
        found.map(|sending| sending.stop = true).is_some()
    }

    /// The server has a message: the run to stop, if the person wanted that already.
    pub fn started(&self, started: &Started) -> Option<MessageId> {
        let sent = self
            .sending
            .iter()
            .find(|sending| sending.intent.user_message_id == started.user_message_id)?;
        sent.stop.then_some(started.assistant_message_id)
    }

    /// A message could not be sent. With `perhaps`, it may have got through all the same.
    pub fn failed(&mut self, message: MessageId, perhaps: bool) -> Option<Sending> {
        let index = self
            .sending
            .iter()
            .position(|sending| sending.intent.user_message_id == message)?;
        let sending = self.sending.remove(index);
        if perhaps {
            self.returned.push(sending.clone());
        }
        Some(sending)
    }

    /// Looks what became of a conversation's messages.
    pub fn settle(&mut self, transcript: &Transcript) -> Settled {
        let id = transcript.conversation_id;
        let mut settled = Settled::default();
        self.sending.retain(|sending| {
            let question = Some(sending.intent.user_message_id);
            let answer = transcript
                .messages
                .iter()
                .find(|message| message.parent_id == question);
            if sending.stop {
                settled.stop = settled.stop.or(answer.map(|message| message.id));
            }
            answer.is_none()
        });
        let found = self.returned.iter().position(|sending| {
            sending.intent.conversation_id == id
                && transcript.message(sending.intent.user_message_id).is_some()
        });
        settled.got_through = found.map(|index| self.returned.remove(index));
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::live::story::Story;

    #[test]
    fn a_message_waits_until_its_run_began() {
        let story = Story::new("Hello", &["Hi"]);
        let mut outbox = Outbox::default();
        let mut intent = outbox.begin(Place::Conversation(story.conversation_id), "Hello".into(), None);
        // The story made its own id for the question.
        intent.user_message_id = story.question;
        outbox.sending[0].intent = intent.clone();
        outbox.settle(&story.after(2));
        assert_eq!(
            outbox.of(story.conversation_id).map(|sending| &sending.intent),
            Some(&intent)
        );
        outbox.settle(&story.after(3));
        assert_eq!(outbox.of(story.conversation_id), None);
    }

    #[test]
    fn the_same_text_again_is_the_same_message_if_the_first_may_have_got_through() {
        let mut outbox = Outbox::default();
        let first = outbox.begin(Place::New, "Hello".into(), None);
        outbox.failed(first.user_message_id, true);
        assert_eq!(
            outbox.begin(Place::New, "Hello".into(), Some("other/model".into())),
            first
        );

        outbox.failed(first.user_message_id, false);
        assert_ne!(
            outbox.begin(Place::New, "Hello".into(), None),
            first,
            "it surely did not get through"
        );
    }

    #[test]
    fn another_text_is_another_message() {
        let mut outbox = Outbox::default();
        let first = outbox.begin(Place::New, "Hello".into(), None);
        outbox.failed(first.user_message_id, true);
        let second = outbox.begin(Place::New, "Hello!".into(), None);
        assert_ne!(second.user_message_id, first.user_message_id);
        outbox.failed(second.user_message_id, true);
        assert_ne!(
            outbox.begin(Place::New, "Hello".into(), None),
            first,
            "given up with the second"
        );
    }

    #[test]
    fn a_message_that_got_through_after_all_is_not_sent_again() {
        let story = Story::new("Hello", &["Hi"]);
        let mut outbox = Outbox::default();
        outbox.begin(Place::Conversation(story.conversation_id), "Hello".into(), None);
        outbox.sending[0].intent.user_message_id = story.question;
        let failed = outbox.failed(story.question, true);
        assert_eq!(
            outbox.settle(&story.after(2)),
            Settled {
                got_through: failed,
                stop: None
            }
        );
        assert_eq!(outbox.settle(&story.after(2)), Settled::default());
    }

    #[test]
    fn stop_before_the_run_began_stops_it_when_it_begins() {
        let mut outbox = Outbox::default();
        let intent = outbox.begin(Place::New, "Hello".into(), None);
        let started = Started {
            conversation_id: intent.conversation_id,
            user_message_id: intent.user_message_id,
            assistant_message_id: MessageId::new(),
        };
        assert_eq!(outbox.started(&started), None);
        assert!(outbox.stop(intent.conversation_id));
        assert_eq!(outbox.started(&started), Some(started.assistant_message_id));
        assert!(!outbox.stop(ConversationId::new()));
    }

    #[test]
    fn stop_is_not_lost_if_the_run_is_seen_before_the_request_is_answered() {
        let story = Story::new("Hello", &["Hi"]);
        let mut outbox = Outbox::default();
        outbox.begin(Place::Conversation(story.conversation_id), "Hello".into(), None);
        outbox.sending[0].intent.user_message_id = story.question;
        outbox.stop(story.conversation_id);
        assert_eq!(outbox.settle(&story.after(2)), Settled::default());
        assert_eq!(outbox.settle(&story.after(3)).stop, Some(story.answer));
    }
}
