//! Cuts a text into pieces. Each step takes at least one character and looks no further than what it takes, but for the spaces
//! behind it: the time is that of one pass.

use super::{
    Kind,
    syntax::{Code, Syntax},
};

pub struct Lexer<'a> {
    text: &'a str,
    /// How far it has got.
    at: usize,
    /// Each piece's kind, and where it ends.
    pieces: Vec<(Kind, usize)>,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            at: 0,
            pieces: Vec::new(),
        }
    }

    pub fn run(&mut self, syntax: Syntax) {
        match syntax {
            Syntax::Plain => self.take(Kind::Plain, self.text.len()),
            Syntax::Code(code) => self.code(code, self.text.len()),
            Syntax::Markup => self.markup(),
            Syntax::Settings => self.settings(),
            Syntax::Diff => self.diff(),
        }
    }

    pub fn pieces(self) -> Vec<(Kind, &'a str)> {
        let mut from = 0;
        let text = self.text;
        let piece = |(kind, end)| (kind, &text[std::mem::replace(&mut from, end)..end]);
        self.pieces.into_iter().map(piece).collect()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Takes so many bytes of the rest.
    fn take(&mut self, kind: Kind, length: usize) {
        if length == 0 {
            return;
        }
        self.at += length;
        match self.pieces.last_mut() {
            Some((last, end)) if *last == kind => *end = self.at,
            _ => self.pieces.push((kind, self.at)),
        }
    }

    /// Reads code up to `end`.
    fn code(&mut self, code: &Code, end: usize) {
        while let Some(first) = self.text[self.at..end].chars().next() {
            let rest = &self.text[self.at..end];
            let is_comment = |begin: &&str| rest.starts_with(*begin) && self.may_begin_comment(begin);
            if code.line_comments.iter().any(is_comment) {
                self.take(Kind::Comment, line(rest));
            } else if code.block_comments && rest.starts_with("/*") {
                self.take(Kind::Comment, up_to(rest, 2, "*/"));
            } else if code.quotes.contains(first) {
                self.quoted(code, rest, first);
            } else if first.is_ascii_digit() {
                let is_part = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
                self.take(Kind::Number, length(rest, is_part));
            } else if Some(first) == code.sigil {
                let name = 1 + length(&rest[1..], |c| {
                    is_in_word(c) || matches!(c, '{' | '}' | '?' | '@')
                });
                self.take(Kind::Name, name);
            } else if is_in_word(first) || matches!(first, '#' | '@' | '!') {
                self.word(code, rest, first);
            } else {
                self.take(Kind::Plain, first.len_utf8());
            }
        }
    }

    /// `#` stands in the middle of words, too: `$#`, `a#b`.
    fn may_begin_comment(&self, begin: &str) -> bool {
        begin != "#"
            || self.text[..self.at]
                .chars()
                .next_back()
                .is_none_or(char::is_whitespace)
    }

    fn quoted(&mut self, code: &Code, rest: &str, quote: char) {
        let triple = [quote; 3].iter().collect::<String>();
        if code.triple_quotes && rest.starts_with(&triple) {
            return self.take(Kind::Text, up_to(rest, 3, &triple));
        }
        if code.lone_quotes && quote == '\'' && !is_character(rest) {
            return self.take(Kind::Plain, 1);
        }
        let length = quoted(rest, quote);
        let is_key = code.keys && goes_on_with(&rest[length..], &[':']);
        self.take(if is_key { Kind::Name } else { Kind::Text }, length);
    }

    fn word(&mut self, code: &Code, rest: &str, first: char) {
        let begin = first.len_utf8();
        let is_part = |c: char| is_in_word(c) || (c == '-' && code.keys);
        let length = begin + length(&rest[begin..], is_part);
        let (word, after) = rest.split_at(length);
        let is_word =
            |keyword: &str| keyword == word || (code.ignores_case && keyword.eq_ignore_ascii_case(word));
        let kind = if code.keywords.split(' ').any(is_word) {
            Kind::Keyword
        } else if after.starts_with('(') || (code.keys && after.starts_with(':')) {
            Kind::Name
        } else {
            Kind::Plain
        };
        self.take(kind, length);
    }

    fn markup(&mut self) {
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                return;
            }
            if rest.starts_with("<!--") {
                self.take(Kind::Comment, up_to(rest, 4, "-->"));
            } else if rest.starts_with('<') {
                self.tag();
            } else {
                self.take(Kind::Plain, length(rest, |c| c != '<'));
            }
        }
    }

    fn tag(&mut self) {
        let rest = self.rest();
        let begin = 1 + length(&rest[1..], |c| matches!(c, '/' | '!' | '?'));
        self.take(Kind::Plain, begin);
        let name = length(self.rest(), |c| is_in_word(c) || matches!(c, '-' | ':' | '.'));
        self.take(Kind::Keyword, name);
        if name == 0 {
            return;
        }
        while let Some(first) = self.rest().chars().next() {
            let rest = self.rest();
            match first {
                // Another one begins: this was none, or is not finished.
                '<' => return,
                '>' => return self.take(Kind::Plain, 1),
                '"' | '\'' => {
                    let within = 1 + length(&rest[1..], |c| c != first);
                    self.take(Kind::Text, rest.len().min(within + 1));
                }
                first if is_in_word(first) => {
                    let name = length(rest, |c| is_in_word(c) || matches!(c, '-' | ':' | '.'));
                    self.take(Kind::Name, name);
                }
                other => self.take(Kind::Plain, other.len_utf8()),
            }
        }
    }

    fn settings(&mut self) {
        const VALUES: Code = Code {
            line_comments: &["#"],
            block_comments: false,
            quotes: "\"'",
            triple_quotes: true,
            lone_quotes: false,
            keywords: "true false null yes no on off",
            ignores_case: true,
            keys: true,
            sigil: None,
        };
        while !self.rest().is_empty() {
            let rest = self.rest();
            let end = self.at + line(rest);
            let text = &rest[..line(rest)];
            let indent = length(text, |c| c == ' ' || c == '\t' || c == '-');
            let begin = &text[indent..];
            if begin.starts_with(';') {
                self.take(Kind::Comment, text.len());
            } else if begin.starts_with('[') && begin.trim_end().ends_with(']') {
                self.take(Kind::Keyword, text.len());
            } else {
                self.take(Kind::Plain, indent);
                let is_in_key = |c: char| is_in_word(c) || matches!(c, '.' | '-' | '/');
                let key = length(begin, is_in_key);
                if goes_on_with(&begin[key..], &[':', '=']) {
                    self.take(Kind::Name, key);
                }
                self.code(&VALUES, end);
            }
            self.take(Kind::Plain, self.rest().chars().next().map_or(0, char::len_utf8));
        }
    }

    fn diff(&mut self) {
        while let Some(first) = self.rest().chars().next() {
            let length = self.rest().len().min(line(self.rest()) + 1);
            let is_head = ["+++", "---", "diff ", "index "]
                .iter()
                .any(|head| self.rest().starts_with(head));
            let kind = match first {
                _ if is_head => Kind::Comment,
                '+' | '>' => Kind::Added,
                '-' | '<' => Kind::Removed,
                '@' => Kind::Keyword,
                _ => Kind::Plain,
            };
            self.take(kind, length);
        }
    }
}

fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A search has gone through so many bytes, which the test of the work counts. All searches are told of here.
fn looked(bytes: usize) -> usize {
    #[cfg(test)]
    super::tests::LOOKED.set(super::tests::LOOKED.get() + bytes);
    bytes
}

/// How long the beginning of a text is that consists of these characters.
fn length(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    looked(text.find(|c| !is_part(c)).unwrap_or(text.len()))
}

/// Whether one of these comes next, behind spaces.
fn goes_on_with(text: &str, characters: &[char]) -> bool {
    text[length(text, char::is_whitespace)..].starts_with(characters)
}

/// How long the first line is, without its end.
fn line(text: &str) -> usize {
    length(text, |c| c != '\n')
}

/// How long it is up to an end that comes after so many bytes, with that; all of it, if there is no end.
fn up_to(text: &str, after: usize, end: &str) -> usize {
    let found = text[after..].find(end);
    looked(found.map_or(text.len(), |at| after + at + end.len()))
}

/// How long what stands in quotes is, with them. It ends with its line if nothing else ends it, save between backticks.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '\n' if quote != '`' && !is_escaped => return looked(at),
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            c if c == quote => return looked(at + quote.len_utf8()),
            _ => {}
        }
    }
    looked(text.len())
}

/// Whether a single quote begins a character, as against a lifetime.
fn is_character(text: &str) -> bool {
    let mut characters = text.chars().skip(1);
    match characters.next() {
        Some('\\') => true,
        Some(_) => characters.next() == Some('\''),
        None => false,
    }
}
