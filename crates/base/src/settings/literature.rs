//! The settings of the page *Literature*.

use std::time::Duration;

use serde::Deserialize;

/// Limits of the literature shown and saved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LiteratureSettings {
    /// True if everybody's sidebar has the pages Literature and Streams. Otherwise those who have saved an article or a
    /// stream have them there; the search (Ctrl+K) and the URLs lead to them, too.
    pub listed: bool,
    /// The number of articles in one page of search results.
    pub page: usize,
    /// The number of articles that a user can save.
    pub articles: usize,
    /// The number of research streams that a user can save.
    pub streams: usize,
    /// A note, a stream's name or its instructions, in bytes.
    pub text_bytes: usize,
    /// The full text of an article that is read, in bytes. The rest is left out.
    pub full_text_bytes: usize,
    /// The longest time for which loading a page waits for PubMed. The page requests the missing data itself
    /// afterwards.
    #[serde(deserialize_with = "super::duration::positive")]
    pub page_timeout: Duration,
    /// The longest time for which an answer waits for PubMed's data about the open page. Missing data is omitted
    /// from the model's input.
    #[serde(deserialize_with = "super::duration::positive")]
    pub context_timeout: Duration,
}

impl Default for LiteratureSettings {
    fn default() -> Self {
        Self {
            listed: false,
            page: 20,
            articles: 1000,
            streams: 100,
            text_bytes: 4000,
            full_text_bytes: 200 << 10,
            page_timeout: Duration::from_secs(3),
            context_timeout: Duration::from_secs(2),
        }
    }
}
