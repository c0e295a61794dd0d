//! The texts around the content of Markdown that people read: names of buttons, and why something is not drawn.

pub(super) use crate::components::texts::{CLOSE, DETAILS, SHOW_LESS, TRY_AGAIN};

// Alerts
pub(super) const NOTE: &str = "Note";
pub(super) const TIP: &str = "Tip";
pub(super) const IMPORTANT: &str = "Important";
pub(super) const WARNING: &str = "Warning";
pub(super) const CAUTION: &str = "Caution";

// Tasks in lists
pub(super) const TASK_DONE: &str = "Done";
pub(super) const TASK_OPEN: &str = "To do";

// Code
pub(super) const WRAP_LINES: &str = "Wrap lines";
pub(super) const DOWNLOAD_CODE: &str = "Download code";
pub(super) const COPY_CODE: &str = "Copy code";
pub(super) const SHOW_SOURCE: &str = "Show source";
pub(super) const SHOW_LARGER: &str = "Show larger";

pub(super) fn show_all_lines(lines: usize) -> String {
    ["Show all ", &lines.to_string(), " lines"].concat()
}

// Tables
pub(super) const TABLE: &str = "Table";
pub(super) const COPY_CSV: &str = "Copy as CSV";
pub(super) const COPY_MARKDOWN: &str = "Copy as Markdown";
pub(super) const SORT: &str = "Sort";
pub(super) const SORTING_FAILED: &str = "Sorting could not be loaded. Check your connection and try again.";

// Footnotes
pub(super) fn footnote(label: &str) -> String {
    ["Footnote ", label].concat()
}

pub(super) fn back_to_footnote(label: &str) -> String {
    ["Back to footnote ", label, " in the text"].concat()
}

// Diagrams
pub(super) const DIAGRAM_LARGER: &str = "Diagram, show larger";
pub(super) const DIAGRAM_FAILED: &str = "This diagram cannot be drawn";
pub(super) const MERMAID_FAILED: &str = "Mermaid could not be loaded";
pub(super) const DIAGRAM_TYPE_UNKNOWN: &str = "its type is unknown, or not supported here";

pub(super) fn diagram_failed(reason: &str) -> String {
    [DIAGRAM_FAILED, ": ", reason].concat()
}

// Images
pub(super) const IMAGE: &str = "Image";
pub(super) const IMAGE_LARGER: &str = "Image, show larger";
pub(super) const DOWNLOAD_IMAGE: &str = "Download image";
pub(super) const PREVIEW: &str = "Preview";

pub(super) fn image_failed(reason: Option<&str>) -> String {
    const FAILED: &str = "This image cannot be drawn";
    match reason {
        Some(reason) => [FAILED, ": ", reason].concat(),
        None => FAILED.to_owned(),
    }
}

pub(super) fn tag_unfinished(line: usize) -> String {
    ["line ", &line.to_string(), ": a tag has no end"].concat()
}

pub(super) fn tag_ends_another(line: usize, name: &str, opened: &str, line_of_opened: usize) -> String {
    let (line, line_of_opened) = (line.to_string(), line_of_opened.to_string());
    let which = [": </", name, "> ends <", opened, ">, which begins in line "].concat();
    ["line ", &line, &which, &line_of_opened].concat()
}

pub(super) fn tag_ends_nothing(line: usize, name: &str) -> String {
    ["line ", &line.to_string(), ": </", name, "> ends nothing"].concat()
}

pub(super) fn tag_open(line: usize, name: &str) -> String {
    ["line ", &line.to_string(), ": <", name, "> has no end"].concat()
}

// Pages
pub(super) const PAGE: &str = "Page";
pub(super) const SCRIPTS_RUN: &str = "Its scripts run, without network.";
pub(super) const SCRIPTS_STOPPED: &str = "Shown without its scripts.";
pub(super) const STOP_SCRIPTS: &str = "Stop scripts";
pub(super) const RUN_SCRIPTS: &str = "Run scripts";

// Sources
pub(super) const NO_SOURCE: &str = "[no source found]";

pub(super) fn passage(text: &str, place: &str) -> String {
    let place = if place.is_empty() {
        String::new()
    } else {
        [" (", place, ")"].concat()
    };
    ["“", text, "”", &place].concat()
}
