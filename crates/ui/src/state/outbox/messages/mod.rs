//! Messages being sent: pure state.
//!
//! The ids are generated here, once per message. If a message may have been delivered, sending the same text again uses
//! the same ids, so that the server stores it once in any case. While the server is unreachable, a message is held and
//! retried unchanged.

use serde::{Deserialize, Serialize};

use crate::state::route::Route;
use parlor_protocol::{
    Attachment, AttachmentId, ConversationId, IntentId, Interaction, MessageId, PageContext, ParameterInput,
    ProjectId, Transcript,
    intent::{self, SendMessage, StartedRun},
};

/// A message between *Send* and the start of its run. This struct is also its stored form in the browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingMessage {
    pub intent: SendMessage,
    /// The files of the intent.
    #[serde(default)]
    pub files: Vec<Attachment>,
    /// The route where it was written.
    pub from: Route,
    /// True if the user pressed *Stop* before the run's id was known.
    stop: bool,
    /// True if it was written while a run was active: the server will probably queue it.
    #[serde(default)]
    pub is_queued: bool,
    /// True if it waits for a retry: the server was unreachable, or an earlier message of the conversation is on its
    /// way. A message restored after a reload waits too.
    #[serde(skip, default = "waits_by_default")]
    awaits_connection: bool,
    /// The number of attempts at which the server was unreachable.
    #[serde(skip)]
    tries: u32,
    /// True if the server has acknowledged it.
    #[serde(skip)]
    known: bool,
}

/// Options of a message besides its text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Tools that the run has to use.
    pub force_tools: Vec<String>,
    /// The model parameters of a new conversation.
    pub parameters: Option<ParameterInput>,
    /// The way in which the user expressed it.
    pub interaction: Interaction,
    /// The message that this is another version of.
    pub replaces: Option<MessageId>,
    /// Uploaded files.
    pub files: Vec<Attachment>,
    /// The conversation that the message begins, if files were uploaded for it.
    pub new_conversation: Option<ConversationId>,
    /// The page context, if the user is on another page next to the conversation. A repeated message keeps its first
    /// context.
    pub context: Option<PageContext>,
    /// True if the conversation that the message begins is temporary.
    pub temporary: bool,
    /// The project in which the conversation begins.
    pub project_id: Option<ProjectId>,
}

fn waits_by_default() -> bool {
    true
}

/// The sending state of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PendingSend {
    #[default]
    Nothing,
    /// The request was sent, and no run has started yet.
    Requested,
    /// A message waits for the connection.
    WaitingForConnection,
}

/// The result of reconciling the outbox with a transcript.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct OutboxUpdate {
    /// A started run that the user wanted to stop.
    pub run_to_stop: Option<MessageId>,
    /// A returned message that was delivered after all, so that the user does not send it again.
    pub recovered: Option<OutgoingMessage>,
    /// Messages on the server, which the browser need not store any more.
    pub delivered: Vec<MessageId>,
}

/// Messages being sent, and returned ones.
#[derive(Debug, Default)]
pub struct OutgoingMessages {
    messages: Vec<OutgoingMessage>,
    returned: Vec<OutgoingMessage>,
}

impl OutgoingMessage {
    pub fn pending_send(&self) -> PendingSend {
        match self.awaits_connection {
            true => PendingSend::WaitingForConnection,
            false => PendingSend::Requested,
        }
    }

    /// The provisional transcript of a conversation that starts with this message; `None` if the message is not its
    /// first.
    pub fn provisional_transcript(&self) -> Option<Transcript> {
        self.from.begins_chat().then(|| {
            let mut begun = Transcript::new(self.intent.conversation_id);
            let first_file = self.files.first().map(|file| file.name.as_str());
            begun.title = intent::derive_title(&self.intent.text, first_file);
            begun.model.clone_from(&self.intent.model);
            begun
        })
    }
}

impl OutgoingMessages {
    /// Adds a message and returns the request to send.
    pub fn enqueue(
        &mut self,
        from: Route,
        text: String,
        model: Option<String>,
        extras: MessageOptions,
        is_queued: bool,
    ) -> OutgoingMessage {
        let MessageOptions {
            force_tools,
            parameters,
            interaction,
            replaces,
            files,
            new_conversation,
            context,
            temporary,
            project_id,
        } = extras;
        let file_ids: Vec<AttachmentId> = files.iter().map(|file| file.id).collect();
        let again = self.returned.iter().position(|sending| {
            let intent = &sending.intent;
            sending.from == from
                && intent.text == text
                && intent.replaces == replaces
                && intent.files == file_ids
                && intent.force_tools == force_tools
                && intent.parameters == parameters
                && intent.interaction == interaction
                && intent.temporary == temporary
        });
        let intent = match again {
            Some(index) => self.returned.remove(index).intent,
            None => SendMessage {
                intent_id: IntentId::new(),
                conversation_id: from.conversation_id().or(new_conversation).unwrap_or_default(),
                user_message_id: MessageId::new(),
                text,
                files: file_ids,
                replaces,
                model,
                temporary,
                project_id,
                force_tools,
                parameters,
                interaction,
                context,
            },
        };
        self.returned.retain(|sending| sending.from != from);
        // One after the other, so that the server gets them in their order.
        let awaits_connection = self.next_undelivered(intent.conversation_id).is_some();
        let sending = OutgoingMessage {
            intent,
            files,
            from,
            stop: false,
            is_queued,
            awaits_connection,
            tries: 0,
            known: false,
        };
        self.messages.push(sending.clone());
        sending
    }

    /// Adds a message that an earlier page of this browser had not finished sending.
    pub fn restore(&mut self, sending: OutgoingMessage) {
        if self.find(sending.intent.user_message_id).is_none() {
            self.messages.push(sending);
        }
    }

    /// The conversation of a message being sent.
    pub fn conversation_id(&self, message: MessageId) -> Option<ConversationId> {
        let mut sending = self.messages.iter().map(|sending| &sending.intent);
        sending
            .find(|intent| intent.user_message_id == message)
            .map(|intent| intent.conversation_id)
    }

    /// The message of a conversation that waits for its run.
    pub fn message_for(&self, id: ConversationId) -> Option<&OutgoingMessage> {
        self.messages_of(id).find(|sending| !sending.is_queued)
    }

    /// The messages of a conversation that were written while a run was active.
    pub fn queued_for(&self, id: ConversationId) -> impl Iterator<Item = &OutgoingMessage> {
        self.messages_of(id).filter(|sending| sending.is_queued)
    }

    fn messages_of(&self, id: ConversationId) -> impl Iterator<Item = &OutgoingMessage> {
        let messages = self.messages.iter();
        messages.filter(move |sending| sending.intent.conversation_id == id)
    }

    /// The next message of a conversation that the server has to get.
    pub fn next_undelivered(&self, id: ConversationId) -> Option<MessageId> {
        let next = self.messages_of(id).find(|sending| !sending.known);
        next.map(|sending| sending.intent.user_message_id)
    }

    /// The sending state of a conversation.
    pub fn pending_send(&self, id: ConversationId) -> PendingSend {
        self.message_for(id)
            .map_or(PendingSend::Nothing, OutgoingMessage::pending_send)
    }

    /// Lets a message wait for the connection, since the server was unreachable. Returns its number of failed attempts.
    pub fn await_connection(&mut self, message: MessageId) -> Option<u32> {
        let sending = self.find(message)?;
        sending.awaits_connection = true;
        sending.tries += 1;
        Some(sending.tries)
    }

    /// Retries a message that waits for the connection, unless an earlier one of its conversation has to be sent first: returns the same request
    /// as the first time.
    pub fn retry(&mut self, message: MessageId) -> Option<SendMessage> {
        let next = self.next_undelivered(self.conversation_id(message)?);
        if next != Some(message) {
            return None;
        }
        let sending = self.find(message).filter(|sending| sending.awaits_connection)?;
        sending.awaits_connection = false;
        Some(sending.intent.clone())
    }

    /// The messages that wait for the connection.
    pub fn awaiting_connection(&self) -> Vec<MessageId> {
        self.messages
            .iter()
            .filter(|sending| sending.awaits_connection)
            .map(|sending| sending.intent.user_message_id)
            .collect()
    }

    /// Takes back a message that waits for the connection.
    pub fn withdraw(&mut self, id: ConversationId) -> Option<OutgoingMessage> {
        let message = self.message_for(id)?.intent.user_message_id;
        self.withdraw_message(message)
    }

    /// Takes back this message, if it waits for the connection.
    pub fn withdraw_message(&mut self, message: MessageId) -> Option<OutgoingMessage> {
        self.find(message).filter(|sending| sending.awaits_connection)?;
        // An earlier attempt may have been delivered.
        self.mark_failed(message, true)
    }

    /// Requests a stop of the message being sent. Returns it, if there is one.
    pub fn stop(&mut self, id: ConversationId) -> Option<&OutgoingMessage> {
        let sending = self
            .messages
            .iter_mut()
            .find(|sending| sending.intent.conversation_id == id && !sending.is_queued)?;
        sending.stop = true;
        Some(sending)
    }

    /// Records that a message's run has started. Returns the run to stop, if the user asked for that already.
    pub fn mark_started(&mut self, started: &StartedRun) -> Option<MessageId> {
        let sent = self.find(started.user_message_id)?;
        sent.known = true;
        sent.stop.then_some(started.assistant_message_id)
    }

    /// The intents of a conversation's messages that the server has acknowledged.
    pub fn known_intents(&self, id: ConversationId) -> impl Iterator<Item = IntentId> {
        let known = self.messages.iter().filter(|sending| sending.known);
        known
            .map(|sending| &sending.intent)
            .filter(move |intent| intent.conversation_id == id)
            .map(|intent| intent.intent_id)
    }

    /// Forgets intents the server knew when it made the received snapshot: they are in it, or further back, or on
    /// another branch.
    pub fn forget_intents(&mut self, known: &[IntentId]) {
        self.messages
            .retain(|sending| !known.contains(&sending.intent.intent_id));
    }

    /// Removes a message that is not to be sent any more. With `may_be_delivered`, the server may have received it all the
    /// same.
    pub fn mark_failed(&mut self, message: MessageId, may_be_delivered: bool) -> Option<OutgoingMessage> {
        let index = self
            .messages
            .iter()
            .position(|sending| sending.intent.user_message_id == message)?;
        let sending = self.messages.remove(index);
        if may_be_delivered {
            self.returned.push(sending.clone());
        }
        Some(sending)
    }

    /// Matches a conversation's messages with its transcript.
    pub fn reconcile(&mut self, transcript: &Transcript) -> OutboxUpdate {
        let id = transcript.conversation_id;
        let mut settled = OutboxUpdate::default();
        self.messages.retain(|sending| {
            let question = sending.intent.user_message_id;
            let mut waiting = transcript.queue.messages.iter();
            if waiting.any(|queued| queued.id == question) {
                settled.delivered.push(question);
                return false;
            }
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
            sending.intent.conversation_id == id && transcript.has_message(sending.intent.user_message_id)
        });
        settled.recovered = found.map(|index| self.returned.remove(index));
        settled
    }

    /// Removes a message that the server has queued.
    pub fn remove_queued(&mut self, message: MessageId) {
        self.messages
            .retain(|sending| sending.intent.user_message_id != message);
    }

    fn find(&mut self, message: MessageId) -> Option<&mut OutgoingMessage> {
        self.messages
            .iter_mut()
            .find(|sending| sending.intent.user_message_id == message)
    }
}

#[cfg(test)]
mod tests;
