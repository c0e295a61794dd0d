//! A report as a file: for reading (Markdown, HTML), for spreadsheets (CSV), for reference managers (BibTeX, RIS).
//!
//! All text in a report comes from strangers: each format escapes it.

mod bibtex;
mod csv;
mod document;
mod html;
mod markdown;
mod ris;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::Deserialize;

use parlor_pages::payloads::{CSV_MEDIA_TYPE, file_name};
use parlor_protocol::{Timestamp, report::Report};

/// The format of an exported report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExportFormat {
    Markdown,
    /// A document without scripts.
    Html,
    /// All articles, one a row (RFC 4180).
    Csv,
    /// The relevant articles.
    Bibtex,
    /// The relevant articles.
    Ris,
}

/// An exported report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedFile {
    pub name: String,
    pub media_type: &'static str,
    pub content: String,
}

/// Returns a report that was made at a time as a file.
pub fn export(report: &Report, made_at: Timestamp, format: ExportFormat) -> ExportedFile {
    let (ending, media_type, content) = match format {
        ExportFormat::Markdown => (
            "md",
            "text/markdown; charset=utf-8",
            markdown::write(report, made_at),
        ),
        ExportFormat::Html => ("html", "text/html; charset=utf-8", html::write(report, made_at)),
        ExportFormat::Csv => ("csv", CSV_MEDIA_TYPE, csv::write(report)),
        ExportFormat::Bibtex => (
            "bib",
            "application/x-bibtex; charset=utf-8",
            bibtex::write(report),
        ),
        ExportFormat::Ris => (
            "ris",
            "application/x-research-info-systems; charset=utf-8",
            ris::write(report),
        ),
    };
    let name = match file_name(&report.name) {
        name if name.is_empty() => "Report".into(),
        name => name,
    };
    ExportedFile {
        name: format!("{name}.{ending}"),
        media_type,
        content,
    }
}

/// Returns the first four digits in a row of a date of PubMed ("2024 Mar 5").
fn year(published: &str) -> Option<&str> {
    let is_year = |word: &&str| word.len() == 4 && word.bytes().all(|byte| byte.is_ascii_digit());
    published.split([' ', '-', '/']).find(is_year)
}

/// Returns the name of an author of PubMed ("Roe JM") as last name and initials.
fn author(name: &str) -> (&str, Option<String>) {
    match name.rsplit_once(' ') {
        Some((last, initials)) if initials.len() <= 4 && initials.chars().all(char::is_uppercase) => {
            let initials: Vec<String> = initials.chars().map(|initial| format!("{initial}.")).collect();
            (last, Some(initials.join(" ")))
        }
        _ => (name, None),
    }
}

/// The URL of an article in PubMed.
fn pubmed_url(pmid: &str) -> String {
    format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/")
}
