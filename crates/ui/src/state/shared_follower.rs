//! Following of a share: applies the frames of its stream to the one conversation of a reader's page.

use leptos::{prelude::*, task::spawn_local};

use super::{
    connection::{Connection, ConnectionStatus, StreamInput},
    conversations::{CacheOutcome, OpenConversations},
    lifecycle::PageLifecycle,
};
use crate::{
    api::sharing::shared_conversation,
    browser::{self, PresenceEvent},
    runtime::{clock::PageClock, effect::effect, shared_view::SharedView},
};
use parlor_protocol::{
    ConversationId, ErrorCode, MessageId, Position, SharedConversation, SharedFrame, json, sse::SseFrame,
};

/// The follower of a share. One per reader's page.
#[derive(Clone, Copy)]
pub struct SharedFollower {
    pub(super) connection: Connection,
    pub(super) conversations: OpenConversations,
    pub(super) lifecycle: PageLifecycle,
    pub(super) clock: PageClock,
    id: ConversationId,
    share: StoredValue<SharedView>,
    /// The message before which older ones are shown, too.
    before: Option<MessageId>,
    has_ended: RwSignal<bool>,
    /// The server has no place for another stream of the share.
    is_crowded: RwSignal<bool>,
}

impl SharedFollower {
    pub(super) fn new(
        (connection, conversations, lifecycle, clock): (
            Connection,
            OpenConversations,
            PageLifecycle,
            PageClock,
        ),
        id: ConversationId,
        share: SharedView,
        before: Option<MessageId>,
    ) -> Self {
        Self {
            connection,
            conversations,
            lifecycle,
            clock,
            id,
            share: StoredValue::new(share),
            before,
            has_ended: RwSignal::new(false),
            is_crowded: RwSignal::new(false),
        }
    }

    /// True if too many people watch the share, so that this page does not follow it any more. Tracked.
    pub fn is_crowded(self) -> bool {
        self.is_crowded.get()
    }

    /// True once the share has ended. Tracked.
    pub fn has_ended(self) -> bool {
        self.has_ended.get()
    }

    /// Starts in the browser, after hydration. A snapshot has no stream.
    pub fn start(self, is_live: bool) {
        self.lifecycle.mark_hydrated();
        self.clock.update();
        if !is_live {
            return;
        }
        let events = self.share.with_value(|share| share.events(self.before));
        self.connection.set_events_url(events);
        browser::on_presence(move |presence| self.on_presence(presence));
        if browser::is_page_hidden() {
            self.on_presence(PresenceEvent::Hidden);
        }
        self.connection.start(Callback::new(move |input| match input {
            StreamInput::Connected => {}
            StreamInput::Frames(frames) => self.apply_frames(&frames, true),
            StreamInput::Incomplete(frames) => self.apply_frames(&frames, false),
            StreamInput::TooMany => self.give_up(),
        }));
        // A stream that can't be opened may be one that is no longer shared.
        effect(move || {
            if self.connection.status() == ConnectionStatus::Disconnected {
                self.check();
            }
        });
    }

    fn on_presence(self, presence: PresenceEvent) {
        match presence {
            PresenceEvent::Visible => self.lifecycle.set_visible(true),
            PresenceEvent::Hidden => self.lifecycle.set_visible(false),
            PresenceEvent::Online | PresenceEvent::Offline => {}
        }
        if !self.has_ended.get_untracked() && !self.is_crowded.get_untracked() {
            self.connection.on_presence(presence);
        }
        if presence == PresenceEvent::Visible {
            self.clock.update();
        }
    }

    fn apply_frames(self, frames: &[SseFrame], is_complete: bool) {
        for frame in frames {
            match json::parse::<SharedFrame>(frame.data.as_bytes()) {
                Ok(SharedFrame::Event(event)) => {
                    self.connection.advance(event.position);
                    let outcome = self.conversations.apply(&event);
                    if matches!(outcome, CacheOutcome::NeedsSnapshot | CacheOutcome::Broken) {
                        return self.reload();
                    }
                }
                Ok(SharedFrame::State(state)) => self.show(*state),
                Ok(SharedFrame::Ended) => return self.end(),
                // The log can't be followed from here.
                Err(_) => return self.reload(),
            }
        }
        if !is_complete {
            self.reload();
        }
    }

    fn show(self, state: SharedConversation) {
        self.connection.advance(state.transcript.as_of);
        self.conversations.restart(Some(self.id), Some(state.transcript));
        self.conversations.update_signals();
    }

    /// Leaves the places to those who have them.
    fn give_up(self) {
        self.connection.pause();
        self.is_crowded.set(true);
    }

    fn end(self) {
        self.connection.pause();
        self.has_ended.set(true);
    }

    /// Loads the state again and follows from there.
    fn reload(self) {
        if self.connection.pause() {
            spawn_local(async move {
                if !self.load(true).await {
                    // Events were skipped: the stream is to begin with the state.
                    self.connection.set_cursor(Position(0));
                }
                if !self.has_ended.get_untracked() {
                    self.connection.resume();
                }
            });
        }
    }

    /// Finds out whether the share has ended.
    fn check(self) {
        spawn_local(async move {
            self.load(false).await;
        });
    }

    /// Loads the state. Returns true if it is shown now.
    async fn load(self, is_shown: bool) -> bool {
        let key = self.share.with_value(SharedView::key);
        let loaded = self.connection.call(shared_conversation(key, self.before)).await;
        match loaded {
            Ok(state) if is_shown => {
                self.show(state);
                return true;
            }
            Err(error) if error.code == ErrorCode::NotFound => self.end(),
            _ => {}
        }
        false
    }
}
