//! The articles of a report as CSV, one a row.

use serde_json::Value;

use super::document;
use parlor_pages::payloads::{CSV_START, csv_lines};
use parlor_protocol::report::{Report, ReportArticle};

const COLUMNS: [&str; 11] = [
    "PMID",
    "Title",
    "Authors",
    "Journal",
    "Published",
    "DOI",
    "Retracted",
    "Relevance",
    "Reason",
    "Category",
    "Problem",
];

pub(super) fn write(report: &Report) -> String {
    let fields = report.fields();
    let mut header = COLUMNS.map(Value::from).to_vec();
    for field in &fields {
        header.extend([Value::from(*field), format!("{field} (passage)").into()]);
    }
    let rows = report.articles.iter().map(|article| row(article, &fields));
    let lines: Vec<Vec<Value>> = std::iter::once(header).chain(rows).collect();
    CSV_START.to_owned() + &csv_lines(&lines)
}

fn row(article: &ReportArticle, fields: &[&str]) -> Vec<Value> {
    let about = &article.article;
    let (relevance, reason) = document::relevance(article);
    let mut row: Vec<Value> = vec![
        about.pmid.as_str().into(),
        about.title.as_str().into(),
        about.authors.join("; ").into(),
        about.journal.as_str().into(),
        about.published.as_str().into(),
        about.doi.as_deref().into(),
        if article.retracted { "yes" } else { "no" }.into(),
        relevance.into(),
        reason.into(),
        article.category.as_deref().into(),
        article.problem.as_deref().into(),
    ];
    for field in fields {
        let cell = article.cells.iter().find(|cell| cell.field == *field);
        let passage = cell.and_then(|cell| document::found(&cell.passage));
        row.extend([cell.map(|cell| cell.value.as_str()).into(), passage.into()]);
    }
    row
}
