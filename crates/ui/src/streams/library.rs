//! The person's saved articles and streams, which follow the log: the store of all pages that show them.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::literature as rpc,
    state::{
        Connection, PageUpdate,
        remote::Remote,
        replica::{Replica, Replicated},
        use_connection, use_feeds,
    },
};
use parlor_protocol::{
    ApiError, Position, json,
    literature::{self, Library, LibraryChange},
    transcript::MissingEventError,
};

/// The library. Lives as long as the page that shows it.
#[derive(Clone, Copy)]
pub struct LibraryStore {
    connection: Connection,
    /// The library with the state of its loading.
    pub signal: RwSignal<Replica<Library>>,
}

impl LibraryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self {
            connection: use_connection(),
            signal: RwSignal::default(),
        }
    }

    /// Sets the library of the page's snapshot.
    pub fn set_loaded(self, loaded: Result<Library, ApiError>) {
        self.signal.set(Remote::from(loaded).into());
    }

    /// Follows the log.
    pub fn start(self) {
        use_feeds().on_page_change(literature::PAGE.name, move |change| self.on_update(change));
        Effect::new(move |before: Option<()>| {
            let is_current = |library: &Library| library.as_of >= self.connection.cursor();
            if before.is_none() && !self.signal.read_untracked().get().is_some_and(is_current) {
                self.load();
            }
        });
    }

    pub fn load(self) {
        self.signal.update(Replica::begin_load);
        spawn_local(async move {
            let loaded = self.connection.call(rpc::library()).await;
            // The page may be left by now.
            let _ = self.signal.try_update(|library| match loaded {
                Ok(loaded) => {
                    // No change of a library needs the one before it.
                    let _ = library.finish_load(loaded);
                }
                Err(error) => library.fail_load(error),
            });
        });
    }

    /// Applies a change of the library, or reloads it if all of it may have changed.
    fn on_update(self, change: PageUpdate) {
        let Some((position, change)) = change else {
            return self.load();
        };
        let Ok(change) = json::parse::<LibraryChange>(change.as_str().as_bytes()) else {
            return self.load();
        };
        self.signal.update(|library| {
            library.apply(&(position, change));
        });
    }

    /// Reads the library; an empty one until it is loaded. Tracked.
    pub fn with<T>(self, read: impl FnOnce(&Library) -> T) -> T {
        self.signal.with(|library| match library.get() {
            Some(library) => read(library),
            None => read(&Library::default()),
        })
    }
}

impl Replicated for Library {
    type Change = (Position, LibraryChange);
    type Update = ();

    fn apply(&mut self, (position, change): &Self::Change) -> Result<(), MissingEventError> {
        literature::apply(self, *position, change.clone());
        Ok(())
    }
}
