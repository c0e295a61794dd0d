//! Literature: finding articles in PubMed, and what a person keeps of them.
//!
//! Everything that is asked about an article names it by its PMID; what it is called and what it says comes from PubMed, or from
//! where it is kept, and never from whoever asks.
//!
//! - [`known`]: articles that were seen lately, so that PubMed is not asked again for what is on the screen
//! - [`context`]: what the model is told of what is open on the page *Literature*
//! - [`tools`]: what the model can do there

mod context;
mod known;
#[cfg(test)]
mod tests;
mod tools;

use std::{borrow::Cow, sync::Arc};

use self::known::Known;
use crate::{
    clock,
    journal::{Journal, JournalError},
    protocol::{
        StreamId, Timestamp, UserId,
        literature::{Article, Found, FullArticle, Library, ResearchStream, SavedArticle, Sort},
    },
    settings,
    storage::{Change, Storage, StorageError},
    tools::{
        Fault, ServiceError,
        pubmed::{self, Eutils, LONGEST_QUERY, is_pmid},
    },
};

/// PubMed gives no more than so many of what it has found.
const REACHABLE: usize = 9_999;

/// Why something could not be done. Each is a sentence that says what happened, to the person and to the model.
#[derive(Debug, thiserror::Error)]
pub enum LiteratureError {
    #[error("There is no article with the PMID {0}.")]
    NoArticle(String),
    #[error("There is no such stream.")]
    NoStream,
    #[error("PubMed is not asked here (setting tools.pubmed.enabled).")]
    Off,
    #[error("A query has 1 to {LONGEST_QUERY} bytes.")]
    Query,
    #[error("{what} is too long: it may have {limit} bytes (setting literature.text_bytes).")]
    TooLong { what: &'static str, limit: usize },
    #[error("A stream needs a name.")]
    Nameless,
    #[error(transparent)]
    Pubmed(#[from] ServiceError),
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl LiteratureError {
    /// The same, with what a person can do next.
    pub fn for_a_person(&self) -> String {
        match self {
            Self::Pubmed(error) => format!("{error} {}", next(&error.fault)),
            error => error.to_string(),
        }
    }
}

/// What a person can do if PubMed does not answer as it should.
fn next(fault: &Fault) -> Cow<'static, str> {
    match fault {
        Fault::Busy(Some(after)) => {
            format!("Try again in {} seconds.", after.as_secs_f64().ceil().max(1.0)).into()
        }
        Fault::Busy(None) | Fault::Crowded => "Try again in a minute.".into(),
        Fault::TooLate(_) | Fault::Ill(_) | Fault::Unreadable => {
            "Try again in a minute; if it stays like that, whoever runs this server finds out more in its log.".into()
        }
        Fault::NotUnderstood(_) => "Change the query, and search again.".into(),
        Fault::Unreachable | Fault::ShutOut(_) | Fault::Refused(_) | Fault::TooLong(_) => {
            "Whoever runs this server finds out why in its log; where PubMed is, says the setting tools.pubmed.base_url."
                .into()
        }
    }
}

/// All that there is of an article.
struct Whole {
    article: Article,
    /// Its abstract, by paragraphs; empty if it has none.
    summary: Result<Vec<String>, LiteratureError>,
    /// What the person has written about it, and since when they keep it; nothing if they don't.
    kept: Option<(String, Timestamp)>,
}

/// The literature of everybody. Clones share everything.
#[derive(Clone)]
pub struct Literature(Arc<Inner>);

struct Inner {
    /// Nothing if PubMed is not to be asked.
    pubmed: Option<Arc<Eutils>>,
    storage: Arc<dyn Storage>,
    journal: Journal,
    settings: settings::Literature,
    known: Known,
}

impl Literature {
    pub fn new(
        pubmed: Option<Arc<Eutils>>,
        storage: Arc<dyn Storage>,
        journal: Journal,
        settings: &settings::Literature,
    ) -> Self {
        Self(Arc::new(Inner {
            pubmed,
            storage,
            journal,
            settings: settings.clone(),
            known: Known::default(),
        }))
    }

    /// Searches PubMed, and gives a page of what is found, counted from 1.
    pub async fn search(&self, query: &str, sort: Sort, page: usize) -> Result<Found, LiteratureError> {
        let query = query.trim();
        if query.is_empty() || query.len() > LONGEST_QUERY {
            return Err(LiteratureError::Query);
        }
        let on_page = self.0.settings.page.clamp(1, 100);
        let last = REACHABLE / on_page;
        let page = page.clamp(1, last);
        let pubmed = self.pubmed()?;
        let by = match sort {
            Sort::Relevance => pubmed::Sort::Relevance,
            Sort::Date => pubmed::Sort::Date,
        };
        let hits = pubmed.search(query, (page - 1) * on_page, on_page, by).await?;
        let pages =
            usize::try_from(hits.total.div_ceil(on_page as u64)).map_or(last, |pages| pages.min(last));
        Ok(Found {
            query: query.into(),
            sort,
            page,
            pages,
            total: hits.total,
            articles: self.read(&hits.ids).await?,
        })
    }

    /// What there is about articles; those that are not there are left out.
    pub async fn articles(&self, user_id: UserId, pmids: &[String]) -> Result<Vec<Article>, LiteratureError> {
        for saved in self.0.storage.saved_articles(user_id, pmids).await? {
            self.0.known.learn(saved.article);
        }
        self.read(pmids).await
    }

    /// An article with its abstract: the one that is kept, or PubMed's.
    pub async fn article(&self, user_id: UserId, pmid: &str) -> Result<FullArticle, LiteratureError> {
        let read = self.read_whole(user_id, pmid).await?;
        let (summary, problem) = match read.summary {
            Ok(summary) => (summary, None),
            Err(error) => (Vec::new(), Some(error.for_a_person())),
        };
        Ok(FullArticle {
            article: read.article,
            summary,
            problem,
        })
    }

    /// The same, with what the person has written about it if it is kept.
    async fn read_whole(&self, user_id: UserId, pmid: &str) -> Result<Whole, LiteratureError> {
        let none = || LiteratureError::NoArticle(pmid.chars().take(20).collect());
        if !is_pmid(pmid) {
            return Err(none());
        }
        let (article, kept, summary) = match self.0.storage.saved_article(user_id, pmid).await? {
            Some((saved, summary)) => {
                let kept = Some((saved.note, saved.saved_at));
                (saved.article, kept, summary)
            }
            None => {
                let ids = [pmid.to_owned()];
                (self.read(&ids).await?.pop().ok_or_else(none)?, None, None)
            }
        };
        let summary = match summary {
            Some(summary) => Ok(summary),
            None => {
                let summary = self.summary(&article).await;
                if let (Ok(summary), Some(_)) = (&summary, &kept) {
                    self.keep_summary(user_id, pmid, summary.clone()).await;
                }
                summary
            }
        };
        Ok(Whole {
            article,
            summary,
            kept,
        })
    }

    /// An article's abstract, by paragraphs: what is known, or PubMed's.
    async fn summary(&self, article: &Article) -> Result<Vec<String>, LiteratureError> {
        let pmid = &*article.pmid;
        if let Some(summary) = self.0.known.summary(pmid) {
            return Ok(summary);
        }
        let mut read = self.pubmed()?.abstracts(&[pmid]).await?;
        let text = read.remove(pmid).unwrap_or_default();
        let summary: Vec<String> = text.lines().map(str::to_owned).collect();
        self.0.known.learn(article.clone());
        self.0.known.learn_summary(pmid, summary.clone());
        Ok(summary)
    }

    /// PubMed did not give the abstract when the article was saved, and does now. If it can't be stored, it is asked again.
    async fn keep_summary(&self, user_id: UserId, pmid: &str, summary: Vec<String>) {
        let change = Change::KeepSummary {
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
        Ok(self.0.storage.library(user_id).await?)
    }

    /// A person's stream of research.
    pub async fn stream(
        &self,
        user_id: UserId,
        stream_id: StreamId,
    ) -> Result<ResearchStream, LiteratureError> {
        let stream = self.0.storage.stream(user_id, stream_id).await?;
        stream.ok_or(LiteratureError::NoStream)
    }

    /// Keeps an article, and says how it is kept: one that was kept already keeps the note that it has. With `saved_at`, it is put
    /// back where it was.
    pub async fn save(
        &self,
        user_id: UserId,
        pmid: &str,
        note: &str,
        saved_at: Option<Timestamp>,
    ) -> Result<SavedArticle, LiteratureError> {
        self.check("The note", note)?;
        // Nothing is read after it is saved: what fails then would be told as if nothing had been.
        let Whole {
            article,
            summary,
            kept,
        } = self.read_whole(user_id, pmid).await?;
        let now = clock::now();
        let mut saved = SavedArticle {
            article,
            note: note.trim().into(),
            saved_at: saved_at.map_or(now, |before| before.min(now)),
        };
        let save = Change::SaveArticle {
            user_id,
            article: saved.clone(),
            summary: summary.ok(),
            limit: self.0.settings.articles,
        };
        self.0.journal.submit(save).await?;
        if let Some((note, since)) = kept {
            saved.saved_at = since;
            if !note.is_empty() {
                saved.note = note;
            }
        }
        Ok(saved)
    }

    /// Writes something about an article that is kept.
    pub async fn note(&self, user_id: UserId, pmid: String, note: &str) -> Result<(), LiteratureError> {
        self.check("The note", note)?;
        let note = note.trim().into();
        let change = Change::NoteArticle { user_id, pmid, note };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Keeps an article no more.
    pub async fn remove(&self, user_id: UserId, pmid: String) -> Result<(), LiteratureError> {
        // It may be put back, whether PubMed answers then or not.
        if let Some((saved, summary)) = self.0.storage.saved_article(user_id, &pmid).await? {
            self.0.known.learn(saved.article);
            if let Some(summary) = summary {
                self.0.known.learn_summary(&pmid, summary);
            }
        }
        let change = Change::RemoveArticle { user_id, pmid };
        Ok(self.0.journal.submit(change).await.map(drop)?)
    }

    /// Keeps a stream, or makes one that is kept another one.
    pub async fn keep_stream(
        &self,
        user_id: UserId,
        mut stream: ResearchStream,
    ) -> Result<(), LiteratureError> {
        stream.name = stream.name.split_whitespace().collect::<Vec<_>>().join(" ");
        stream.query = stream.query.trim().into();
        stream.instructions = stream.instructions.trim().into();
        if stream.name.is_empty() {
            return Err(LiteratureError::Nameless);
        }
        if stream.query.is_empty() || stream.query.len() > LONGEST_QUERY {
            return Err(LiteratureError::Query);
        }
        self.check("The name", &stream.name)?;
        self.check("The instructions", &stream.instructions)?;
        let change = Change::KeepStream {
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

    fn check(&self, what: &'static str, text: &str) -> Result<(), LiteratureError> {
        let limit = self.0.settings.text_bytes;
        if text.len() > limit {
            return Err(LiteratureError::TooLong { what, limit });
        }
        Ok(())
    }

    fn pubmed(&self) -> Result<&Eutils, LiteratureError> {
        self.0.pubmed.as_deref().ok_or(LiteratureError::Off)
    }

    /// What there is about articles, in their order: what is known, and the rest from PubMed.
    async fn read(&self, pmids: &[String]) -> Result<Vec<Article>, LiteratureError> {
        let unknown: Vec<String> = pmids
            .iter()
            .filter(|pmid| is_pmid(pmid) && self.0.known.article(pmid).is_none())
            .cloned()
            .collect();
        let mut read = Vec::new();
        if !unknown.is_empty() {
            read = self.pubmed()?.summaries(&unknown).await?;
        }
        let mut articles = Vec::with_capacity(pmids.len());
        for pmid in pmids {
            let found = read.iter().find(|article| article.pmid == *pmid);
            // PubMed has an answer for a number that nothing has, with nothing in it.
            let found = found.filter(|article| !article.title.is_empty());
            let article = found.map(from_pubmed).or_else(|| self.0.known.article(pmid));
            if let Some(article) = article {
                self.0.known.learn(article.clone());
                articles.push(article);
            }
        }
        Ok(articles)
    }
}

fn from_pubmed(article: &pubmed::Article) -> Article {
    Article {
        pmid: article.pmid.clone(),
        title: article.title.clone(),
        authors: article.authors.clone(),
        journal: article.journal.clone(),
        published: article.date.clone(),
        doi: article.doi.clone(),
    }
}
