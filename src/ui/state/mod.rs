//! The live state: what this browser knows of the server, kept true by one stream of events.
//!
//! [`session`], [`shelf`], [`listing`], [`link`], [`outbox`] and [`reruns`] are pure and tested without a browser. [`Live`] is
//! what joins them: it does what they ask for (requests, timers, the stream) and brings the signals in [`rows`] and
//! [`list_rows`], which the views read, up to them, once a frame.

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

/// The handle that the views hold. There is one, for as long as the page lives.
#[derive(Clone, Copy)]
pub struct Live {
    state: StoredValue<LiveState>,
    /// The loaded part of the list.
    pub list: RwSignal<Vec<ListRow>>,
    pub has_more: RwSignal<bool>,
    /// Older conversations are being loaded.
    pub is_loading_more: RwSignal<bool>,
    /// The last page of the list that was asked for could not be had.
    pub list_error: RwSignal<Option<ListError>>,
    pub status: RwSignal<ConnectionStatus>,
    pub clock: RwSignal<Clock>,
    /// Where the conversation is that is on the screen: in the tray, or where the person is.
    pub chat_route: Memo<Route>,
    /// Where the person is.
    pub page_route: Memo<Route>,
    /// The address of that.
    pub address: RwSignal<String>,
    /// The page beside which the chat is in the tray, while it is shown.
    pub side_page: RwSignal<Option<SidePage>>,
    /// Who is told how the person's literature changes.
    pub literature_listener: StoredValue<Option<Callback<LiteratureUpdate>>>,
    /// What the page *Literature* began with.
    pub literature_snapshot: StoredValue<Option<RawJson>>,
    /// Whether the page is on the screen.
    pub is_visible: RwSignal<bool>,
    /// Messages that could not be sent: where, and what to tell the person. The text is in the drafts.
    pub send_errors: RwSignal<Vec<(Route, String)>>,
    /// What is wanted of the next message.
    pub next_message: NextMessageOptions,
    pub toasts: Toasts,
    /// What was made last for the panel, of all that came with the stream, and in which conversation.
    pub latest_payload: RwSignal<Option<(ConversationId, PayloadRef)>>,
    /// Counts the times that something of what a person has set for themselves became another one.
    pub settings_version: RwSignal<u32>,
    /// The address of the page that the person was on before this one.
    pub previous_address: RwSignal<String>,
    /// Goes to a place; with `true` in place of the one in the browser's history.
    navigate: Callback<(Route, bool)>,
}

/// A page beside which one talks.
#[derive(Clone, Copy)]
pub struct SidePage {
    /// What the person is looking at just now.
    pub context: Callback<(), PageContext>,
    /// What of it the assistant sees, in a sentence.
    pub about: &'static str,
    /// Questions about what is open there just now.
    pub suggested_questions: Callback<(), &'static [&'static str]>,
}

/// How the literature has changed, and where in the log that stands; nothing if all of it may be another one.
pub type LiteratureUpdate = Option<(Position, RawJson)>;

/// Where the person is, and how they get elsewhere.
#[derive(Clone, Copy)]
pub struct Navigation {
    pub address: RwSignal<String>,
    pub page_route: Memo<Route>,
    pub chat_route: Memo<Route>,
    pub navigate: Callback<(Route, bool)>,
}

/// Why a part of the list is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// The newest page, which nothing asks for again by itself.
    pub is_newest: bool,
    pub message: String,
}

impl Live {
    /// Begins with a page's snapshots.
    pub fn new(page: PageSnapshot, places: Navigation) -> Self {
        let Navigation {
            address,
            page_route: at,
            chat_route: place,
            navigate: go,
        } = places;
        let live = Self {
            state: StoredValue::new(LiveState::default()),
            list: RwSignal::default(),
            has_more: RwSignal::new(false),
            is_loading_more: RwSignal::new(false),
            list_error: RwSignal::default(),
            status: RwSignal::default(),
            clock: RwSignal::new(Clock::utc(page.now)),
            chat_route: place,
            page_route: at,
            address,
            side_page: RwSignal::new(None),
            literature_listener: StoredValue::new(None),
            literature_snapshot: StoredValue::new(page.opened),
            is_visible: RwSignal::new(true),
            send_errors: RwSignal::default(),
            next_message: NextMessageOptions::new(),
            toasts: Toasts::new(),
            latest_payload: RwSignal::default(),
            settings_version: RwSignal::new(0),
            previous_address: RwSignal::new(Route::New.path()),
            navigate: go,
        };
        // A list that could not be read is asked for again as soon as the stream stands.
        let list = page.list.unwrap_or_default();
        let (transcript, error) = match page.transcript {
            Some(Ok(transcript)) => (Some(transcript), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        live.with_state(|state| {
            let id = page.place.conversation_id();
            state.replica = ServerReplica::new(list, transcript);
            if let Some(id) = id {
                state.view(id);
            }
            state.dirty.is_list_dirty = true;
            state.dirty.conversations.extend(id);
        });
        live.flush();
        if let (Some(id), Some(error)) = (page.place.conversation_id(), error) {
            live.fail_load(id, &error);
        }
        live
    }

    /// The conversation's signals. They are there at once; what is not known yet is loaded by [`Live::visit`].
    pub fn view(self, id: ConversationId) -> ConversationView {
        self.with_state(|state| state.view(id))
    }

    /// The signals of the conversation on the screen.
    pub fn current_view(self) -> Option<ConversationView> {
        self.chat_route.get().conversation_id().map(|id| self.view(id))
    }

    /// Goes to an address of the page that the person is on.
    pub fn set_address(self, address: String, replace: bool) {
        browser::set_address(&address, replace);
        self.address.set(address);
    }

    /// Goes to a place.
    pub fn go_to(self, place: Route) {
        self.navigate.run((place, false));
    }

    /// The last position that was applied.
    pub fn cursor(self) -> Position {
        self.with_state(|state| state.replica.cursor())
    }

    /// Whether the browser has taken over: what is shown for the first time now was not in the server's page.
    pub fn is_hydrated(self) -> bool {
        self.with_state(|state| state.is_hydrated)
    }

    /// Runs `f` with a conversation's transcript, if it is here.
    pub fn with_transcript<T>(self, id: ConversationId, f: impl FnOnce(&Transcript) -> T) -> Option<T> {
        self.with_state(|state| state.replica.transcripts.get(id).map(f))
    }

    fn with_state<T>(self, f: impl FnOnce(&mut LiveState) -> T) -> T {
        self.state
            .try_update_value(f)
            .expect("the live state is there for as long as the page is")
    }

    /// Notes what changed, does what it asks for, and has it shown with the next frame.
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
                    let message = "This conversation could not be put together. Load the page again.";
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

    /// Brings the signals up to the session. A conversation that nobody sees is left for when somebody does.
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
