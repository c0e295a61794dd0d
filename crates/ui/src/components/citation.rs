//! An article of a journal: its citation, and its links to other sites.

use leptos::prelude::*;

use super::{link::EXTERNAL_LINK_REL, texts};
use crate::runtime::erase::Erase;
use parlor_protocol::literature::{Article, doi_url};

/// The maximum number of authors listed.
const MAX_LISTED_AUTHORS: usize = 6;

/// The authors and the journal reference.
pub fn citation_line(article: &Article) -> AnyView {
    let mut authors = article.authors[..article.authors.len().min(MAX_LISTED_AUTHORS)].join(", ");
    if article.authors.len() > MAX_LISTED_AUTHORS {
        authors.push_str(texts::AND_OTHERS);
    }
    let published = [&article.journal, " · ", &article.published].concat();
    let published = published.trim_matches([' ', '·']).to_owned();
    let by = (!authors.is_empty()).then(|| view! { <p class="entry-by" dir="auto">{authors}</p> });
    view! {
        {by}
        <p class="entry-meta" dir="auto">{published} {texts::PMID} {article.pmid.clone()}</p>
    }
    .erase()
}

/// Links to the article on other sites.
pub fn external_links(article: &Article) -> AnyView {
    let pubmed = ["https://pubmed.ncbi.nlm.nih.gov/", &article.pmid, "/"].concat();
    let doi = article.doi.as_deref().and_then(doi_url).map(|href| {
        view! { <a class="button" href=href target="_blank" rel=EXTERNAL_LINK_REL>{texts::DOI}</a> }
    });
    view! {
        <a class="button" href=pubmed target="_blank" rel=EXTERNAL_LINK_REL>{texts::PUBMED}</a>
        {doi}
    }
    .erase()
}
