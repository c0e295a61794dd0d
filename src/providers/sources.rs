//! The web pages that a provider's own tools have found and its answer cites.

use crate::{model::ModelEvent, protocol::CitedSource};

/// The maximum number of sources of an answer, more than any reader would open.
pub const MAX_SOURCES: usize = 200;

/// The cited pages of one answer, without duplicates, numbered in the order of their first citation.
#[derive(Debug, Default)]
pub struct CitedPages(Vec<CitedSource>);

impl CitedPages {
    /// Adds a page. Returns all of them if it is new.
    pub fn add(&mut self, url: &str, title: Option<&str>) -> Option<ModelEvent> {
        let is_known = self.0.iter().any(|source| source.url == url);
        if url.is_empty() || is_known || self.0.len() == MAX_SOURCES {
            return None;
        }
        self.0.push(CitedSource {
            number: self.0.len() + 1,
            title: title.unwrap_or_default().to_owned(),
            url: url.to_owned(),
        });
        Some(ModelEvent::Sources(self.0.clone()))
    }
}
