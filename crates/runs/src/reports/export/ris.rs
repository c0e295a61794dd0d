//! The relevant articles of a report in RIS.

use std::fmt::Write;

use super::{author, bibtex::abstract_text, document, pubmed_url, year};
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
    let mut push = |tag: &str, value: &str| {
        let value = document::one_line(value);
        if !value.is_empty() {
            let _ = write!(out, "{tag}  - {value}\r\n");
        }
    };
    push("TY", "JOUR");
    push("TI", &about.title);
    for name in &about.authors {
        match author(name) {
            (last, Some(initials)) => push("AU", &format!("{last}, {initials}")),
            (name, None) => push("AU", name),
        }
    }
    push("JO", &about.journal);
    push("PY", year(&about.published).unwrap_or_default());
    push("DO", about.doi.as_deref().unwrap_or_default());
    push("AN", &about.pmid);
    push("UR", &pubmed_url(&about.pmid));
    push("KW", article.category.as_deref().unwrap_or_default());
    push("AB", &abstract_text(article));
    if article.retracted {
        push("N1", "Retracted");
    }
    out.push_str("ER  - \r\n\r\n");
}
