//! Where a page links to.

use std::collections::HashSet;

use reqwest::Url;

use super::Link;

/// More links than this are a list of addresses, not what a text refers to.
const MAX_LINKS: usize = 300;

/// Longer addresses are data.
const MAX_ADDRESS: usize = 2000;

/// The longest text of a link, in characters.
const MAX_TEXT: usize = 200;

#[derive(Debug)]
pub struct Links {
    page: Url,
    /// What relative links are relative to.
    base: Url,
    /// Each address once.
    pub list: Vec<Link>,
    /// The addresses in `list`.
    seen: HashSet<String>,
}

impl Links {
    pub fn new(page: &Url, base: Option<&str>) -> Self {
        let base = base.and_then(|base| page.join(base).ok());
        Self {
            page: page.clone(),
            base: base.unwrap_or_else(|| page.clone()),
            list: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// The whole address that a link leads to, if it is one on the web and not of a place in this page.
    pub fn address(&self, href: &str) -> Option<String> {
        if href.len() > MAX_ADDRESS {
            return None;
        }
        let url = self.base.join(href.trim()).ok()?;
        let is_here = url.fragment().is_some() && without_fragment(&url) == without_fragment(&self.page);
        let is_web = matches!(url.scheme(), "http" | "https");
        // Brackets would end the link.
        let address = url.as_str().replace('(', "%28").replace(')', "%29");
        (is_web && !is_here && address.len() <= MAX_ADDRESS).then_some(address)
    }

    pub fn add(&mut self, text: &str, url: String) {
        if self.list.len() < MAX_LINKS && self.seen.insert(url.clone()) {
            let text = text.chars().take(MAX_TEXT).collect();
            self.list.push(Link { text, url });
        }
    }
}

fn without_fragment(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}
