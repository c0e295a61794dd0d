//! The reducer: the only code that turns events into what a conversation shows.
//!
//! The server applies it to stored events, the browser to live and replayed ones. It does no I/O and knows no
//! views. It returns what an event changed, so that a view updates that and nothing else.

mod conversation;
mod run;
mod state;
mod tools;

use self::conversation::apply_to_conversation;
pub use run::{RunUpdate, apply_to_run};
pub use state::{OlderMessages, Transcript, UnloadedSibling};

use super::{
    AssistantMessage, Event, EventBody, Message, MessageBody, MessageId, Placeholder, Position, RunEvent,
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
    let touched = apply_next(state, event).ok_or(MissingEventError(event.position))?;
    state.as_of = event.position;
    Ok(touched)
}

/// Applies the next event of the conversation; returns `None` if an earlier one is missing.
fn apply_next(state: &mut Transcript, event: &Event) -> Option<TranscriptUpdate> {
    match &event.body {
        EventBody::Conversation(change) => apply_to_conversation(state, change),
        // The end of an answer that was stopped because its conversation was deleted.
        EventBody::Run(_) if state.deleted => Some(TranscriptUpdate::Nothing),
        EventBody::Run(output) => match event.message_id {
            Some(answer_id) => apply_to_answer(state, answer_id, output),
            None => Some(TranscriptUpdate::Nothing),
        },
        EventBody::User(_) | EventBody::Placeholder(Placeholder::Empty) => Some(TranscriptUpdate::Nothing),
        EventBody::Placeholder(Placeholder::Damaged) => None,
    }
}

/// Applies an event of a run to its answer, which begins with the run.
fn apply_to_answer(state: &mut Transcript, id: MessageId, event: &RunEvent) -> Option<TranscriptUpdate> {
    if let RunEvent::RunStarted {
        parent_id,
        model,
        created_at,
    } = event
    {
        state.require_branch(Some(*parent_id))?;
        state.model = Some(model.clone());
        state.messages.push(Message {
            id,
            parent_id: Some(*parent_id),
            created_at: *created_at,
            body: MessageBody::Assistant(AssistantMessage::new(model.clone())),
        });
        state.active_leaf = Some(id);
        return Some(TranscriptUpdate::Messages);
    }
    if matches!(event, RunEvent::RunContinued { .. }) {
        state.require_branch(Some(id))?;
        apply_to_run(state.assistant_mut(id)?, event);
        state.active_leaf = Some(id);
        return Some(TranscriptUpdate::Messages);
    }
    // An answer that is not loaded, because it is older or on another branch, is loaded later with this
    // change.
    if matches!(event, RunEvent::ActionTaken { .. }) && state.message(id).is_none() {
        return Some(TranscriptUpdate::Nothing);
    }
    let answer = state.assistant_mut(id)?;
    // The answer is known to be incomplete, so a gap is an error only at the run's last event: no snapshot
    // has the rest before the run's end stores the answer.
    let is_damaged = answer.is_damaged() && !answer.status.is_terminal();
    if is_damaged && event.terminal_status().is_some() {
        return None;
    }
    let touched = apply_to_run(answer, event).or(is_damaged.then_some(RunUpdate::Nothing))?;
    Some(match touched {
        RunUpdate::Nothing => TranscriptUpdate::Nothing,
        RunUpdate::Run => TranscriptUpdate::Run(id),
        RunUpdate::Part { node, part, from } => TranscriptUpdate::Part {
            message_id: id,
            node,
            part,
            from,
        },
    })
}

impl Transcript {
    /// Returns `None` unless all messages up to the new end of the branch are loaded or can be.
    fn require_branch(&self, message: Option<MessageId>) -> Option<()> {
        self.are_ancestors_reachable(message).then_some(())
    }
}

#[cfg(test)]
mod tests;
