//! The loaded part of the list of files.

use leptos::{prelude::*, task::spawn_local};

use super::texts;
use crate::{
    api::files::{delete_files, my_files},
    components::toast::{Toasts, use_toasts},
    runtime::{requests::LastRequest, signal::after_hydration},
    state::{Connection, use_connection},
};
use parlor_protocol::{AttachmentId, FileSort, ListedFile, file_list::MAX_DELETED_FILES};

/// The handle of the list. Lives as long as the tab is shown.
#[derive(Clone, Copy)]
pub struct FilesState {
    connection: Connection,
    toasts: Toasts,
    /// Words of the names.
    pub query: RwSignal<String>,
    pub sort: RwSignal<FileSort>,
    /// The loaded files, in their order.
    pub files: RwSignal<Vec<ListedFile>>,
    /// The number of files that fit, on all pages; `None` until it is known.
    pub total: RwSignal<Option<usize>>,
    /// True if the last loaded list is that of a search: one without a file then says nothing about the others.
    pub is_of_search: RwSignal<bool>,
    pub used_bytes: RwSignal<u64>,
    pub limit_bytes: RwSignal<u64>,
    /// The end of the last loaded page, if there are more.
    pub next: RwSignal<Option<String>>,
    pub is_loading: RwSignal<bool>,
    pub error: RwSignal<Option<String>>,
    pub chosen: RwSignal<Vec<AttachmentId>>,
    requests: LastRequest,
}

impl FilesState {
    pub fn new() -> Self {
        Self {
            connection: use_connection(),
            toasts: use_toasts(),
            query: RwSignal::default(),
            sort: RwSignal::default(),
            files: RwSignal::default(),
            total: RwSignal::default(),
            is_of_search: RwSignal::new(false),
            used_bytes: RwSignal::default(),
            limit_bytes: RwSignal::default(),
            next: RwSignal::default(),
            is_loading: RwSignal::new(false),
            error: RwSignal::default(),
            chosen: RwSignal::default(),
            requests: LastRequest::new(),
        }
    }

    /// Loads the first page, once the browser shows the tab.
    pub fn start(self) {
        let is_hydrated = after_hydration();
        Effect::new(move |_| {
            if is_hydrated.get() {
                self.load();
            }
        });
    }

    /// Loads the first page.
    pub fn load(self) {
        self.request(None, self.files.with_untracked(Vec::is_empty));
    }

    /// Loads the next page.
    pub fn load_more(self) {
        if !self.is_loading.get_untracked()
            && let Some(next) = self.next.get_untracked()
        {
            self.request(Some(next), false);
        }
    }

    fn request(self, after: Option<String>, is_first: bool) {
        let number = self.requests.begin();
        self.is_loading.set(true);
        if is_first {
            self.error.set(None);
        }
        let is_more = after.is_some();
        let (query, sort) = (self.query.get_untracked(), self.sort.get_untracked());
        let is_of_search = !query.trim().is_empty();
        spawn_local(async move {
            let loaded = self.connection.call(my_files(query, sort, after)).await;
            if !self.requests.is_last(number) {
                return;
            }
            self.is_loading.set(false);
            match loaded {
                Ok(list) => {
                    self.error.set(None);
                    if is_more {
                        self.files.update(|files| files.extend(list.files));
                    } else {
                        self.files.set(list.files);
                    }
                    self.total.set(Some(list.total));
                    self.is_of_search.set(is_of_search);
                    self.used_bytes.set(list.used_bytes);
                    self.limit_bytes.set(list.limit_bytes);
                    self.next.set(list.next);
                    // What is not shown is not deleted.
                    self.chosen.update(|chosen| {
                        self.files.with_untracked(|files| {
                            chosen.retain(|id| files.iter().any(|listed| listed.file.id == *id))
                        });
                    });
                }
                Err(error) => self.error.set(Some(error.message)),
            }
        });
    }

    /// The chosen files, in the order of the list. Tracked.
    pub fn chosen_files(self) -> Vec<ListedFile> {
        let chosen = self.chosen.get();
        let mut files = self.files.get();
        files.retain(|listed| chosen.contains(&listed.file.id));
        files
    }

    /// Chooses a file, or not any more.
    pub fn choose(self, id: AttachmentId, is_chosen: bool) {
        self.chosen.update(|chosen| {
            chosen.retain(|other| *other != id);
            if is_chosen {
                chosen.push(id);
            }
        });
    }

    /// Deletes files for good, wherever they are used. Those that can't be deleted now stay in the list.
    pub fn delete(self, files: Vec<ListedFile>) {
        spawn_local(async move {
            for some in files.chunks(MAX_DELETED_FILES) {
                let ids: Vec<_> = some.iter().map(|listed| listed.file.id).collect();
                let deleted = self.connection.call(delete_files(ids.clone())).await;
                let kept = match deleted {
                    Ok(deleted) => deleted.kept,
                    Err(error) => {
                        self.toasts.show(error.message);
                        break;
                    }
                };
                if !kept.is_empty() {
                    self.toasts.show(texts::kept(kept.len()));
                }
                let is_gone = |id: &AttachmentId| ids.contains(id) && !kept.contains(id);
                // The person may have left by now.
                self.files
                    .try_update(|files| files.retain(|listed| !is_gone(&listed.file.id)));
                self.chosen.try_update(|chosen| chosen.retain(|id| !is_gone(id)));
            }
            self.refresh_sums().await;
        });
    }

    /// Loads the sums again, and leaves the loaded files as they are: the list would jump to its beginning.
    async fn refresh_sums(self) {
        let (Some(query), Some(sort)) = (self.query.try_get_untracked(), self.sort.try_get_untracked())
        else {
            return;
        };
        let loaded = self.connection.call(my_files(query, sort, None)).await;
        if let Ok(list) = loaded {
            self.total.try_set(Some(list.total));
            self.used_bytes.try_set(list.used_bytes);
        }
    }
}
