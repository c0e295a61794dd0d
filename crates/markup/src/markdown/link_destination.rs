//! The destination of an inline link, in parentheses, which may be incomplete.

pub(super) enum LinkDestination {
    /// The destination is complete. The value is its length in bytes, with the parentheses.
    Complete(usize),
    /// The destination is cut off.
    Open,
    /// The text is not a destination.
    None,
}

/// Parses `(href "title")` at the beginning of `text`.
pub(super) fn parse_destination(text: &str) -> LinkDestination {
    let bytes = text.as_bytes();
    let space = |at: usize| {
        at + bytes[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    };
    let mut at = space(1);
    if bytes.get(at) == Some(&b'<') {
        match text[at + 1..].find(['>', '<', '\n']) {
            Some(end) if bytes[at + 1 + end] == b'>' => at += end + 2,
            Some(_) => return LinkDestination::None,
            None => return LinkDestination::Open,
        }
    } else {
        let mut depth = 0;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'(' => depth += 1,
                b')' if depth == 0 => break,
                b')' => depth -= 1,
                byte if byte.is_ascii_whitespace() => break,
                _ => {}
            }
            at += 1;
        }
    }
    if at >= bytes.len() {
        return LinkDestination::Open;
    }
    at = space(at);
    let close = match bytes.get(at) {
        None => return LinkDestination::Open,
        Some(b')') => return LinkDestination::Complete(at + 1),
        Some(b'"') => b'"',
        Some(b'\'') => b'\'',
        Some(b'(') => b')',
        Some(_) => return LinkDestination::None,
    };
    at += 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            byte if byte == close => {
                let end = space(at + 1);
                return match bytes.get(end) {
                    None => LinkDestination::Open,
                    Some(b')') => LinkDestination::Complete(end + 1),
                    Some(_) => LinkDestination::None,
                };
            }
            _ => {}
        }
        at += 1;
    }
    LinkDestination::Open
}
