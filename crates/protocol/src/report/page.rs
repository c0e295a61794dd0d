//! The page *Reports*: its addresses, its context and its data.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Comparison, Report, ReportArticle};
use crate::{
    ApiError, JobId, PageContext, PageFields, PageInfo, Position, ResearchStreamId, Timestamp,
    job::{Job, JobUpdate},
    literature::ResearchStream,
    url_text::{decode, encode_query},
};

/// The page *Reports*.
pub static REPORTS_PAGE: PageInfo = PageInfo {
    name: "reports",
    path: "/reports",
    title: "Reports",
    has_tray: true,
};

/// The subtab of an open article.
pub const REPORT_ARTICLE_SUBTAB: &str = "article";

/// The last part of the address of a new report.
const NEW: &str = "new";

/// A tab of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportTab {
    #[default]
    Summary,
    Articles,
}

impl ReportTab {
    /// The name of the tab in requests.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Articles => "articles",
        }
    }
}

/// An address of the page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportLocation {
    /// All reports.
    List,
    /// The form of a new report, perhaps with a stream.
    New(Option<ResearchStreamId>),
    Report(OpenReport),
}

/// A place of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenReport {
    pub report_id: JobId,
    pub tab: ReportTab,
    /// The PMID of the open article.
    pub article: Option<String>,
    /// The passage to mark in the article; empty for none.
    pub quote: String,
}

impl OpenReport {
    /// The summary of a report.
    pub fn summary(report_id: JobId) -> Self {
        Self {
            report_id,
            tab: ReportTab::Summary,
            article: None,
            quote: String::new(),
        }
    }

    /// The articles of a report.
    pub fn articles(report_id: JobId) -> Self {
        Self {
            tab: ReportTab::Articles,
            ..Self::summary(report_id)
        }
    }

    /// An article of a report, perhaps with a marked passage.
    pub fn article(report_id: JobId, pmid: &str, quote: &str) -> Self {
        Self {
            article: Some(pmid.into()),
            quote: quote.into(),
            ..Self::articles(report_id)
        }
    }

    /// The page context of a request.
    pub fn to_page_context(&self) -> PageContext {
        let fields = ReportsFields {
            report_id: Some(self.report_id),
            article_id: self.article.clone(),
        };
        PageContext {
            active_subtab: self.article.is_some().then(|| REPORT_ARTICLE_SUBTAB.into()),
            ..PageContext::with_fields(Some(self.tab.name()), &fields)
        }
    }
}

impl ReportLocation {
    /// Parses a URL with its query string. Returns `None` if it is not on this page.
    pub fn parse(url: &str) -> Option<Self> {
        let url = url.split('#').next().unwrap_or_default();
        let (path, parameters) = url.split_once('?').unwrap_or((url, ""));
        let rest = path.strip_prefix(REPORTS_PAGE.path)?;
        let mut parts = rest.trim_end_matches('/').split('/');
        if !parts.next()?.is_empty() {
            return None;
        }
        let parameter = |wanted: &str| {
            let values = parameters
                .split('&')
                .filter_map(|parameter| parameter.split_once('='));
            values
                .filter(|(name, _)| *name == wanted)
                .map(|(_, value)| decode(value))
                .next()
        };
        let parts: Vec<&str> = parts.collect();
        let article = match parts.as_slice() {
            [] => return Some(Self::List),
            [NEW] => return Some(Self::New(parameter("stream").and_then(|id| id.parse().ok()))),
            [id] => return Some(Self::Report(OpenReport::summary(id.parse().ok()?))),
            [_, "articles"] => None,
            [_, "articles", pmid] if !pmid.is_empty() => Some(decode(pmid)),
            _ => return None,
        };
        Some(Self::Report(OpenReport {
            quote: parameter("quote").unwrap_or_default(),
            article,
            ..OpenReport::articles(parts.first()?.parse().ok()?)
        }))
    }

    /// The address as a URL.
    pub fn to_url(&self) -> String {
        let path = REPORTS_PAGE.path;
        match self {
            Self::List => path.into(),
            Self::New(None) => [path, "/", NEW].concat(),
            Self::New(Some(stream)) => [path, "/", NEW, "?stream=", &stream.to_string()].concat(),
            Self::Report(open) => open.to_url(),
        }
    }
}

impl OpenReport {
    /// The address as a URL.
    pub fn to_url(&self) -> String {
        let mut url = [REPORTS_PAGE.path, "/", &self.report_id.to_string()].concat();
        if self.tab == ReportTab::Articles {
            url.push_str("/articles");
        }
        if let Some(pmid) = &self.article {
            url.push('/');
            url.push_str(&encode_query(pmid));
            if !self.quote.is_empty() {
                url.push_str("?quote=");
                url.push_str(&encode_query(&self.quote));
            }
        }
        url
    }
}

/// The context of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReportsFields {
    /// The open report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report_id: Option<JobId>,
    /// The PMID of the open article, one of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub article_id: Option<String>,
}

impl PageFields for ReportsFields {
    const PAGE: &'static str = REPORTS_PAGE.name;
}

/// All reports of a user, as they stood at a position of the log, and the streams of which one can be made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportList {
    /// The last position that this state includes; [`apply`](Self::apply) skips changes up to it.
    pub as_of: Position,
    /// Newest first.
    pub reports: Vec<Job>,
    /// Sorted by name.
    pub streams: Vec<ResearchStream>,
    /// The message that explains to the user why PubMed can't be searched; `None` if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_search: Option<String>,
}

impl ReportList {
    /// Applies a change of the user's jobs that stands at a position of the log.
    pub fn apply(&mut self, position: Position, update: &JobUpdate) {
        if position <= self.as_of {
            return;
        }
        self.as_of = position;
        match update {
            JobUpdate::Changed(job) if job.kind == super::REPORT => {
                self.reports.retain(|known| known.id != job.id);
                self.reports.push(job.clone());
                self.reports.sort_by_key(|job| Reverse((job.created_at, job.id)));
            }
            JobUpdate::Changed(_) => {}
            JobUpdate::Deleted(id) => self.reports.retain(|known| known.id != *id),
        }
    }

    /// Returns a report.
    pub fn report(&self, id: JobId) -> Option<&Job> {
        self.reports.iter().find(|job| job.id == id)
    }
}

/// A report as the page shows it, without the texts of its articles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportView {
    pub job: Job,
    pub stream_id: ResearchStreamId,
    /// The result; missing until the job is complete.
    pub report: Option<Report>,
    /// The differences from the report before; missing if there is none.
    pub comparison: Option<ComparedReport>,
}

/// The differences of a report from an earlier one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ComparedReport {
    /// The earlier report.
    pub report_id: JobId,
    pub created_at: Timestamp,
    pub comparison: Comparison,
}

/// The initial data of the page.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReportsPageData {
    pub list: Result<ReportList, ApiError>,
    /// The report that the URL names.
    pub report: Option<Result<ReportView, ApiError>>,
    /// The article that the URL names, with its text.
    pub article: Option<Result<ReportArticle, ApiError>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunStatus, TokenTotals, job::JobProgress, report::REPORT};

    #[test]
    fn addresses_round_trip() {
        let id = JobId::new();
        for location in [
            ReportLocation::List,
            ReportLocation::New(None),
            ReportLocation::New(Some(ResearchStreamId::new())),
            ReportLocation::Report(OpenReport::summary(id)),
            ReportLocation::Report(OpenReport::articles(id)),
            ReportLocation::Report(OpenReport::article(id, "11", "")),
            ReportLocation::Report(OpenReport::article(id, "11", "Salt & “pepper”/?")),
        ] {
            let url = location.to_url();
            assert_eq!(ReportLocation::parse(&url), Some(location), "{url}");
        }
        let id = id.to_string();
        for elsewhere in [
            "/",
            "/reportsx",
            "/reports/x",
            &format!("/reports/{id}/what"),
            &format!("/reports/{id}/articles/1/2"),
        ] {
            assert_eq!(ReportLocation::parse(elsewhere), None, "{elsewhere}");
        }
        assert_eq!(ReportLocation::parse("/reports/"), Some(ReportLocation::List));
    }

    fn sample_job() -> Job {
        Job {
            id: JobId::new(),
            kind: REPORT.into(),
            title: "Tides".into(),
            status: RunStatus::Running,
            model: "test/any".into(),
            progress: JobProgress::default(),
            totals: TokenTotals::default(),
            cost_limit: None,
            error: None,
            waits_for: None,
            unseen: false,
            created_at: Timestamp(0),
            ended_at: None,
        }
    }

    #[test]
    fn list_follows_changes_of_reports() {
        let job = |kind: &str, at| Job {
            kind: kind.into(),
            created_at: Timestamp(at),
            ..sample_job()
        };
        let mut list = ReportList::default();
        let (older, newer, other) = (
            Job {
                id: JobId::new(),
                ..job(REPORT, 1)
            },
            Job {
                id: JobId::new(),
                ..job(REPORT, 2)
            },
            job("other", 3),
        );
        list.apply(Position(1), &JobUpdate::Changed(newer.clone()));
        list.apply(Position(2), &JobUpdate::Changed(older.clone()));
        list.apply(Position(3), &JobUpdate::Changed(other));
        assert_eq!(list.reports, [newer.clone(), older.clone()]);
        list.apply(Position(3), &JobUpdate::Deleted(older.id));
        assert_eq!(list.reports.len(), 2, "a change that is included already");
        list.apply(Position(4), &JobUpdate::Deleted(older.id));
        assert_eq!(list.reports, [newer]);
    }
}
