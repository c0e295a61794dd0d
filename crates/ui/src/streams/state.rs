//! The state of both pages: the person's streams, which follow the log.

use leptos::prelude::*;

use super::library::LibraryStore;
use crate::{
    components::toast::{Toasts, use_toasts},
    runtime::effect::effect,
    state::{Connection, Navigation, snapshot::OpenedPage, use_connection, use_lifecycle, use_navigation},
};
use parlor_protocol::{
    ResearchStreamId, json,
    literature::{LiteraturePageData, ResearchStream, StreamForm},
};

#[derive(Clone, Copy)]
pub struct StreamsState {
    pub connection: Connection,
    pub navigation: Navigation,
    pub toasts: Toasts,
    pub library: LibraryStore,
    /// The stream that was saved here last, until the log has it.
    pub saved_here: RwSignal<Option<ResearchStream>>,
}

impl StreamsState {
    /// Starts from the page's snapshot, or empty.
    pub fn new() -> Self {
        let state = Self {
            connection: use_connection(),
            navigation: use_navigation(),
            toasts: use_toasts(),
            library: LibraryStore::new(),
            saved_here: RwSignal::new(None),
        };
        // The snapshot is shown once, on the first view of the page.
        let opened = expect_context::<OpenedPage>().0;
        let opened = opened.filter(|_| !use_lifecycle().is_hydrated());
        let opened =
            opened.and_then(|opened| json::parse::<LiteraturePageData>(opened.as_str().as_bytes()).ok());
        if let Some(opened) = opened {
            state.library.set_loaded(opened.library);
        }
        state
    }

    /// Follows the log.
    pub fn start(self) {
        self.library.start();
        effect(move || {
            let saved = self.saved_here.with(|saved| saved.as_ref().map(|saved| saved.id));
            let is_known = |id| self.library.with(|library| library.stream(id).is_some());
            if saved.is_some_and(is_known) {
                self.saved_here.set(None);
            }
        });
    }

    /// A saved stream as a form; empty for a new one, `None` if it is not there. Tracked.
    pub fn saved_form(self, stream_id: Option<ResearchStreamId>) -> Option<StreamForm> {
        let Some(stream_id) = stream_id else {
            return Some(StreamForm::default());
        };
        let saved_here = self.saved_here.get().filter(|saved| saved.id == stream_id);
        let known = self.library.with(|library| library.stream(stream_id).cloned());
        known.or(saved_here).map(StreamForm::from)
    }
}
