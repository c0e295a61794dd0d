//! Literature: searching PubMed, and the articles and streams that a user saves.
//!
//! Every request refers to an article by its PMID. The title and the contents come from PubMed or from
//! storage, never from the request.
//!
//! - [`article_cache`]: recently seen articles, so that PubMed is not asked again for the current screen
//! - [`articles`]: loading articles, and the deadline of PubMed
//! - [`context`]: the page context of *Literature* for the model
//! - [`tools`]: the model's tools for articles, [`stream_tools`]: and for streams, of which [`stream_names`] has the names
//! - [`read_article`]: the tool that reads an article, with its full text where that is open
//! - [`page`]: the page *Literature*, with these parts
//! - [`stream_pages`]: the pages *Streams* and *Edit stream*

mod article_cache;
mod articles;
mod context;
mod error;
mod page;
mod read_article;
mod stream_names;
mod stream_pages;
mod stream_tools;
#[cfg(test)]
mod tests;
mod tools;

use std::{sync::Arc, time::Duration};

pub(crate) use self::page::{OPEN_ARTICLE, OPEN_STREAM};
pub(crate) use self::stream_pages::{EDIT_STREAM, STREAMS};
use self::{
    article_cache::ArticleCache,
    articles::{Deadline, check_pmid},
    read_article::ReadArticle,
    stream_names::StreamNames,
    tools::{SaveArticle, WriteNote},
};
pub use self::{
    articles::from_pubmed,
    error::LiteratureError,
    page::{LITERATURE, QUERY_SUGGESTION},
    stream_pages::{EditStream, Streams},
};

use parlor_base::{clock, settings};
use parlor_journal::Journal;
use parlor_protocol::{
    ResearchStreamId, Timestamp, UserId,
    draft::MAX_FIELDS,
    literature::{Article, ArticleSearchResults, ArticleSort, Library, ResearchStream, SavedArticle},
};
use parlor_storage::{Change, LibraryUpdate, Outcome, Storage, StorageError};
use parlor_tools::Tool;
use parlor_web::services::pubmed::{self, MAX_QUERY_BYTES, PubmedClient, PubmedUnavailable};

/// The name of the tool that reads an article.
pub const READ_ARTICLE: &str = ReadArticle::NAME;

/// The names of the tools that save an article and write the note about one.
pub(crate) const SAVE_ARTICLE: &str = SaveArticle::NAME;
pub(crate) const WRITE_NOTE: &str = WriteNote::NAME;

/// The maximum time that saving an unknown article waits for PubMed.
const SAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// The maximum number of results of a search that PubMed returns.
const MAX_REACHABLE_RESULTS: usize = 9_999;

/// The result of saving an article.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveResult {
    pub article: Article,
    /// True if it was saved before with a note other than the new one. The old note is kept.
    pub has_note_conflict: bool,
}

/// The literature of all users. Clones refer to the same data.
#[derive(Clone)]
pub struct Literature(Arc<Inner>);

struct Inner {
    pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
    storage: Arc<dyn Storage>,
    journal: Journal,
    settings: settings::LiteratureSettings,
    cache: Arc<ArticleCache>,
    stream_names: StreamNames,
}

impl Literature {
    pub fn new(
        pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
        storage: Arc<dyn Storage>,
        journal: Journal,
        settings: &settings::LiteratureSettings,
    ) -> Self {
        let known = Arc::new(ArticleCache::default());
        if let Ok(pubmed) = &pubmed {
            pubmed.set_listener(known.clone());
        }
        Self(Arc::new(Inner {
            pubmed,
            storage,
            journal,
            settings: settings.clone(),
            cache: known,
            stream_names: StreamNames::default(),
        }))
    }

    /// Searches PubMed. Returns one page of the results; pages are counted from 1.
    pub async fn search(
        &self,
        query: &str,
        sort: ArticleSort,
        page: usize,
    ) -> Result<ArticleSearchResults, LiteratureError> {
        let query = query.trim();
        if query.is_empty() || query.len() > MAX_QUERY_BYTES {
            return Err(LiteratureError::InvalidQuery);
        }
        let on_page = self.0.settings.page.clamp(1, 100);
        let last = MAX_REACHABLE_RESULTS / on_page;
        let page = page.clamp(1, last);
        let pubmed = self.pubmed()?;
        let by = match sort {
            ArticleSort::Relevance => pubmed::PubmedSort::Relevance,
            ArticleSort::Date => pubmed::PubmedSort::Date,
        };
        let hits = pubmed.search(query, (page - 1) * on_page, on_page, by).await?;
        let pages =
            usize::try_from(hits.total.div_ceil(on_page as u64)).map_or(last, |pages| pages.min(last));
        Ok(ArticleSearchResults {
            query: query.into(),
            sort,
            page,
            pages,
            total: hits.total,
            articles: self.find_articles(&hits.ids, None).await.into_result()?,
        })
    }

    /// Stores an abstract that PubMed did not return when the article was saved. If that fails, the next
    /// opening of the article fetches it again.
    async fn store_abstract(&self, user_id: UserId, pmid: &str, abstract_text: Vec<String>) {
        let change = Change::Library {
            user_id,
            update: LibraryUpdate::StoreAbstract {
                pmid: pmid.into(),
                abstract_text,
            },
        };
        if let Err(error) = self.0.journal.submit(change).await {
            tracing::warn!(%error, "cannot store an abstract");
        }
    }

    /// Returns everything that a user has saved.
    pub async fn library(&self, user_id: UserId) -> Result<Library, LiteratureError> {
        let library = self.0.storage.library(user_id).await?;
        Ok(Library {
            no_search: self.search_unavailable_reason(),
            ..library
        })
    }

    /// Returns true if the settings list the pages for everybody, or the user has saved something.
    async fn is_in_use(&self, user_id: UserId) -> Result<bool, StorageError> {
        if self.0.settings.listed {
            return Ok(true);
        }
        let library = self.0.storage.library(user_id).await?;
        Ok(!library.articles.is_empty() || !library.streams.is_empty())
    }

    /// Returns a user's stream of research.
    pub async fn stream(
        &self,
        user_id: UserId,
        stream_id: ResearchStreamId,
    ) -> Result<ResearchStream, LiteratureError> {
        let stream = self.0.storage.research_stream(user_id, stream_id).await?;
        stream.ok_or(LiteratureError::StreamNotFound)
    }

    /// Returns the reason why PubMed is unavailable; `None` if it is available.
    pub fn search_unavailable_reason(&self) -> Option<String> {
        self.0.pubmed.as_ref().err().map(ToString::to_string)
    }

    /// Returns those of these articles that a user has saved.
    pub async fn saved_pmids(
        &self,
        user_id: UserId,
        pmids: &[String],
    ) -> Result<Vec<String>, LiteratureError> {
        let saved = self.0.storage.saved_articles(user_id, pmids).await?;
        Ok(saved.into_iter().map(|saved| saved.article.pmid).collect())
    }

    /// Saves an article. An article that is saved already keeps its note. With `saved_at`, it is restored at
    /// its old place.
    ///
    /// It is saved with the known data. A missing abstract is fetched later; only an unknown article waits
    /// for PubMed.
    pub async fn save(
        &self,
        user_id: UserId,
        pmid: &str,
        note: &str,
        saved_at: Option<Timestamp>,
    ) -> Result<SaveResult, LiteratureError> {
        self.check_length("The note", note)?;
        check_pmid(pmid)?;
        // Nothing is read after the save: a failed read would report the save as failed.
        let (article, abstract_text) = match self.0.storage.saved_article(user_id, pmid).await? {
            Some((saved, abstract_text)) => (saved.article, abstract_text),
            None => {
                let article = self
                    .find_article(pmid, Some(Deadline::after(SAVE_TIMEOUT)))
                    .await?;
                (article, self.0.cache.abstract_text(pmid))
            }
        };
        let has_abstract = abstract_text.is_some();
        let now = clock::now();
        let saved = SavedArticle {
            article: article.clone(),
            note: note.trim().into(),
            saved_at: saved_at.map_or(now, |before| before.min(now)),
        };
        let save = Change::Library {
            user_id,
            update: LibraryUpdate::SaveArticle {
                article: saved,
                abstract_text,
                limit: self.0.settings.articles,
            },
        };
        let outcome = self.0.journal.submit(save).await?;
        if !has_abstract {
            self.fetch_missing_abstract(user_id, article.clone());
        }
        let has_note_conflict = outcome == Outcome::NoteConflict;
        Ok(SaveResult {
            article,
            has_note_conflict,
        })
    }

    /// Fetches the abstract of a saved article. If that fails, it is fetched when the article is opened.
    fn fetch_missing_abstract(&self, user_id: UserId, article: Article) {
        let literature = self.clone();
        tokio::spawn(async move {
            if let Ok(abstract_text) = literature.load_abstract(&article, None).await {
                literature
                    .store_abstract(user_id, &article.pmid, abstract_text)
                    .await;
            }
        });
    }

    /// Returns the note of a saved article; `None` if it is not saved.
    async fn saved_note(&self, user_id: UserId, pmid: &str) -> Result<Option<String>, LiteratureError> {
        let saved = self.0.storage.saved_article(user_id, pmid).await?;
        Ok(saved.map(|(saved, _)| saved.note))
    }

    /// Sets the note of a saved article, but only if the current note is one of the given ones.
    pub async fn set_note(
        &self,
        user_id: UserId,
        pmid: String,
        note: &str,
        replaces: Vec<String>,
    ) -> Result<(), LiteratureError> {
        self.check_length("The note", note)?;
        let change = Change::Library {
            user_id,
            update: LibraryUpdate::SetArticleNote {
                pmid,
                note: note.trim().into(),
                replaces,
            },
        };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Removes an article from the saved ones.
    pub async fn remove(&self, user_id: UserId, pmid: String) -> Result<(), LiteratureError> {
        // Cached, so that it can be restored even without PubMed.
        if let Some((saved, abstract_text)) = self.0.storage.saved_article(user_id, &pmid).await? {
            self.0.cache.insert(saved.article);
            if let Some(abstract_text) = abstract_text {
                self.0.cache.insert_abstract(&pmid, abstract_text);
            }
        }
        let change = Change::Library {
            user_id,
            update: LibraryUpdate::RemoveArticle { pmid },
        };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Saves a new stream or replaces a saved one.
    pub async fn save_stream(
        &self,
        user_id: UserId,
        mut stream: ResearchStream,
    ) -> Result<(), LiteratureError> {
        stream.name = stream.name.split_whitespace().collect::<Vec<_>>().join(" ");
        stream.purpose = stream.purpose.trim().into();
        stream.query = stream.query.trim().into();
        stream.instructions = stream.instructions.trim().into();
        if stream.name.is_empty() {
            return Err(LiteratureError::EmptyName);
        }
        if stream.query.is_empty() || stream.query.len() > MAX_QUERY_BYTES {
            return Err(LiteratureError::InvalidQuery);
        }
        self.check_length("The name", &stream.name)?;
        self.check_length("The purpose", &stream.purpose)?;
        self.check_length("The instructions", &stream.instructions)?;
        let schema = stream.schema.0.iter();
        self.check_items("The schema", schema.map(|field| (&field.name, &field.question)))?;
        let categories = stream.categories.0.iter();
        self.check_items(
            "The categories",
            categories.map(|one| (&one.name, &one.description)),
        )?;
        let change = Change::Library {
            user_id,
            update: LibraryUpdate::SaveResearchStream {
                stream,
                limit: self.0.settings.streams,
            },
        };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    pub async fn delete_stream(
        &self,
        user_id: UserId,
        stream_id: ResearchStreamId,
    ) -> Result<(), LiteratureError> {
        let change = Change::Library {
            user_id,
            update: LibraryUpdate::DeleteResearchStream { stream_id },
        };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Checks a list of named texts.
    fn check_items<'a>(
        &self,
        what: &'static str,
        items: impl Iterator<Item = (&'a String, &'a String)>,
    ) -> Result<(), LiteratureError> {
        let mut names = Vec::new();
        for (name, text) in items {
            if name.trim().is_empty() {
                return Err(LiteratureError::EmptyName);
            }
            if names.contains(&name) || names.len() == MAX_FIELDS {
                return Err(LiteratureError::InvalidList {
                    what,
                    limit: MAX_FIELDS,
                });
            }
            self.check_length(what, name)?;
            self.check_length(what, text)?;
            names.push(name);
        }
        Ok(())
    }

    fn check_length(&self, what: &'static str, text: &str) -> Result<(), LiteratureError> {
        let limit = self.0.settings.text_bytes;
        if text.len() > limit {
            return Err(LiteratureError::TooLong { what, limit });
        }
        Ok(())
    }
}
