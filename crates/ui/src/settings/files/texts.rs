//! The texts of the tab *Files*.

pub(super) use crate::components::texts::{DELETE, LOADING, NEW_CHAT, SHOW_MORE, TRY_AGAIN};
use crate::runtime::bidi::isolated;
use parlor_protocol::{FileSort, attachment::PLOTLY_CHART, number_format::format_size};

pub(super) const FILES: &str = "Files";
pub(super) const ABOUT: &str =
    "Everything that you have attached, that answers have made, or that your projects have.";
pub(super) const NO_FILES: &str =
    "Nothing yet. Files that you attach to a message, add to a project or get in an answer appear here.";
pub(super) const NO_MATCHES: &str = "No file has these words in its name.";
pub(super) const SEARCH: &str = "Search by name";
pub(super) const ORDER: &str = "Order";
pub(super) const ROOM: &str = "Room that your files take";
pub(super) const CHOSEN: &str = "Chosen files";
pub(super) const CHOOSE_NONE: &str = "Choose none";

pub(super) fn sort_name(sort: FileSort) -> &'static str {
    match sort {
        FileSort::Newest => "Newest first",
        FileSort::Oldest => "Oldest first",
        FileSort::Largest => "Largest first",
        FileSort::Smallest => "Smallest first",
    }
}

/// A size that may be more than a browser's `usize`.
pub(super) fn size(bytes: u64) -> String {
    match usize::try_from(bytes) {
        Ok(bytes) if bytes < 1_000_000_000 => format_size(bytes),
        _ => [&u64::to_string(&bytes.div_ceil(1_000_000_000)), " GB"].concat(),
    }
}

pub(super) fn used(used: &str, limit: &str) -> String {
    [used, " of ", limit, " used"].concat()
}

pub(super) fn choose(name: &str) -> String {
    ["Choose ", name].concat()
}

pub(super) fn chosen(count: usize, size: &str) -> String {
    match count {
        1 => ["1 file, ", size].concat(),
        count => [&usize::to_string(&count), " files, ", size].concat(),
    }
}

// A file
pub(super) const USED_IN: &str = "Used in";
pub(super) const PROJECT: &str = "project";
pub(super) const ARCHIVED: &str = "in the archive";
pub(super) const DELETED: &str = "in a deleted chat";
pub(super) const UNSENT: &str = "not sent yet";

pub(super) fn more_places(count: usize) -> String {
    ["and ", &usize::to_string(&count), " more"].concat()
}

/// The name of a media type.
pub(super) fn kind(media_type: &str) -> &'static str {
    let (family, kind) = media_type.split_once('/').unwrap_or((media_type, ""));
    match (family, kind) {
        _ if media_type == PLOTLY_CHART => "Chart",
        ("image", _) => "Image",
        ("audio", _) => "Sound",
        (_, "pdf") => "PDF",
        (_, "csv" | "tab-separated-values") => "Table",
        (_, "x-ipynb+json") => "Notebook",
        (_, "x-parlor-rows") => "Rows of a table",
        ("text", _) => "Text",
        _ if kind.contains("sheet") || kind.contains("excel") => "Spreadsheet",
        _ if kind.contains("presentation") || kind.contains("powerpoint") => "Slides",
        _ if kind.contains("word") || kind.contains("opendocument.text") || kind == "rtf" => "Document",
        _ => "File",
    }
}

// Deletion
pub(super) fn delete(name: &str) -> String {
    ["Delete ", name].concat()
}

pub(super) fn delete_title(name: &str) -> String {
    ["Delete “", &isolated(name), "”?"].concat()
}

pub(super) fn delete_several(count: usize) -> String {
    ["Delete ", &usize::to_string(&count), " files?"].concat()
}

pub(super) fn delete_about(uses: usize) -> String {
    let used = match uses {
        0 | 1 => "The chat or project that has it will say that it was deleted.",
        _ => "The chats and projects that have them will say that they were deleted.",
    };
    ["This can’t be undone. ", used].concat()
}

pub(super) fn kept(count: usize) -> String {
    let files = match count {
        1 => "1 file was kept".to_owned(),
        count => [&usize::to_string(&count), " files were kept"].concat(),
    };
    [
        &files,
        ": an answer that is being written, or a message that waits, has it. Try again when it has ended.",
    ]
    .concat()
}
