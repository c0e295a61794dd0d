//! The part of a link in parentheses, as far as it is there.

pub(super) enum Address {
    /// It is whole and this long, parentheses included.
    Complete(usize),
    /// It breaks off.
    Open,
    /// It is none.
    None,
}

/// Reads `(href "title")` at the begin of `text`.
pub(super) fn address(text: &str) -> Address {
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
            Some(_) => return Address::None,
            None => return Address::Open,
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
        return Address::Open;
    }
    at = space(at);
    let close = match bytes.get(at) {
        None => return Address::Open,
        Some(b')') => return Address::Complete(at + 1),
        Some(b'"') => b'"',
        Some(b'\'') => b'\'',
        Some(b'(') => b')',
        Some(_) => return Address::None,
    };
    at += 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            byte if byte == close => {
                let end = space(at + 1);
                return match bytes.get(end) {
                    None => Address::Open,
                    Some(b')') => Address::Complete(end + 1),
                    Some(_) => Address::None,
                };
            }
            _ => {}
        }
        at += 1;
    }
    Address::Open
}
