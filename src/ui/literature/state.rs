//! What the page holds: the library, which follows the log; what was found; and the article that is open.

use leptos::{prelude::*, task::spawn_local};

use super::side_page::side_page;
use crate::{
    api::rpc,
    protocol::{
        ApiError, ErrorCode, Position, json,
        literature::LiteraturePageData,
        literature::{
            self, Article, ArticleSearchResults, ArticleSort, ArticleWithAbstract, Library, LibraryChange,
            LiteratureLocation, LiteratureTab, ResearchStream, SavedArticle,
        },
    },
    ui::{
        browser,
        state::{LiteratureUpdate, Live},
    },
};

/// Something that is asked for.
#[derive(Clone, Debug)]
pub enum Remote<T> {
    /// Nobody wants it.
    NotRequested,
    Loading,
    Ready(T),
    Failed(ApiError),
}

impl<T> From<Result<T, ApiError>> for Remote<T> {
    fn from(outcome: Result<T, ApiError>) -> Self {
        match outcome {
            Ok(loaded) => Self::Ready(loaded),
            Err(error) => Self::Failed(error),
        }
    }
}

impl<T> Remote<T> {
    /// What came with the page, of what is wanted there.
    fn from_snapshot(is_wanted: bool, given: Option<Result<T, ApiError>>) -> Self {
        match given {
            Some(outcome) => outcome.into(),
            None if is_wanted => Self::Loading,
            None => Self::NotRequested,
        }
    }
}

/// What is searched for: the query, the order, the page.
type SearchRequest = (String, ArticleSort, usize);

/// The page's state, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct LiteratureState {
    pub live: Live,
    pub address: Memo<LiteratureLocation>,
    pub library: RwSignal<Remote<Library>>,
    pub results: RwSignal<Remote<ArticleSearchResults>>,
    pub article: RwSignal<Remote<ArticleWithAbstract>>,
    /// The articles whose save is on its way, by their PMIDs.
    pub saving: RwSignal<Vec<String>>,
    /// What was removed last.
    pub last_removed: RwSignal<Option<SavedArticle>>,
    /// The stream that is being written, and whether it is a new one.
    pub edited_stream: RwSignal<Option<(ResearchStream, bool)>>,
    /// What [`found`](Self::found) and [`article`](Self::article) are, or will be.
    requested: StoredValue<(Option<SearchRequest>, Option<String>)>,
    /// How many libraries are on their way, and the changes that have come meanwhile.
    pending_loads: StoredValue<usize>,
    buffered_changes: StoredValue<Vec<(Position, LibraryChange)>>,
    /// The search that was on the screen last.
    last_search: RwSignal<LiteratureLocation>,
}

impl LiteratureState {
    /// Begins with what came with the page, or with nothing.
    pub fn new(live: Live) -> Self {
        let address = Memo::new(move |_| {
            let address = live.address.with(|address| LiteratureLocation::parse(address));
            address.unwrap_or_default()
        });
        let desk = Self {
            live,
            address,
            library: RwSignal::new(Remote::Loading),
            results: RwSignal::new(Remote::NotRequested),
            article: RwSignal::new(Remote::NotRequested),
            saving: RwSignal::default(),
            last_removed: RwSignal::default(),
            edited_stream: RwSignal::default(),
            requested: StoredValue::default(),
            pending_loads: StoredValue::default(),
            buffered_changes: StoredValue::default(),
            last_search: RwSignal::default(),
        };
        // What came with the page is what is shown first, and never again.
        let opened = live
            .literature_snapshot
            .get_value()
            .filter(|_| !live.is_hydrated());
        let opened =
            opened.and_then(|opened| json::parse::<LiteraturePageData>(opened.as_str().as_bytes()).ok());
        if let Some(opened) = opened {
            let address = address.get_untracked();
            let (search, article) = (search_request(&address), address.article);
            desk.library.set(opened.library.into());
            desk.results
                .set(Remote::from_snapshot(search.is_some(), opened.found));
            desk.article
                .set(Remote::from_snapshot(article.is_some(), opened.article));
            // What took the server too long is asked for from here.
            let (found, opened) = (desk.results.read_untracked(), desk.article.read_untracked());
            desk.requested.set_value((
                search.filter(|_| !matches!(*found, Remote::Loading)),
                article.filter(|_| !matches!(*opened, Remote::Loading)),
            ));
        }
        desk
    }

    /// Follows the address and the log, and says to those who ask what is on the screen.
    pub fn start(self) {
        let live = self.live;
        live.side_page.set(Some(side_page(self)));
        live.literature_listener
            .set_value(Some(Callback::new(move |change| self.on_update(change))));
        on_cleanup(move || {
            live.side_page.set(None);
            live.literature_listener.set_value(None);
        });
        Effect::new(move |before: Option<()>| {
            let address = self.address.get();
            if address.tab == LiteratureTab::Search && address.article.is_none() {
                self.last_search.set(address.clone());
            }
            self.load_address(&address);
            let behind = match self.library.read_untracked() {
                ref library if let Remote::Ready(library) = &**library => library.as_of < live.cursor(),
                _ => true,
            };
            if before.is_none() && behind {
                self.load_library();
            }
        });
    }

    /// Where the tab *Search* leads back to.
    pub fn last_search(self) -> LiteratureLocation {
        self.last_search.get()
    }

    /// Goes to another place on the page.
    pub fn go_to(self, to: &LiteratureLocation) {
        self.live.set_address(to.to_address(), false);
    }

    /// Has what an address shows loaded.
    fn load_address(self, address: &LiteratureLocation) {
        let (search, article) = (search_request(address), address.article.clone());
        let (searched, opened) = self.requested.get_value();
        // While an article is open, what was found stays.
        if search != searched && (search.is_some() || address.tab == LiteratureTab::Search) {
            self.search(search);
        }
        if article != opened {
            self.open_article(article);
        }
    }

    /// Searches, again if that was searched for already.
    pub fn search(self, search: Option<SearchRequest>) {
        self.requested.update_value(|asked| asked.0.clone_from(&search));
        let Some((query, sort, page)) = search.clone() else {
            return self.results.set(Remote::NotRequested);
        };
        self.results.set(Remote::Loading);
        spawn_local(async move {
            let found = self
                .live
                .call_upstream(rpc::search_articles(query, sort, page))
                .await;
            if self
                .requested
                .try_get_value()
                .is_some_and(|(asked, _)| asked == search)
            {
                self.results.set(found.into());
            }
        });
    }

    pub fn search_again(self) {
        self.search(search_request(&self.address.get_untracked()));
    }

    pub fn open_article(self, pmid: Option<String>) {
        self.requested.update_value(|asked| asked.1.clone_from(&pmid));
        let Some(wanted) = pmid.clone() else {
            return self.article.set(Remote::NotRequested);
        };
        self.article.set(Remote::Loading);
        spawn_local(async move {
            let article = self.live.call_upstream(rpc::article(wanted)).await;
            if self
                .requested
                .try_get_value()
                .is_some_and(|(_, asked)| asked == pmid)
            {
                self.article.set(article.into());
            }
        });
    }

    pub fn load_library(self) {
        self.pending_loads.update_value(|awaited| *awaited += 1);
        spawn_local(async move {
            let loaded = self.live.call(rpc::library()).await;
            // The page may be gone.
            let Some(early) = self.buffered_changes.try_get_value() else {
                return;
            };
            self.pending_loads.update_value(|awaited| *awaited -= 1);
            if self.pending_loads.get_value() == 0 {
                self.buffered_changes.update_value(Vec::clear);
            }
            let ready = matches!(*self.library.read_untracked(), Remote::Ready(_));
            match loaded {
                Ok(mut library) => {
                    for (position, change) in early {
                        literature::apply(&mut library, position, change);
                    }
                    self.library.set(Remote::Ready(library));
                }
                // What is on the screen stays there.
                Err(error) if !ready => self.library.set(Remote::Failed(error)),
                Err(_) => {}
            }
        });
    }

    /// The library has changed, or all of it may be another one.
    fn on_update(self, change: LiteratureUpdate) {
        let Some((position, change)) = change else {
            return self.load_library();
        };
        let Ok(change) = json::parse::<LibraryChange>(change.as_str().as_bytes()) else {
            return self.load_library();
        };
        if self.pending_loads.get_value() > 0 {
            self.buffered_changes
                .update_value(|early| early.push((position, change.clone())));
        }
        self.library.update(|library| {
            if let Remote::Ready(library) = library {
                literature::apply(library, position, change);
            }
        });
    }

    /// Reads the library, as far as it is here.
    pub fn with_library<T>(self, read: impl FnOnce(&Library) -> T) -> T {
        self.library.with(|library| match library {
            Remote::Ready(library) => read(library),
            _ => read(&Library::default()),
        })
    }

    /// The stream that is open.
    pub fn open_stream(self) -> Option<ResearchStream> {
        let id = self.address.with(|address| address.stream)?;
        self.with_library(|library| library.stream(id).cloned())
    }

    pub fn is_saved(self, pmid: &str) -> bool {
        self.with_library(|library| library.saved_article(pmid).is_some())
    }

    /// Keeps an article, or keeps it no more.
    pub fn toggle_saved(self, article: &Article) {
        let pmid = article.pmid.clone();
        let saved = untrack(|| self.with_library(|library| library.saved_article(&pmid).cloned()));
        match saved {
            None => self.save(article),
            Some(saved) => self.send(rpc::remove_article(pmid), move |desk| {
                desk.last_removed.set(Some(saved));
            }),
        }
    }

    /// Keeps an article, and says what has become of that.
    fn save(self, article: &Article) {
        let (pmid, title) = (article.pmid.clone(), article.title.clone());
        if self.saving.with_untracked(|saving| saving.contains(&pmid)) {
            return;
        }
        self.saving.update(|saving| saving.push(pmid.clone()));
        spawn_local(async move {
            let saved = self
                .live
                .call(rpc::save_article(pmid.clone(), String::new(), None))
                .await;
            self.saving
                .try_update(|saving| saving.retain(|other| *other != pmid));
            if let Err(error) = saved {
                let what = match error.code {
                    // If it was saved, it is shown as soon as that is heard of.
                    ErrorCode::Unreachable => "” may not be saved. ",
                    _ => "” was not saved. ",
                };
                self.live
                    .toasts
                    .show(["“", &title, what, &error.message].concat());
            }
        });
    }

    /// The reason that PubMed can't be searched, if it can't.
    pub fn search_problem(self) -> Option<String> {
        self.with_library(|library| library.no_search.clone())
    }

    /// Keeps what was removed last as it was.
    pub fn restore_removed(self) {
        if let Some(SavedArticle {
            article,
            note,
            saved_at,
        }) = self.last_removed.get_untracked()
        {
            self.last_removed.set(None);
            // The button is gone.
            browser::focus_selector(".tabs a[aria-current]");
            self.send(rpc::save_article(article.pmid, note, Some(saved_at)), |_| {});
        }
    }

    /// Asks for something to be done. What comes of it arrives with the stream.
    pub fn send(
        self,
        request: impl Future<Output = Result<(), ApiError>> + 'static,
        done: impl FnOnce(Self) + 'static,
    ) {
        spawn_local(async move {
            match self.live.call(request).await {
                // The person may have left the page by now, and is not to be taken back.
                Ok(()) if self.last_removed.is_disposed() => {}
                Ok(()) => done(self),
                Err(error) => self.live.toasts.show(error.message),
            }
        });
    }
}

fn search_request(address: &LiteratureLocation) -> Option<SearchRequest> {
    let searches = address.tab == LiteratureTab::Search && !address.query.is_empty();
    searches.then(|| (address.query.clone(), address.sort, address.page))
}
