//! The settings of the page *Literature*.

use serde::Deserialize;

/// Limits of the literature shown and saved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LiteratureSettings {
    /// The number of articles in one page of search results.
    pub page: usize,
    /// The number of articles that a user can save.
    pub articles: usize,
    /// The number of research streams that a user can save.
    pub streams: usize,
    /// A note, a stream's name or its instructions, in bytes.
    pub text_bytes: usize,
    /// The time in seconds that a page load waits for PubMed. The page requests the missing data itself
    /// afterwards.
    pub page_seconds: f64,
    /// The time in seconds that an answer waits for PubMed's data about the open page. Missing data is
    /// omitted from the model's input.
    pub context_seconds: f64,
}

impl Default for LiteratureSettings {
    fn default() -> Self {
        Self {
            page: 20,
            articles: 1000,
            streams: 100,
            text_bytes: 4000,
            page_seconds: 3.0,
            context_seconds: 2.0,
        }
    }
}
