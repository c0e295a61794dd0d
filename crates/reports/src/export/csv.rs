//! The articles of a report as CSV (RFC 4180), one a row.

use super::document;
use parlor_protocol::report::Report;

pub(super) fn write(report: &Report) -> String {
    let fields = report.fields();
    // Excel reads UTF-8 only after a byte order mark.
    let mut out = String::from("\u{feff}");
    let columns = [
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
    let mut header: Vec<String> = columns.map(str::to_owned).to_vec();
    for field in &fields {
        header.extend([(*field).to_owned(), format!("{field} (passage)")]);
    }
    push_row(&header, &mut out);
    for article in &report.articles {
        let about = &article.article;
        let (relevance, reason) = document::relevance(article);
        let optional = |text: &Option<String>| text.clone().unwrap_or_default();
        let mut row = vec![
            about.pmid.clone(),
            about.title.clone(),
            about.authors.join("; "),
            about.journal.clone(),
            about.published.clone(),
            optional(&about.doi),
            if article.retracted { "yes" } else { "no" }.into(),
            relevance.into(),
            reason.into(),
            optional(&article.category),
            optional(&article.problem),
        ];
        for field in &fields {
            let cell = article.cells.iter().find(|cell| cell.field == *field);
            row.push(cell.map(|cell| cell.value.clone()).unwrap_or_default());
            let passage = cell.and_then(|cell| document::found(&cell.passage));
            row.push(passage.unwrap_or_default().into());
        }
        push_row(&row, &mut out);
    }
    out
}

fn push_row(cells: &[String], out: &mut String) {
    for (column, cell) in cells.iter().enumerate() {
        if column > 0 {
            out.push(',');
        }
        push_cell(cell, out);
    }
    out.push_str("\r\n");
}

fn push_cell(text: &str, out: &mut String) {
    // Spreadsheets run what begins like this as a formula. A signed number is none.
    let is_number = text.parse::<f64>().is_ok();
    let is_formula =
        text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']) && !is_number;
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', ';', '"', '\n', '\r']) {
        out.push('"');
        out.push_str(&text.replace('"', "\"\""));
        out.push('"');
    } else {
        out.push_str(&text);
    }
}
