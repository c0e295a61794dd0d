//! The live state: this browser's copy of the server's state, kept up to date by one event stream.
//!
//! [`replica`], [`transcript_cache`], [`list_cache`], [`reconnect`], [`outbox`] and [`reruns`] are pure and tested
//! without a browser. [`Live`] joins them: it performs the effects they return (requests, timers, the stream) and, once
//! a frame, updates the signals in [`rows`] and [`list_rows`], which the views read.

mod actions;
pub mod clock;
mod connection;
pub mod drafts;
mod list_cache;
mod list_rows;
mod loading;
pub mod models;
mod next_message;
pub mod notifications;
mod older;
mod outbox;
mod outbox_storage;
pub mod page_registry;
mod part;
mod preview_line;
mod reconnect;
mod replica;
mod request;
mod reruns;
pub mod route;
mod rows;
mod run_end;
mod sending;
pub mod snapshot;
mod store;
#[cfg(test)]
mod story;
mod suggestions;
mod transcript_cache;
mod unrecorded;

use leptos::prelude::*;

pub use self::{
    list_rows::ListRow,
    older::OlderState,
    outbox::PendingSend,
    part::{PartKind, PartRow},
    reconnect::ConnectionStatus,
    rows::{
        AnswerExtras, AnswerRow, ConversationPhase, ConversationView, Row, RunView, Siblings, UnrecordedRow,
        UserRow,
    },
};
use self::{
    next_message::NextMessageOptions,
    replica::{ReplicaChange, ServerReplica},
    store::LiveState,
};
use super::browser;
use crate::protocol::{ConversationId, PageContext, PayloadRef, Position, RawJson, Transcript};
use crate::ui::{
    components::toast::Toasts, state::clock::Clock, state::route::Route, state::snapshot::PageSnapshot,
};

/// The handle of the views. One per page; lives as long as the page.
#[derive(Clone, Copy)]
pub struct Live {
    state: StoredValue<LiveState>,
    /// The loaded part of the list.
    pub list: RwSignal<Vec<ListRow>>,
    pub has_more: RwSignal<bool>,
    /// True while older conversations are being loaded.
    pub is_loading_more: RwSignal<bool>,
    /// The failure of the last list page that was requested.
    pub list_error: RwSignal<Option<ListError>>,
    pub status: RwSignal<ConnectionStatus>,
    pub clock: RwSignal<Clock>,
    /// The route of the conversation on the screen: in the tray, or the page's own.
    pub chat_route: Memo<Route>,
    /// The route of the page.
    pub page_route: Memo<Route>,
    /// The address of the page.
    pub address: RwSignal<String>,
    /// The page beside which the tray shows the chat, while that page is shown.
    pub side_page: RwSignal<Option<SidePage>>,
    /// The shown page, by name, and the receiver of its data's changes.
    pub page_listener: StoredValue<Option<(&'static str, Callback<PageUpdate>)>>,
    /// The snapshot that the first page starts from.
    pub page_snapshot: StoredValue<Option<RawJson>>,
    /// True while the page is visible.
    pub is_visible: RwSignal<bool>,
    /// Messages that could not be sent: the route, and the text for the user. The message text is in the drafts.
    pub send_errors: RwSignal<Vec<(Route, String)>>,
    /// The options of the next message.
    pub next_message: NextMessageOptions,
    pub toasts: Toasts,
    /// The latest payload for the panel that the stream brought, with its conversation.
    pub latest_payload: RwSignal<Option<(ConversationId, PayloadRef)>>,
    /// Counts the changes of the user's settings.
    pub settings_version: RwSignal<u32>,
    /// The address of the previous page.
    pub previous_address: RwSignal<String>,
    /// Navigates to a route; with `true`, replaces the entry in the browser's history.
    navigate: Callback<(Route, bool)>,
}

/// A page that the tray's chat is about.
#[derive(Clone, Copy)]
pub struct SidePage {
    /// Returns the current context: what is on the screen.
    pub context: Callback<(), PageContext>,
    /// A sentence about what the assistant sees of the page.
    pub about: &'static str,
    /// Suggested questions about what is open now.
    pub suggested_questions: Callback<(), &'static [&'static str]>,
}

/// A change of a page's data with its position in the log; `None` if all of them may have changed.
pub type PageUpdate = Option<(Position, RawJson)>;

/// The current route and the means to change it.
#[derive(Clone, Copy)]
pub struct Navigation {
    pub address: RwSignal<String>,
    pub page_route: Memo<Route>,
    pub chat_route: Memo<Route>,
    pub navigate: Callback<(Route, bool)>,
}

/// The reason why a part of the list is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// True for the newest page, which is not requested again automatically.
    pub is_newest: bool,
    pub message: String,
}

impl Live {
    /// Creates the state from a page's snapshots.
    pub fn new(page: PageSnapshot, navigation: Navigation) -> Self {
        let Navigation {
            address,
            page_route,
            chat_route,
            navigate,
        } = navigation;
        let live = Self {
            state: StoredValue::new(LiveState::default()),
            list: RwSignal::default(),
            has_more: RwSignal::new(false),
            is_loading_more: RwSignal::new(false),
            list_error: RwSignal::default(),
            status: RwSignal::default(),
            clock: RwSignal::new(Clock::utc(page.now)),
            chat_route,
            page_route,
            address,
            side_page: RwSignal::new(None),
            page_listener: StoredValue::new(None),
            page_snapshot: StoredValue::new(page.opened),
            is_visible: RwSignal::new(true),
            send_errors: RwSignal::default(),
            next_message: NextMessageOptions::new(),
            toasts: Toasts::new(),
            latest_payload: RwSignal::default(),
            settings_version: RwSignal::new(0),
            previous_address: RwSignal::new(Route::New.path()),
            navigate,
        };
        // A list that could not be read is requested again as soon as the stream is open.
        let list = page.list.unwrap_or_default();
        let (transcript, error) = match page.transcript {
            Some(Ok(transcript)) => (Some(transcript), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        let id = page_route.get_untracked().conversation_id();
        live.with_state(|state| {
            state.replica = ServerReplica::new(list, transcript);
            if let Some(id) = id {
                state.view(id);
            }
            state.dirty.is_list_dirty = true;
            state.dirty.conversations.extend(id);
        });
        live.flush();
        if let (Some(id), Some(error)) = (id, error) {
            live.fail_load(id, &error);
        }
        live
    }

    /// The conversation's signals. They exist at once; data not known yet is loaded by [`Live::load_route`].
    pub fn view(self, id: ConversationId) -> ConversationView {
        self.with_state(|state| state.view(id))
    }

    /// The signals of the conversation on the screen.
    pub fn current_view(self) -> Option<ConversationView> {
        self.chat_route.get().conversation_id().map(|id| self.view(id))
    }

    /// Navigates to another address of the current page.
    pub fn set_address(self, address: String, replace: bool) {
        browser::set_address(&address, replace);
        self.address.set(address);
    }

    /// Navigates to a route.
    pub fn go_to(self, route: Route) {
        self.navigate.run((route, false));
    }

    /// The last position that was applied.
    pub fn cursor(self) -> Position {
        self.with_state(|state| state.replica.cursor())
    }

    /// Returns true after hydration: views created from now on were not in the server's page.
    pub fn is_hydrated(self) -> bool {
        self.with_state(|state| state.is_hydrated)
    }

    /// Runs `f` with a conversation's transcript, if it is loaded.
    pub fn with_transcript<T>(self, id: ConversationId, f: impl FnOnce(&Transcript) -> T) -> Option<T> {
        self.with_state(|state| state.replica.transcripts.get(id).map(f))
    }

    #[expect(clippy::expect_used, reason = "an entry of the page's owner")]
    fn with_state<T>(self, f: impl FnOnce(&mut LiveState) -> T) -> T {
        self.state
            .try_update_value(f)
            .expect("the live state exists as long as the page")
    }

    /// Records the changes, performs their effects, and schedules an update of the signals with the next frame.
    fn apply_changes(self, changes: impl IntoIterator<Item = ReplicaChange>) {
        let mut restart = false;
        for change in changes {
            match change {
                ReplicaChange::List => self.with_state(|state| state.dirty.is_list_dirty = true),
                ReplicaChange::LoadList => self.load_list(true),
                ReplicaChange::Conversation(id, touched) => {
                    self.with_state(|state| state.dirty.mark_touched(id, touched))
                }
                ReplicaChange::Replaced(id) => self.with_state(|state| state.dirty.mark_conversation(id)),
                ReplicaChange::LoadConversation(id) => self.load_conversation(id),
                ReplicaChange::Broken(id) => {
                    let message = "This conversation could not be loaded correctly. Reload the page.";
                    self.view(id).phase.set(ConversationPhase::Failed(message.into()));
                }
                ReplicaChange::RunEnded(ended) => self.notify_run_end(ended),
                ReplicaChange::Resync => restart = true,
            }
        }
        if restart {
            self.resync();
        }
        self.schedule_flush();
    }

    fn schedule_flush(self) {
        let ask = self.with_state(|state| {
            state.dirty.is_any_dirty() && !std::mem::replace(&mut state.dirty.is_frame_requested, true)
        });
        if ask {
            browser::on_next_frame(move || self.flush());
        }
    }

    /// Updates the signals from the replica. A conversation that is not on the screen is marked stale and updated when
    /// it is opened.
    fn flush(self) {
        let shown = self.chat_route.get_untracked().conversation_id();
        let (listing, settled) = self.with_state(|state| {
            let dirty = std::mem::take(&mut state.dirty);
            let settled: Vec<_> = dirty
                .conversations
                .iter()
                .filter_map(|id| state.sync(*id, shown))
                .collect();
            for (id, message) in &dirty.messages {
                if Some(*id) != shown {
                    state.mark_stale(*id);
                } else if let (Some(view), Some(transcript)) =
                    (state.find_view(*id), state.replica.transcripts.get(*id))
                {
                    view.sync_message(transcript, *message);
                }
            }
            if dirty.is_list_dirty {
                list_rows::sync(self.list, &state.replica.list_cache);
            }
            (
                dirty.is_list_dirty.then(|| state.replica.list_cache.has_more()),
                settled,
            )
        });
        if let Some(has_more) = listing
            && self.has_more.get_untracked() != has_more
        {
            self.has_more.set(has_more);
        }
        for settled in settled {
            self.apply_outbox_update(settled);
        }
    }
}

/// The live state of the page.
pub fn use_live() -> Live {
    expect_context()
}
