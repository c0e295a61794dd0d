//! Syntax highlighting: the comments, keywords, strings and numbers of a text.
//!
//! It has no grammar, only the lexical rules that most languages share: enough for reading, in a few
//! kilobytes and one pass. A text in another language than stated gets odd colours, but keeps every character
//! in its place.
//!
//! syntect 5.3 was weighed: with its own grammars it adds 593 KB to the WASM as sent, more than all of the first
//! page's.

mod language;
mod lexer;

use self::lexer::Lexer;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Plain,
    Comment,
    /// A word of the language itself.
    Keyword,
    /// A quoted string.
    Text,
    Number,
    /// A name: of a function, a key, a tag.
    Name,
    /// An added line of a diff.
    Added,
    /// A removed line of a diff.
    Removed,
}

impl TokenKind {
    /// The CSS class of its colour.
    pub fn class(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Comment => Some("hl-comment"),
            Self::Keyword => Some("hl-keyword"),
            Self::Text => Some("hl-text"),
            Self::Number => Some("hl-number"),
            Self::Name => Some("hl-name"),
            Self::Added => Some("hl-added"),
            Self::Removed => Some("hl-removed"),
        }
    }
}

/// Splits a text into its tokens, in order: joined, they are the text. No two adjacent ones have the same
/// kind. `language` is the name after an opening fence; in an unknown language all is plain.
pub fn highlight<'a>(text: &'a str, language: &str) -> Vec<(TokenKind, &'a str)> {
    let mut lexer = Lexer::new(text);
    lexer.tokenize(language::for_language(language));
    lexer.into_tokens()
}

#[cfg(test)]
mod tests;
