//! Literature: finding articles in PubMed, and what a person keeps of them.
//!
//! Everything that is asked about an article names it by its PMID; what it is called and what it says comes from PubMed, or from
//! where it is kept, and never from whoever asks.
//!
//! - [`known`]: articles that were seen lately, so that PubMed is not asked again for what is on the screen
//! - [`reading`]: what there is about articles, and how long PubMed is waited for
//! - [`context`]: what the model is told of what is open on the page *Literature*
//! - [`tools`]: what the model can do there with articles, [`stream_tools`]: and with streams

mod article_cache;
mod articles;
mod context;
mod stream_tools;
#[cfg(test)]
mod tests;
mod tools;

use std::{borrow::Cow, sync::Arc, time::Duration};

use self::{
    article_cache::ArticleCache,
    articles::{Deadline, check_pmid},
};
use crate::{
    clock,
    journal::{Journal, JournalError},
    protocol::{
        StreamId, Timestamp, UserId,
        literature::{Article, ArticleSearchResults, ArticleSort, Library, ResearchStream, SavedArticle},
    },
    services::{
        ServiceError, ServiceErrorKind,
        pubmed::{self, MAX_QUERY_BYTES, PubmedClient, PubmedUnavailable},
    },
    settings,
    storage::{Change, Outcome, Storage, StorageError},
};

/// The longest that saving an article of which nothing is known waits for PubMed.
const SAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// PubMed gives no more than so many of what it has found.
const MAX_REACHABLE_RESULTS: usize = 9_999;

/// Why something could not be done. Each is a sentence that says what happened, to the person and to the model.
#[derive(Debug, thiserror::Error)]
pub enum LiteratureError {
    #[error("There is no article with the PMID {0}.")]
    ArticleNotFound(String),
    #[error("There is no such stream.")]
    StreamNotFound,
    #[error("The stream with this id is called “{0}”. Nothing was changed.")]
    StreamNameMismatch(String),
    #[error(transparent)]
    PubmedUnavailable(#[from] PubmedUnavailable),
    #[error("A query has 1 to {MAX_QUERY_BYTES} bytes.")]
    EmptyQuery,
    #[error("{what} is too long: it may have {limit} bytes (setting literature.text_bytes).")]
    TooLong { what: &'static str, limit: usize },
    #[error("A stream needs a name.")]
    EmptyName,
    #[error(transparent)]
    Pubmed(#[from] ServiceError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl LiteratureError {
    /// The same, with what a person can do next.
    pub fn user_message(&self) -> String {
        match self {
            Self::Pubmed(error) => format!("{error} {}", advice(&error.kind)),
            error => error.to_string(),
        }
    }
}

/// What a person can do if PubMed does not answer as it should.
fn advice(fault: &ServiceErrorKind) -> Cow<'static, str> {
    match fault {
        ServiceErrorKind::Busy(Some(after)) => {
            format!("Try again in {} seconds.", after.as_secs_f64().ceil().max(1.0)).into()
        }
        ServiceErrorKind::Busy(None) | ServiceErrorKind::QueueFull => "Try again in a minute.".into(),
        ServiceErrorKind::Timeout(_) | ServiceErrorKind::ServerError(_) | ServiceErrorKind::Unreadable => {
            "Try again in a minute; if it stays like that, whoever runs this server finds out more in its log.".into()
        }
        ServiceErrorKind::InvalidQuery(_) => "Change the query, and search again.".into(),
        ServiceErrorKind::Unreachable | ServiceErrorKind::AccessDenied(_) | ServiceErrorKind::Refused(_) | ServiceErrorKind::TooLarge(_) => {
            "Whoever runs this server finds out why in its log; where PubMed is, says the setting tools.pubmed.base_url."
                .into()
        }
    }
}

/// An article that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    pub article: Article,
    /// It was kept before with another note than it was to be given now. That note stays.
    pub is_noted_otherwise: bool,
}

/// The literature of everybody. Clones share everything.
#[derive(Clone)]
pub struct Literature(Arc<Inner>);

struct Inner {
    pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
    storage: Arc<dyn Storage>,
    journal: Journal,
    settings: settings::LiteratureSettings,
    cache: Arc<ArticleCache>,
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
        }))
    }

    /// Searches PubMed, and gives a page of what is found, counted from 1.
    pub async fn search(
        &self,
        query: &str,
        sort: ArticleSort,
        page: usize,
    ) -> Result<ArticleSearchResults, LiteratureError> {
        let query = query.trim();
        if query.is_empty() || query.len() > MAX_QUERY_BYTES {
            return Err(LiteratureError::EmptyQuery);
        }
        let on_page = self.0.settings.page.clamp(1, 100);
        let last = MAX_REACHABLE_RESULTS / on_page;
        let page = page.clamp(1, last);
        let pubmed = self.pubmed()?;
        let by = match sort {
            ArticleSort::Relevance => pubmed::Sort::Relevance,
            ArticleSort::Date => pubmed::Sort::Date,
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

    /// PubMed did not give the abstract when the article was saved, and does now. If it can't be stored, it is asked again.
    async fn store_summary(&self, user_id: UserId, pmid: &str, summary: Vec<String>) {
        let change = Change::StoreAbstract {
            user_id,
            pmid: pmid.into(),
            summary,
        };
        if let Err(error) = self.0.journal.submit(change).await {
            tracing::warn!(%error, "an abstract can't be kept");
        }
    }

    /// All that a person keeps.
    pub async fn library(&self, user_id: UserId) -> Result<Library, LiteratureError> {
        let library = self.0.storage.library(user_id).await?;
        Ok(Library {
            no_search: self.search_unavailable_reason(),
            ..library
        })
    }

    /// A person's stream of research.
    pub async fn stream(
        &self,
        user_id: UserId,
        stream_id: StreamId,
    ) -> Result<ResearchStream, LiteratureError> {
        let stream = self.0.storage.research_stream(user_id, stream_id).await?;
        stream.ok_or(LiteratureError::StreamNotFound)
    }

    /// Says why PubMed can't be asked, if it can't.
    pub fn search_unavailable_reason(&self) -> Option<String> {
        self.0.pubmed.as_ref().err().map(ToString::to_string)
    }

    /// Returns those of these articles that a person keeps.
    pub async fn saved_pmids(
        &self,
        user_id: UserId,
        pmids: &[String],
    ) -> Result<Vec<String>, LiteratureError> {
        let saved = self.0.storage.saved_articles(user_id, pmids).await?;
        Ok(saved.into_iter().map(|saved| saved.article.pmid).collect())
    }

    /// Keeps an article. One that was kept already keeps the note that it has. With `saved_at`, it is put back where it was.
    ///
    /// It is kept with what is known of it. An abstract that is not known is fetched later; PubMed is waited for only if
    /// nothing is known.
    pub async fn save(
        &self,
        user_id: UserId,
        pmid: &str,
        note: &str,
        saved_at: Option<Timestamp>,
    ) -> Result<Kept, LiteratureError> {
        self.check_length("The note", note)?;
        check_pmid(pmid)?;
        // Nothing is read after it is saved: what fails then would be told as if nothing had been.
        let (article, summary) = match self.0.storage.saved_article(user_id, pmid).await? {
            Some((saved, summary)) => (saved.article, summary),
            None => {
                let article = self
                    .find_article(pmid, Some(Deadline::after(SAVE_TIMEOUT)))
                    .await?;
                (article, self.0.cache.summary(pmid))
            }
        };
        let is_whole = summary.is_some();
        let now = clock::now();
        let saved = SavedArticle {
            article: article.clone(),
            note: note.trim().into(),
            saved_at: saved_at.map_or(now, |before| before.min(now)),
        };
        let save = Change::SaveArticle {
            user_id,
            article: saved,
            summary,
            limit: self.0.settings.articles,
        };
        let outcome = self.0.journal.submit(save).await?;
        if !is_whole {
            self.fetch_missing_summary(user_id, article.clone());
        }
        let is_noted_otherwise = outcome == Outcome::NotedOtherwise;
        Ok(Kept {
            article,
            is_noted_otherwise,
        })
    }

    /// Fetches the abstract of an article that is kept without it. If that fails, it is fetched when the article is opened.
    fn fetch_missing_summary(&self, user_id: UserId, article: Article) {
        let literature = self.clone();
        tokio::spawn(async move {
            if let Ok(summary) = literature.load_summary(&article, None).await {
                literature.store_summary(user_id, &article.pmid, summary).await;
            }
        });
    }

    /// Writes something about an article that is kept, in place of one of these notes and of no other.
    pub async fn set_note(
        &self,
        user_id: UserId,
        pmid: String,
        note: &str,
        replaces: Vec<String>,
    ) -> Result<(), LiteratureError> {
        self.check_length("The note", note)?;
        let change = Change::SetArticleNote {
            user_id,
            pmid,
            note: note.trim().into(),
            replaces,
        };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Keeps an article no more.
    pub async fn remove(&self, user_id: UserId, pmid: String) -> Result<(), LiteratureError> {
        // It may be put back, whether PubMed answers then or not.
        if let Some((saved, summary)) = self.0.storage.saved_article(user_id, &pmid).await? {
            self.0.cache.insert(saved.article);
            if let Some(summary) = summary {
                self.0.cache.insert_summary(&pmid, summary);
            }
        }
        let change = Change::RemoveArticle { user_id, pmid };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Keeps a stream, or makes one that is kept another one.
    pub async fn save_stream(
        &self,
        user_id: UserId,
        mut stream: ResearchStream,
    ) -> Result<(), LiteratureError> {
        stream.name = stream.name.split_whitespace().collect::<Vec<_>>().join(" ");
        stream.query = stream.query.trim().into();
        stream.instructions = stream.instructions.trim().into();
        if stream.name.is_empty() {
            return Err(LiteratureError::EmptyName);
        }
        if stream.query.is_empty() || stream.query.len() > MAX_QUERY_BYTES {
            return Err(LiteratureError::EmptyQuery);
        }
        self.check_length("The name", &stream.name)?;
        self.check_length("The instructions", &stream.instructions)?;
        let change = Change::SaveStream {
            user_id,
            stream,
            limit: self.0.settings.streams,
        };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    pub async fn delete_stream(&self, user_id: UserId, stream_id: StreamId) -> Result<(), LiteratureError> {
        let change = Change::DeleteStream { user_id, stream_id };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    fn check_length(&self, what: &'static str, text: &str) -> Result<(), LiteratureError> {
        let limit = self.0.settings.text_bytes;
        if text.len() > limit {
            return Err(LiteratureError::TooLong { what, limit });
        }
        Ok(())
    }
}
