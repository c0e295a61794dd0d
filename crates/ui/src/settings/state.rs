//! The data of the settings page: loaded when it is opened, and again whenever the log reports a change.

use std::sync::Arc;

use futures::lock::Mutex;
use leptos::{prelude::*, task::spawn_local};

use super::{SettingsSnapshot, texts};
use crate::{
    api::personal,
    components::toast::{Toasts, use_toasts},
    state::{Connection, use_connection, use_feeds, use_lifecycle},
};
use parlor_protocol::{ApiError, ApiToken, Memory, PersonalData, RawJson, RunError, json};

/// The loading phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingsPhase {
    Loading,
    Ready,
    Failed(String),
}

/// The handle of the sections. Lives as long as the settings are shown.
#[derive(Clone, Copy)]
pub struct SettingsState {
    pub connection: Connection,
    toasts: Toasts,
    pub phase: RwSignal<SettingsPhase>,
    /// True once the data are read, or requested.
    is_read: StoredValue<bool>,
    /// The saved instructions, and the text in the box.
    pub saved_instructions: RwSignal<String>,
    pub edited_instructions: RwSignal<String>,
    /// The maximum length of the instructions, in bytes.
    pub max_instructions_bytes: RwSignal<usize>,
    /// True if the saved instructions have changed since the user began to edit.
    pub has_conflict: RwSignal<bool>,
    pub is_memory_on: RwSignal<bool>,
    pub searches_chats: RwSignal<bool>,
    pub retention_days: RwSignal<u32>,
    pub max_retention_days: RwSignal<u32>,
    pub memories: RwSignal<Vec<Memory>>,
    pub tokens: RwSignal<Vec<ApiToken>>,
    pub unavailable_tools: RwSignal<Vec<RunError>>,
    /// Counts the requests: the response to any but the last one is discarded.
    last_requested: StoredValue<u32>,
    last_shown: StoredValue<u32>,
    /// The number of changes that are not known to be stored. Until they are, what is shown is newer than any response.
    unsaved_changes: StoredValue<usize>,
    /// Held by the change that is being sent: changes are stored in the order in which they were made.
    sending: StoredValue<Arc<Mutex<()>>>,
}

impl SettingsState {
    pub fn new() -> Self {
        let settings = Self {
            connection: use_connection(),
            toasts: use_toasts(),
            phase: RwSignal::new(SettingsPhase::Loading),
            is_read: StoredValue::new(false),
            saved_instructions: RwSignal::default(),
            edited_instructions: RwSignal::default(),
            max_instructions_bytes: RwSignal::new(usize::MAX),
            has_conflict: RwSignal::new(false),
            is_memory_on: RwSignal::new(true),
            searches_chats: RwSignal::new(false),
            retention_days: RwSignal::new(0),
            max_retention_days: RwSignal::new(0),
            memories: RwSignal::default(),
            tokens: RwSignal::default(),
            unavailable_tools: RwSignal::default(),
            last_requested: StoredValue::new(0),
            last_shown: StoredValue::new(0),
            unsaved_changes: StoredValue::new(0),
            sending: StoredValue::new(Arc::default()),
        };
        let feeds = use_feeds();
        Effect::new(move |before: Option<u32>| {
            let changes = feeds.settings_version();
            if before.is_some_and(|before| before != changes) && settings.is_read.get_value() {
                settings.load();
            }
            changes
        });
        settings
    }

    /// Loads the data for the first tab that shows them. Those of the server need none.
    pub fn load_if_unread(self) {
        if self.is_read.get_value() {
            return;
        }
        self.is_read.set_value(true);
        if untrack(|| use_lifecycle().is_hydrated()) {
            self.load();
        } else {
            self.init(expect_context::<SettingsSnapshot>().0);
        }
    }

    /// Starts from the page's snapshot.
    fn init(self, given: Option<RawJson>) {
        match given.map(|given| json::parse::<PersonalData>(given.as_str().as_bytes())) {
            Some(Ok(personal)) => self.show(personal),
            _ => self.phase.set(SettingsPhase::Failed(texts::NOT_READ.into())),
        }
    }

    pub fn reload(self) {
        self.phase.set(SettingsPhase::Loading);
        self.load();
    }

    fn load(self) {
        self.last_requested.update_value(|asked| *asked += 1);
        let number = self.last_requested.get_value();
        spawn_local(async move {
            let answer = self.connection.call(personal::personal()).await;
            let is_news = |shown: &mut u32| {
                let is_news = number > *shown;
                *shown = number.max(*shown);
                is_news
            };
            // The user may have left by now.
            if self.last_shown.try_update_value(is_news) != Some(true) || self.unsaved_changes.get_value() > 0
            {
                return;
            }
            match answer {
                Ok(personal) => self.show(personal),
                Err(error) => self.on_load_error(error),
            }
        });
    }

    fn on_load_error(self, error: ApiError) {
        if self.phase.get_untracked() == SettingsPhase::Ready {
            self.toasts.show(error.message);
        } else {
            self.phase.set(SettingsPhase::Failed(error.message));
        }
    }

    fn show(self, personal: PersonalData) {
        let is_edited = self.has_edits();
        let is_other = self
            .saved_instructions
            .with_untracked(|saved| *saved != personal.instructions);
        if !is_edited {
            self.edited_instructions.set(personal.instructions.clone());
        } else if is_other {
            let same = self
                .edited_instructions
                .with_untracked(|text| *text == personal.instructions);
            self.has_conflict.set(!same);
        }
        self.saved_instructions.set(personal.instructions);
        self.max_instructions_bytes.set(personal.instructions_bytes);
        self.is_memory_on.set(personal.remembers);
        self.searches_chats.set(personal.searches_chats);
        self.retention_days.set(personal.retention_days);
        self.max_retention_days.set(personal.max_retention_days);
        self.memories.set(personal.memories);
        self.tokens.set(personal.tokens);
        self.unavailable_tools.set(personal.unavailable_tools);
        if self.phase.get_untracked() != SettingsPhase::Ready {
            self.phase.set(SettingsPhase::Ready);
        }
    }

    /// Returns true if the box differs from the saved instructions.
    fn has_edits(self) -> bool {
        let text = self.edited_instructions.read_untracked();
        self.saved_instructions.with_untracked(|saved| *saved != *text)
    }

    /// Sends a request for a change. If it is refused, shows the error and reverts what was shown already.
    pub fn send(
        self,
        intent: impl Future<Output = Result<(), ApiError>> + 'static,
        undo: impl FnOnce() + 'static,
    ) {
        self.unsaved_changes.update_value(|changes| *changes += 1);
        let sending = self.sending.get_value();
        spawn_local(async move {
            let saved = {
                let _turn = sending.lock().await;
                self.connection.call(intent).await
            };
            let is_open = self.phase.try_get_untracked().is_some();
            if let Err(error) = saved {
                self.toasts.show(error.message);
                if is_open {
                    undo();
                }
            }
            if is_open {
                self.on_sent();
            }
        });
    }

    /// Loads the data again after the last change: the responses to earlier requests may be older than it.
    fn on_sent(self) {
        self.unsaved_changes.update_value(|changes| *changes -= 1);
        if self.unsaved_changes.get_value() == 0 {
            self.last_shown.set_value(self.last_requested.get_value());
            self.load();
        }
    }
}
