//! The part of the reducer that applies the events of a conversation.

use super::{Transcript, TranscriptUpdate};
use crate::{ConversationEvent, Message, MessageBody, MessageId, MessageQueue, PayloadVerdict};

/// Applies an event of the conversation; returns `None` if an earlier event is missing.
pub(super) fn apply_to_conversation(
    state: &mut Transcript,
    event: &ConversationEvent,
) -> Option<TranscriptUpdate> {
    match event {
        ConversationEvent::ConversationCreated { title, .. }
        | ConversationEvent::ConversationRenamed { title } => state.title.clone_from(title),
        ConversationEvent::ModelChosen { model } => state.model = Some(model.clone()),
        ConversationEvent::ParametersChosen { parameters } => state.parameters.clone_from(parameters),
        ConversationEvent::PayloadJudged {
            payload_id,
            verdict,
            accepted_fields,
        } => state.add_verdict(PayloadVerdict {
            payload_id: payload_id.clone(),
            verdict: *verdict,
            accepted_fields: accepted_fields.clone(),
        }),
        ConversationEvent::MessageQueued { queued } => state.queue.insert(queued.clone()),
        ConversationEvent::QueueChanged { queued_ids, held } => state.queue.arrange(queued_ids, *held),
        ConversationEvent::ConversationDeleted => {
            delete(state);
            return Some(TranscriptUpdate::Messages);
        }
        ConversationEvent::LeafSelected { leaf_id } | ConversationEvent::MessageRestored { leaf_id } => {
            // A restored message is gone from here, so it asks for a snapshot.
            state.require_branch(Some(*leaf_id))?;
            state.active_leaf = Some(*leaf_id);
            return Some(TranscriptUpdate::Messages);
        }
        ConversationEvent::MessageHidden { hidden_id, leaf_id } => {
            state.require_branch(*leaf_id)?;
            hide_message(state, *hidden_id, *leaf_id);
            return Some(TranscriptUpdate::Messages);
        }
        ConversationEvent::UserMessageSaved {
            user_message_id,
            expected_assistant_message_id: _,
            parent_id,
            text,
            files,
            interaction,
            created_at,
        } => {
            state.require_branch(*parent_id)?;
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
            return Some(TranscriptUpdate::Messages);
        }
        // Messages that are not loaded are loaded later with this change.
        ConversationEvent::FilesDeleted { file_ids } => {
            for message in &mut state.messages {
                message.mark_deleted_files(file_ids);
            }
            return Some(TranscriptUpdate::Messages);
        }
        // A restored conversation is gone from here, so it asks for a snapshot.
        ConversationEvent::ConversationPlaced { .. } if state.deleted => return None,
        ConversationEvent::ConversationPlaced { .. } => return Some(TranscriptUpdate::Nothing),
        // Only the list shows it.
        ConversationEvent::ConversationRead => return Some(TranscriptUpdate::Nothing),
    }
    Some(TranscriptUpdate::Conversation)
}

fn delete(state: &mut Transcript) {
    state.messages.clear();
    state.verdicts.clear();
    state.queue = MessageQueue::default();
    state.active_leaf = None;
    state.deleted = true;
}

fn hide_message(state: &mut Transcript, hidden_id: MessageId, leaf_id: Option<MessageId>) {
    state.active_leaf = leaf_id;
    state.remove_subtree(hidden_id);
    if leaf_id.is_none() {
        // The beginning of the conversation is hidden, and with it all messages, loaded or not.
        state.messages.clear();
        state.elsewhere.clear();
        state.earliest = None;
    }
}
