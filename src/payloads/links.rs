//! The addresses of articles.

use crate::protocol::literature::doi_address;

/// The longest address that is one.
const LONGEST: usize = 2000;

/// An article's page in PubMed.
pub fn pubmed(pmid: &str) -> Option<String> {
    let is_one = !pmid.is_empty() && pmid.len() <= 12 && pmid.bytes().all(|byte| byte.is_ascii_digit());
    is_one.then(|| format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"))
}

/// Where a DOI leads.
pub fn doi(doi: &str) -> Option<String> {
    doi_address(doi).filter(|address| address.len() <= LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_are_linked_by_what_they_are_known_by() {
        assert_eq!(pubmed("123").unwrap(), "https://pubmed.ncbi.nlm.nih.gov/123/");
        assert_eq!(doi("10.1/a b?c#d").unwrap(), "https://doi.org/10.1/a%20b%3Fc%23d");
        for odd in ["", "1/../..", "javascript:1", "１", "12x"] {
            assert_eq!(pubmed(odd), None, "{odd}");
        }
        for odd in ["", "11.1/x", "javascript:x", "10.1/../../x", "//evil.example"] {
            assert_eq!(doi(odd), None, "{odd}");
        }
    }
}
