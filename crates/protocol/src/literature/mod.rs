//! A user's literature: saved articles, research streams and search results.
//!
//! [`PAGE`] is the page *Literature*, [`LiteratureLocation`] a location on it, [`LiteratureFields`] its context. [`apply`] is the reducer: the same for the
//! server's snapshots and for every tab.

mod context;
mod location;
mod proposals;
mod stream;
mod stream_pages;

use serde::{Deserialize, Serialize};

pub use self::{
    context::LiteratureFields,
    location::{ARTICLE_SUBTAB, LITERATURE_PATH, LiteratureLocation, LiteratureTab, doi_url},
    proposals::{AiColumnSuggestion, PresentationCategories, QueryProposal, SchemaProposal},
    stream::{
        Categories, Category, ResearchStream, Schema, SchemaField, SchemaFieldType, StreamDraft, StreamForm,
        StreamSuggestions,
    },
    stream_pages::{EDIT_STREAM_PAGE, EditStreamFields, EditStreamLocation, STREAMS_PAGE, StreamsFields},
};
use super::{ApiError, PageInfo, Position, ResearchStreamId, Timestamp};

/// The page *Literature*.
pub static PAGE: PageInfo = PageInfo {
    name: "literature",
    path: LITERATURE_PATH,
    title: "Literature",
    has_tray: true,
};

/// A journal article as lists show it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Article {
    /// The PubMed id.
    pub pmid: String,
    pub title: String,
    pub authors: Vec<String>,
    pub journal: String,
    /// The date of publication, as PubMed writes it: "2024 Mar 5".
    pub published: String,
    pub doi: Option<String>,
}

/// An article with its abstract.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleWithAbstract {
    pub article: Article,
    /// The abstract's paragraphs; empty if there is none.
    #[serde(rename = "summary")]
    pub abstract_text: Vec<String>,
    /// The error for which the abstract is missing, if the article may have one.
    pub problem: Option<String>,
    /// The paragraphs of the full text, if a passage of it is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub full_text: Vec<String>,
}

/// An article that the user has saved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedArticle {
    pub article: Article,
    /// The user's note about it.
    pub note: String,
    pub saved_at: Timestamp,
}

/// All that a user has saved, as it stood at a position of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Library {
    /// The last position that this state includes; [`apply`] skips events up to it.
    pub as_of: Position,
    /// Last saved first.
    pub articles: Vec<SavedArticle>,
    /// Sorted by name.
    pub streams: Vec<ResearchStream>,
    /// The message that explains to the user why PubMed can't be searched; `None` if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_search: Option<String>,
}

/// One page of search results.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArticleSearchResults {
    pub query: String,
    pub sort: ArticleSort,
    /// The page's number, from 1.
    pub page: usize,
    /// The number of pages that can be loaded.
    pub pages: usize,
    pub total: u64,
    pub articles: Vec<Article>,
}

/// The order of search results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArticleSort {
    /// Best matches first.
    #[default]
    Relevance,
    /// Newest first.
    Date,
}

/// Returns true if a text can be a PubMed id.
pub fn is_pmid(text: &str) -> bool {
    (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A change of a library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LibraryChange {
    /// An article was saved, or its note changed.
    ArticleSaved(SavedArticle),
    ArticleRemoved(String),
    /// A stream was created or changed. The stored name is older; the erasure of logged events
    /// (`crates/storage/src/sql/commit/literature.rs`) has it in a path.
    #[serde(rename = "stream_kept")]
    StreamSaved(ResearchStream),
    StreamDeleted(ResearchStreamId),
}

impl SavedArticle {
    /// Returns true if the article contains all of these words.
    pub fn matches(&self, words: &str) -> bool {
        let Article {
            pmid,
            title,
            authors,
            journal,
            published,
            ..
        } = &self.article;
        let all = [title, journal, published, pmid, &self.note];
        let text = [all.map(String::as_str).join(" "), authors.join(" ")].join(" ");
        let text = text.to_lowercase();
        let words = words.to_lowercase();
        words.split_whitespace().all(|word| text.contains(word))
    }
}

impl Library {
    /// Returns the saved article with this PubMed id.
    pub fn saved_article(&self, pmid: &str) -> Option<&SavedArticle> {
        self.articles.iter().find(|saved| saved.article.pmid == pmid)
    }

    pub fn stream(&self, id: ResearchStreamId) -> Option<&ResearchStream> {
        self.streams.iter().find(|stream| stream.id == id)
    }

    /// Sorts the lists, which may come in any order, into the order of display.
    pub fn sort(&mut self) {
        self.articles.sort_by(|a, b| {
            let newest = b.saved_at.cmp(&a.saved_at);
            newest.then_with(|| a.article.pmid.cmp(&b.article.pmid))
        });
        self.streams
            .sort_by(|a, b| a.name.cmp(&b.name).then(a.id.cmp(&b.id)));
    }
}

/// Applies a change that stands at a position of the log.
pub fn apply(library: &mut Library, position: Position, change: LibraryChange) {
    if position <= library.as_of {
        return;
    }
    library.as_of = position;
    match change {
        LibraryChange::ArticleSaved(saved) => {
            let pmid = &saved.article.pmid;
            library.articles.retain(|other| other.article.pmid != *pmid);
            library.articles.push(saved);
        }
        LibraryChange::ArticleRemoved(pmid) => library.articles.retain(|saved| saved.article.pmid != pmid),
        LibraryChange::StreamSaved(stream) => {
            library.streams.retain(|other| other.id != stream.id);
            library.streams.push(stream);
        }
        LibraryChange::StreamDeleted(id) => library.streams.retain(|stream| stream.id != id),
    }
    library.sort();
}

/// The initial data of the page *Literature*.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LiteraturePageData {
    pub library: Result<Library, ApiError>,
    /// The results of the URL's query, unless loading them takes too long.
    pub found: Option<Result<ArticleSearchResults, ApiError>>,
    /// The article that the URL names, unless loading it takes too long.
    pub article: Option<Result<ArticleWithAbstract, ApiError>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test_article(pmid: &str, at: i64) -> SavedArticle {
        SavedArticle {
            article: Article {
                pmid: pmid.into(),
                ..Article::default()
            },
            note: String::new(),
            saved_at: Timestamp(at),
        }
    }

    fn pmids(library: &Library) -> Vec<&str> {
        let articles = library.articles.iter();
        articles.map(|saved| saved.article.pmid.as_str()).collect()
    }

    #[test]
    fn applies_a_change_once_newest_first() {
        let mut library = Library::default();
        for (position, pmid) in [(1, "11"), (2, "12"), (2, "13")] {
            apply(
                &mut library,
                Position(position),
                LibraryChange::ArticleSaved(test_article(pmid, position as i64)),
            );
        }
        assert_eq!(pmids(&library), ["12", "11"]);
        let mut noted = test_article("11", 1);
        noted.note = "Read this.".into();
        apply(
            &mut library,
            Position(3),
            LibraryChange::ArticleSaved(noted.clone()),
        );
        assert_eq!(
            pmids(&library),
            ["12", "11"],
            "an article keeps its place when its note changes"
        );
        assert_eq!(library.saved_article("11"), Some(&noted));
        apply(
            &mut library,
            Position(4),
            LibraryChange::ArticleRemoved("12".into()),
        );
        assert_eq!(pmids(&library), ["11"]);
    }

    #[test]
    fn finds_an_article_by_words_anywhere() {
        let mut article = test_article("11", 1);
        article.article.title = "Asthma in Übersee".into();
        article.article.authors = vec!["Roe J".into()];
        for (words, found) in [
            ("", true),
            ("übersee ROE", true),
            (" 11 ", true),
            ("asthma tea", false),
        ] {
            assert_eq!(article.matches(words), found, "{words}");
        }
    }

    #[test]
    fn a_renamed_stream_appears_once() {
        let mut library = Library::default();
        let mut stream = ResearchStream {
            name: "B".into(),
            query: "water".into(),
            ..ResearchStream::new(ResearchStreamId::new())
        };
        let other = ResearchStream {
            id: ResearchStreamId::new(),
            name: "C".into(),
            ..stream.clone()
        };
        apply(
            &mut library,
            Position(1),
            LibraryChange::StreamSaved(stream.clone()),
        );
        apply(
            &mut library,
            Position(2),
            LibraryChange::StreamSaved(other.clone()),
        );
        stream.name = "D".into();
        apply(
            &mut library,
            Position(3),
            LibraryChange::StreamSaved(stream.clone()),
        );
        assert_eq!(library.streams, [other.clone(), stream]);
        apply(&mut library, Position(4), LibraryChange::StreamDeleted(other.id));
        assert_eq!(library.streams.len(), 1);
    }
}
