//! The tools and the pages that Parlor includes.

use std::sync::Arc;

use crate::{
    files::Files,
    journal::Journal,
    literature::Literature,
    pages::Pages,
    services::pubmed::{PubmedClient, PubmedUnavailable},
    settings::Settings,
    storage::Storage,
    tools::{self, ToolRegistry},
};

/// The parts that tools and pages are made from.
pub struct ServerParts {
    pub settings: Settings,
    pub storage: Arc<dyn Storage>,
    pub journal: Journal,
    pub files: Files,
    pub pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
}

/// Returns the tools that Parlor includes.
pub fn built_in_tools(parts: &ServerParts) -> ToolRegistry {
    let ServerParts {
        settings,
        storage,
        journal,
        files,
        pubmed,
    } = parts;
    tools::built_in(
        settings,
        storage.clone(),
        journal.clone(),
        files.clone(),
        pubmed.clone().ok(),
    )
}

/// Returns the pages that Parlor includes: one line each.
pub fn built_in_pages(parts: &ServerParts) -> Pages {
    Pages::new(parts.settings.limits.context_bytes).with_page(Literature::new(
        parts.pubmed.clone(),
        parts.storage.clone(),
        parts.journal.clone(),
        &parts.settings.literature,
    ))
}
