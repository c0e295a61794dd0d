//! The contents of a report in the order in which documents have them.

use parlor_protocol::{
    Passage, Timestamp,
    report::{Claim, Relevance, Report, ReportArticle},
};

/// Returns the heading of a group.
pub(super) fn heading(name: Option<&str>, groups: usize) -> &str {
    match name {
        Some(name) => name,
        None if groups == 1 => "Articles",
        None => "In no category",
    }
}

/// Returns the sentence about what was looked at.
pub(super) fn extent(report: &Report, made_at: Timestamp) -> String {
    let date = made_at.to_rfc3339();
    let date = date.split('T').next().unwrap_or_default();
    format!(
        "{date} · {} found · {} looked at · {} relevant",
        report.found,
        report.articles.len(),
        report.relevant().count()
    )
}

/// Returns the sentence about claims without a passage; `None` if all have one.
pub(super) fn unsupported(report: &Report) -> Option<String> {
    match report.unsupported {
        0 => None,
        1 => Some(
            "1 sentence of the summary has no source: its article does not have the words that it quotes."
                .into(),
        ),
        many => Some(format!(
            "{many} sentences of the summary have no source: their articles do not have the words that they quote."
        )),
    }
}

/// Returns the passage of a claim, if its article has it.
pub(super) fn passage(claim: &Claim) -> Option<&str> {
    found(&claim.passage)
}

/// Returns a passage in the words of its article; `None` if the article does not have it.
pub(super) fn found(passage: &Passage) -> Option<&str> {
    match passage {
        Passage::Found(found) => Some(&found.text),
        Passage::NotFound { .. } => None,
    }
}

/// Returns the citation of an article in one line, without its title.
pub(super) fn citation(article: &ReportArticle) -> String {
    let article = &article.article;
    let authors = match article.authors.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first, ..] => format!("{first} et al."),
    };
    let parts = [authors, article.journal.clone(), article.published.clone()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

/// Returns the articles that could not be judged, or not be read in full.
pub(super) fn unread(report: &Report) -> Vec<(&ReportArticle, &str)> {
    let unread = report.articles.iter();
    unread
        .filter_map(|article| Some((article, article.problem.as_deref()?)))
        .collect()
}

/// Returns the relevance of an article in a word, and its reason.
pub(super) fn relevance(article: &ReportArticle) -> (&'static str, &str) {
    match &article.relevance {
        Relevance::Relevant { reason } => ("relevant", reason),
        Relevance::NotRelevant { reason } => ("not relevant", reason),
        Relevance::Unknown => ("unknown", ""),
    }
}

/// Returns a text in one line.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
