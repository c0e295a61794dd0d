//! The tools and the pages that Parlor includes.

use std::sync::Arc;

use crate::{
    journal::Journal,
    literature::Literature,
    pages::Pages,
    services::pubmed::{PubmedClient, PubmedUnavailable},
    settings::Settings,
    storage::Storage,
    tools::{self, ToolRegistry},
};

/// The parts that tools and pages are made from.
pub struct Services {
    pub settings: Settings,
    pub storage: Arc<dyn Storage>,
    pub journal: Journal,
    pub pubmed: Result<Arc<PubmedClient>, PubmedUnavailable>,
}

/// Returns the tools that Parlor includes.
pub fn built_in_tools(services: &Services) -> ToolRegistry {
    let Services {
        settings,
        storage,
        journal,
        pubmed,
    } = services;
    tools::built_in(settings, storage.clone(), journal.clone(), pubmed.clone().ok())
}

/// Returns the pages that Parlor includes: one line each.
pub fn built_in_pages(services: &Services) -> Pages {
    Pages::new(services.settings.limits.context_bytes).with_page(Literature::new(
        services.pubmed.clone(),
        services.storage.clone(),
        services.journal.clone(),
        &services.settings.literature,
    ))
}
