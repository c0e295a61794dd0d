//! A report as text for the model.

use std::fmt::Write;

use parlor_base::text::plain_line;
use parlor_protocol::{
    Passage,
    job::Job,
    report::{ComparedReport, Relevance, Report, ReportArticle},
};

/// The maximum length of a text of others in a line, in bytes.
const MAX_LINE_BYTES: usize = 600;

/// Returns a report: its summary, the differences from the one before, and at most `max_articles` of its relevant articles, those with
/// all the words of `filter`.
pub(super) fn report_text(
    job: &Job,
    report: &Report,
    compared: Option<&ComparedReport>,
    filter: &str,
    max_articles: usize,
) -> String {
    let line = |text: &str| plain_line(text, MAX_LINE_BYTES);
    let mut text = format!(
        "Report: {}, made {} with {}\nQuery: {}\nFound: {}; looked at: {}; relevant: {}\n",
        line(&report.name),
        job.created_at.to_rfc3339(),
        job.model,
        line(&report.query),
        report.found,
        report.articles.len(),
        report.relevant().count(),
    );
    if let Some(compared) = compared {
        let _ = writeln!(text, "{}", comparison_line(compared));
    }
    text.push_str("\nSummary:\n");
    for claim in &report.summary {
        let _ = writeln!(
            text,
            "- {} (PMID {}{})",
            line(&claim.text),
            line(&claim.pmid),
            passage_text(&claim.passage)
        );
    }
    if let Some(problem) = &report.summary_problem {
        let _ = writeln!(text, "(There is none: {})", line(problem));
    }
    text.push_str("\nRelevant articles:\n");
    let words = filter.to_lowercase();
    let matching: Vec<String> = report
        .relevant()
        .map(article_line)
        .filter(|line| {
            let line = line.to_lowercase();
            words.split_whitespace().all(|word| line.contains(word))
        })
        .collect();
    for line in matching.iter().take(max_articles) {
        let _ = writeln!(text, "{line}");
    }
    match matching.len().saturating_sub(max_articles) {
        0 if matching.is_empty() => text.push_str("(There are none.)\n"),
        0 => {}
        more => {
            let _ = writeln!(text, "({more} more are not listed here.)");
        }
    }
    let unread: Vec<&str> = report
        .articles
        .iter()
        .filter(|article| article.problem.is_some())
        .map(|article| article.article.pmid.as_str())
        .collect();
    if !unread.is_empty() {
        let _ = writeln!(text, "\nCould not be read in full: PMID {}", unread.join(", "));
    }
    text
}

/// Returns the differences from the report before in a line.
fn comparison_line(compared: &ComparedReport) -> String {
    let comparison = &compared.comparison;
    let since = format!("Since the report of {}", compared.created_at.to_rfc3339());
    if comparison.is_empty() {
        return format!("{since}: the same articles in the same categories");
    }
    let mut parts = Vec::new();
    if !comparison.new.is_empty() {
        parts.push(format!("new: PMID {}", comparison.new.join(", ")));
    }
    if !comparison.moved.is_empty() {
        let moved: Vec<&str> = comparison.moved.iter().map(|moved| moved.pmid.as_str()).collect();
        parts.push(format!("in another category: PMID {}", moved.join(", ")));
    }
    if !comparison.gone.is_empty() {
        let gone: Vec<&str> = comparison.gone.iter().map(|gone| gone.pmid.as_str()).collect();
        parts.push(format!("no longer there: PMID {}", gone.join(", ")));
    }
    format!("{since}: {}", parts.join("; "))
}

fn article_line(article: &ReportArticle) -> String {
    let about = &article.article;
    let mut line = format!("PMID {}", about.pmid);
    if let Some(category) = &article.category {
        let _ = write!(line, " [{}]", plain_line(category, MAX_LINE_BYTES));
    }
    if article.retracted {
        line.push_str(" RETRACTED");
    }
    let _ = write!(
        line,
        " {} {}, {}.",
        plain_line(&about.title, MAX_LINE_BYTES),
        plain_line(&about.journal, MAX_LINE_BYTES),
        plain_line(&about.published, MAX_LINE_BYTES)
    );
    for cell in article.cells.iter().filter(|cell| !cell.value.is_empty()) {
        let _ = write!(
            line,
            " {}: {}.",
            plain_line(&cell.field, MAX_LINE_BYTES),
            plain_line(&cell.value, MAX_LINE_BYTES)
        );
    }
    line
}

/// Returns an article of a report with its text.
pub(super) fn article_text(article: &ReportArticle) -> String {
    let mut text = article_line(article);
    let relevance = match &article.relevance {
        Relevance::Relevant { reason } => format!("Relevant: {reason}"),
        Relevance::NotRelevant { reason } => format!("Not relevant: {reason}"),
        Relevance::Unknown => "Its relevance is not known.".into(),
    };
    let _ = write!(text, "\n{}\n", plain_line(&relevance, MAX_LINE_BYTES));
    for cell in &article.cells {
        let _ = writeln!(
            text,
            "{}: {}{}",
            plain_line(&cell.field, MAX_LINE_BYTES),
            plain_line(&cell.value, MAX_LINE_BYTES),
            passage_text(&cell.passage)
        );
    }
    if let Some(problem) = &article.problem {
        let _ = writeln!(text, "({})", plain_line(problem, MAX_LINE_BYTES));
    }
    text.push_str("\nAbstract:\n");
    match article.text.get(1..) {
        Some([]) | None => text.push_str("(PubMed has none.)"),
        Some(paragraphs) => text.push_str(&paragraphs.join("\n")),
    }
    text
}

fn passage_text(passage: &Passage) -> String {
    match passage {
        Passage::Found(found) => format!(": “{}”", plain_line(&found.text, MAX_LINE_BYTES)),
        Passage::NotFound { .. } => "; no source found".into(),
    }
}
