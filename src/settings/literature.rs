//! The settings of the page *Literature*.

use serde::Deserialize;

/// How much of the literature is shown and kept.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LiteratureSettings {
    /// Articles in one page of what was found.
    pub page: usize,
    /// Articles that a person keeps.
    pub articles: usize,
    /// Streams of research that a person keeps.
    pub streams: usize,
    /// A note, a stream's name or its instructions, in bytes.
    pub text_bytes: usize,
    /// How long a page that is loaded waits for PubMed, in seconds. What is not there by then the page asks for itself.
    pub page_seconds: f64,
    /// The seconds that an answer waits for PubMed to tell the model of what is open. What is not there by then is left out.
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
