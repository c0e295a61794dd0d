//! Stream updates for single features: payloads, changes of the shown page's data and of the settings.

use leptos::prelude::*;

use parlor_protocol::{ConversationId, PayloadRef, Position, RawJson};

/// A change of a page's data with its position in the log; `None` if all of them may have changed.
pub type PageUpdate = Option<(Position, RawJson)>;

/// A number, the name of a page, and what is called with its changes.
type PageListener = (u32, &'static str, Callback<PageUpdate>);

/// The feeds of the features.
#[derive(Clone, Copy)]
pub struct ChangeFeeds {
    /// The listeners to changes of pages' data, by the name of the page, and the number of the next one.
    page_listeners: StoredValue<(u32, Vec<PageListener>)>,
    latest_payload: RwSignal<Option<(ConversationId, PayloadRef)>>,
    settings_version: RwSignal<u32>,
}

impl ChangeFeeds {
    pub(super) fn new() -> Self {
        Self {
            page_listeners: StoredValue::default(),
            latest_payload: RwSignal::default(),
            settings_version: RwSignal::new(0),
        }
    }

    /// Reports the changes of a page's data for as long as the current owner lives.
    pub fn on_page_change(self, page: &'static str, listener: impl Fn(PageUpdate) + Send + Sync + 'static) {
        let listener = Callback::new(listener);
        let number = self.page_listeners.try_update_value(|(next, listeners)| {
            *next = next.wrapping_add(1);
            listeners.push((*next, page, listener));
            *next
        });
        on_cleanup(move || {
            self.page_listeners
                .try_update_value(|(_, listeners)| listeners.retain(|(other, ..)| Some(*other) != number));
        });
    }

    /// The latest payload for the panel, with its conversation. Tracked.
    pub fn latest_payload(self) -> Option<(ConversationId, PayloadRef)> {
        self.latest_payload.get()
    }

    /// The number of changes of the user's settings. Tracked.
    pub fn settings_version(self) -> u32 {
        self.settings_version.get()
    }

    pub(super) fn report_page_change(self, page: &str, change: (Position, RawJson)) {
        self.call_listeners(Some(page), &Some(change));
    }

    /// Reports that all data of the shown page may have changed.
    pub(super) fn report_page_reload(self) {
        self.call_listeners(None, &None);
    }

    /// Reports that all data of a page may have changed.
    pub(super) fn report_page_reload_of(self, page: &str) {
        self.call_listeners(Some(page), &None);
    }

    /// Calls the listeners of a page, or all. One may end others, so the list is not borrowed meanwhile.
    fn call_listeners(self, page: Option<&str>, change: &PageUpdate) {
        let (_, listeners) = self.page_listeners.get_value();
        for (_, of, listener) in listeners {
            if page.is_none_or(|page| page == of) {
                listener.try_run(change.clone());
            }
        }
    }

    pub(super) fn report_payload(self, id: ConversationId, payload: PayloadRef) {
        self.latest_payload.set(Some((id, payload)));
    }

    pub(super) fn report_settings_change(self) {
        self.settings_version.update(|version| *version += 1);
    }
}
