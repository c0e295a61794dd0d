//! New snapshots in place of the old ones, when the log can't be followed from the last position.

use super::{OpenConversations, unrecorded::find_unrecorded};
use parlor_protocol::{ApiError, ConversationId, ErrorCode, Position, Transcript};

impl OpenConversations {
    /// Starts from the page's snapshot. `id` is the conversation that its URL names.
    pub(in crate::state) fn start_from(self, id: Option<ConversationId>, transcript: Option<Transcript>) {
        if let Some(transcript) = transcript {
            self.state.with(|state| state.cache.insert(transcript));
        }
        if let Some(id) = id {
            self.refresh(id);
        }
    }

    /// Returns the transcript that replaces the one of conversation `id`, for which the server returned `loaded`, or
    /// the error to show. Keeps the messages on the screen that the server has lost. `head` is the server's position.
    pub(in crate::state) fn adopt_snapshot(
        self,
        id: ConversationId,
        head: Position,
        loaded: Result<Transcript, ApiError>,
    ) -> Result<Transcript, ApiError> {
        match loaded {
            Ok(transcript) => {
                self.keep_unrecorded(id, head, Some(&transcript));
                Ok(transcript)
            }
            Err(error) if error.code == ErrorCode::NotFound => {
                self.keep_unrecorded(id, head, None).ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// Drops all transcripts but the given one. `reloaded` is the conversation that was requested. The signals are
    /// updated by [`update_signals`](Self::update_signals).
    pub(in crate::state) fn restart(self, reloaded: Option<ConversationId>, transcript: Option<Transcript>) {
        // The route may have changed meanwhile; the start of the stream loads what it shows.
        let shown = self.navigation.shown_conversation();
        self.state.with(|state| {
            let keep = transcript.as_ref().map(|transcript| transcript.conversation_id);
            let dropped = state.cache.retain_only(keep);
            if let Some(transcript) = transcript {
                state.cache.insert(transcript);
            }
            state
                .views
                .retain(|view| !dropped.contains(&view.id) || Some(view.id) == shown);
            if let Some(id) = reloaded {
                state.changes.add_conversation(id);
            }
        });
    }

    /// Keeps the messages on the screen that the server has lost, and returns the conversation without them. Positions
    /// only grow: if the log now ends before a position that was applied already, the server's data was replaced by an
    /// older copy, and the messages on the screen may exist nowhere else.
    fn keep_unrecorded(
        self,
        id: ConversationId,
        head: Position,
        now: Option<&Transcript>,
    ) -> Option<Transcript> {
        if self.connection.cursor() <= head {
            return None;
        }
        let (found, rest) = self.with_transcript(id, |held| {
            let mut rest = Transcript::new(id);
            rest.as_of = head;
            rest.title.clone_from(&held.title);
            rest.model.clone_from(&held.model);
            (find_unrecorded(held, now), rest)
        })?;
        self.view(id).add_unrecorded(found?);
        Some(rest)
    }
}
