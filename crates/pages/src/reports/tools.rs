//! The tools that list reports and read one.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reports, StoredReport, text::report_text};
use crate::literature::LiteratureError;
use parlor_protocol::{JobId, RunStatus, job::Job, report::ReportsFields};
use parlor_tools::{OpenItems, Tool, ToolContext, ToolError, ToolKind, ToolResult};

/// The maximum number of reports in one result.
const MAX_LISTED_REPORTS: usize = 50;

/// The maximum number of articles in one result.
const MAX_LISTED_ARTICLES: usize = 100;

/// Lists the user's reports.
pub struct ListReports(pub(super) Reports);

#[derive(Deserialize, JsonSchema)]
pub struct ListReportsInput {}

impl Tool for ListReports {
    type Input = ListReportsInput;

    const KIND: ToolKind = ToolKind::plain("list_reports");
    const DESCRIPTION: &'static str =
        "Lists the person's reports of their streams, newest first, each with its id.";
    const LABEL: &'static str = "Looking at the reports";
    const DONE: &'static str = "Looked at the reports";
    const IS_IDEMPOTENT: bool = true;

    async fn run(&self, _: ListReportsInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let list = self.0.list(call.user_id).await.map_err(LiteratureError::from)?;
        let mut lines: Vec<String> = list
            .reports
            .iter()
            .take(MAX_LISTED_REPORTS)
            .map(job_line)
            .collect();
        match list.reports.len() {
            0 => lines.push("There are none.".into()),
            many if many > MAX_LISTED_REPORTS => {
                lines.push(format!("{} more are not listed.", many - MAX_LISTED_REPORTS));
            }
            _ => {}
        }
        Ok(lines.join("\n").into())
    }
}

/// Reads a report.
pub struct ReadReport(pub(super) Reports);

#[derive(Deserialize, JsonSchema)]
pub struct ReadReportInput {
    /// The report's id. Leave it out for the open one.
    #[serde(default)]
    report_id: String,
    /// Words that must all be in an article's line (title, category, what was read out of it). Without it, all are listed.
    #[serde(default)]
    filter: String,
}

impl Tool for ReadReport {
    type Input = ReadReportInput;

    const KIND: ToolKind = ToolKind::plain("read_report");
    const DESCRIPTION: &'static str = "Reads a report: its summary with the passages that it rests on, what is new since the one before, and its articles with what \
         was read out of each.";
    const LABEL: &'static str = "Reading a report";
    const DONE: &'static str = "Read a report";
    const IS_IDEMPOTENT: bool = true;

    fn complete(&self, input: &mut ReadReportInput, open: OpenItems<'_>) -> Result<(), String> {
        if input.report_id.trim().is_empty() {
            let fields: Option<ReportsFields> = open.on_page();
            let open = fields.and_then(|fields| fields.report_id);
            input.report_id = open
                .ok_or("No report is open. Name one by its id; list_reports has them.")?
                .to_string();
        }
        Ok(())
    }

    fn detail(&self, input: &ReadReportInput) -> Option<String> {
        Some(input.filter.clone()).filter(|filter| !filter.trim().is_empty())
    }

    async fn run(&self, input: ReadReportInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let missing = || ToolError::new("There is no such report. list_reports has the ids of all.");
        let report_id: JobId = input.report_id.trim().parse().map_err(|_| missing())?;
        let found = self.0.find(call.user_id, report_id).await;
        let found = found.map_err(LiteratureError::from)?;
        let StoredReport { stored, report } = found.ok_or_else(missing)?;
        let Some(report) = report else {
            return Ok(format!("It is not finished: {}", job_line(&stored.job)).into());
        };
        let compared = self.0.compare(call.user_id, report_id, &report).await;
        let compared = compared.map_err(LiteratureError::from)?;
        Ok(report_text(
            &stored.job,
            &report,
            compared.as_ref(),
            &input.filter,
            MAX_LISTED_ARTICLES,
        )
        .into())
    }
}

/// Returns a report in a line.
pub(super) fn job_line(job: &Job) -> String {
    let state = match job.status {
        RunStatus::Complete => "complete",
        RunStatus::Running => "being made",
        RunStatus::Waiting => "waiting for the person",
        RunStatus::Stopped => "stopped",
        RunStatus::Failed => "failed",
        RunStatus::Interrupted => "interrupted",
    };
    let title = job.title.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{}: {title}, {}, {state}", job.id, job.created_at.to_rfc3339())
}
