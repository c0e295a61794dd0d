//! The texts of the palette.

use parlor_protocol::search::HitKind;

pub(super) const DIALOG: &str = "Search";
pub(super) const SEARCH: &str = "Search chats and actions";
pub(super) const FIND: &str = "Find in this chat";
pub(super) const CLOSE: &str = "Close";
pub(super) const FOUND: &str = "Found";
pub(super) const SEARCHING: &str = "Searching…";
pub(super) const NOTHING_FOUND: &str = "Nothing found. Try fewer words, or the beginning of one.";
pub(super) const HOW_TO_SEARCH: &str =
    "“Quotes” find a phrase. from:me, file:report, after:2026-10 and before:2026-11-05 narrow a search.";
pub(super) const FAILED: &str = "The texts of your chats could not be searched.";
pub(super) const TRY_AGAIN: &str = "Try again";

pub(super) const TO_MOVE: &str = "to move";
pub(super) const TO_OPEN: &str = "to open";
pub(super) const TO_CLOSE: &str = "to close";

pub(super) fn number_found(count: usize) -> String {
    match count {
        1 => "1 found".into(),
        count => [&usize::to_string(&count), " found"].concat(),
    }
}

pub(super) fn still_indexing(percent: u8) -> String {
    let percent = usize::from(percent).to_string();
    ["Older texts are being made searchable: ", &percent, " % so far."].concat()
}

/// What a hit is, before its snippet.
pub(super) fn hit_name(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Title => "",
        HitKind::Question => "You",
        HitKind::Answer => "Answer",
        HitKind::Tool => "Tool result",
        HitKind::File => "File",
        HitKind::Article => "Saved article",
    }
}
