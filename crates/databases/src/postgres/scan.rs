//! The tokens of a query, as Postgres' own scanner (`scan.l`) splits it.
//!
//! The scanner works on bytes: each byte from 0x80 on is a letter, and no other character than six of ASCII is whitespace. Where its
//! versions differ (names with `$`, vertical tabs), the query is refused, so that no version reads another statement.

use std::borrow::Cow;

use super::super::{QueryError, QueryErrorKind};

/// A token with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub start: usize,
    pub kind: TokenKind<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TokenKind<'a> {
    /// A keyword or a name without quotes.
    Word(&'a str),
    /// A name in quotes, without them.
    Quoted(Cow<'a, str>),
    /// A text of any form.
    Text,
    /// The digits of a number.
    Digits,
    Symbol(u8),
}

impl Token<'_> {
    pub fn is_symbol(&self, symbol: u8) -> bool {
        self.kind == TokenKind::Symbol(symbol)
    }

    /// Returns true for this keyword, which is in lower case.
    pub fn is_keyword(&self, keyword: &str) -> bool {
        matches!(self.kind, TokenKind::Word(word) if word.eq_ignore_ascii_case(keyword))
    }

    /// Returns a name as Postgres looks it up, or a keyword.
    pub fn name(&self) -> Option<Cow<'_, str>> {
        match &self.kind {
            TokenKind::Word(word) => Some(Cow::Owned(word.to_ascii_lowercase())),
            TokenKind::Quoted(name) => Some(Cow::Borrowed(name)),
            _ => None,
        }
    }
}

/// Splits a query into its tokens, without whitespace and comments.
///
/// # Errors
///
/// If versions of Postgres read the query differently, or if it has a name with coded letters.
pub fn scan(sql: &str) -> Result<Vec<Token<'_>>, QueryError> {
    let bytes = sql.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        let next = bytes.get(at + 1).copied();
        let kind = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => {
                at += 1;
                continue;
            }
            0 => return Err(QueryError::refused("A query has no NUL characters.")),
            b'\x0b' => return Err(QueryError::refused("Write spaces in place of vertical tabs.")),
            b'-' if next == Some(b'-') => {
                at = line_comment_end(bytes, at);
                continue;
            }
            b'/' if next == Some(b'*') => {
                at = comment_end(bytes, at);
                continue;
            }
            b'\'' => {
                at = text_end(bytes, at, false);
                TokenKind::Text
            }
            b'"' => {
                at = quoted_end(bytes, at, b'"', false);
                let inner = sql.get(start + 1..at - 1).unwrap_or_default();
                TokenKind::Quoted(match inner.contains('"') {
                    true => Cow::Owned(inner.replace("\"\"", "\"")),
                    false => Cow::Borrowed(inner),
                })
            }
            b'$' => match dollar_text_end(bytes, at)? {
                Some(end) => {
                    at = end;
                    TokenKind::Text
                }
                None => {
                    at += 1;
                    TokenKind::Symbol(byte)
                }
            },
            b'0'..=b'9' => {
                at = end_of(bytes, at, |byte| byte.is_ascii_digit());
                TokenKind::Digits
            }
            _ if is_letter(byte) => {
                let end = end_of(bytes, at, is_word_byte);
                at = end;
                match (byte.to_ascii_lowercase(), &bytes[end..]) {
                    (b'e', [b'\'', ..]) if end == start + 1 => {
                        at = text_end(bytes, end, true);
                        TokenKind::Text
                    }
                    (b'b' | b'n' | b'x', [b'\'', ..]) if end == start + 1 => {
                        at = text_end(bytes, end, false);
                        TokenKind::Text
                    }
                    (b'u', [b'&', b'"', ..]) if end == start + 1 => {
                        return Err(QueryError::refused("Write names without U&."));
                    }
                    _ => TokenKind::Word(sql.get(start..end).unwrap_or_default()),
                }
            }
            _ => {
                at += 1;
                TokenKind::Symbol(byte)
            }
        };
        tokens.push(Token { start, kind });
    }
    Ok(tokens)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80
}

fn is_word_byte(byte: u8) -> bool {
    is_letter(byte) || byte.is_ascii_digit()
}

/// Returns the end of the bytes of a kind.
fn end_of(bytes: &[u8], start: usize, is_part: impl Fn(u8) -> bool) -> usize {
    let length = bytes[start..].iter().take_while(|byte| is_part(**byte)).count();
    start + length
}

fn line_comment_end(bytes: &[u8], start: usize) -> usize {
    end_of(bytes, start, |byte| !matches!(byte, b'\n' | b'\r'))
}

/// Returns the end of a comment. Comments can be nested.
fn comment_end(bytes: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => {
                depth += 1;
                at += 2;
            }
            [b'*', b'/', ..] => {
                depth = depth.saturating_sub(1);
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    at
}

/// Returns the end of something in quotes. A doubled quote does not end it.
fn quoted_end(bytes: &[u8], start: usize, quote: u8, has_escapes: bool) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        if has_escapes && byte == b'\\' {
            at += 2;
        } else if byte != quote {
            at += 1;
        } else if bytes.get(at + 1) == Some(&quote) {
            at += 2;
        } else {
            return at + 1;
        }
    }
    bytes.len()
}

/// Returns the end of a text with its continuations: another one on a later line belongs to it.
fn text_end(bytes: &[u8], start: usize, has_escapes: bool) -> usize {
    let mut end = quoted_end(bytes, start, b'\'', has_escapes);
    while let Some(next) = continuation(bytes, end) {
        end = quoted_end(bytes, next, b'\'', has_escapes);
    }
    end
}

/// Returns the place of the quote that continues a text: only whitespace with a line end and line comments are before it.
fn continuation(bytes: &[u8], end: usize) -> Option<usize> {
    let mut at = end;
    let mut has_line_end = false;
    loop {
        match &bytes[at..] {
            [b'\n' | b'\r', ..] => {
                has_line_end = true;
                at += 1;
            }
            [b' ' | b'\t' | b'\x0c', ..] => at += 1,
            [b'-', b'-', ..] => at = line_comment_end(bytes, at),
            [b'\'', ..] if has_line_end => return Some(at),
            _ => return None,
        }
    }
}

/// Returns the end of a text in dollar quotes: `$$…$$`, `$tag$…$tag$`; `None` for a sign that begins none.
fn dollar_text_end(bytes: &[u8], start: usize) -> Result<Option<usize>, QueryError> {
    let next = bytes.get(start + 1).copied();
    if next.is_some_and(|byte| byte.is_ascii_digit()) {
        return Err(QueryError::new(
            QueryErrorKind::Invalid,
            "The query has a parameter ($1) without a value. Write the value into the query.",
        ));
    }
    // Part of a name, or not, by the version.
    if start > 0 && is_word_byte(bytes[start - 1]) {
        return Err(QueryError::refused("Write names with $ in double quotes."));
    }
    let tag_end = end_of(bytes, start + 1, is_word_byte);
    if bytes.get(tag_end) != Some(&b'$') {
        return Ok(None);
    }
    let tag = &bytes[start..=tag_end];
    let rest = &bytes[tag_end + 1..];
    let length = rest.windows(tag.len()).position(|part| part == tag);
    Ok(Some(
        length.map_or(bytes.len(), |length| tag_end + 1 + length + tag.len()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the tokens as texts: names in quotes get them back, a text is `'`, digits are `0`.
    fn texts(sql: &str) -> Vec<String> {
        let text = |token: &Token<'_>| match &token.kind {
            TokenKind::Word(word) => (*word).to_owned(),
            TokenKind::Quoted(name) => format!("\"{name}\""),
            TokenKind::Text => "'".into(),
            TokenKind::Digits => "0".into(),
            TokenKind::Symbol(symbol) => char::from(*symbol).into(),
        };
        scan(sql).unwrap().iter().map(text).collect()
    }

    #[test]
    fn tokens_are_those_of_postgres() {
        for (sql, expected) in [
            ("SELECT a1_é", &["SELECT", "a1_é"][..]),
            // Letters, though not in Unicode.
            ("a→b 1\u{a0}x \u{2003}y", &["a→b", "0", "\u{a0}x", "\u{2003}y"]),
            ("a--b\r c /* /* ; */ ' */ d", &["a", "c", "d"]),
            ("+--x\n+/*x*/+", &["+", "+", "+"]),
            ("'it''s' 'a\\' b", &["'", "'", "b"]),
            ("E'it\\'s' e'\\\\' b", &["'", "'", "b"]),
            ("e'a' -- x\n -- y\n '\\'b' c", &["'", "c"]),
            ("e'a' '\\' c", &["'", "'", "c"]),
            ("e'a' /* */\n'\\' c", &["'", "'", "c"]),
            ("ee'\\' c", &["ee", "'", "c"]),
            ("1e'\\'' c", &["0", "'", "c"]),
            ("'a'e'\\'' c", &["'", "'", "c"]),
            ("b'\\' X'\\' n'\\' u&'\\' c", &["'", "'", "'", "u", "&", "'", "c"]),
            ("\"a\"\"b\" \"\\\" c", &["\"a\"b\"", "\"\\\"", "c"]),
            ("$$ ' $a$ $$ b", &["'", "b"]),
            ("$a$ $$ $b$ $a $a$ b", &["'", "b"]),
            ("$→$ $a$ $→$ b", &["'", "b"]),
            ("$a b $ c", &["$", "a", "b", "$", "c"]),
            ("'a'$a$ b $a$ c", &["'", "'", "c"]),
            ("1.5e10 a.b", &["0", ".", "0", "e10", "a", ".", "b"]),
            ("'open", &["'"]),
            ("$a$ open", &["'"]),
            ("/* open", &[]),
            ("\"open", &["\"ope\""]),
        ] {
            assert_eq!(texts(sql), expected, "{sql}");
        }
    }

    #[test]
    fn ambiguous_queries_are_refused() {
        for sql in [
            "SELECT 1 →$a$, pg_sleep(1) --$a$",
            "SELECT a$b",
            "SELECT 1$a$ $a$",
            "SELECT 1_0$a$ $a$",
            "SELECT $1",
            "SELECT U&\"a\"",
            "SELECT 1u&\"a\"",
            "SELECT\u{b}1",
            "SELECT 'a\0'",
        ] {
            // A NUL in a text does not reach Postgres either.
            assert!(scan(sql).is_err() || sql.contains('\0'), "{sql}");
        }
        assert!(scan("SELECT 'a$b', \"a$b\", 'U&\"a\"', u & \"a\"").is_ok());
    }
}
