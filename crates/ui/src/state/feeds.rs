//! Stream updates for single features: payloads, changes of the shown page's data and of the settings.

use leptos::prelude::*;

use parlor_protocol::{ConversationId, PayloadRef, Position, RawJson};

/// A change of a page's data with its position in the log; `None` if all of them may have changed.
pub type PageUpdate = Option<(Position, RawJson)>;

/// The feeds of the features.
#[derive(Clone, Copy)]
pub struct ChangeFeeds {
    /// The shown page, by name, with its listener.
    page_listener: StoredValue<Option<(&'static str, Callback<PageUpdate>)>>,
    latest_payload: RwSignal<Option<(ConversationId, PayloadRef)>>,
    settings_version: RwSignal<u32>,
}

impl ChangeFeeds {
    pub(super) fn new() -> Self {
        Self {
            page_listener: StoredValue::new(None),
            latest_payload: RwSignal::default(),
            settings_version: RwSignal::new(0),
        }
    }

    /// Reports the changes of a page's data for as long as the current owner lives.
    pub fn on_page_change(self, page: &'static str, listener: impl Fn(PageUpdate) + Send + Sync + 'static) {
        self.page_listener
            .set_value(Some((page, Callback::new(listener))));
        on_cleanup(move || self.page_listener.set_value(None));
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
        if let Some((shown, listener)) = self.page_listener.get_value()
            && shown == page
        {
            listener.run(Some(change));
        }
    }

    /// Reports that all data of the shown page may have changed.
    pub(super) fn report_page_reload(self) {
        if let Some((_, listener)) = self.page_listener.get_value() {
            listener.run(None);
        }
    }

    /// Reports that all data of a page may have changed.
    pub(super) fn report_page_reload_of(self, page: &str) {
        if let Some((shown, _)) = self.page_listener.get_value()
            && shown == page
        {
            self.report_page_reload();
        }
    }

    pub(super) fn report_payload(self, id: ConversationId, payload: PayloadRef) {
        self.latest_payload.set(Some((id, payload)));
    }

    pub(super) fn report_settings_change(self) {
        self.settings_version.update(|version| *version += 1);
    }
}
