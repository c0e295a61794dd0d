//! The web pages and documents that a provider's own tools have found and its answer cites.

use parlor_base::text::single_line;
use parlor_model::ModelEvent;
use parlor_protocol::CitedSource;

/// The maximum number of sources of an answer, more than any reader would open.
pub const MAX_SOURCES: usize = 200;

/// The maximum length of a document's name, in characters.
const MAX_NAME_CHARS: usize = 200;

/// The cited pages and documents of one answer, without duplicates, numbered in the order of their first citation.
#[derive(Debug, Default)]
pub struct CitedPages(Vec<CitedSource>);

impl CitedPages {
    /// Adds a page. Returns all of them if it is new.
    pub fn add(&mut self, url: &str, title: Option<&str>) -> Option<ModelEvent> {
        let url = web_url(url);
        let is_known = self.0.iter().any(|source| source.url == url);
        if url.is_empty() || is_known {
            return None;
        }
        self.push(url, title.unwrap_or_default().to_owned())
    }

    /// Adds a document or a file, which has no URL. `names` are its possible names, the best one first.
    pub fn add_document<'a>(&mut self, names: impl IntoIterator<Item = &'a str>) -> Option<ModelEvent> {
        let name = document_name(names)?;
        let is_known = |source: &CitedSource| source.url.is_empty() && source.title == name;
        if self.0.iter().any(is_known) {
            return None;
        }
        self.push(String::new(), name)
    }

    fn push(&mut self, url: String, title: String) -> Option<ModelEvent> {
        if self.0.len() == MAX_SOURCES {
            return None;
        }
        let number = self.0.len() + 1;
        self.0.push(CitedSource {
            number,
            title,
            url,
            passage: None,
        });
        Some(ModelEvent::Sources(self.0.clone()))
    }
}

/// Returns the first name that says anything, in one line.
pub fn document_name<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let mut names = names.into_iter().map(|name| single_line(name, MAX_NAME_CHARS));
    names.find(|name| !name.is_empty())
}

/// Returns a URL in the form that can be a link. Some servers leave spaces and line breaks in it.
pub fn web_url(url: &str) -> String {
    let url: String = url.trim().chars().filter(|c| !c.is_control()).collect();
    match url.contains(char::is_whitespace) {
        true => url
            .chars()
            .map(|c| {
                if c.is_whitespace() {
                    "%20".to_owned()
                } else {
                    c.to_string()
                }
            })
            .collect(),
        false => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_white_space_in_urls() {
        for (url, expected) in [
            (" https://a.example/b c.pdf\n", "https://a.example/b%20c.pdf"),
            ("https://a.example/b\u{a0}c", "https://a.example/b%20c"),
            ("https://a.example/b%20c", "https://a.example/b%20c"),
            ("  ", ""),
        ] {
            assert_eq!(web_url(url), expected);
        }
    }

    #[test]
    fn each_document_is_listed_once() {
        let mut cited = CitedPages::default();
        assert!(cited.add("https://a.example/x y", Some("X")).is_some());
        assert!(cited.add("https://a.example/x%20y", None).is_none());
        assert!(cited.add_document(["", " The\nplan.pdf"]).is_some());
        assert!(cited.add_document(["The plan.pdf", "file-1"]).is_none());
        let Some(ModelEvent::Sources(sources)) = cited.add_document(["file-1"]) else {
            panic!("it is new");
        };
        let listed: Vec<(usize, &str, &str)> = sources
            .iter()
            .map(|source| (source.number, &*source.title, &*source.url))
            .collect();
        assert_eq!(
            listed,
            [
                (1, "X", "https://a.example/x%20y"),
                (2, "The plan.pdf", ""),
                (3, "file-1", "")
            ]
        );
    }
}
