//! The list of conversations: its loaded part, the loading of more, and the intents about its entries.
//!
//! [`cache`] is the pure copy of the server's list, [`pending`] what the user has changed in it meanwhile, [`rows`] the
//! signals. The archive is a list of its own, loaded when it is first needed.

mod cache;
mod intents;
mod pending;
mod rows;

use std::sync::Arc;

use futures::lock::Mutex;
use leptos::{prelude::*, task::spawn_local};

pub use self::rows::ListRow;
use self::{cache::ListCache, pending::PendingChanges};
use super::{
    connection::{Connection, load_error_text},
    lifecycle::PageLifecycle,
    navigation::Navigation,
};
use crate::{
    api::rpc,
    browser,
    components::toast::Toasts,
    runtime::{page_state::PageState, signal::set_if_changed},
};
use parlor_protocol::{
    ApiError, ConversationId, ConversationList, Event, ProjectId, conversation_list::ListUpdate,
};

/// The conversations of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListKind {
    /// All but archived ones.
    Chats,
    Archive,
    /// Those of a project, without archived ones; of none at first.
    Project(Option<ProjectId>),
}

/// The list, the archive, or the conversations of a project. One of each per page.
#[derive(Clone, Copy)]
pub struct ConversationListStore {
    kind: StoredValue<ListKind>,
    state: PageState<ListState>,
    rows: RwSignal<Vec<ListRow>>,
    has_more: RwSignal<bool>,
    /// True while older conversations are being loaded.
    is_loading_more: RwSignal<bool>,
    /// The failure of the last page that was requested.
    error: RwSignal<Option<ListError>>,
    connection: Connection,
    lifecycle: PageLifecycle,
    navigation: Navigation,
    toasts: Toasts,
    /// Held by the change that is being sent: changes are made in their order.
    sending: StoredValue<Arc<Mutex<()>>>,
}

#[derive(Default)]
struct ListState {
    cache: ListCache,
    pending: PendingChanges,
    /// True once the archive was loaded.
    is_opened: bool,
    /// True while an update of the signals is due with the next frame.
    is_update_scheduled: bool,
}

/// The reason why a part of the list is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    /// True for the newest page, which is not requested again automatically.
    pub is_newest: bool,
    pub message: String,
}

impl ListKind {
    fn project_id(self) -> Option<ProjectId> {
        match self {
            Self::Project(id) => id,
            Self::Chats | Self::Archive => None,
        }
    }
}

impl ConversationListStore {
    /// An empty list.
    pub(super) fn new(
        kind: ListKind,
        connection: Connection,
        lifecycle: PageLifecycle,
        navigation: Navigation,
        toasts: Toasts,
    ) -> Self {
        Self {
            kind: StoredValue::new(kind),
            state: PageState::default(),
            rows: RwSignal::default(),
            has_more: RwSignal::new(false),
            is_loading_more: RwSignal::new(false),
            error: RwSignal::default(),
            connection,
            lifecycle,
            navigation,
            toasts,
            sending: StoredValue::new(Arc::default()),
        }
    }

    /// Reads the rows of the loaded part. Tracked.
    pub fn with_rows<T>(self, read: impl FnOnce(&[ListRow]) -> T) -> T {
        self.rows.with(|rows| read(rows))
    }

    /// Returns true if the server has more than the loaded part. Tracked.
    pub fn has_more(self) -> bool {
        self.has_more.get()
    }

    /// Returns true while older conversations are being loaded. Tracked.
    pub fn is_loading_more(self) -> bool {
        self.is_loading_more.get()
    }

    /// The failure of the last page that was requested. Tracked.
    pub fn error(self) -> Option<ListError> {
        self.error.get()
    }

    /// Returns true if a conversation has unseen results and is not on the screen. Tracked.
    pub fn has_news(self, row: &ListRow) -> bool {
        let is_shown = self.navigation.chat_route().get().conversation_id() == Some(row.id);
        row.is_unseen.get() && !(is_shown && self.lifecycle.is_visible())
    }

    /// The title of a conversation with unseen results.
    pub(super) fn unseen_title(self, id: ConversationId) -> Option<String> {
        self.state.with(|state| {
            let mut listed = state.cache.conversations().iter();
            let listed = listed.find(|conversation| conversation.id == id && conversation.unseen);
            listed.map(|conversation| conversation.title.clone())
        })
    }

    /// Loads the next page.
    pub fn load_more(self) {
        if !self.is_loading_more.get_untracked() {
            self.is_loading_more.set(true);
            self.load_page(false);
        }
    }

    /// Loads the newest page again.
    pub fn reload(self) {
        self.load_page(true);
    }

    /// Marks the conversation on the screen as read, if it is in this list. Tracks the route, the visibility and the list.
    pub fn mark_seen(self) {
        let route = self.navigation.chat_route().get();
        let shown = route.conversation_id().filter(|_| self.lifecycle.is_visible());
        let unseen = self.rows.with(|rows| {
            let row = rows.iter().find(|row| Some(row.id) == shown);
            row.filter(|row| row.is_unseen.get()).map(|row| row.id)
        });
        if let Some(id) = unseen {
            spawn_local(async move {
                // If that fails, it stays unseen and is retried with the next change.
                let _ = self.connection.call(rpc::mark_read(id)).await;
            });
        }
    }

    /// Loads the archive when it is needed for the first time.
    pub fn open(self) {
        let is_opened = self
            .state
            .with(|state| std::mem::replace(&mut state.is_opened, true));
        if !is_opened {
            self.restart_empty();
        }
    }

    /// Loads the archive again, if it was loaded.
    pub(super) fn reopen(self) {
        if self.state.with(|state| state.is_opened) {
            self.restart_empty();
        }
    }

    /// Shows the conversations of a project, from this snapshot of them if there is one.
    pub(super) fn show_project(self, id: ProjectId, loaded: Option<ConversationList>) {
        if self.kind.get_value() == ListKind::Project(Some(id)) {
            return;
        }
        self.kind.set_value(ListKind::Project(Some(id)));
        self.state.with(|state| state.is_opened = true);
        match loaded {
            Some(loaded) => self.restart(loaded),
            None => self.restart_empty(),
        }
    }

    fn restart_empty(self) {
        let kind = self.kind.get_value();
        self.restart(ConversationList {
            as_of: self.connection.cursor(),
            has_more: true,
            archived: kind == ListKind::Archive,
            project_id: kind.project_id(),
            ..ConversationList::default()
        });
        self.is_loading_more.set(true);
        self.load_page(false);
    }

    /// Applies an event of the stream.
    pub(super) fn apply(self, event: &Event) -> ListUpdate {
        let update = self.state.with(|state| {
            state.pending.confirm(event);
            state.cache.apply(event)
        });
        if matches!(update, ListUpdate::Changed | ListUpdate::RunEnded(_)) {
            self.schedule_update();
        }
        update
    }

    /// Restarts from a snapshot of the newest page.
    pub(super) fn restart(self, list: ConversationList) {
        self.state.with(|state| {
            state.cache.restart(list);
            state.pending.clear();
        });
        self.update_signals();
    }

    /// Loads a page: the newest again, or the next older one.
    fn load_page(self, newest: bool) {
        let kind = self.kind.get_value();
        let (asked, cursor) = self.state.with(|state| {
            let asked = state.cache.begin_page();
            (asked, state.cache.cursor().filter(|_| !newest))
        });
        spawn_local(async move {
            let page = self
                .connection
                .call(rpc::conversations(
                    cursor,
                    kind == ListKind::Archive,
                    kind.project_id(),
                ))
                .await;
            // Another project is shown by now, whose own page is requested.
            if self.kind.get_value() != kind {
                return;
            }
            self.error.set(self.apply_page(asked, page, newest));
            self.is_loading_more.set(false);
            self.update_signals();
        });
    }

    fn apply_page(
        self,
        asked: u32,
        page: Result<ConversationList, ApiError>,
        newest: bool,
    ) -> Option<ListError> {
        self.state.with(|state| match page {
            Ok(page) => {
                state.cache.apply_page(asked, page, newest);
                None
            }
            Err(error) => {
                state.cache.fail_page(asked);
                Some(ListError {
                    is_newest: newest,
                    message: load_error_text(&error),
                })
            }
        })
    }

    /// Updates the signals with the next frame.
    fn schedule_update(self) {
        if !self
            .state
            .with(|state| std::mem::replace(&mut state.is_update_scheduled, true))
        {
            browser::on_next_frame(move || self.update_signals());
        }
    }

    fn update_signals(self) {
        let has_more = self.state.with(|state| {
            state.is_update_scheduled = false;
            let listed = state
                .pending
                .applied_to(state.cache.conversations(), self.kind.get_value());
            rows::sync(self.rows, &listed);
            state.cache.has_more()
        });
        set_if_changed(&self.has_more, &has_more);
    }
}
