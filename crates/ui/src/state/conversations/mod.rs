//! The open conversations: the cached transcripts, their signals for the views, and the loading of both.
//!
//! - [`transcript_cache`]: the pure copies of the server's transcripts; [`changes`]: those that the signals lack
//! - [`mod@view`], [`rows`], [`part`]: a conversation as signals
//! - [`loading`], [`older`]: requests for snapshots and for older messages
//! - [`restart`]: new snapshots in place of the old ones; [`unrecorded`]: messages that the server has lost
//! - [`place`]: a place that was found by a search
//! - [`intents`]: requests about a conversation or an answer

mod changes;
mod intents;
mod loading;
mod older;
mod part;
mod place;
mod restart;
mod rows;
mod transcript_cache;
mod unrecorded;
mod view;

use leptos::prelude::*;

pub(super) use self::transcript_cache::CacheOutcome;
use self::{changes::PendingChanges, transcript_cache::TranscriptCache};
pub use self::{
    part::{PartKind, PartRow},
    place::{FoundPlace, FoundPlaces},
    rows::{
        AnswerExtras, AnswerRow, Row, RunView, Siblings, UnrecordedRow, UserRow, call_interval, union_ms,
    },
    view::{ConversationPhase, ConversationView, OlderState, QueueRow, QueueView},
};
use super::{connection::Connection, lifecycle::PageLifecycle, navigation::Navigation, outbox::Outbox};
use crate::{browser, components::toast::Toasts, runtime::page_state::PageState, state::texts};
use parlor_protocol::{
    AssistantMessage, ConversationEvent, ConversationId, Event, EventBody, Message, MessageId, ToolCall,
    ToolStatus, Transcript,
};

/// The open conversations. One per page.
#[derive(Clone, Copy)]
pub struct OpenConversations {
    state: PageState<ConversationsState>,
    outbox: Outbox,
    connection: Connection,
    lifecycle: PageLifecycle,
    navigation: Navigation,
    toasts: Toasts,
    /// What was last opened from a search.
    place: RwSignal<Option<FoundPlace>>,
    /// The places that *Find* has found, this one among them.
    found: RwSignal<Option<FoundPlaces>>,
}

#[derive(Default)]
struct ConversationsState {
    cache: TranscriptCache,
    views: Vec<ConversationView>,
    changes: PendingChanges,
    /// True while an update of the signals is due with the next frame.
    is_update_scheduled: bool,
    /// Conversations that changed while they were not on the screen: their signals are stale.
    stale: Vec<ConversationId>,
}

impl OpenConversations {
    /// Creates the store, without conversations.
    pub(super) fn new(
        outbox: Outbox,
        connection: Connection,
        lifecycle: PageLifecycle,
        navigation: Navigation,
        toasts: Toasts,
    ) -> Self {
        Self {
            state: PageState::default(),
            outbox,
            connection,
            lifecycle,
            navigation,
            toasts,
            place: RwSignal::new(None),
            found: RwSignal::new(None),
        }
    }

    /// The conversation's signals. They exist at once; [`load_route`](Self::load_route) loads data not known yet.
    pub fn view(self, id: ConversationId) -> ConversationView {
        self.state.with(|state| state.view(id))
    }

    /// The signals of the conversation on the screen. Tracks the route.
    pub fn current_view(self) -> Option<ConversationView> {
        let route = self.navigation.chat_route().get();
        route.conversation_id().map(|id| self.view(id))
    }

    /// Runs `f` with a conversation's transcript, if it is loaded.
    pub fn with_transcript<T>(self, id: ConversationId, f: impl FnOnce(&Transcript) -> T) -> Option<T> {
        self.state.with(|state| state.cache.get(id).map(f))
    }

    /// Returns the text of an answer.
    pub fn answer_text(self, id: ConversationId, message: MessageId) -> Option<String> {
        let text = |transcript: &Transcript| {
            let answer = transcript.message(message).and_then(Message::assistant);
            answer.map(AssistantMessage::text)
        };
        self.with_transcript(id, text).flatten()
    }

    /// Returns true if the loaded part of the shown branch has finished calls of code, so that there is a notebook of it.
    pub fn has_code(self, id: ConversationId) -> bool {
        let is_code = |call: &ToolCall| {
            call.kind().is_some_and(|kind| kind.is_notebook_cell)
                && matches!(call.status, ToolStatus::Complete | ToolStatus::Failed)
        };
        let has_code = |transcript: &Transcript| {
            let branch = transcript.shown_branch();
            let mut answers = branch.into_iter().filter_map(Message::assistant);
            answers.any(|answer| answer.tool_calls().any(is_code))
        };
        self.with_transcript(id, has_code).unwrap_or_default()
    }

    /// Applies an event of the stream. [`follow_up`](Self::follow_up) performs the rest of the outcome.
    pub(super) fn apply(self, event: &Event) -> CacheOutcome {
        // It may be removed from the queue before the next update of the signals.
        if let EventBody::Conversation(ConversationEvent::MessageQueued { queued }) = &event.body {
            self.outbox.remove_queued(queued.id);
        }
        let outcome = self.state.with(|state| {
            let outcome = state.cache.apply(event);
            state.note_outcome(event.conversation_id, outcome);
            outcome
        });
        self.schedule_update();
        outcome
    }

    /// Performs the effect of an outcome outside the cache.
    pub(super) fn follow_up(self, id: ConversationId, outcome: CacheOutcome) {
        match outcome {
            CacheOutcome::Unchanged | CacheOutcome::Touched(_) | CacheOutcome::Replaced => {}
            CacheOutcome::NeedsSnapshot => self.load_conversation(id),
            CacheOutcome::Broken => {
                let message = texts::CONVERSATION_BROKEN;
                let phase = self.view(id).phase;
                phase.set(ConversationPhase::Failed(message.into()));
            }
        }
    }

    /// Updates the signals of a conversation whose messages in the outbox changed.
    pub(super) fn refresh(self, id: ConversationId) {
        self.state.with(|state| state.changes.add_conversation(id));
        self.update_signals();
    }

    /// Updates the signals with the next frame, if there are changes.
    fn schedule_update(self) {
        let is_due = self.state.with(|state| {
            !state.changes.is_empty() && !std::mem::replace(&mut state.is_update_scheduled, true)
        });
        if is_due {
            browser::on_next_frame(move || self.update_signals());
        }
    }

    /// Updates the signals from the transcripts and the outbox. A conversation that is not on the screen is marked stale
    /// and updated when it is opened.
    pub(super) fn update_signals(self) {
        let shown = self.navigation.shown_conversation();
        self.state.with(|state| {
            state.is_update_scheduled = false;
            let changes = std::mem::take(&mut state.changes);
            for id in changes.conversations {
                state.sync(self, id, Some(id) == shown);
            }
            for change in changes.answers {
                let id = change.conversation_id;
                if Some(id) != shown {
                    state.mark_stale(id);
                } else if let (Some(view), Some(transcript)) = (state.find_view(id), state.cache.get(id)) {
                    view.sync_answer(transcript, &change);
                }
            }
        });
    }
}

impl ConversationsState {
    fn find_view(&self, id: ConversationId) -> Option<&ConversationView> {
        self.views.iter().find(|view| view.id == id)
    }

    fn view(&mut self, id: ConversationId) -> ConversationView {
        if let Some(view) = self.find_view(id) {
            return view.clone();
        }
        let view = ConversationView::new(id);
        self.views.push(view.clone());
        view
    }

    fn mark_stale(&mut self, id: ConversationId) {
        if !self.stale.contains(&id) {
            self.stale.push(id);
        }
    }

    fn note_outcome(&mut self, id: ConversationId, outcome: CacheOutcome) {
        match outcome {
            CacheOutcome::Touched(update) => self.changes.add(id, update),
            CacheOutcome::Replaced => self.changes.add_conversation(id),
            CacheOutcome::Unchanged | CacheOutcome::NeedsSnapshot | CacheOutcome::Broken => {}
        }
    }

    /// Updates a conversation's signals from its transcript and the outbox.
    fn sync(&mut self, stores: OpenConversations, id: ConversationId, is_shown: bool) {
        let OpenConversations {
            outbox, lifecycle, ..
        } = stores;
        let view = self.view(id);
        if !is_shown {
            self.mark_stale(id);
        }
        let transcript = self.cache.get(id);
        if let Some(transcript) = transcript {
            outbox.reconcile(transcript);
        }
        let (pending, replaced) = outbox.pending_message(id).unzip();
        let replaced = replaced.flatten();
        view.sync_pending_send(outbox.pending_send(id));
        view.sync_queue(
            transcript.map(|transcript| &transcript.queue),
            outbox.queued_messages(id),
        );
        match transcript {
            Some(_) if !is_shown => {}
            Some(transcript) => {
                if !self.cache.is_behind(id) {
                    view.mark_up_to_date();
                }
                view.sync(transcript, (pending.as_ref(), replaced), lifecycle.is_hydrated());
            }
            None => view.sync_unloaded(pending.as_ref()),
        }
    }
}
