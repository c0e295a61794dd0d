//! The tools and the pages that Parlor includes.

use std::sync::Arc;

use crate::{
    data::Data,
    files::Files,
    journal::Journal,
    literature::Literature,
    pages::Pages,
    providers::Models,
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
    pub models: Arc<Models>,
    pub pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
    pub data: Data,
}

/// Returns the tools that Parlor includes.
pub fn built_in_tools(parts: &ServerParts) -> ToolRegistry {
    let ServerParts {
        settings,
        storage,
        journal,
        files,
        models,
        pubmed,
        data,
    } = parts;
    let built_in = tools::built_in(
        settings,
        storage.clone(),
        journal.clone(),
        files.clone(),
        models.clone(),
        pubmed.clone().ok(),
    );
    data.tools_for_everywhere()
        .into_iter()
        .fold(built_in, ToolRegistry::with_dyn_tool)
}

/// Returns the pages that Parlor includes: one line each.
pub fn built_in_pages(parts: &ServerParts) -> Pages {
    Pages::new(parts.settings.limits.context_bytes)
        .with_page(Literature::new(
            parts.pubmed.clone(),
            parts.storage.clone(),
            parts.journal.clone(),
            &parts.settings.literature,
        ))
        .with_page(parts.data.clone())
}
