//! The reducer: the only code that turns events into what a conversation shows.
//!
//! The server applies it to stored events, the browser to live and replayed ones. It does no I/O and knows no
//! views. It returns what an event changed, so that a view updates that and nothing else.

mod run;
mod state;
mod tools;

pub use run::{RunUpdate, apply_to_run};
pub use state::{OlderMessages, Transcript, UnloadedSibling};

use super::{
    AssistantMessage, ConversationEvent, Event, EventBody, Message, MessageBody, MessageId, MessageQueue,
    PayloadVerdict, Placeholder, Position, RunEvent,
};

/// The part of the state that an event changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TranscriptUpdate {
    /// Nothing that is shown: the event was for another conversation, or already in the state.
    Nothing,
    /// The title, the model, its parameters, or the conversation's existence.
    Conversation,
    /// The set of messages, or the branch that is shown.
    Messages,
    /// A run's status, activity or error.
    Run(MessageId),
    /// The text of one part, from the byte `from` on. A new part begins at 0.
    Part {
        message_id: MessageId,
        node: usize,
        part: usize,
        from: usize,
    },
}

/// The event does not follow from the state: an earlier one is missing. The caller has to load a snapshot
/// again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event before position {} is missing", .0.0)]
pub struct MissingEventError(pub Position);

/// Applies one event of the conversation's user to its state.
///
/// Events at or below `as_of`, and those of other conversations, change nothing. A damaged event counts as
/// missing, since its content is unknown and only a snapshot has its effects.
///
/// # Errors
///
/// [`MissingEventError`] if the event shows that an earlier one is missing. The state is then unchanged.
pub fn apply(state: &mut Transcript, event: &Event) -> Result<TranscriptUpdate, MissingEventError> {
    if event.position <= state.as_of || event.conversation_id != state.conversation_id {
        return Ok(TranscriptUpdate::Nothing);
    }
    let touched = apply_next(state, event)?;
    state.as_of = event.position;
    Ok(touched)
}

fn apply_next(state: &mut Transcript, event: &Event) -> Result<TranscriptUpdate, MissingEventError> {
    match &event.body {
        EventBody::Conversation(ConversationEvent::ConversationCreated { title, .. })
        | EventBody::Conversation(ConversationEvent::ConversationRenamed { title }) => {
            state.title.clone_from(title);
            return Ok(TranscriptUpdate::Conversation);
        }
        EventBody::Conversation(ConversationEvent::ModelChosen { model }) => {
            state.model = Some(model.clone());
            return Ok(TranscriptUpdate::Conversation);
        }
        EventBody::Conversation(ConversationEvent::ParametersChosen { parameters }) => {
            state.parameters.clone_from(parameters);
            return Ok(TranscriptUpdate::Conversation);
        }
        EventBody::Conversation(ConversationEvent::ConversationDeleted) => {
            state.messages.clear();
            state.verdicts.clear();
            state.queue = MessageQueue::default();
            state.active_leaf = None;
            state.deleted = true;
            return Ok(TranscriptUpdate::Messages);
        }
        EventBody::Conversation(ConversationEvent::LeafSelected { leaf_id }) => {
            state.require_branch(event, Some(*leaf_id))?;
            state.active_leaf = Some(*leaf_id);
            return Ok(TranscriptUpdate::Messages);
        }
        EventBody::Conversation(ConversationEvent::MessageHidden { hidden_id, leaf_id }) => {
            state.require_branch(event, *leaf_id)?;
            state.active_leaf = *leaf_id;
            state.remove_subtree(*hidden_id);
            if leaf_id.is_none() {
                // The beginning of the conversation is hidden, and with it all messages, loaded or not.
                state.messages.clear();
                state.elsewhere.clear();
                state.earliest = None;
            }
            return Ok(TranscriptUpdate::Messages);
        }
        EventBody::Conversation(ConversationEvent::MessageRestored { leaf_id }) => {
            // Its messages are gone from here, so this asks for a snapshot.
            state.require_branch(event, Some(*leaf_id))?;
            state.active_leaf = Some(*leaf_id);
            return Ok(TranscriptUpdate::Messages);
        }
        EventBody::Conversation(ConversationEvent::UserMessageSaved {
            user_message_id,
            parent_id,
            text,
            files,
            interaction,
            created_at,
            ..
        }) => {
            state.require_branch(event, *parent_id)?;
            state.messages.push(Message {
                id: *user_message_id,
                parent_id: *parent_id,
                created_at: *created_at,
                body: MessageBody::User {
                    text: text.clone(),
                    files: files.clone(),
                    interaction: interaction.clone(),
                },
            });
            state.active_leaf = Some(*user_message_id);
            state.queue.remove(*user_message_id);
            return Ok(TranscriptUpdate::Messages);
        }
        EventBody::Conversation(ConversationEvent::PayloadJudged { payload_id, verdict }) => {
            state.add_verdict(PayloadVerdict {
                payload_id: payload_id.clone(),
                verdict: *verdict,
            });
            return Ok(TranscriptUpdate::Conversation);
        }
        EventBody::Conversation(ConversationEvent::MessageQueued { queued }) => {
            state.queue.insert(queued.clone());
            return Ok(TranscriptUpdate::Conversation);
        }
        EventBody::Conversation(ConversationEvent::QueueChanged { queued_ids, held }) => {
            state.queue.arrange(queued_ids, *held);
            return Ok(TranscriptUpdate::Conversation);
        }
        EventBody::Placeholder(Placeholder::Empty) => return Ok(TranscriptUpdate::Nothing),
        EventBody::Placeholder(Placeholder::Damaged) => return Err(MissingEventError(event.position)),
        _ => {}
    }
    let (EventBody::Run(run_event), Some(message_id)) = (&event.body, event.message_id) else {
        return Ok(TranscriptUpdate::Nothing);
    };
    if let EventBody::Run(RunEvent::RunStarted {
        parent_id,
        model,
        created_at,
    }) = &event.body
    {
        state.require_branch(event, Some(*parent_id))?;
        state.model = Some(model.clone());
        state.messages.push(Message {
            id: message_id,
            parent_id: Some(*parent_id),
            created_at: *created_at,
            body: MessageBody::Assistant(AssistantMessage::new(model.clone())),
        });
        state.active_leaf = Some(message_id);
        return Ok(TranscriptUpdate::Messages);
    }
    if matches!(event.body, EventBody::Run(RunEvent::RunContinued { .. })) {
        state.require_branch(event, Some(message_id))?;
    }
    // An answer that is not loaded, because it is older or on another branch, is loaded later with this
    // change.
    if matches!(event.body, EventBody::Run(RunEvent::ActionTaken { .. }))
        && state.message(message_id).is_none()
    {
        return Ok(TranscriptUpdate::Nothing);
    }
    let assistant = state
        .assistant_mut(message_id)
        .ok_or(MissingEventError(event.position))?;
    if matches!(event.body, EventBody::Run(RunEvent::RunContinued { .. })) {
        apply_to_run(assistant, run_event);
        state.active_leaf = Some(message_id);
        return Ok(TranscriptUpdate::Messages);
    }
    // The answer is known to be incomplete, so a gap is an error only at the run's last event: no snapshot
    // has the rest before the run's end stores the answer.
    let is_damaged = assistant.is_damaged() && !assistant.status.is_terminal();
    if is_damaged && event.body.terminal_status().is_some() {
        return Err(MissingEventError(event.position));
    }
    apply_to_run(assistant, run_event)
        .or(is_damaged.then_some(RunUpdate::Nothing))
        .map(|touched| match touched {
            RunUpdate::Nothing => TranscriptUpdate::Nothing,
            RunUpdate::Run => TranscriptUpdate::Run(message_id),
            RunUpdate::Part { node, part, from } => TranscriptUpdate::Part {
                message_id,
                node,
                part,
                from,
            },
        })
        .ok_or(MissingEventError(event.position))
}

impl Transcript {
    /// Returns an error unless all messages up to the new end of the branch are loaded or can be.
    fn require_branch(&self, event: &Event, message: Option<MessageId>) -> Result<(), MissingEventError> {
        if self.are_ancestors_reachable(message) {
            Ok(())
        } else {
            Err(MissingEventError(event.position))
        }
    }
}

#[cfg(test)]
mod tests;
