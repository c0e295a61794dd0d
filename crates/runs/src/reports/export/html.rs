//! A report as an HTML document without scripts, for reading, printing and sending.

use std::fmt::Write;

use super::{document, pubmed_url};
use parlor_protocol::{
    Timestamp,
    report::{Report, ReportArticle},
};

const STYLE: &str = "body{font:16px/1.6 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}\
     blockquote{margin:.25rem 0;padding-left:.75rem;border-left:2px solid;opacity:.8}\
     dt{font-weight:600}dd{margin:0 0 .5rem}.retracted{font-weight:700}.meta{opacity:.75}li{margin-block:.5rem}";

pub(super) fn write(report: &Report, made_at: Timestamp) -> String {
    let name = escape(&report.name);
    let mut out = format!(
        "<!doctype html>\n<html><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
         <title>{name}</title><style>{STYLE}</style></head>\n<body>\n<h1 dir=\"auto\">{name}</h1>\n<p class=\"meta\">{}</p>\n\
         <p class=\"meta\" dir=\"auto\">Query: {}</p>\n<h2>Summary</h2>\n<ul>\n",
        escape(&document::extent(report, made_at)),
        escape(&report.query),
    );
    for claim in &report.summary {
        let source = match document::passage(claim) {
            Some(passage) => format!(
                "<blockquote dir=\"auto\">{} <a href=\"{}\">PMID {}</a></blockquote>",
                escape(passage),
                escape(&pubmed_url(&claim.pmid)),
                escape(&claim.pmid)
            ),
            None => "<blockquote>no source found</blockquote>".into(),
        };
        let _ = writeln!(out, "<li dir=\"auto\">{}{source}</li>", escape(&claim.text));
    }
    out.push_str("</ul>\n");
    for line in [report.summary_problem.clone(), document::unsupported(report)]
        .into_iter()
        .flatten()
    {
        let _ = writeln!(out, "<p>{}</p>", escape(&line));
    }
    let groups = report.groups();
    for (name, articles) in &groups {
        let heading = document::heading(*name, groups.len());
        let _ = writeln!(out, "<h2 dir=\"auto\">{}</h2>\n<ul>", escape(heading));
        articles
            .iter()
            .for_each(|article| push_article(article, &mut out));
        out.push_str("</ul>\n");
    }
    let unread = document::unread(report);
    if !unread.is_empty() {
        out.push_str("<h2>Not read</h2>\n<ul>\n");
        for (article, problem) in unread {
            let _ = writeln!(
                out,
                "<li dir=\"auto\">{}: {}</li>",
                link(article),
                escape(problem)
            );
        }
        out.push_str("</ul>\n");
    }
    out.push_str("</body></html>\n");
    out
}

fn push_article(article: &ReportArticle, out: &mut String) {
    let retracted = match article.retracted {
        true => "<span class=\"retracted\">Retracted.</span> ",
        false => "",
    };
    let citation = document::citation(article);
    let _ = writeln!(
        out,
        "<li dir=\"auto\">{retracted}{}<div class=\"meta\">{}</div>",
        link(article),
        escape(&citation)
    );
    let cells: Vec<_> = article
        .cells
        .iter()
        .filter(|cell| !cell.value.is_empty())
        .collect();
    if !cells.is_empty() {
        out.push_str("<dl>");
        for cell in cells {
            let passage = document::found(&cell.passage).unwrap_or("no source found");
            let _ = write!(
                out,
                "<dt>{}</dt><dd>{}<blockquote>{}</blockquote></dd>",
                escape(&cell.field),
                escape(&cell.value),
                escape(passage)
            );
        }
        out.push_str("</dl>");
    }
    out.push_str("</li>\n");
}

fn link(article: &ReportArticle) -> String {
    let article = &article.article;
    format!(
        "<a href=\"{}\">{}</a>",
        escape(&pubmed_url(&article.pmid)),
        escape(&article.title)
    )
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
