//! A cache of recently seen articles. The data are PubMed's and the same for all users.

use std::collections::{HashMap, VecDeque};

use parking_lot::Mutex;

use super::articles::from_pubmed;
use parlor_protocol::literature::Article;
use parlor_web::services::pubmed::{self, PubmedListener};

/// The number of full texts in the cache. Each has at most `literature.full_text_bytes`.
const MAX_CACHED_FULL_TEXTS: usize = 20;

/// The capacity of the cache: about ten megabytes if all articles have long abstracts.
const MAX_CACHED_ARTICLES: usize = 2000;

#[derive(Debug, Default)]
pub(super) struct ArticleCache {
    articles: Mutex<CachedArticles>,
    /// The full texts by PMID, the last read first.
    full_texts: Mutex<VecDeque<(String, Vec<String>)>>,
}

#[derive(Debug, Default)]
struct CachedArticles {
    by_pmid: HashMap<String, (Article, Option<Vec<String>>)>,
    /// The PMIDs from the oldest entry to the newest. The oldest is evicted first.
    order: VecDeque<String>,
}

impl ArticleCache {
    pub fn article(&self, pmid: &str) -> Option<Article> {
        self.articles
            .lock()
            .by_pmid
            .get(pmid)
            .map(|(article, _)| article.clone())
    }

    /// Returns the abstract's paragraphs; `None` if it is not cached. An article without an abstract has no
    /// paragraphs.
    pub fn abstract_text(&self, pmid: &str) -> Option<Vec<String>> {
        self.articles.lock().by_pmid.get(pmid)?.1.clone()
    }

    /// Returns the paragraphs of an article's full text; `None` if it is not cached.
    pub fn full_text(&self, pmid: &str) -> Option<Vec<String>> {
        let known = self.full_texts.lock();
        let text = known.iter().find(|(known, _)| known == pmid);
        text.map(|(_, paragraphs)| paragraphs.clone())
    }

    pub fn insert_full_text(&self, pmid: &str, paragraphs: Vec<String>) {
        let mut known = self.full_texts.lock();
        known.retain(|(known, _)| known != pmid);
        known.truncate(MAX_CACHED_FULL_TEXTS - 1);
        known.push_front((pmid.to_owned(), paragraphs));
    }

    pub fn insert(&self, article: Article) {
        let mut known = self.articles.lock();
        if let Some((old, _)) = known.by_pmid.get_mut(&article.pmid) {
            *old = article;
            return;
        }
        if known.order.len() >= MAX_CACHED_ARTICLES
            && let Some(oldest) = known.order.pop_front()
        {
            known.by_pmid.remove(&oldest);
        }
        known.order.push_back(article.pmid.clone());
        known.by_pmid.insert(article.pmid.clone(), (article, None));
    }

    /// Adds the abstract of a cached article.
    pub fn insert_abstract(&self, pmid: &str, paragraphs: Vec<String>) {
        if let Some((_, abstract_text)) = self.articles.lock().by_pmid.get_mut(pmid) {
            *abstract_text = Some(paragraphs);
        }
    }
}

impl PubmedListener for ArticleCache {
    fn article_read(&self, article: &pubmed::PubmedArticle) {
        // For an unknown PMID, PubMed returns an empty article.
        if !article.title.is_empty() {
            self.insert(from_pubmed(article));
        }
    }

    fn abstract_read(&self, pmid: &str, text: &str) {
        self.insert_abstract(pmid, text.lines().map(str::to_owned).collect());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evicts_the_oldest_articles() {
        let known = ArticleCache::default();
        for number in 0..=MAX_CACHED_ARTICLES {
            known.insert(Article {
                pmid: number.to_string(),
                ..Article::default()
            });
        }
        assert!(known.article("0").is_none());
        assert!(known.article("1").is_some());
        assert_eq!(known.articles.lock().by_pmid.len(), MAX_CACHED_ARTICLES);
        assert_eq!(known.abstract_text("1"), None);
        known.insert_abstract("1", vec!["What it says.".into()]);
        assert_eq!(known.abstract_text("1"), Some(vec!["What it says.".into()]));
    }
}
