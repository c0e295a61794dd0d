//! The page's state: the catalogue and the open table.

use leptos::{prelude::*, task::spawn_local};

use super::tray_page::tray_page;
use crate::{
    api::data as rpc,
    state::{
        Connection, Navigation, remote::Remote, snapshot::OpenedPage, tray::use_tray, use_connection,
        use_feeds, use_lifecycle, use_navigation,
    },
};
use parlor_protocol::{
    data::{self, DataCatalogue, DataLocation, DataPageData, TableDetails},
    json,
};

/// The page's state, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct DataState {
    connection: Connection,
    pub navigation: Navigation,
    pub location: Memo<DataLocation>,
    pub catalogue: RwSignal<Remote<DataCatalogue>>,
    pub table: RwSignal<Remote<TableDetails>>,
    /// The database and the name that [`table`](Self::table) belongs to.
    requested: StoredValue<Option<(String, String)>>,
}

impl DataState {
    /// Starts from the page's snapshot, or empty.
    pub fn new() -> Self {
        let navigation = use_navigation();
        let location = Memo::new(move |_| {
            let location = navigation.with_url(|url| DataLocation::parse(url));
            location.unwrap_or_default()
        });
        let state = Self {
            connection: use_connection(),
            navigation,
            location,
            catalogue: RwSignal::new(Remote::Loading),
            table: RwSignal::new(Remote::NotRequested),
            requested: StoredValue::default(),
        };
        // The snapshot is shown once, on the first view of the page.
        let opened = expect_context::<OpenedPage>().0;
        let opened = opened.filter(|_| !use_lifecycle().is_hydrated());
        let opened = opened.and_then(|opened| json::parse::<DataPageData>(opened.as_str().as_bytes()).ok());
        let open = location.with_untracked(|location| location.table.clone());
        if let Some(DataPageData { catalogue, table }) = opened {
            state.catalogue.set(Remote::Ready(catalogue));
            // What took the server too long is requested again from here.
            state
                .requested
                .set_value(open.clone().filter(|_| table.is_some()));
            state.table.set(Remote::from_snapshot(open.is_some(), table));
        } else if open.is_some() {
            state.table.set(Remote::Loading);
        }
        state
    }

    /// Follows the URL, and sets the tray's context.
    pub fn start(self) {
        use_tray().set_tray_page(tray_page(self));
        use_feeds().on_page_change(data::PAGE.name, move |_| self.reload_catalogue());
        Effect::new(move |before: Option<()>| {
            let open = self.location.with(|location| location.table.clone());
            if before.is_none() && !matches!(*self.catalogue.read_untracked(), Remote::Ready(_)) {
                self.load_catalogue();
            }
            if open != self.requested.get_value() {
                self.load_table(open);
            }
        });
    }

    pub fn load_catalogue(self) {
        self.catalogue.set(Remote::Loading);
        spawn_local(async move {
            let loaded = self.connection.call_upstream(rpc::data_catalogue()).await;
            // The page may be left by now.
            let _ = self.catalogue.try_set(loaded.into());
        });
    }

    /// Loads the catalogue again while the loaded one is shown. It stays if that fails.
    fn reload_catalogue(self) {
        if !matches!(*self.catalogue.read_untracked(), Remote::Ready(_)) {
            return self.load_catalogue();
        }
        spawn_local(async move {
            if let Ok(catalogue) = self.connection.call_upstream(rpc::data_catalogue()).await {
                let _ = self.catalogue.try_set(Remote::Ready(catalogue));
            }
        });
    }

    pub fn load_open_table(self) {
        self.load_table(self.location.with_untracked(|location| location.table.clone()));
    }

    fn load_table(self, open: Option<(String, String)>) {
        self.requested.set_value(open.clone());
        let Some((database, table)) = open.clone() else {
            return self.table.set(Remote::NotRequested);
        };
        self.table.set(Remote::Loading);
        spawn_local(async move {
            let loaded = self
                .connection
                .call_upstream(rpc::data_table(database, table))
                .await;
            if self
                .requested
                .try_get_value()
                .is_some_and(|requested| requested == open)
            {
                self.table.set(loaded.into());
            }
        });
    }

    /// Reads the catalogue, if it is loaded. Tracked.
    pub fn with_catalogue<T>(self, read: impl FnOnce(&DataCatalogue) -> T) -> T {
        self.catalogue.with(|catalogue| match catalogue {
            Remote::Ready(catalogue) => read(catalogue),
            _ => read(&DataCatalogue::default()),
        })
    }
}
