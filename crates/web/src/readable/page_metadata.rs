//! The metadata of a page.

use html5gum::StartTag;

use super::{attributes::attribute_text, writer};

/// Maximum length of a title, name or date, in characters.
const MAX_VALUE_CHARS: usize = 300;

/// The title, author, date and base URL that a web page states about itself. Of several values the first one is kept.
#[derive(Clone, Debug, Default)]
pub struct PageMetadata {
    title: Option<String>,
    /// The title for previews of links to the page.
    og_title: Option<String>,
    pub byline: Option<String>,
    pub published: Option<String>,
    /// The base of relative links.
    pub base_url: Option<String>,
}

impl PageMetadata {
    pub fn title(&self) -> Option<String> {
        self.title.as_ref().or(self.og_title.as_ref()).cloned()
    }

    pub fn set_title(&mut self, text: &str) {
        if self.title.is_none() {
            self.title = short_line(text);
        }
    }

    /// Reads the metadata of an element without content.
    pub fn read_element(&mut self, tag: &StartTag<()>) {
        match tag.name.as_slice() {
            b"base" if self.base_url.is_none() => self.base_url = attribute_text(tag, "href").map(Into::into),
            b"meta" => self.read_meta(tag),
            _ => {}
        }
    }

    fn read_meta(&mut self, tag: &StartTag<()>) {
        let name = ["property", "name", "itemprop"]
            .into_iter()
            .find_map(|name| attribute_text(tag, name))
            .unwrap_or_default();
        let field = match name.to_ascii_lowercase().as_str() {
            "og:title" => &mut self.og_title,
            "author" | "article:author" | "dc.creator" | "citation_author" => &mut self.byline,
            "article:published_time" | "datepublished" | "date" | "dc.date" | "citation_publication_date" => {
                &mut self.published
            }
            _ => return,
        };
        if field.is_none() {
            let content = attribute_text(tag, "content").and_then(|content| short_line(&content));
            // A URL is not a name.
            *field = content.filter(|content| !content.starts_with("http"));
        }
    }
}

/// Returns one short line; `None` if it is empty.
pub fn short_line(text: &str) -> Option<String> {
    let words: Vec<_> = text.split_whitespace().take(MAX_VALUE_CHARS).collect();
    let words = words.join(" ");
    let seen = words.chars().filter(|&c| !writer::is_invisible(c));
    let line: String = seen.take(MAX_VALUE_CHARS).collect();
    Some(line).filter(|line| !line.is_empty())
}
