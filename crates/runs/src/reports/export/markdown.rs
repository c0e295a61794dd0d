//! A report as Markdown.

use std::fmt::Write;

use super::{document, pubmed_url};
use parlor_protocol::{
    Timestamp,
    report::{Report, ReportArticle},
};

pub(super) fn write(report: &Report, made_at: Timestamp) -> String {
    let mut out = format!(
        "# {}\n\n{}\n\nQuery: {}\n\n## Summary\n\n",
        escape(&report.name),
        document::extent(report, made_at),
        escape(&report.query),
    );
    for claim in &report.summary {
        let source = match document::passage(claim) {
            Some(passage) => format!(
                "“{}” [PMID {}]({})",
                escape(passage),
                escape(&claim.pmid),
                pubmed_url(&claim.pmid)
            ),
            None => "no source found".into(),
        };
        let _ = writeln!(out, "- {} ({source})", escape(&claim.text));
    }
    for line in [report.summary_problem.clone(), document::unsupported(report)]
        .into_iter()
        .flatten()
    {
        let _ = writeln!(out, "\n{}", escape(&line));
    }
    let groups = report.groups();
    for (name, articles) in &groups {
        let _ = writeln!(out, "\n## {}\n", escape(document::heading(*name, groups.len())));
        articles
            .iter()
            .for_each(|article| push_article(article, &mut out));
    }
    let unread = document::unread(report);
    if !unread.is_empty() {
        out.push_str("\n## Not read\n\n");
        for (article, problem) in unread {
            let _ = writeln!(out, "- {}: {}", link(article), escape(problem));
        }
    }
    out
}

fn push_article(article: &ReportArticle, out: &mut String) {
    let retracted = if article.retracted { "**Retracted.** " } else { "" };
    let citation = document::citation(article);
    let _ = writeln!(out, "- {retracted}{}  \n  {}", link(article), escape(&citation));
    for cell in article.cells.iter().filter(|cell| !cell.value.is_empty()) {
        let passage = match document::found(&cell.passage) {
            Some(passage) => format!("“{}”", escape(passage)),
            None => "no source found".into(),
        };
        let _ = writeln!(
            out,
            "  - {}: {} ({passage})",
            escape(&cell.field),
            escape(&cell.value)
        );
    }
}

fn link(article: &ReportArticle) -> String {
    let article = &article.article;
    format!("[{}]({})", escape(&article.title), pubmed_url(&article.pmid))
}

/// Returns a text as Markdown that shows it as it is, in one line. It may begin a list item, and must begin no other one.
fn escape(text: &str) -> String {
    let text = document::one_line(text);
    let after_digits = text.trim_start_matches(|char: char| char.is_ascii_digit());
    let digits = text.len() - after_digits.len();
    let list_mark = match (digits, after_digits.chars().next()) {
        (0, Some('-' | '+')) => Some(0),
        (1.., Some('.' | ')')) => Some(digits),
        _ => None,
    };
    let mut escaped = String::with_capacity(text.len());
    for (at, char) in text.char_indices() {
        if list_mark == Some(at) || "\\`*_{}[]<>#|~$&!".contains(char) {
            escaped.push('\\');
        }
        escaped.push(char);
    }
    escaped
}
