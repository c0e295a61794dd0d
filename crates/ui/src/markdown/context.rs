//! Data shared by the views of one text.

use std::sync::Arc;

use leptos::prelude::*;

use super::footnote_index::FootnoteIndex;
use parlor_protocol::CitedSource;

/// The context shared by the views of one text.
#[derive(Clone)]
pub struct RenderContext {
    /// The prefix of all ids.
    pub id_prefix: Arc<str>,
    pub footnotes: ArcRwSignal<FootnoteIndex>,
    /// The sources that the text may cite.
    pub citations: Option<CitationLookup>,
    pub open_code: OpenCodeLookup,
}

/// Returns the whole text of the last code block, if only its beginning is shown.
pub type OpenCodeLookup = Arc<dyn Fn() -> Option<String> + Send + Sync>;

/// Returns the source of a number, 1 for the first, if there is one.
pub type CitationLookup = Arc<dyn Fn(usize) -> Option<CitedSource> + Send + Sync>;
