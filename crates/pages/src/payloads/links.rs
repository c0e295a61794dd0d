//! Links to articles.

use parlor_protocol::literature::doi_url;

/// The maximum length of a link, in bytes.
const MAX_URL_BYTES: usize = 2000;

const PUBMED_URL: &str = "https://pubmed.ncbi.nlm.nih.gov/";

/// Returns the link to an article's page in PubMed.
pub fn pubmed_link(pmid: &str) -> Option<String> {
    let is_one = !pmid.is_empty() && pmid.len() <= 12 && pmid.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| format!("{PUBMED_URL}{pmid}/"))
}

/// Returns the PMID of an article's page in PubMed.
pub fn pmid_of_link(url: &str) -> Option<&str> {
    let path = url.strip_prefix(PUBMED_URL)?;
    Some(path.trim_end_matches('/'))
}

/// Returns the link of a DOI.
pub fn doi_link(doi: &str) -> Option<String> {
    doi_url(doi).filter(|url| url.len() <= MAX_URL_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_articles_by_pmid_and_doi() {
        assert_eq!(
            pubmed_link("123").unwrap(),
            "https://pubmed.ncbi.nlm.nih.gov/123/"
        );
        assert_eq!(pmid_of_link(&pubmed_link("123").unwrap()), Some("123"));
        assert_eq!(
            doi_link("10.1/a b?c#d").unwrap(),
            "https://doi.org/10.1/a%20b%3Fc%23d"
        );
        for odd in ["", "1/../..", "javascript:1", "１", "12x"] {
            assert_eq!(pubmed_link(odd), None, "{odd}");
        }
        for odd in ["", "11.1/x", "javascript:x", "10.1/../../x", "//evil.example"] {
            assert_eq!(doi_link(odd), None, "{odd}");
        }
    }
}
