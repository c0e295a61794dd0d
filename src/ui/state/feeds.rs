//! What the event stream brings for single features: payloads, changes of the literature and of the settings.

use leptos::prelude::*;

use crate::protocol::{ConversationId, PayloadRef, Position, RawJson};

/// A change of the literature with its position in the log; `None` if all of it may have changed.
pub type LiteratureUpdate = Option<(Position, RawJson)>;

/// The feeds of the features.
#[derive(Clone, Copy)]
pub struct ChangeFeeds {
    literature_listener: StoredValue<Option<Callback<LiteratureUpdate>>>,
    latest_payload: RwSignal<Option<(ConversationId, PayloadRef)>>,
    settings_version: RwSignal<u32>,
}

impl ChangeFeeds {
    pub(super) fn new() -> Self {
        Self {
            literature_listener: StoredValue::new(None),
            latest_payload: RwSignal::default(),
            settings_version: RwSignal::new(0),
        }
    }

    /// Reports the changes of the literature for as long as the current owner lives.
    pub fn on_literature_change(self, listener: impl Fn(LiteratureUpdate) + Send + Sync + 'static) {
        self.literature_listener.set_value(Some(Callback::new(listener)));
        on_cleanup(move || self.literature_listener.set_value(None));
    }

    /// The latest payload for the panel, with its conversation. Tracked.
    pub fn latest_payload(self) -> Option<(ConversationId, PayloadRef)> {
        self.latest_payload.get()
    }

    /// The number of changes of the person's settings. Tracked.
    pub fn settings_version(self) -> u32 {
        self.settings_version.get()
    }

    pub(super) fn report_literature(self, change: LiteratureUpdate) {
        if let Some(listener) = self.literature_listener.get_value() {
            listener.run(change);
        }
    }

    pub(super) fn report_payload(self, id: ConversationId, payload: PayloadRef) {
        self.latest_payload.set(Some((id, payload)));
    }

    pub(super) fn report_settings_change(self) {
        self.settings_version.update(|version| *version += 1);
    }
}
