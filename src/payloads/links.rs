//! Which addresses may be links.

use reqwest::Url;

use crate::protocol::literature::doi_address;

/// The longest address that is one.
const LONGEST: usize = 2000;

/// An address of the web, as a browser understands it; nothing if it leads anywhere else.
pub fn web(address: &str) -> Option<Url> {
    let url = Url::parse(address.trim()).ok()?;
    let is_web = matches!(url.scheme(), "http" | "https");
    // A name before the host only makes it look like another one.
    let is_plain = url.username().is_empty() && url.password().is_none();
    (is_web && is_plain && url.as_str().len() <= LONGEST).then_some(url)
}

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
    fn only_addresses_of_the_web_are_links() {
        assert_eq!(web(" https://a.b/c?d#e ").unwrap().as_str(), "https://a.b/c?d#e");
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            "java\nscript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "//a.b/",
            "/c/x",
            "a.b",
            "",
            "https://bank.example@evil.example/",
            "vbscript:x",
        ] {
            assert_eq!(web(address), None, "{address}");
        }
    }

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
