//! The page's state: the library, which follows the log; the search results; and the open article.

use leptos::{prelude::*, task::spawn_local};

use super::{texts, tray_page::tray_page};
use crate::{
    api::literature as rpc,
    browser,
    components::toast::{Toasts, use_toasts},
    state::{
        Connection, Navigation, remote::Remote, snapshot::OpenedPage, tray::use_tray, use_connection,
        use_lifecycle, use_navigation,
    },
    streams::LibraryStore,
};
use parlor_protocol::{
    ApiError, ErrorCode, json,
    literature::{
        Article, ArticleSearchResults, ArticleSort, ArticleWithAbstract, Library, LiteratureLocation,
        LiteraturePageData, LiteratureTab, ResearchStream, SavedArticle,
    },
};

/// A search request: the query, the order, the page.
type SearchRequest = (String, ArticleSort, usize);

/// The request of an article: its PMID, and the passage that is shown.
pub type ArticleRequest = (String, String);

/// The page's state, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct LiteratureState {
    pub connection: Connection,
    pub navigation: Navigation,
    pub toasts: Toasts,
    pub location: Memo<LiteratureLocation>,
    pub library: LibraryStore,
    pub results: RwSignal<Remote<ArticleSearchResults>>,
    pub article: RwSignal<Remote<ArticleWithAbstract>>,
    /// The PMIDs of articles that are being saved.
    pub saving: RwSignal<Vec<String>>,
    /// The article removed last.
    pub last_removed: RwSignal<Option<SavedArticle>>,
    /// The requests that [`results`](Self::results) and [`article`](Self::article) belong to.
    requested: StoredValue<(Option<SearchRequest>, Option<ArticleRequest>)>,
    /// The search that was on the screen last.
    last_search: RwSignal<LiteratureLocation>,
}

impl LiteratureState {
    /// Starts from the page's snapshot, or empty.
    pub fn new() -> Self {
        let navigation = use_navigation();
        let location = Memo::new(move |_| {
            let location = navigation.with_url(|url| LiteratureLocation::parse(url));
            location.unwrap_or_default()
        });
        let state = Self {
            connection: use_connection(),
            navigation,
            toasts: use_toasts(),
            location,
            library: LibraryStore::new(),
            results: RwSignal::new(Remote::NotRequested),
            article: RwSignal::new(Remote::NotRequested),
            saving: RwSignal::default(),
            last_removed: RwSignal::default(),
            requested: StoredValue::default(),
            last_search: RwSignal::default(),
        };
        // The snapshot is shown once, on the first view of the page.
        let opened = expect_context::<OpenedPage>().0;
        let opened = opened.filter(|_| !use_lifecycle().is_hydrated());
        let opened =
            opened.and_then(|opened| json::parse::<LiteraturePageData>(opened.as_str().as_bytes()).ok());
        if let Some(opened) = opened {
            let location = location.get_untracked();
            let (search, article) = (search_request(&location), article_request(&location));
            state.library.set_loaded(opened.library);
            state
                .results
                .set(Remote::from_snapshot(search.is_some(), opened.found));
            state
                .article
                .set(Remote::from_snapshot(article.is_some(), opened.article));
            // What took the server too long is requested again from here.
            let (found, opened) = (state.results.read_untracked(), state.article.read_untracked());
            state.requested.set_value((
                search.filter(|_| !matches!(*found, Remote::Loading)),
                article.filter(|_| !matches!(*opened, Remote::Loading)),
            ));
        }
        state
    }

    /// Follows the URL and the log, and sets the tray's context.
    pub fn start(self) {
        use_tray().set_tray_page(tray_page(self));
        self.library.start();
        Effect::new(move |_| {
            let location = self.location.get();
            if location.tab == LiteratureTab::Search && location.article.is_none() {
                self.last_search.set(location.clone());
            }
            self.load_location(&location);
        });
    }

    /// The URL of the tab *Search*.
    pub fn last_search(self) -> LiteratureLocation {
        self.last_search.get()
    }

    /// Navigates to another URL of the page.
    pub fn go_to(self, to: &LiteratureLocation) {
        self.navigation.set_url(to.to_url(), false);
    }

    /// Loads the search results and the article of a location, if they changed.
    fn load_location(self, location: &LiteratureLocation) {
        let (search, article) = (search_request(location), article_request(location));
        let (searched, opened) = self.requested.get_value();
        // While an article is open, the results stay.
        if search != searched && (search.is_some() || location.tab == LiteratureTab::Search) {
            self.search(search);
        }
        if article != opened {
            self.open_article(article);
        }
    }

    /// Searches, again if the request is unchanged.
    pub fn search(self, search: Option<SearchRequest>) {
        self.requested
            .update_value(|requested| requested.0.clone_from(&search));
        let Some((query, sort, page)) = search.clone() else {
            return self.results.set(Remote::NotRequested);
        };
        self.results.set(Remote::Loading);
        spawn_local(async move {
            let found = self
                .connection
                .call_upstream(rpc::search_articles(query, sort, page))
                .await;
            if self
                .requested
                .try_get_value()
                .is_some_and(|(requested, _)| requested == search)
            {
                self.results.set(found.into());
            }
        });
    }

    pub fn search_again(self) {
        self.search(search_request(&self.location.get_untracked()));
    }

    pub fn open_article(self, asked: Option<ArticleRequest>) {
        self.requested
            .update_value(|requested| requested.1.clone_from(&asked));
        let Some((pmid, quote)) = asked.clone() else {
            return self.article.set(Remote::NotRequested);
        };
        self.article.set(Remote::Loading);
        spawn_local(async move {
            let article = self
                .connection
                .call_upstream(rpc::article(pmid, Some(quote).filter(|quote| !quote.is_empty())))
                .await;
            if self
                .requested
                .try_get_value()
                .is_some_and(|(_, requested)| requested == asked)
            {
                self.article.set(article.into());
            }
        });
    }

    /// Reads the library, if it is loaded.
    pub fn with_library<T>(self, read: impl FnOnce(&Library) -> T) -> T {
        self.library.with(read)
    }

    /// The open stream.
    pub fn open_stream(self) -> Option<ResearchStream> {
        let id = self.location.with(|location| location.stream)?;
        self.with_library(|library| library.stream(id).cloned())
    }

    pub fn is_saved(self, pmid: &str) -> bool {
        self.with_library(|library| library.saved_article(pmid).is_some())
    }

    /// Saves an article, or removes it.
    pub fn toggle_saved(self, article: &Article) {
        let pmid = article.pmid.clone();
        let saved = untrack(|| self.with_library(|library| library.saved_article(&pmid).cloned()));
        match saved {
            None => self.save(article),
            Some(saved) => self.send(rpc::remove_article(pmid), move |state| {
                state.last_removed.set(Some(saved));
            }),
        }
    }

    /// Saves an article and reports the result.
    fn save(self, article: &Article) {
        let (pmid, title) = (article.pmid.clone(), article.title.clone());
        if self.saving.with_untracked(|saving| saving.contains(&pmid)) {
            return;
        }
        self.saving.update(|saving| saving.push(pmid.clone()));
        spawn_local(async move {
            let saved = self
                .connection
                .call(rpc::save_article(pmid.clone(), String::new(), None))
                .await;
            self.saving
                .try_update(|saving| saving.retain(|other| *other != pmid));
            if let Err(error) = saved {
                // If it was saved after all, the log will report it and it is shown then.
                let is_certain = error.code != ErrorCode::Unreachable;
                self.toasts
                    .show(texts::not_saved(&title, is_certain, &error.message));
            }
        });
    }

    /// The reason why PubMed can't be searched, if any.
    pub fn search_problem(self) -> Option<String> {
        self.with_library(|library| library.no_search.clone())
    }

    /// Restores the article removed last, unchanged.
    pub fn restore_removed(self) {
        if let Some(SavedArticle {
            article,
            note,
            saved_at,
        }) = self.last_removed.get_untracked()
        {
            self.last_removed.set(None);
            // The button is removed.
            browser::focus_selector(".tabs a[aria-current]");
            self.send(rpc::save_article(article.pmid, note, Some(saved_at)), |_| {});
        }
    }

    /// Sends a request for a change. The result arrives with the stream.
    pub fn send(
        self,
        request: impl Future<Output = Result<(), ApiError>> + 'static,
        done: impl FnOnce(Self) + 'static,
    ) {
        spawn_local(async move {
            match self.connection.call(request).await {
                // The user may have left the page by now and must not be taken back.
                Ok(()) if self.last_removed.is_disposed() => {}
                Ok(()) => done(self),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }
}

fn search_request(location: &LiteratureLocation) -> Option<SearchRequest> {
    let searches = location.tab == LiteratureTab::Search && !location.query.is_empty();
    searches.then(|| (location.query.clone(), location.sort, location.page))
}

pub fn article_request(location: &LiteratureLocation) -> Option<ArticleRequest> {
    Some((location.article.clone()?, location.quote.clone()))
}
