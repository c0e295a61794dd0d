//! The lexer: splits a text into tokens. Each step consumes at least one character and looks no further than
//! it consumes, except at the spaces that follow, so the time is that of one pass.

use super::{
    TokenKind,
    language::{CodeSyntax, Syntax},
};

pub struct Lexer<'a> {
    text: &'a str,
    /// The position of the next byte to read.
    position: usize,
    /// Each token's kind and end.
    tokens: Vec<(TokenKind, usize)>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            position: 0,
            tokens: Vec::new(),
        }
    }

    /// Reads the whole text by the rules of `syntax`. Called once, before [`into_tokens`](Self::into_tokens).
    pub fn tokenize(&mut self, syntax: Syntax) {
        match syntax {
            Syntax::Plain => self.push_token(TokenKind::Plain, self.text.len()),
            Syntax::Code(code) => self.tokenize_code(code, self.text.len()),
            Syntax::Markup => self.tokenize_markup(),
            Syntax::Settings => self.tokenize_settings(),
            Syntax::Diff => self.tokenize_diff(),
        }
    }

    pub fn into_tokens(self) -> Vec<(TokenKind, &'a str)> {
        let mut from = 0;
        let text = self.text;
        let token = |(kind, end)| (kind, &text[std::mem::replace(&mut from, end)..end]);
        self.tokens.into_iter().map(token).collect()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.position..]
    }

    /// Consumes this number of bytes as a token.
    fn push_token(&mut self, kind: TokenKind, length: usize) {
        if length == 0 {
            return;
        }
        self.position += length;
        match self.tokens.last_mut() {
            Some((last, end)) if *last == kind => *end = self.position,
            _ => self.tokens.push((kind, self.position)),
        }
    }

    /// Tokenizes code up to `end`.
    fn tokenize_code(&mut self, code: &CodeSyntax, end: usize) {
        while let Some(first) = self.text[self.position..end].chars().next() {
            let rest = &self.text[self.position..end];
            let is_comment = |begin: &&str| rest.starts_with(*begin) && self.can_begin_comment(begin);
            let block_comment = code
                .block_comments
                .iter()
                .find(|(begin, _)| rest.starts_with(begin));
            if let Some((begin, end)) = block_comment {
                self.push_token(TokenKind::Comment, length_through(rest, begin.len(), end));
            } else if code.line_comments.iter().any(is_comment) {
                self.push_token(TokenKind::Comment, line_length(rest));
            } else if code.quotes.contains(first) {
                self.take_quoted(code, rest, first);
            } else if first.is_ascii_digit() {
                self.push_token(TokenKind::Number, number_length(rest, code.has_digit_quotes));
            } else if Some(first) == code.sigil {
                let name = 1 + prefix_length(&rest[1..], |c| {
                    is_word_char(c) || matches!(c, '{' | '}' | '?' | '@')
                });
                self.push_token(TokenKind::Name, name);
            } else if is_word_char(first) || matches!(first, '#' | '@' | '!') {
                self.take_word(code, rest, first);
            } else {
                self.push_token(TokenKind::Plain, first.len_utf8());
            }
        }
    }

    /// Returns true if the marker `begin` starts a comment here. `#` does only at the start or after whitespace: not in
    /// `$#` or `a#b`.
    fn can_begin_comment(&self, begin: &str) -> bool {
        begin != "#"
            || self.text[..self.position]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
    }

    fn take_quoted(&mut self, code: &CodeSyntax, rest: &str, quote: char) {
        let triple = [quote; 3].iter().collect::<String>();
        if code.has_triple_quotes && rest.starts_with(&triple) {
            return self.push_token(TokenKind::Text, length_through(rest, 3, &triple));
        }
        if code.has_lifetimes && quote == '\'' && !is_char_literal(rest) {
            return self.push_token(TokenKind::Plain, 1);
        }
        let length = quoted_length(rest, quote);
        let is_key = code.has_keys && is_followed_by(&rest[length..], &[':']);
        self.push_token(if is_key { TokenKind::Name } else { TokenKind::Text }, length);
    }

    fn take_word(&mut self, code: &CodeSyntax, rest: &str, first: char) {
        let begin = first.len_utf8();
        let is_part =
            |c: char| is_word_char(c) || (c == '-' && code.has_keys) || (c == '\'' && code.has_primes);
        let length = begin + prefix_length(&rest[begin..], is_part);
        let (word, after) = rest.split_at(length);
        // `out.println`, but `0..end` and Rust's `.await`
        let before = &self.text[..self.position];
        let is_member = before.ends_with('.') && !before.ends_with("..") && word != "await";
        let is_word =
            |keyword: &str| keyword == word || (code.ignores_case && keyword.eq_ignore_ascii_case(word));
        let kind = if !is_member && code.keywords.split(' ').any(is_word) {
            TokenKind::Keyword
        } else if after.starts_with('(') || (code.has_keys && after.starts_with(':')) {
            TokenKind::Name
        } else {
            TokenKind::Plain
        };
        self.push_token(kind, length);
    }

    fn tokenize_markup(&mut self) {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return;
            }
            if rest.starts_with("<!--") {
                self.push_token(TokenKind::Comment, length_through(rest, 4, "-->"));
            } else if rest.starts_with('<') {
                self.take_tag();
            } else {
                self.push_token(TokenKind::Plain, prefix_length(rest, |c| c != '<'));
            }
        }
    }

    fn take_tag(&mut self) {
        let rest = self.rest();
        let begin = 1 + prefix_length(&rest[1..], |c| matches!(c, '/' | '!' | '?'));
        self.push_token(TokenKind::Plain, begin);
        let name = prefix_length(self.rest(), |c| is_word_char(c) || matches!(c, '-' | ':' | '.'));
        self.push_token(TokenKind::Keyword, name);
        if name == 0 {
            return;
        }
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            match first {
                // Another tag begins: this was not a tag, or it is not finished.
                '<' => return,
                '>' => return self.push_token(TokenKind::Plain, 1),
                '"' | '\'' => {
                    let within = 1 + prefix_length(&rest[1..], |c| c != first);
                    self.push_token(TokenKind::Text, rest.len().min(within + 1));
                }
                first if is_word_char(first) => {
                    let name = prefix_length(rest, |c| is_word_char(c) || matches!(c, '-' | ':' | '.'));
                    self.push_token(TokenKind::Name, name);
                }
                other => self.push_token(TokenKind::Plain, other.len_utf8()),
            }
        }
    }

    fn tokenize_settings(&mut self) {
        const SETTING_VALUES: CodeSyntax = CodeSyntax {
            line_comments: &["#"],
            block_comments: &[],
            quotes: "\"'",
            has_triple_quotes: true,
            has_lifetimes: false,
            has_primes: false,
            has_digit_quotes: false,
            keywords: "true false null yes no on off",
            ignores_case: true,
            has_keys: true,
            sigil: None,
        };
        while !self.rest().is_empty() {
            let rest = self.rest();
            let length = line_length(rest);
            let (end, text) = (self.position + length, &rest[..length]);
            let indent = prefix_length(text, |c| c == ' ' || c == '\t' || c == '-');
            let begin = &text[indent..];
            if begin.starts_with(';') {
                self.push_token(TokenKind::Comment, text.len());
            } else if begin.starts_with('[') && begin.trim_end().ends_with(']') {
                self.push_token(TokenKind::Keyword, text.len());
            } else {
                self.push_token(TokenKind::Plain, indent);
                let is_in_key = |c: char| is_word_char(c) || matches!(c, '.' | '-' | '/');
                let key = prefix_length(begin, is_in_key);
                if is_followed_by(&begin[key..], &[':', '=']) {
                    self.push_token(TokenKind::Name, key);
                }
                self.tokenize_code(&SETTING_VALUES, end);
            }
            self.push_token(
                TokenKind::Plain,
                self.rest().chars().next().map_or(0, char::len_utf8),
            );
        }
    }

    fn tokenize_diff(&mut self) {
        while let Some(first) = self.rest().chars().next() {
            let length = self.rest().len().min(line_length(self.rest()) + 1);
            let is_head = ["+++", "---", "diff ", "index "]
                .iter()
                .any(|head| self.rest().starts_with(head));
            let kind = match first {
                _ if is_head => TokenKind::Comment,
                '+' | '>' => TokenKind::Added,
                '-' | '<' => TokenKind::Removed,
                '@' => TokenKind::Keyword,
                _ => TokenKind::Plain,
            };
            self.push_token(kind, length);
        }
    }
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Counts the bytes of a search, for the test of linear time. Every search calls it.
fn count_scanned(bytes: usize) -> usize {
    #[cfg(test)]
    super::tests::SCANNED_BYTES.set(super::tests::SCANNED_BYTES.get() + bytes);
    bytes
}

/// The length in bytes of the prefix that consists of these characters.
fn prefix_length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    count_scanned(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// Returns true if one of these characters is next, after spaces.
fn is_followed_by(text: &str, characters: &[char]) -> bool {
    text[prefix_length(text, char::is_whitespace)..].starts_with(characters)
}

/// The length in bytes of the first line, without its end.
fn line_length(text: &str) -> usize {
    prefix_length(text, |c| c != '\n')
}

/// The length in bytes up to and including the first `end` after `after` bytes; the whole length if there is
/// none.
fn length_through(text: &str, after: usize, end: &str) -> usize {
    let found = text[after..].find(end);
    count_scanned(found.map_or(text.len(), |at| after + at + end.len()))
}

/// The length in bytes of a number, with its unit: `0x1F`, `1_000`, `10MB`, `1e-3`, `2..` is `2`.
fn number_length(text: &str, has_digit_quotes: bool) -> usize {
    let mut before = ' ';
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let next = characters.peek().map_or(' ', |(_, c)| *c);
        let is_exponent = |c: char| matches!(c, 'e' | 'E');
        let is_part = match c {
            '.' => next != '.' && before != '.',
            '\'' => has_digit_quotes && next.is_ascii_hexdigit(),
            '-' | '+' => is_exponent(before) && next.is_ascii_digit() && !text.starts_with("0x"),
            c => is_word_char(c),
        };
        if !is_part {
            return count_scanned(at);
        }
        before = c;
    }
    count_scanned(text.len())
}

/// The length in bytes of a string with its quotes. It ends with its line if nothing else ends it, except between
/// backticks.
fn quoted_length(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if quote != '`' && !is_escaped => return count_scanned(at),
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return count_scanned(at + quote.len_utf8()),
            _ => {}
        }
    }
    count_scanned(text.len())
}

/// Returns true if a single quote begins a character literal and not a lifetime.
fn is_char_literal(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    match characters.next() {
        Some('\\') => true,
        Some(_) => characters.next() == Some('\''),
        None => false,
    }
}
