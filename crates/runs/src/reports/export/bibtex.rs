//! The relevant articles of a report as BibTeX.

use std::fmt::Write;

use super::{author, document, pubmed_url, year};
use parlor_protocol::report::{Report, ReportArticle};

pub(super) fn write(report: &Report) -> String {
    let mut out = String::new();
    report
        .relevant()
        .for_each(|article| push_entry(article, &mut out));
    out
}

fn push_entry(article: &ReportArticle, out: &mut String) {
    let about = &article.article;
    let authors = about.authors.iter().map(|name| match author(name) {
        (last, Some(initials)) => format!("{}, {}", escape(last), escape(&initials)),
        // Braces keep the words of a group together.
        (name, None) => format!("{{{}}}", escape(name)),
    });
    let authors = authors.collect::<Vec<_>>().join(" and ");
    let url = pubmed_url(&about.pmid);
    let note = if article.retracted { "Retracted" } else { "" };
    let title = format!("{{{}}}", escape(&about.title));
    let fields = [
        ("title", title),
        ("author", authors),
        ("journal", escape(&about.journal)),
        ("year", year(&about.published).unwrap_or_default().to_owned()),
        ("doi", verbatim(about.doi.as_deref().unwrap_or_default())),
        ("pmid", escape(&about.pmid)),
        ("url", url),
        (
            "keywords",
            escape(article.category.as_deref().unwrap_or_default()),
        ),
        ("abstract", escape(&abstract_text(article))),
        ("note", note.to_owned()),
    ];
    let key: String = about.pmid.chars().filter(char::is_ascii_alphanumeric).collect();
    let _ = write!(out, "@article{{pmid{key}");
    for (name, value) in fields
        .iter()
        .filter(|(_, value)| !value.is_empty() && value != "{}")
    {
        let _ = write!(out, ",\n  {name} = {{{value}}}");
    }
    out.push_str("\n}\n\n");
}

/// Returns the abstract as one line.
pub(super) fn abstract_text(article: &ReportArticle) -> String {
    let paragraphs = article.text.get(1..).unwrap_or_default();
    document::one_line(&paragraphs.join(" "))
}

/// Returns a DOI for a field that is not typeset: what would end the field is left out.
fn verbatim(doi: &str) -> String {
    let is_safe = |char: &char| !char.is_whitespace() && !matches!(char, '{' | '}' | '%' | '\\' | '"');
    doi.chars().filter(is_safe).collect()
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in document::one_line(text).chars() {
        match char {
            '\\' => escaped.push_str("\\textbackslash{}"),
            '~' => escaped.push_str("\\textasciitilde{}"),
            '^' => escaped.push_str("\\textasciicircum{}"),
            '{' | '}' | '%' | '&' | '$' | '#' | '_' => escaped.extend(['\\', char]),
            other => escaped.push(other),
        }
    }
    escaped
}
