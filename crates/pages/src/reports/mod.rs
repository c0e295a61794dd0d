//! Reports of research streams: the page *Reports*, on which a person reads them with the assistant beside.
//!
//! A report is the result of a job, whose plan is in `crates/runs/src/reports`. Here it is only read.
//!
//! - [`page`]: the page, with its parts
//! - [`text`]: a report as text for the model
//! - [`tools`]: the model's tools

mod page;
#[cfg(test)]
mod tests;
mod text;
mod tools;

use std::sync::Arc;

use crate::literature::Literature;
use parlor_protocol::{
    ApiError, ErrorCode, JobId, RunStatus, UserId,
    report::{
        ComparedReport, Comparison, REPORT, Report, ReportArticle, ReportInput, ReportList, ReportView,
    },
};
use parlor_storage::{Storage, StorageError, jobs::StoredJob};

/// The reports of all users. Clones refer to the same data.
#[derive(Clone)]
pub struct Reports {
    pub storage: Arc<dyn Storage>,
    pub literature: Literature,
}

/// A report with its job.
struct StoredReport {
    stored: StoredJob,
    /// The result; `None` until the job is complete.
    report: Option<Report>,
}

impl Reports {
    /// Returns a user's reports, and the streams of which one can be made.
    ///
    /// # Errors
    ///
    /// If the database can't be read.
    pub async fn list(&self, user_id: UserId) -> Result<ReportList, StorageError> {
        let mut jobs = self.storage.jobs(user_id).await?;
        jobs.jobs.retain(|job| job.kind == REPORT);
        Ok(ReportList {
            as_of: jobs.as_of,
            reports: jobs.jobs,
            streams: self.storage.library(user_id).await?.streams,
            no_search: self.literature.search_unavailable_reason(),
        })
    }

    /// Returns a report for the page, compared with the one before it.
    ///
    /// # Errors
    ///
    /// If there is none, or it can't be read.
    pub async fn view(&self, user_id: UserId, report_id: JobId) -> Result<ReportView, ApiError> {
        let StoredReport { stored, report } = self.require(user_id, report_id).await?;
        let input: ReportInput = serde_json::from_str(&stored.input).map_err(ApiError::unreadable)?;
        let comparison = match &report {
            Some(report) => self.compare(user_id, report_id, report).await?,
            None => None,
        };
        Ok(ReportView {
            job: stored.job,
            stream_id: input.stream_id,
            report: report.map(without_texts),
            comparison,
        })
    }

    /// Returns an article of a report, with its text.
    ///
    /// # Errors
    ///
    /// If the report does not have it, or can't be read.
    pub async fn article(
        &self,
        user_id: UserId,
        report_id: JobId,
        pmid: &str,
    ) -> Result<ReportArticle, ApiError> {
        let report = self.require(user_id, report_id).await?.report;
        let article = report.as_ref().and_then(|report| report.article(pmid));
        article
            .cloned()
            .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "The report does not have this article."))
    }

    /// Returns the differences from the report before; `None` if there is none.
    async fn compare(
        &self,
        user_id: UserId,
        report_id: JobId,
        report: &Report,
    ) -> Result<Option<ComparedReport>, StorageError> {
        let Some(before) = self.storage.job_before(user_id, report_id).await? else {
            return Ok(None);
        };
        // One that can't be read is as good as none.
        let earlier = before
            .result
            .as_deref()
            .and_then(|json| serde_json::from_str(json).ok());
        Ok(earlier.map(|earlier: Report| ComparedReport {
            report_id: before.job.id,
            created_at: before.job.created_at,
            comparison: Comparison::between(&earlier, report),
        }))
    }

    async fn require(&self, user_id: UserId, report_id: JobId) -> Result<StoredReport, ApiError> {
        let found = self.find(user_id, report_id).await?;
        found.ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                "There is no such report. It may have been deleted.",
            )
        })
    }

    async fn find(&self, user_id: UserId, report_id: JobId) -> Result<Option<StoredReport>, StorageError> {
        let stored = self.storage.job(user_id, report_id).await?;
        let Some(stored) = stored.filter(|stored| stored.job.kind == REPORT) else {
            return Ok(None);
        };
        let report = match (&stored.result, stored.job.status) {
            (Some(result), RunStatus::Complete) => Some(serde_json::from_str(result)?),
            _ => None,
        };
        Ok(Some(StoredReport { stored, report }))
    }
}

/// Leaves out the texts of the articles: a list does not show them.
fn without_texts(mut report: Report) -> Report {
    for article in &mut report.articles {
        article.text.clear();
    }
    report
}
