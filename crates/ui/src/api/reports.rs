//! Server functions of the page *Reports*, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, Dollars, JobId, ResearchStreamId,
    report::{ReportArticle, ReportList, ReportView},
};

server_functions! {
    trait ReportFunctions;

    /// Returns the user's reports, and the streams of which one can be made.
    GetUrl "reports" as LoadReports
    fn reports() -> ReportList;

    /// Returns a report without the texts of its articles, compared with the one before it.
    GetUrl "report" as LoadReport
    fn report(report_id: JobId) -> ReportView;

    /// Returns an article of a report with its text.
    GetUrl "report_article" as LoadReportArticle
    fn report_article(report_id: JobId, pmid: String) -> ReportArticle;

    /// Starts a report of a stream. Without a model, the default one makes it.
    Json "start_report"
    fn start_report(report_id: JobId, stream_id: ResearchStreamId, model: Option<String>, cost_limit: Option<Dollars>) -> ();

    /// Stops a job: a report, or the filling of columns. Its finished steps are kept.
    Json "stop_job"
    fn stop_job(job_id: JobId) -> ();

    /// Continues a job that was stopped, failed, was interrupted or waits; with a limit, that is its cost limit from now on.
    Json "continue_job"
    fn continue_job(job_id: JobId, cost_limit: Option<Dollars>) -> ();

    /// Returns the reports that have ended, or wait for a decision, since the user last looked at them.
    GetUrl "unseen_reports" as LoadUnseenReports
    fn unseen_reports() -> Vec<JobId>;

    /// Notes that the user has looked at a report.
    Json "mark_report_seen"
    fn mark_report_seen(report_id: JobId) -> ();

    /// Deletes a report with all its steps.
    Json "delete_report"
    fn delete_report(report_id: JobId) -> ();
}
