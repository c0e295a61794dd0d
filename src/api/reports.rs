//! The functions of the page *Reports*.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_pages::reports::Reports;
use parlor_protocol::{
    ApiError, Dollars, JobId, RawJson, ResearchStreamId,
    report::{REPORT, ReportArticle, ReportInput, ReportList, ReportView},
};
use parlor_runs::jobs::JobRequest;
use parlor_storage::{Change, jobs::JobChange};
use parlor_ui::api::reports::ReportFunctions;

#[async_trait]
impl ReportFunctions for Api {
    async fn reports(&self) -> Result<ReportList, ApiError> {
        let caller = app::current_caller()?;
        let reports = caller.app.pages.get::<Reports>()?;
        caller.set_error_status(reports.list(caller.user_id).await)
    }

    async fn report(&self, report_id: JobId) -> Result<ReportView, ApiError> {
        let caller = app::current_caller()?;
        let reports = caller.app.pages.get::<Reports>()?;
        caller.set_error_status(reports.view(caller.user_id, report_id).await)
    }

    async fn report_article(&self, report_id: JobId, pmid: String) -> Result<ReportArticle, ApiError> {
        let caller = app::current_caller()?;
        let reports = caller.app.pages.get::<Reports>()?;
        caller.set_error_status(reports.article(caller.user_id, report_id, &pmid).await)
    }

    async fn start_report(
        &self,
        report_id: JobId,
        stream_id: ResearchStreamId,
        model: Option<String>,
        cost_limit: Option<Dollars>,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let input = serde_json::to_string(&ReportInput { stream_id }).map_err(ApiError::unreadable)?;
        let request = JobRequest {
            id: report_id,
            fingerprint: app::fingerprint(&(&input, &model, cost_limit))?,
            kind: REPORT.into(),
            input: RawJson::parse_or_quote(&input),
            model,
            cost_limit,
            scheduled: None,
        };
        let started = caller.app.jobs.start(caller.user_id, request).await;
        caller.set_error_status(started.map(drop))
    }

    async fn stop_job(&self, job_id: JobId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let stopped = caller.app.jobs.stop(caller.user_id, job_id).await;
        caller.set_error_status(stopped.map(drop))
    }

    async fn continue_job(&self, job_id: JobId, cost_limit: Option<Dollars>) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let continued = caller.app.jobs.go_on(caller.user_id, job_id, cost_limit).await;
        caller.set_error_status(continued.map(drop))
    }

    async fn unseen_reports(&self) -> Result<Vec<JobId>, ApiError> {
        let caller = app::current_caller()?;
        let unseen = caller.app.storage.unseen_jobs(caller.user_id, REPORT).await;
        caller.set_error_status(unseen)
    }

    async fn mark_report_seen(&self, report_id: JobId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let seen = Change::Job {
            user_id: caller.user_id,
            change: JobChange::MarkSeen { job_id: report_id },
        };
        caller.set_error_status(caller.commit(seen).await)
    }

    async fn delete_report(&self, report_id: JobId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(caller.app.jobs.delete(caller.user_id, report_id).await)
    }
}
