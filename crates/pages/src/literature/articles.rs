//! Loading articles: from saved articles and the cache, and the rest from PubMed within a deadline.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use super::{Literature, LiteratureError};
use crate::StoredText;
use parlor_base::text::single_line;
use parlor_protocol::{
    Timestamp, UserId,
    literature::{Article, ArticleWithAbstract, is_pmid},
    passage::find_passage,
};
use parlor_storage::StorageError;
use parlor_web::services::{
    ServiceError, ServiceErrorKind,
    pubmed::{self, PubmedClient},
};

/// The maximum length of a quoted text that should be a PMID, in characters.
const MAX_QUOTED_PMID_CHARS: usize = 20;

/// An article with its abstract and the user's note.
pub(super) struct LoadedArticle {
    pub article: Article,
    /// The abstract's paragraphs; empty if it has none.
    pub abstract_text: Result<Vec<String>, LiteratureError>,
    /// The user's note and the time at which they saved the article; `None` if it is not saved.
    pub saved: Option<(String, Timestamp)>,
}

/// The deadline of PubMed's responses, and the timeout that it was computed from.
#[derive(Clone, Copy)]
pub(super) struct Deadline {
    at: Instant,
    timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        Self {
            at: Instant::now() + timeout,
            timeout,
        }
    }

    /// Waits for a response of PubMed, up to the deadline if there is one.
    pub(super) async fn wait<T>(
        deadline: Option<Self>,
        response: impl Future<Output = Result<T, ServiceError>>,
    ) -> Result<T, LiteratureError> {
        let Some(Self { at, timeout }) = deadline else {
            return Ok(response.await?);
        };
        let late = ServiceError {
            name: "PubMed",
            kind: ServiceErrorKind::Timeout(timeout),
        };
        Ok(timeout_at(at, response).await.unwrap_or(Err(late))?)
    }
}

/// Articles, as far as they could be loaded.
pub(super) struct LoadedArticles {
    /// The loaded articles, in the requested order.
    pub articles: Vec<Article>,
    /// The reason why articles may be missing.
    pub problem: Option<LiteratureError>,
}

impl Literature {
    /// Loads articles within a deadline.
    pub(super) async fn load_articles(
        &self,
        user_id: UserId,
        pmids: &[String],
        deadline: Deadline,
    ) -> Result<LoadedArticles, StorageError> {
        for saved in self.0.storage.saved_articles(user_id, pmids).await? {
            self.0.cache.insert(saved.article);
        }
        Ok(self.find_articles(pmids, Some(deadline)).await)
    }

    /// Returns an article with its abstract, from the saved articles or from PubMed; with its full text, if that is open and the
    /// quote is not in the abstract.
    pub async fn full_article(
        &self,
        user_id: UserId,
        pmid: &str,
        quote: &str,
    ) -> Result<ArticleWithAbstract, LiteratureError> {
        let read = self.load_article(user_id, pmid, None).await?;
        let (abstract_text, problem) = match read.abstract_text {
            Ok(abstract_text) => (abstract_text, None),
            Err(error) => (Vec::new(), Some(error.user_message())),
        };
        let is_elsewhere = !quote.is_empty() && find_passage(&abstract_text, quote).is_empty();
        let full_text = match is_elsewhere {
            true => self.open_full_text(pmid).await,
            false => Vec::new(),
        };
        Ok(ArticleWithAbstract {
            article: read.article,
            abstract_text,
            problem,
            full_text,
        })
    }

    /// Returns the text of an article as far as it can be had in bounded time. `None` if there is no such article.
    pub(super) async fn article_text(
        &self,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Option<StoredText>, StorageError> {
        let deadline = Deadline::after(self.0.settings.context_timeout);
        match self.load_article(user_id, pmid, Some(deadline)).await {
            Ok(loaded) => {
                let mut paragraphs = loaded.abstract_text.unwrap_or_default();
                // If the model has read it.
                paragraphs.extend(self.0.cache.full_text(pmid).unwrap_or_default());
                Ok(Some(StoredText {
                    title: loaded.article.title,
                    paragraphs,
                }))
            }
            Err(LiteratureError::Storage(error)) => Err(error),
            Err(_) => Ok(None),
        }
    }

    /// Loads an article with its abstract, and with the user's note if it is saved.
    pub(super) async fn load_article(
        &self,
        user_id: UserId,
        pmid: &str,
        deadline: Option<Deadline>,
    ) -> Result<LoadedArticle, LiteratureError> {
        check_pmid(pmid)?;
        let (article, saved_note, abstract_text) = match self.0.storage.saved_article(user_id, pmid).await? {
            Some((saved, abstract_text)) => {
                let saved_note = Some((saved.note, saved.saved_at));
                (saved.article, saved_note, abstract_text)
            }
            None => (self.find_article(pmid, deadline).await?, None, None),
        };
        let abstract_text = match abstract_text {
            Some(abstract_text) => Ok(abstract_text),
            None => {
                let abstract_text = self.load_abstract(&article, deadline).await;
                if let (Ok(abstract_text), Some(_)) = (&abstract_text, &saved_note) {
                    self.store_abstract(user_id, pmid, abstract_text.clone()).await;
                }
                abstract_text
            }
        };
        Ok(LoadedArticle {
            article,
            abstract_text,
            saved: saved_note,
        })
    }

    /// Returns the paragraphs of an article's abstract, from the cache or from PubMed.
    pub(super) async fn load_abstract(
        &self,
        article: &Article,
        deadline: Option<Deadline>,
    ) -> Result<Vec<String>, LiteratureError> {
        let pmid = &*article.pmid;
        if let Some(abstract_text) = self.0.cache.abstract_text(pmid) {
            return Ok(abstract_text);
        }
        let mut read = Deadline::wait(deadline, self.pubmed()?.abstracts(&[pmid])).await?;
        let text = read.remove(pmid).unwrap_or_default();
        let abstract_text: Vec<String> = text.lines().map(str::to_owned).collect();
        self.0.cache.insert(article.clone());
        self.0.cache.insert_abstract(pmid, abstract_text.clone());
        Ok(abstract_text)
    }

    pub(super) fn pubmed(&self) -> Result<&PubmedClient, LiteratureError> {
        self.0.pubmed.as_deref().map_err(|reason| (*reason).into())
    }

    /// Returns an article, from the cache or from PubMed.
    pub(super) async fn find_article(
        &self,
        pmid: &str,
        deadline: Option<Deadline>,
    ) -> Result<Article, LiteratureError> {
        let read = self.find_articles(&[pmid.to_owned()], deadline).await;
        read.into_result()?.pop().ok_or_else(|| article_not_found(pmid))
    }

    /// Returns articles in the requested order, from the cache and the rest from PubMed.
    pub(super) async fn find_articles(&self, pmids: &[String], deadline: Option<Deadline>) -> LoadedArticles {
        let unknown: Vec<String> = pmids
            .iter()
            .filter(|pmid| is_pmid(pmid) && self.0.cache.article(pmid).is_none())
            .cloned()
            .collect();
        let (mut read, mut problem) = (Vec::new(), None);
        if !unknown.is_empty() {
            let asked = async {
                let pubmed = self.pubmed()?;
                Deadline::wait(deadline, pubmed.summaries(&unknown)).await
            };
            match asked.await {
                Ok(articles) => read = articles,
                Err(error) => problem = Some(error),
            }
        }
        let mut articles = Vec::with_capacity(pmids.len());
        for pmid in pmids {
            let found = read.iter().find(|article| article.pmid == *pmid);
            // For an unknown PMID, PubMed returns an empty article.
            let found = found.filter(|article| !article.title.is_empty());
            let article = found.map(from_pubmed).or_else(|| self.0.cache.article(pmid));
            if let Some(article) = article {
                self.0.cache.insert(article.clone());
                articles.push(article);
            }
        }
        LoadedArticles { articles, problem }
    }
}

impl LoadedArticles {
    /// Returns the articles; an error if one is missing because PubMed did not respond.
    pub(super) fn into_result(self) -> Result<Vec<Article>, LiteratureError> {
        self.problem.map_or(Ok(self.articles), Err)
    }
}

pub(super) fn check_pmid(pmid: &str) -> Result<(), LiteratureError> {
    is_pmid(pmid).then_some(()).ok_or_else(|| article_not_found(pmid))
}

/// Quotes the beginning of a text that should be a PMID.
pub(super) fn quote_pmid(pmid: &str) -> String {
    single_line(pmid, MAX_QUOTED_PMID_CHARS)
}

/// Returns the error for an unknown PMID. It quotes the beginning, since the PMID may be any text.
fn article_not_found(pmid: &str) -> LiteratureError {
    LiteratureError::ArticleNotFound(quote_pmid(pmid))
}

/// Returns an article as PubMed describes it.
pub fn from_pubmed(article: &pubmed::PubmedArticle) -> Article {
    Article {
        pmid: article.pmid.clone(),
        title: article.title.clone(),
        authors: article.authors.clone(),
        journal: article.journal.clone(),
        published: article.date.clone(),
        doi: article.doi.clone(),
    }
}
