//! The location on the page *Literature*: its URL, which restores the same view.

use super::{ArticleSort, LiteratureFields};
use crate::{
    PageContext, ResearchStreamId,
    url_text::{decode, encode_path, encode_query},
};

/// The page's path.
pub const LITERATURE_PATH: &str = "/literature";

/// The subtab of an open article.
pub const ARTICLE_SUBTAB: &str = "article";

const SAVED_PATH: &str = "/saved";
const ARTICLES_PATH: &str = "/articles/";

/// A tab of the page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LiteratureTab {
    /// Search in PubMed.
    #[default]
    Search,
    /// The saved articles.
    Saved,
}

impl LiteratureTab {
    /// The name of the tab in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Saved => "saved",
        }
    }
}

/// A location on the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiteratureLocation {
    pub tab: LiteratureTab,
    /// The search query, or the filter of the saved articles.
    pub query: String,
    pub sort: ArticleSort,
    /// The page of the results, from 1.
    pub page: usize,
    /// True if the saved articles are shown as a table, with columns.
    pub is_table: bool,
    /// The open stream.
    pub stream: Option<ResearchStreamId>,
    /// The PMID of the open article.
    pub article: Option<String>,
    /// The passage to mark in the article; empty for none.
    pub quote: String,
}

impl Default for LiteratureLocation {
    fn default() -> Self {
        Self {
            tab: LiteratureTab::default(),
            query: String::new(),
            sort: ArticleSort::default(),
            page: 1,
            is_table: false,
            stream: None,
            article: None,
            quote: String::new(),
        }
    }
}

impl LiteratureLocation {
    /// Parses a URL with its query string. Returns `None` if it is not on this page.
    pub fn parse(url: &str) -> Option<Self> {
        let (path, parameters) = url.split_once('?').unwrap_or((url, ""));
        let rest = path.strip_prefix(LITERATURE_PATH)?.trim_end_matches('/');
        let mut location = Self::default();
        match rest {
            "" => {}
            SAVED_PATH => location.tab = LiteratureTab::Saved,
            rest => {
                let pmid = rest.strip_prefix(ARTICLES_PATH).filter(|pmid| !pmid.is_empty())?;
                location.article = Some(decode(pmid));
            }
        }
        for parameter in parameters.split('&') {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            location.set_query_field(name, decode(value));
        }
        Some(location)
    }

    fn set_query_field(&mut self, name: &str, value: String) {
        match name {
            "q" => self.query = value,
            "sort" if value == "date" => self.sort = ArticleSort::Date,
            "page" => self.page = value.parse().unwrap_or(1).max(1),
            "view" => self.is_table = value == "table",
            "stream" => self.stream = value.parse().ok(),
            "tab" if value == "saved" => self.tab = LiteratureTab::Saved,
            "quote" => self.quote = value,
            "article" if !value.is_empty() => self.article = Some(value),
            _ => {}
        }
    }

    /// The location as a URL.
    pub fn to_url(&self) -> String {
        let mut path = String::from(LITERATURE_PATH);
        let mut separator = "?";
        let mut add = |path: &mut String, name: &str, value: &str| {
            for part in [separator, name, "=", &encode_query(value)] {
                path.push_str(part);
            }
            separator = "&";
        };
        match &self.article {
            Some(pmid) => {
                path.push_str(ARTICLES_PATH);
                path.push_str(&encode_query(pmid));
                if self.tab == LiteratureTab::Saved {
                    add(&mut path, "tab", "saved");
                }
            }
            None if self.tab == LiteratureTab::Saved => path.push_str(SAVED_PATH),
            None => {}
        }
        if !self.query.is_empty() {
            add(&mut path, "q", &self.query);
        }
        if self.sort == ArticleSort::Date {
            add(&mut path, "sort", "date");
        }
        if self.page > 1 {
            add(&mut path, "page", &self.page.to_string());
        }
        if self.is_table {
            add(&mut path, "view", "table");
        }
        if let Some(stream) = self.stream {
            add(&mut path, "stream", &stream.to_string());
        }
        if self.article.is_some() && !self.quote.is_empty() {
            add(&mut path, "quote", &self.quote);
        }
        path
    }

    /// The page context of a request. `results` are the PMIDs of the articles on the screen.
    pub fn to_page_context(&self, results: Vec<String>) -> PageContext {
        let fields = LiteratureFields {
            query: Some(self.query.clone()).filter(|query| !query.is_empty()),
            page: Some(self.page).filter(|page| *page > 1),
            results,
            article_id: self.article.clone(),
            stream_id: self.stream,
        };
        PageContext {
            active_subtab: self.article.is_some().then(|| ARTICLE_SUBTAB.into()),
            ..PageContext::with_fields(Some(self.tab.name()), &fields)
        }
    }
}

/// The URL of a DOI; `None` if it is not a DOI, or has path segments that leave the DOI's path (`..`).
pub fn doi_url(doi: &str) -> Option<String> {
    let is_doi = doi.starts_with("10.") && !doi.split('/').any(|part| matches!(part, "." | ".."));
    let parts: Vec<_> = doi.split('/').map(encode_path).collect();
    is_doi.then(|| ["https://doi.org/", &parts.join("/")].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_location_round_trips() {
        let places = [
            LiteratureLocation::default(),
            LiteratureLocation {
                query: "asthma[mesh] AND 50% & ä+b".into(),
                sort: ArticleSort::Date,
                page: 3,
                stream: Some(ResearchStreamId::new()),
                ..LiteratureLocation::default()
            },
            LiteratureLocation {
                tab: LiteratureTab::Saved,
                query: "water".into(),
                ..LiteratureLocation::default()
            },
            LiteratureLocation {
                tab: LiteratureTab::Saved,
                is_table: true,
                ..LiteratureLocation::default()
            },
            LiteratureLocation {
                tab: LiteratureTab::Saved,
                article: Some("11".into()),
                ..LiteratureLocation::default()
            },
            LiteratureLocation {
                query: "water".into(),
                article: Some("11".into()),
                quote: "Salt & “pepper”".into(),
                ..LiteratureLocation::default()
            },
        ];
        for location in places {
            assert_eq!(
                LiteratureLocation::parse(&location.to_url()),
                Some(location.clone()),
                "{}",
                location.to_url()
            );
        }
        let by_query = LiteratureLocation::parse("/literature/?article=11&page=0&q=%zz%").unwrap();
        assert_eq!(by_query.to_url(), "/literature/articles/11?q=%25zz%25");
        let no_digits = LiteratureLocation::parse("/literature?q=%+f%f").unwrap();
        assert_eq!(no_digits.query, "% f%f");
        for elsewhere in [
            "/",
            "/c/1",
            "/literature/what",
            "/literature/articles/",
            "/literaturex",
        ] {
            assert_eq!(LiteratureLocation::parse(elsewhere), None, "{elsewhere}");
        }
    }
}
