//! Code in colours: which pieces of a text are its comments, words, texts and numbers.
//!
//! No grammar, but what most languages share: enough to read by, in a few kilobytes, in the time of one pass. A text that is not of
//! the language it is said to be comes out with odd colours and every character in its place.

mod language;
mod lexer;

use self::lexer::Lexer;

/// What a piece of code is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Plain,
    Comment,
    /// A word of the language itself.
    Keyword,
    /// What stands in quotes.
    Text,
    Number,
    /// What something is called: a function, a key, a tag.
    Name,
    /// A line that came, or went.
    Added,
    Removed,
}

impl TokenKind {
    /// The class that gives it its colour.
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

/// The pieces of a text, in order: joined, they are the text. No two in a row are of the same kind. `language` is what stands
/// behind a fence; in one that is not known, all is plain.
pub fn highlight<'a>(text: &'a str, language: &str) -> Vec<(TokenKind, &'a str)> {
    let mut lexer = Lexer::new(text);
    lexer.tokenize(language::for_language(language));
    lexer.into_tokens()
}

#[cfg(test)]
mod tests;
