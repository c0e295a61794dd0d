//! Resolves a page's links.

use reqwest::Url;

/// Maximum length of a URL; longer ones are data.
const MAX_URL_BYTES: usize = 2000;

#[derive(Debug)]
pub struct LinkResolver {
    page: Url,
    /// The base of relative links.
    base: Url,
}

impl LinkResolver {
    pub fn new(page: &Url, base: Option<&str>) -> Self {
        // Each link would begin with the whole base.
        let base = base.filter(|base| base.len() <= MAX_URL_BYTES);
        let base = base.and_then(|base| page.join(base).ok());
        Self {
            page: page.clone(),
            base: base.unwrap_or_else(|| page.clone()),
        }
    }

    /// Returns the absolute URL of a link, if it is a web URL and not a fragment of this
    /// page.
    pub fn resolve(&self, href: &str) -> Option<String> {
        if href.len() > MAX_URL_BYTES {
            return None;
        }
        let url = self.base.join(href.trim()).ok()?;
        let is_here = url.fragment().is_some() && without_fragment(&url) == without_fragment(&self.page);
        let is_web = matches!(url.scheme(), "http" | "https");
        // Parentheses would end the link.
        let url = url.as_str().replace('(', "%28").replace(')', "%29");
        (is_web && !is_here && url.len() <= MAX_URL_BYTES).then_some(url)
    }
}

fn without_fragment(url: &Url) -> &str {
    url.as_str().split('#').next().unwrap_or_default()
}
