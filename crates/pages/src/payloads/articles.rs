//! `pubmed_search_results`: `{query, total, articles: [article]}`, and `pubmed_article`:
//! `{pmid, title, authors: [], journal, date, doi, abstract?, retracted?, full_text?}`.

use serde::Deserialize;
use serde_json::Value;

use super::{
    formatting::{Line, format_count},
    links,
};
use parlor_base::text::truncate_chars;
use parlor_protocol::{
    literature::is_pmid,
    number_format::group_digits,
    panel::{ArticleListView, ArticleView, LinkedText, PanelBody},
};

/// The maximum number of articles that are shown.
const MAX_ARTICLES: usize = 1000;
/// The maximum number of authors that are named.
const MAX_AUTHORS: usize = 8;
/// The maximum length of an abstract, in characters.
const MAX_SHOWN_ABSTRACT_CHARS: usize = 20_000;
/// The maximum length of a full text, in characters.
const MAX_SHOWN_TEXT_CHARS: usize = 500_000;

#[derive(Deserialize)]
struct ArticleListData {
    #[serde(default)]
    query: Line,
    total: Option<u64>,
    articles: Vec<ArticleData>,
}

#[derive(Deserialize)]
struct ArticleData {
    title: Line,
    #[serde(default)]
    pmid: Line,
    #[serde(default)]
    authors: Vec<Line>,
    #[serde(default)]
    journal: Line,
    #[serde(default)]
    date: Line,
    #[serde(default)]
    doi: Line,
    #[serde(default, rename = "abstract")]
    abstract_text: Option<String>,
    #[serde(default)]
    retracted: bool,
    #[serde(default)]
    full_text: Option<String>,
}

pub fn read_list(data: &Value) -> Option<PanelBody> {
    let ArticleListData {
        query,
        total,
        mut articles,
    } = ArticleListData::deserialize(data).ok()?;
    let total = total.unwrap_or_default().max(articles.len() as u64);
    articles.truncate(MAX_ARTICLES);
    let mut of_all = format_count(total, "article", "articles");
    if total > articles.len() as u64 {
        of_all = format!("{} of {of_all}", group_digits(articles.len() as u64));
    }
    Some(PanelBody::Articles(ArticleListView {
        query: query.0,
        count: of_all,
        articles: articles.into_iter().map(ArticleData::into_article).collect(),
    }))
}

pub fn read_article(data: &Value) -> Option<PanelBody> {
    let data = ArticleData::deserialize(data).ok()?;
    Some(PanelBody::Article(data.into_article()))
}

impl ArticleData {
    fn into_article(self) -> ArticleView {
        let (pmid, doi) = (self.pmid.0, self.doi.0);
        let (pubmed, doi_url) = (links::pubmed_link(&pmid), links::doi_link(&doi));
        let known = Some(pmid.clone()).filter(|pmid| is_pmid(pmid));
        let url = pubmed.clone().or_else(|| doi_url.clone());
        let ids = [("PMID", pmid, pubmed), ("DOI", doi, doi_url)].into_iter();
        let title = if self.title.0.is_empty() {
            "(no title)".into()
        } else {
            self.title.0
        };
        let published = [self.journal.0, self.date.0];
        let published = published.into_iter().filter(|text| !text.is_empty());
        ArticleView {
            title,
            url,
            authors: format_authors(&self.authors),
            published: published.collect::<Vec<_>>().join(" · "),
            ids: ids
                .filter(|(_, id, _)| !id.is_empty())
                .map(|(name, id, url)| LinkedText {
                    text: format!("{name} {id}"),
                    url,
                })
                .collect(),
            abstract_text: paragraphs(self.abstract_text, MAX_SHOWN_ABSTRACT_CHARS),
            pmid: known,
            is_saved: false,
            is_retracted: self.retracted,
            full_text: paragraphs(self.full_text, MAX_SHOWN_TEXT_CHARS),
        }
    }
}

fn paragraphs(text: Option<String>, max_chars: usize) -> Vec<String> {
    let text = truncate_chars(&text.unwrap_or_default(), max_chars);
    let paragraphs = text
        .lines()
        .map(str::trim)
        .filter(|paragraph| !paragraph.is_empty());
    paragraphs.map(Into::into).collect()
}

/// Returns the names of the first authors and the number of the others.
fn format_authors(authors: &[Line]) -> String {
    let named = authors.iter().take(MAX_AUTHORS).map(|Line(name)| name.as_str());
    let mut line = named.collect::<Vec<_>>().join(", ");
    if authors.len() > MAX_AUTHORS {
        line.push_str(&format!(" and {} more", authors.len() - MAX_AUTHORS));
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn list_states_the_total_and_links_articles() {
        let data = json!({
            "query": "CRISPR  babies", "total": 1204, "articles": [{
                "pmid": "31", "title": "A title", "authors": ["Doe J", "Roe R"], "journal": "Nature", "date": "2024 Jan 3",
                "doi": "10.1/x", "abstract": "One.\n\nTwo."
            }, { "title": "", "pmid": 7, "authors": [], "journal": null }]
        });
        let link = |text: &str, url: &str| LinkedText {
            text: text.into(),
            url: Some(url.into()),
        };
        let (first, second) = (
            "https://pubmed.ncbi.nlm.nih.gov/31/",
            "https://pubmed.ncbi.nlm.nih.gov/7/",
        );
        let expected = ArticleListView {
            query: "CRISPR babies".into(),
            count: "2 of 1,204 articles".into(),
            articles: vec![
                ArticleView {
                    title: "A title".into(),
                    url: Some(first.into()),
                    authors: "Doe J, Roe R".into(),
                    published: "Nature · 2024 Jan 3".into(),
                    ids: vec![
                        link("PMID 31", first),
                        link("DOI 10.1/x", "https://doi.org/10.1/x"),
                    ],
                    abstract_text: vec!["One.".into(), "Two.".into()],
                    pmid: Some("31".into()),
                    is_saved: false,
                    is_retracted: false,
                    full_text: Vec::new(),
                },
                ArticleView {
                    title: "(no title)".into(),
                    url: Some(second.into()),
                    authors: String::new(),
                    published: String::new(),
                    ids: vec![link("PMID 7", second)],
                    abstract_text: vec![],
                    pmid: Some("7".into()),
                    is_saved: false,
                    is_retracted: false,
                    full_text: Vec::new(),
                },
            ],
        };
        assert_eq!(read_list(&data), Some(PanelBody::Articles(expected)));
    }

    #[test]
    fn hostile_articles_get_no_links() {
        let data = json!({
            "title": "<script>alert(1)</script>", "pmid": "../../x", "doi": "javascript:alert(1)",
            "authors": vec!["A"; 100], "abstract": "x".repeat(100_000)
        });
        let Some(PanelBody::Article(article)) = read_article(&data) else {
            panic!("no article");
        };
        assert_eq!(article.title, "<script>alert(1)</script>");
        assert_eq!((article.url, article.pmid), (None, None));
        assert!(article.ids.iter().all(|id| id.url.is_none()));
        assert_eq!(article.authors, "A, A, A, A, A, A, A, A and 92 more");
        assert_eq!(
            article.abstract_text[0].chars().count(),
            MAX_SHOWN_ABSTRACT_CHARS + 1
        );
    }
}
