//! The state of both pages: the person's streams, which follow the log.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::literature as rpc,
    components::toast::{Toasts, use_toasts},
    state::{
        Connection, Navigation, PageUpdate, remote::Remote, replica::Replica, snapshot::OpenedPage,
        use_connection, use_feeds, use_lifecycle, use_navigation,
    },
};
use parlor_protocol::{
    ResearchStreamId, json,
    literature::{self, Library, LibraryChange, LiteraturePageData, ResearchStream, StreamForm},
};

#[derive(Clone, Copy)]
pub struct StreamsState {
    pub connection: Connection,
    pub navigation: Navigation,
    pub toasts: Toasts,
    pub library: RwSignal<Replica<Library>>,
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
            library: RwSignal::default(),
            saved_here: RwSignal::new(None),
        };
        // The snapshot is shown once, on the first view of the page.
        let opened = expect_context::<OpenedPage>().0;
        let opened = opened.filter(|_| !use_lifecycle().is_hydrated());
        let opened =
            opened.and_then(|opened| json::parse::<LiteraturePageData>(opened.as_str().as_bytes()).ok());
        if let Some(opened) = opened {
            state.library.set(Remote::from(opened.library).into());
        }
        state
    }

    /// Follows the log.
    pub fn start(self) {
        use_feeds().on_page_change(literature::PAGE.name, move |change| self.on_update(change));
        Effect::new(move |before: Option<()>| {
            let is_current = |library: &Library| library.as_of >= self.connection.cursor();
            if before.is_none() && !self.library.read_untracked().get().is_some_and(is_current) {
                self.load();
            }
        });
    }

    pub fn load(self) {
        self.library.update(Replica::begin_load);
        spawn_local(async move {
            let loaded = self.connection.call(rpc::library()).await;
            // The page may be left by now.
            let _ = self.library.try_update(|library| match loaded {
                Ok(loaded) => {
                    // No change of a library needs the one before it.
                    let _ = library.finish_load(loaded);
                }
                Err(error) => library.fail_load(error),
            });
        });
    }

    fn on_update(self, change: PageUpdate) {
        let Some((position, change)) = change else {
            return self.load();
        };
        let Ok(change) = json::parse::<LibraryChange>(change.as_str().as_bytes()) else {
            return self.load();
        };
        self.library.update(|library| {
            library.apply(&(position, change));
        });
        let saved = self
            .saved_here
            .with_untracked(|saved| saved.as_ref().map(|saved| saved.id));
        let is_known = |id| {
            self.library
                .with_untracked(|library| library.get().is_some_and(|library| library.stream(id).is_some()))
        };
        if saved.is_some_and(is_known) {
            self.saved_here.set(None);
        }
    }

    /// A saved stream as a form; empty for a new one, `None` if it is not there. Tracked.
    pub fn saved_form(self, stream_id: Option<ResearchStreamId>) -> Option<StreamForm> {
        let Some(stream_id) = stream_id else {
            return Some(StreamForm::default());
        };
        let saved_here = self.saved_here.get().filter(|saved| saved.id == stream_id);
        self.library.with(|library| {
            let known = library
                .get()
                .and_then(|library| library.stream(stream_id).cloned());
            known.or(saved_here).map(StreamForm::from)
        })
    }
}
