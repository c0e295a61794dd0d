//! Messages on their way to the server: pure state.
//!
//! The ids are made here, once a message. If it is not known whether a message got through, sending the same
//! text again uses the same ids, so that it is there once whatever happened the first time. A message that the
//! server cannot be reached for is held, and tried again as it is.

use serde::{Deserialize, Serialize};

use crate::{
    protocol::ConversationId, protocol::IntentId, protocol::Interaction, protocol::MessageId,
    protocol::PageContext, protocol::ParameterInput, protocol::Transcript, protocol::intent,
    protocol::intent::SendMessage, protocol::intent::StartedRun, ui::state::route::Route,
};

/// A message between the press of *Send* and the start of its run. It is kept in the browser as it is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingMessage {
    pub intent: SendMessage,
    /// Where it was written.
    pub from: Route,
    /// The person pressed *Stop* before there was a run to stop.
    stop: bool,
    /// The server could not be reached: it waits to be tried again. What comes back from a reload waits too.
    #[serde(skip, default = "waits")]
    held: bool,
    /// How often the server could not be reached.
    #[serde(skip)]
    tries: u32,
    /// The server has said that it has it.
    #[serde(skip)]
    known: bool,
}

/// What is wanted of a message besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Tools that have to be used for it.
    pub force_tools: Vec<String>,
    /// How the model is asked in the conversation that it begins.
    pub parameters: Option<ParameterInput>,
    /// How the person said it.
    pub interaction: Interaction,
    /// What the person is looking at, if it is not the conversation alone. The same message again goes with what it went with first.
    pub context: Option<PageContext>,
}

fn waits() -> bool {
    true
}

/// What is on its way in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PendingSend {
    #[default]
    Nothing,
    /// The server has been asked, and no run has begun yet.
    Requested,
    /// A message waits for the connection.
    WaitingForConnection,
}

/// What became of a conversation's messages.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OutboxUpdate {
    /// A run began that the person did not want any more.
    pub run_to_stop: Option<MessageId>,
    /// A message that came back is there all the same: nobody should send it again.
    pub recovered: Option<OutgoingMessage>,
    /// These are on the server: the browser need not keep them.
    pub delivered: Vec<MessageId>,
}

/// The messages on their way, and those that came back.
#[derive(Debug, Default)]
pub struct Outbox {
    messages: Vec<OutgoingMessage>,
    returned: Vec<OutgoingMessage>,
}

impl OutgoingMessage {
    /// What is shown of a conversation that begins with the message; `None` if it does not begin one.
    pub fn provisional_transcript(&self) -> Option<Transcript> {
        (self.from == Route::New).then(|| {
            let mut begun = Transcript::new(self.intent.conversation_id);
            begun.title = intent::title_from(&self.intent.text);
            begun.model.clone_from(&self.intent.model);
            begun
        })
    }
}

impl Outbox {
    /// Takes a message and gives what is to be sent.
    pub fn enqueue(
        &mut self,
        from: Route,
        text: String,
        model: Option<String>,
        extras: MessageOptions,
    ) -> OutgoingMessage {
        let MessageOptions {
            force_tools,
            parameters,
            interaction,
            context,
        } = extras;
        let again = self.returned.iter().position(|sending| {
            let intent = &sending.intent;
            sending.from == from
                && intent.text == text
                && intent.force_tools == force_tools
                && intent.parameters == parameters
                && intent.interaction == interaction
        });
        let intent = match again {
            Some(index) => self.returned.remove(index).intent,
            None => SendMessage {
                intent_id: IntentId::new(),
                conversation_id: from.conversation_id().unwrap_or_default(),
                user_message_id: MessageId::new(),
                text,
                model,
                force_tools,
                parameters,
                interaction,
                context,
            },
        };
        self.returned.retain(|sending| sending.from != from);
        let sending = OutgoingMessage {
            intent,
            from,
            stop: false,
            held: false,
            tries: 0,
            known: false,
        };
        self.messages.push(sending.clone());
        sending
    }

    /// Takes up what an earlier page of this browser had not brought to its end.
    pub fn restore(&mut self, sending: OutgoingMessage) {
        if self.find(sending.intent.user_message_id).is_none() {
            self.messages.push(sending);
        }
    }

    /// What is shown at a place that is a conversation which begins with a message on its way.
    pub fn provisional_transcript(&self, place: Route) -> Option<Transcript> {
        self.message_for(place.conversation_id()?)?
            .provisional_transcript()
    }

    /// The conversation that a message is on its way to.
    pub fn conversation_id(&self, message: MessageId) -> Option<ConversationId> {
        let mut sending = self.messages.iter().map(|sending| &sending.intent);
        sending
            .find(|intent| intent.user_message_id == message)
            .map(|intent| intent.conversation_id)
    }

    /// The message of a conversation that waits for its run.
    pub fn message_for(&self, id: ConversationId) -> Option<&OutgoingMessage> {
        self.messages
            .iter()
            .find(|sending| sending.intent.conversation_id == id)
    }

    /// What is on its way in a conversation.
    pub fn pending_send(&self, id: ConversationId) -> PendingSend {
        match self.message_for(id) {
            None => PendingSend::Nothing,
            Some(sending) if sending.held => PendingSend::WaitingForConnection,
            Some(_) => PendingSend::Requested,
        }
    }

    /// The server could not be reached for a message: how often that was so.
    pub fn hold(&mut self, message: MessageId) -> Option<u32> {
        let sending = self.find(message)?;
        sending.held = true;
        sending.tries += 1;
        Some(sending.tries)
    }

    /// A held message is tried again: what is to be sent, just as it was the first time.
    pub fn retry(&mut self, message: MessageId) -> Option<SendMessage> {
        let sending = self.find(message).filter(|sending| sending.held)?;
        sending.held = false;
        Some(sending.intent.clone())
    }

    /// The messages that wait for the connection.
    pub fn held(&self) -> Vec<MessageId> {
        self.messages
            .iter()
            .filter(|sending| sending.held)
            .map(|sending| sending.intent.user_message_id)
            .collect()
    }

    /// The person wants a message back that waits for the connection.
    pub fn withdraw(&mut self, id: ConversationId) -> Option<OutgoingMessage> {
        let message = self
            .message_for(id)
            .filter(|sending| sending.held)?
            .intent
            .user_message_id;
        // An earlier try may have got through.
        self.mark_failed(message, true)
    }

    /// The person wants no answer to the message that is on its way: true if there is one.
    pub fn stop(&mut self, id: ConversationId) -> Option<&OutgoingMessage> {
        let sending = self
            .messages
            .iter_mut()
            .find(|sending| sending.intent.conversation_id == id)?;
        sending.stop = true;
        Some(sending)
    }

    /// The server has a message: the run to stop, if the person wanted that already.
    pub fn mark_started(&mut self, started: &StartedRun) -> Option<MessageId> {
        let sent = self.find(started.user_message_id)?;
        sent.known = true;
        sent.stop.then_some(started.assistant_message_id)
    }

    /// What the server has of a conversation's messages, by their intents.
    pub fn known_intents(&self, id: ConversationId) -> impl Iterator<Item = IntentId> {
        let known = self.messages.iter().filter(|sending| sending.known);
        known
            .map(|sending| &sending.intent)
            .filter(move |intent| intent.conversation_id == id)
            .map(|intent| intent.intent_id)
    }

    /// A snapshot is here that the server gave when it had these: they are in it, or further back, or on another branch.
    pub fn forget_intents(&mut self, known: &[IntentId]) {
        self.messages
            .retain(|sending| !known.contains(&sending.intent.intent_id));
    }

    /// A message is not to be sent any more. With `perhaps`, it may have got through all the same.
    pub fn mark_failed(&mut self, message: MessageId, perhaps: bool) -> Option<OutgoingMessage> {
        let index = self
            .messages
            .iter()
            .position(|sending| sending.intent.user_message_id == message)?;
        let sending = self.messages.remove(index);
        if perhaps {
            self.returned.push(sending.clone());
        }
        Some(sending)
    }

    /// Looks what became of a conversation's messages.
    pub fn reconcile(&mut self, transcript: &Transcript) -> OutboxUpdate {
        let id = transcript.conversation_id;
        let mut settled = OutboxUpdate::default();
        self.messages.retain(|sending| {
            let question = sending.intent.user_message_id;
            if sending.intent.conversation_id != id || transcript.message(question).is_none() {
                return true;
            }
            settled.delivered.push(question);
            let answer = transcript
                .messages
                .iter()
                .find(|message| message.parent_id == Some(question));
            if sending.stop {
                settled.run_to_stop = settled.run_to_stop.or(answer.map(|message| message.id));
            }
            answer.is_none()
        });
        let found = self.returned.iter().position(|sending| {
            sending.intent.conversation_id == id
                && transcript.message(sending.intent.user_message_id).is_some()
        });
        settled.recovered = found.map(|index| self.returned.remove(index));
        settled
    }

    fn find(&mut self, message: MessageId) -> Option<&mut OutgoingMessage> {
        self.messages
            .iter_mut()
            .find(|sending| sending.intent.user_message_id == message)
    }
}

#[cfg(test)]
mod tests;
