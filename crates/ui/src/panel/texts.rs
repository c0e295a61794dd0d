//! The texts of the panel, of its cards in answers, and of what it shows.

pub(super) use crate::components::texts::{CLOSE, DOWNLOAD, FULL_TEXT, LOADING, SAVE, SAVING, TRY_AGAIN};

// The panel
pub(super) const CLOSE_PANEL: &str = "Close the panel";
pub(super) const PANEL_WIDTH: &str = "Width of the panel";
pub(super) const LOADING_FAILED: &str = "This could not be loaded";

// A card in the answer
pub(super) const OPEN: &str = "Open";
pub(super) const PREVIEW_FAILED: &str = "The preview could not be loaded.";
pub(super) const FIRST_ROWS: &str = "First rows";

/// The accessible name of the button of a card.
pub(super) fn card_button(word: &str, summary: &str) -> String {
    [word, ": ", summary].concat()
}

pub(super) fn more_rows(count: &str) -> String {
    [count, if count == "1" { " more row" } else { " more rows" }].concat()
}

pub(super) fn more_lines(count: &str) -> String {
    [count, if count == "1" { " more line" } else { " more lines" }].concat()
}

// Titles of payloads
pub(super) const ARTICLE: &str = "Article";
pub(super) const ARTICLES: &str = "Articles";
pub(super) const CHART: &str = "Chart";
pub(super) const DATA: &str = "Data";
pub(super) const DOCUMENT: &str = "Document";
pub(super) const SEARCH_RESULTS: &str = "Search results";
pub(super) const TABLE: &str = "Table";

// Lists
pub(super) fn show_all(count: &str) -> String {
    ["Show all ", count].concat()
}

pub(super) fn not_shown(missing: &str) -> String {
    ["Not shown here: ", missing].concat()
}

// Articles and search results
pub(super) const NO_ARTICLES: &str = "No articles were found.";
pub(super) const NOTHING_FOUND: &str = "Nothing was found.";
pub(super) const ABSTRACT: &str = "Abstract";
pub(super) const RETRACTED: &str = "Retracted";
pub(super) const OPEN_HERE: &str = "Open here";
pub(super) const SAVED: &str = "Saved";

pub(super) fn open_article(title: &str) -> String {
    ["Open here: “", title, "”"].concat()
}

pub(super) fn save_article(title: &str) -> String {
    ["Save “", title, "”"].concat()
}

pub(super) fn saved_article(title: &str) -> String {
    ["Saved “", title, "”"].concat()
}

pub(super) fn not_saved(title: &str, is_certain: bool, reason: &str) -> String {
    let what = if is_certain {
        "” was not saved. "
    } else {
        "” may not be saved. "
    };
    ["“", title, what, reason].concat()
}

// A chart
pub(super) const NUMBERS: &str = "Numbers";
pub(super) const NO_VALUE: &str = "no value";

pub(super) fn chart(name: &str) -> String {
    ["Chart: ", name].concat()
}

pub(super) fn chart_values(name: &str) -> String {
    ["Values of ", name].concat()
}

// A document
pub(super) const VERSION: &str = "Version";
pub(super) const COPY_TEXT: &str = "Copy the text";
pub(super) const SHOW_CHANGES: &str = "Show changes";
pub(super) const CHANGES: &str = "Changes since the previous version";
pub(super) const NO_TEXT: &str = "There is no text.";
pub(super) const NO_CHANGES: &str = "Nothing has changed since the previous version.";

// A table
pub(super) const NO_ROWS: &str = "There are no rows.";
pub(super) const NO_MATCHES: &str = "No row has all of these words.";
pub(super) const FILTER_ROWS: &str = "Filter rows";
pub(super) const ROWS_FAILED: &str = "The rows could not be loaded";
pub(super) const PAGES: &str = "Pages";
pub(super) const FIRST: &str = "First";
pub(super) const PREVIOUS: &str = "Previous";
pub(super) const NEXT: &str = "Next";
pub(super) const LAST: &str = "Last";

pub(super) fn rows_of(shown: &str, count: &str) -> String {
    [shown, " of ", count, " rows"].concat()
}

/// The place of rows among those that a filter has found in all.
pub(super) fn rows_found(shown: &str, found: &str, count: &str) -> String {
    [shown, " of ", found, " found in ", count, " rows"].concat()
}

// A proposal, and the verdict on it
pub(super) const ACCEPT_THIS: &str = "Accept this?";
pub(super) const ACCEPT: &str = "Accept";
pub(super) const REJECT: &str = "Reject";
pub(super) const ACCEPTED: &str = "Accepted";
pub(super) const ACCEPTED_IN_PART: &str = "Accepted in part";
pub(super) const REJECTED: &str = "Rejected";
pub(super) const NO_DRAFT: &str = "To accept it, open what it is about.";
pub(super) const STALE: &str = "Changed here since this was proposed.";
pub(super) const SAME: &str = "It is so already.";
pub(super) const REMOVE_IT: &str = "Remove it";
pub(super) const EMPTY_IT: &str = "Leave it empty";

/// The button that accepts some of the proposed fields.
pub(super) fn accept_some(word: &str, chosen: usize, all: usize) -> String {
    [word, " (", &chosen.to_string(), " of ", &all.to_string(), ")"].concat()
}
