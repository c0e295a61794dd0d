//! The texts of files and of their previews that people read.

pub(super) use crate::components::texts::{CLOSE, LOADING, TRY_AGAIN};

// Files of a message
pub(super) const FILES: &str = "Files";
pub(super) const OPEN_IN_FULL: &str = "Open in full";
pub(super) const SHOW_TEXT_TITLE: &str = "Show what models get of it";

pub(super) fn show_text_of(name: &str) -> String {
    ["Show what models get of ", name].concat()
}

// The preview of a document
pub(super) const CONTENT: &str = "Content";
pub(super) const CONTENT_HINT: &str = "Models that don’t read the file itself get this of it.";

pub(super) fn omitted_sheets(count: usize) -> String {
    match count {
        1 => "1 more sheet is not shown.".to_owned(),
        _ => [&count.to_string(), " more sheets are not shown."].concat(),
    }
}

/// The line over a table: the count of its rows, and what is left out of it.
pub(super) fn table_summary(rows: &str, shown_rows: Option<usize>, omitted_columns: usize) -> String {
    let shown = match shown_rows {
        Some(1) => "; the first is shown".to_owned(),
        Some(count) => ["; the first ", &count.to_string(), " are shown"].concat(),
        None => String::new(),
    };
    let columns = match omitted_columns {
        0 => String::new(),
        1 => "; 1 more column is not shown".to_owned(),
        more => ["; ", &more.to_string(), " more columns are not shown"].concat(),
    };
    [rows, &shown, &columns, "."].concat()
}

// Charts
pub(super) const CHART: &str = "Chart";
pub(super) const CHART_FAILED: &str = "This chart can’t be drawn";
pub(super) const PLOTLY_FAILED: &str = "Plotly could not be loaded";

pub(super) fn chart_file(name: &str) -> String {
    ["Chart ", name].concat()
}

pub(super) fn chart_title(title: &str) -> String {
    ["Chart: ", title].concat()
}

pub(super) fn chart_failed(reason: &str) -> String {
    [CHART_FAILED, ": ", reason].concat()
}
