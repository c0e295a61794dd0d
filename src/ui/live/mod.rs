//! The live state: what this browser knows of the server, kept true by one stream of events.
//!
//! [`session`], [`shelf`], [`listing`], [`link`], [`outbox`] and [`reruns`] are pure and tested without a browser. [`Live`] is
//! what joins them: it does what they ask for (requests, timers, the stream) and brings the signals in [`rows`] and
//! [`list_rows`], which the views read, up to them, once a frame.

mod actions;
mod ask;
mod ended;
mod follow;
mod kept;
mod link;
mod list_rows;
mod listing;
mod loading;
mod lost;
mod offered;
mod older;
mod outbox;
mod part;
mod reruns;
mod rows;
mod sending;
mod session;
mod shelf;
mod state;
#[cfg(test)]
mod story;
mod thought;
mod wishes;

use leptos::prelude::*;

pub use self::{
    link::Status,
    list_rows::ListRow,
    older::Older,
    outbox::Underway,
    part::{PartKind, PartRow},
    rows::{AnswerRow, ConversationView, LostRow, Offers, Phase, Row, RunView, Siblings, UserRow},
};
use self::{
    session::{Change, Session},
    state::State,
    wishes::Wishes,
};
use super::{browser, clock::Clock, page::Page, place::Place, toast::Toasts};
use crate::protocol::{ConversationId, Json, PageContext, PayloadRef, Position, Transcript};

/// The handle that the views hold. There is one, for as long as the page lives.
#[derive(Clone, Copy)]
pub struct Live {
    state: StoredValue<State>,
    /// The loaded part of the list.
    pub list: RwSignal<Vec<ListRow>>,
    pub has_more: RwSignal<bool>,
    /// Older conversations are being loaded.
    pub loading_more: RwSignal<bool>,
    /// The last page of the list that was asked for could not be had.
    pub list_trouble: RwSignal<Option<ListTrouble>>,
    pub status: RwSignal<Status>,
    pub clock: RwSignal<Clock>,
    /// Where the conversation is that is on the screen: in the tray, or where the person is.
    pub place: Memo<Place>,
    /// Where the person is.
    pub page: Memo<Place>,
    /// The address of that.
    pub address: RwSignal<String>,
    /// The page beside which the chat is in the tray, while it is shown.
    pub beside: RwSignal<Option<Beside>>,
    /// Who is told how the person's literature changes.
    pub reader: StoredValue<Option<Callback<LiteratureNews>>>,
    /// What the page *Literature* began with.
    pub opened: StoredValue<Option<Json>>,
    /// Whether the page is on the screen.
    pub visible: RwSignal<bool>,
    /// Messages that could not be sent: where, and what to tell the person. The text is in the drafts.
    pub unsent: RwSignal<Vec<(Place, String)>>,
    /// What is wanted of the next message.
    pub wishes: Wishes,
    pub toasts: Toasts,
    /// What was made last for the panel, of all that came with the stream, and in which conversation.
    pub made: RwSignal<Option<(ConversationId, PayloadRef)>>,
    /// Counts the times that something of what a person has set for themselves became another one.
    pub settings_changes: RwSignal<u32>,
    /// The address of the page that the person was on before this one.
    pub came_from: RwSignal<String>,
    /// Goes to a place; with `true` in place of the one in the browser's history.
    go: Callback<(Place, bool)>,
}

/// A page beside which one talks.
#[derive(Clone, Copy)]
pub struct Beside {
    /// What the person is looking at just now.
    pub context: Callback<(), PageContext>,
    /// What of it the assistant sees, in a sentence.
    pub about: &'static str,
    /// Questions about what is open there just now.
    pub questions: Callback<(), &'static [&'static str]>,
}

/// How the literature has changed, and where in the log that stands; nothing if all of it may be another one.
pub type LiteratureNews = Option<(Position, Json)>;

/// Where the person is, and how they get elsewhere.
#[derive(Clone, Copy)]
pub struct Places {
    pub address: RwSignal<String>,
    pub page: Memo<Place>,
    pub place: Memo<Place>,
    pub go: Callback<(Place, bool)>,
}

/// Why a part of the list is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListTrouble {
    /// The newest page, which nothing asks for again by itself.
    pub newest: bool,
    pub message: String,
}

impl Live {
    /// Begins with a page's snapshots.
    pub fn new(page: Page, places: Places) -> Self {
        let Places {
            address,
            page: at,
            place,
            go,
        } = places;
        let live = Self {
            state: StoredValue::new(State::default()),
            list: RwSignal::default(),
            has_more: RwSignal::new(false),
            loading_more: RwSignal::new(false),
            list_trouble: RwSignal::default(),
            status: RwSignal::default(),
            clock: RwSignal::new(Clock::utc(page.now)),
            place,
            page: at,
            address,
            beside: RwSignal::new(None),
            reader: StoredValue::new(None),
            opened: StoredValue::new(page.opened),
            visible: RwSignal::new(true),
            unsent: RwSignal::default(),
            wishes: Wishes::new(),
            toasts: Toasts::new(),
            made: RwSignal::default(),
            settings_changes: RwSignal::new(0),
            came_from: RwSignal::new(Place::New.path()),
            go,
        };
        // A list that could not be read is asked for again as soon as the stream stands.
        let list = page.list.unwrap_or_default();
        let (transcript, error) = match page.transcript {
            Some(Ok(transcript)) => (Some(transcript), None),
            Some(Err(error)) => (None, Some(error)),
            None => (None, None),
        };
        live.with(|state| {
            let id = page.place.conversation();
            state.session = Session::new(list, transcript);
            if let Some(id) = id {
                state.view(id);
            }
            state.dirty.list = true;
            state.dirty.conversations.extend(id);
        });
        live.flush();
        if let (Some(id), Some(error)) = (page.place.conversation(), error) {
            live.could_not_load(id, &error);
        }
        live
    }

    /// The conversation's signals. They are there at once; what is not known yet is loaded by [`Live::visit`].
    pub fn view(self, id: ConversationId) -> ConversationView {
        self.with(|state| state.view(id))
    }

    /// The signals of the conversation on the screen.
    pub fn here(self) -> Option<ConversationView> {
        self.place.get().conversation().map(|id| self.view(id))
    }

    /// Goes to an address of the page that the person is on.
    pub fn turn_to(self, address: String, replace: bool) {
        browser::set_address(&address, replace);
        self.address.set(address);
    }

    /// Goes to a place.
    pub fn go(self, place: Place) {
        self.go.run((place, false));
    }

    /// The last position that was applied.
    pub fn cursor(self) -> Position {
        self.with(|state| state.session.cursor())
    }

    /// Whether the browser has taken over: what is shown for the first time now was not in the server's page.
    pub fn has_taken_over(self) -> bool {
        self.with(|state| state.live)
    }

    /// Runs `f` with a conversation's transcript, if it is here.
    pub fn with_transcript<T>(self, id: ConversationId, f: impl FnOnce(&Transcript) -> T) -> Option<T> {
        self.with(|state| state.session.shelf.get(id).map(f))
    }

    fn with<T>(self, f: impl FnOnce(&mut State) -> T) -> T {
        self.state
            .try_update_value(f)
            .expect("the live state is there for as long as the page is")
    }

    /// Notes what changed, does what it asks for, and has it shown with the next frame.
    fn changed(self, changes: impl IntoIterator<Item = Change>) {
        let mut restart = false;
        for change in changes {
            match change {
                Change::List => self.with(|state| state.dirty.list = true),
                Change::AskForList => self.load_list(true),
                Change::Conversation(id, touched) => self.with(|state| state.dirty.touch(id, touched)),
                Change::Replaced(id) => self.with(|state| state.dirty.conversation(id)),
                Change::AskFor(id) => self.load(id),
                Change::Broken(id) => {
                    let message = "This conversation could not be put together. Load the page again.";
                    self.view(id).phase.set(Phase::Failed(message.into()));
                }
                Change::Ended(ended) => self.ended(ended),
                Change::Restart => restart = true,
            }
        }
        if restart {
            self.restart();
        }
        self.flush_soon();
    }

    fn flush_soon(self) {
        let ask =
            self.with(|state| state.dirty.any() && !std::mem::replace(&mut state.dirty.frame_asked, true));
        if ask {
            browser::next_frame(move || self.flush());
        }
    }

    /// Brings the signals up to the session. A conversation that nobody sees is left for when somebody does.
    fn flush(self) {
        let shown = self.place.get_untracked().conversation();
        let (listing, settled) = self.with(|state| {
            let dirty = std::mem::take(&mut state.dirty);
            let settled: Vec<_> = dirty
                .conversations
                .iter()
                .filter_map(|id| state.sync(*id, shown))
                .collect();
            for (id, message) in &dirty.messages {
                if Some(*id) != shown {
                    state.is_stale(*id);
                } else if let (Some(view), Some(transcript)) =
                    (state.known_view(*id), state.session.shelf.get(*id))
                {
                    view.sync_message(transcript, *message);
                }
            }
            if dirty.list {
                list_rows::sync(self.list, &state.session.listing);
            }
            (dirty.list.then(|| state.session.listing.has_more()), settled)
        });
        if let Some(has_more) = listing
            && self.has_more.get_untracked() != has_more
        {
            self.has_more.set(has_more);
        }
        for settled in settled {
            self.settled(settled);
        }
    }
}

/// The live state of the page.
pub fn use_live() -> Live {
    expect_context()
}
