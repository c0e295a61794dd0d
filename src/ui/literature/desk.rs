//! What the page holds: the library, which follows the log; what was found; and the article that is open.

use leptos::{prelude::*, task::spawn_local};

use super::beside::beside;
use crate::{
    api::rpc,
    protocol::{
        ApiError, ErrorCode, Position, json,
        literature::Opened,
        literature::{
            self, Address, Article, Change, Found, FullArticle, Library, ResearchStream, SavedArticle, Sort,
            Tab,
        },
    },
    ui::{
        browser,
        live::{LiteratureNews, Live},
    },
};

/// Something that is asked for.
#[derive(Clone, Debug)]
pub enum Loaded<T> {
    /// Nobody wants it.
    Nothing,
    Loading,
    Ready(T),
    Failed(ApiError),
}

impl<T> From<Result<T, ApiError>> for Loaded<T> {
    fn from(outcome: Result<T, ApiError>) -> Self {
        match outcome {
            Ok(loaded) => Self::Ready(loaded),
            Err(error) => Self::Failed(error),
        }
    }
}

impl<T> Loaded<T> {
    /// What came with the page, of what is wanted there.
    fn begin(is_wanted: bool, given: Option<Result<T, ApiError>>) -> Self {
        match given {
            Some(outcome) => outcome.into(),
            None if is_wanted => Self::Loading,
            None => Self::Nothing,
        }
    }
}

/// What is searched for: the query, the order, the page.
type Search = (String, Sort, usize);

/// The page's state, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct Desk {
    pub live: Live,
    pub address: Memo<Address>,
    pub library: RwSignal<Loaded<Library>>,
    pub found: RwSignal<Loaded<Found>>,
    pub article: RwSignal<Loaded<FullArticle>>,
    /// The articles whose save is on its way, by their PMIDs.
    pub saving: RwSignal<Vec<String>>,
    /// What was removed last.
    pub removed: RwSignal<Option<SavedArticle>>,
    /// The stream that is being written, and whether it is a new one.
    pub written: RwSignal<Option<(ResearchStream, bool)>>,
    /// What [`found`](Self::found) and [`article`](Self::article) are, or will be.
    asked: StoredValue<(Option<Search>, Option<String>)>,
    /// How many libraries are on their way, and the changes that have come meanwhile.
    awaited: StoredValue<usize>,
    early: StoredValue<Vec<(Position, Change)>>,
    /// The search that was on the screen last.
    last_search: RwSignal<Address>,
}

impl Desk {
    /// Begins with what came with the page, or with nothing.
    pub fn new(live: Live) -> Self {
        let address = Memo::new(move |_| {
            let address = live.address.with(|address| Address::of(address));
            address.unwrap_or_default()
        });
        let desk = Self {
            live,
            address,
            library: RwSignal::new(Loaded::Loading),
            found: RwSignal::new(Loaded::Nothing),
            article: RwSignal::new(Loaded::Nothing),
            saving: RwSignal::default(),
            removed: RwSignal::default(),
            written: RwSignal::default(),
            asked: StoredValue::default(),
            awaited: StoredValue::default(),
            early: StoredValue::default(),
            last_search: RwSignal::default(),
        };
        // What came with the page is what is shown first, and never again.
        let opened = live.opened.get_value().filter(|_| !live.has_taken_over());
        let opened = opened.and_then(|opened| json::read::<Opened>(opened.as_str().as_bytes()).ok());
        if let Some(opened) = opened {
            let address = address.get_untracked();
            let (search, article) = (search_of(&address), address.article);
            desk.library.set(opened.library.into());
            desk.found.set(Loaded::begin(search.is_some(), opened.found));
            desk.article.set(Loaded::begin(article.is_some(), opened.article));
            // What took the server too long is asked for from here.
            let (found, opened) = (desk.found.read_untracked(), desk.article.read_untracked());
            desk.asked.set_value((
                search.filter(|_| !matches!(*found, Loaded::Loading)),
                article.filter(|_| !matches!(*opened, Loaded::Loading)),
            ));
        }
        desk
    }

    /// Follows the address and the log, and says to those who ask what is on the screen.
    pub fn open(self) {
        let live = self.live;
        live.beside.set(Some(beside(self)));
        live.reader
            .set_value(Some(Callback::new(move |change| self.read(change))));
        on_cleanup(move || {
            live.beside.set(None);
            live.reader.set_value(None);
        });
        Effect::new(move |before: Option<()>| {
            let address = self.address.get();
            if address.tab == Tab::Search && address.article.is_none() {
                self.last_search.set(address.clone());
            }
            self.follow(&address);
            let behind = match self.library.read_untracked() {
                ref library if let Loaded::Ready(library) = &**library => library.as_of < live.cursor(),
                _ => true,
            };
            if before.is_none() && behind {
                self.load_library();
            }
        });
    }

    /// Where the tab *Search* leads back to.
    pub fn last_search(self) -> Address {
        self.last_search.get()
    }

    /// Goes to another place on the page.
    pub fn go(self, to: &Address) {
        self.live.turn_to(to.path(), false);
    }

    /// Has what an address shows loaded.
    fn follow(self, address: &Address) {
        let (search, article) = (search_of(address), address.article.clone());
        let (searched, opened) = self.asked.get_value();
        // While an article is open, what was found stays.
        if search != searched && (search.is_some() || address.tab == Tab::Search) {
            self.search(search);
        }
        if article != opened {
            self.open_article(article);
        }
    }

    /// Searches, again if that was searched for already.
    pub fn search(self, search: Option<Search>) {
        self.asked.update_value(|asked| asked.0.clone_from(&search));
        let Some((query, sort, page)) = search.clone() else {
            return self.found.set(Loaded::Nothing);
        };
        self.found.set(Loaded::Loading);
        spawn_local(async move {
            let found = self
                .live
                .ask_elsewhere(rpc::search_articles(query, sort, page))
                .await;
            if self
                .asked
                .try_get_value()
                .is_some_and(|(asked, _)| asked == search)
            {
                self.found.set(found.into());
            }
        });
    }

    pub fn search_again(self) {
        self.search(search_of(&self.address.get_untracked()));
    }

    pub fn open_article(self, pmid: Option<String>) {
        self.asked.update_value(|asked| asked.1.clone_from(&pmid));
        let Some(wanted) = pmid.clone() else {
            return self.article.set(Loaded::Nothing);
        };
        self.article.set(Loaded::Loading);
        spawn_local(async move {
            let article = self.live.ask_elsewhere(rpc::article(wanted)).await;
            if self.asked.try_get_value().is_some_and(|(_, asked)| asked == pmid) {
                self.article.set(article.into());
            }
        });
    }

    pub fn load_library(self) {
        self.awaited.update_value(|awaited| *awaited += 1);
        spawn_local(async move {
            let loaded = self.live.ask(rpc::library()).await;
            // The page may be gone.
            let Some(early) = self.early.try_get_value() else {
                return;
            };
            self.awaited.update_value(|awaited| *awaited -= 1);
            if self.awaited.get_value() == 0 {
                self.early.update_value(Vec::clear);
            }
            let ready = matches!(*self.library.read_untracked(), Loaded::Ready(_));
            match loaded {
                Ok(mut library) => {
                    for (position, change) in early {
                        literature::apply(&mut library, position, change);
                    }
                    self.library.set(Loaded::Ready(library));
                }
                // What is on the screen stays there.
                Err(error) if !ready => self.library.set(Loaded::Failed(error)),
                Err(_) => {}
            }
        });
    }

    /// The library has changed, or all of it may be another one.
    fn read(self, change: LiteratureNews) {
        let Some((position, change)) = change else {
            return self.load_library();
        };
        let Ok(change) = json::read::<Change>(change.as_str().as_bytes()) else {
            return self.load_library();
        };
        if self.awaited.get_value() > 0 {
            self.early
                .update_value(|early| early.push((position, change.clone())));
        }
        self.library.update(|library| {
            if let Loaded::Ready(library) = library {
                literature::apply(library, position, change);
            }
        });
    }

    /// Reads the library, as far as it is here.
    pub fn with_library<T>(self, read: impl FnOnce(&Library) -> T) -> T {
        self.library.with(|library| match library {
            Loaded::Ready(library) => read(library),
            _ => read(&Library::default()),
        })
    }

    /// The stream that is open.
    pub fn stream(self) -> Option<ResearchStream> {
        let id = self.address.with(|address| address.stream)?;
        self.with_library(|library| library.stream(id).cloned())
    }

    pub fn is_saved(self, pmid: &str) -> bool {
        self.with_library(|library| library.saved(pmid).is_some())
    }

    /// Keeps an article, or keeps it no more.
    pub fn toggle(self, article: &Article) {
        let pmid = article.pmid.clone();
        let saved = untrack(|| self.with_library(|library| library.saved(&pmid).cloned()));
        match saved {
            None => self.save(article),
            Some(saved) => self.tell(rpc::remove_article(pmid), move |desk| {
                desk.removed.set(Some(saved));
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
                .ask(rpc::save_article(pmid.clone(), String::new(), None))
                .await;
            self.saving
                .try_update(|saving| saving.retain(|other| *other != pmid));
            if let Err(error) = saved {
                let what = match error.code {
                    // If it was saved, it is shown as soon as that is heard of.
                    ErrorCode::Unreachable => "” may not be saved. ",
                    _ => "” was not saved. ",
                };
                self.live.toasts.say(["“", &title, what, &error.message].concat());
            }
        });
    }

    /// The reason that PubMed can't be searched, if it can't.
    pub fn no_search(self) -> Option<String> {
        self.with_library(|library| library.no_search.clone())
    }

    /// Keeps what was removed last as it was.
    pub fn put_back(self) {
        if let Some(SavedArticle {
            article,
            note,
            saved_at,
        }) = self.removed.get_untracked()
        {
            self.removed.set(None);
            // The button is gone.
            browser::focus_selector(".tabs a[aria-current]");
            self.tell(rpc::save_article(article.pmid, note, Some(saved_at)), |_| {});
        }
    }

    /// Asks for something to be done. What comes of it arrives with the stream.
    pub fn tell(
        self,
        request: impl Future<Output = Result<(), ApiError>> + 'static,
        done: impl FnOnce(Self) + 'static,
    ) {
        spawn_local(async move {
            match self.live.ask(request).await {
                // The person may have left the page by now, and is not to be taken back.
                Ok(()) if self.removed.is_disposed() => {}
                Ok(()) => done(self),
                Err(error) => self.live.toasts.say(error.message),
            }
        });
    }
}

fn search_of(address: &Address) -> Option<Search> {
    let searches = address.tab == Tab::Search && !address.query.is_empty();
    searches.then(|| (address.query.clone(), address.sort, address.page))
}
