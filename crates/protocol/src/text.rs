//! Shortening of texts, the same on the server and in the browser.

/// Shortens a text to `limit` characters, and appends an ellipsis if it was longer.
pub fn truncate_chars(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => [&text[..end], "…"].concat(),
        None => text.to_owned(),
    }
}

/// Shortens a text to `limit` bytes at a character boundary, and appends an ellipsis if it was longer.
pub fn truncate_bytes(text: &str, limit: usize) -> String {
    let more = if text.len() > limit { "…" } else { "" };
    [&text[..text.floor_char_boundary(limit)], more].concat()
}

/// Shortens a text to `limit` bytes, and appends an ellipsis and the number of the other bytes if it was longer.
pub fn truncate_counted(text: &str, limit: usize) -> String {
    match text.len().saturating_sub(limit) {
        0 => text.to_owned(),
        more => format!("{} ({more} more bytes)", truncate_bytes(text, limit)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_at_a_character_boundary() {
        assert_eq!(truncate_chars("äöü", 3), "äöü");
        assert_eq!(truncate_chars("äöüx", 3), "äöü…");
        assert_eq!(truncate_bytes("äöü", 6), "äöü");
        assert_eq!(truncate_bytes("äöü", 5), "äö…");
        assert_eq!(truncate_counted("äöü", 6), "äöü");
        assert_eq!(truncate_counted("äöü", 4), "äö… (2 more bytes)");
    }
}
