//! The tools and the pages that Parlor includes.

use std::sync::Arc;

use parlor_base::settings::Settings;
use parlor_files::Files;
use parlor_journal::Journal;
use parlor_pages::{
    Pages,
    columns::RowSources,
    data::Data,
    literature::{EditStream, Literature, Streams},
    payloads::PayloadViews,
    reports::Reports,
    schedules::Schedules,
};
use parlor_providers::Models;
use parlor_runs::jobs::JobKind;
use parlor_runs::reports::{ColumnsKind, ReportKind};
use parlor_storage::Storage;
use parlor_tools as tools;
use parlor_tools::ToolRegistry;
use parlor_web::services::pubmed::{PubmedClient, PubmedUnavailable};

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
    let literature = Literature::new(
        parts.pubmed.clone(),
        parts.storage.clone(),
        parts.journal.clone(),
        &parts.settings.literature,
    );
    Pages::new(parts.settings.limits.context_bytes)
        .with_page(literature.clone())
        .with_page(Streams(literature.clone()))
        .with_page(EditStream(literature.clone()))
        .with_page(Reports {
            storage: parts.storage.clone(),
            literature,
        })
        .with_page(parts.data.clone())
        .with_page(Schedules {
            storage: parts.storage.clone(),
            settings: parts.settings.schedules.clone(),
        })
}

/// Returns the kinds of jobs that Parlor includes.
pub fn built_in_job_kinds(parts: &ServerParts) -> Vec<Arc<dyn JobKind>> {
    let literature = Literature::new(
        parts.pubmed.clone(),
        parts.storage.clone(),
        parts.journal.clone(),
        &parts.settings.literature,
    );
    let report = ReportKind::new(literature, parts.pubmed.clone(), parts.settings.jobs.articles);
    let columns = ColumnsKind::new(row_sources(parts), parts.settings.jobs.examples);
    vec![Arc::new(report), Arc::new(columns)]
}

/// Returns the rows that columns can have.
pub fn row_sources(parts: &ServerParts) -> RowSources {
    let jobs = &parts.settings.jobs;
    RowSources {
        storage: parts.storage.clone(),
        views: PayloadViews::built_in(),
        data: parts.data.clone(),
        max_rows: jobs.rows,
        max_bytes: jobs.row_bytes,
    }
}
