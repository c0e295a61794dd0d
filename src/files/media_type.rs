//! The type of an uploaded file, from its content. Its name decides only between kinds of text.

use std::path::Path;

use super::PDF;

/// The number of bytes from which the type is read.
pub const HEAD_BYTES: usize = 8 << 10;

/// Kinds of text with a media type of their own, by the ends of their names.
const TEXT_TYPES: [(&str, &str); 5] = [
    ("csv", "text/csv"),
    ("tsv", "text/tab-separated-values"),
    ("md", "text/markdown"),
    ("html", "text/html"),
    ("css", "text/css"),
];

/// The type of a file, as far as its beginning says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detected {
    /// An image or a PDF file.
    Known(&'static str),
    /// Text, if all of it is UTF-8.
    MaybeText,
    /// A type that Parlor can't use, such as a video.
    Unusable(&'static str),
}

/// Detects the type of a file from its beginning.
pub fn detect(head: &[u8]) -> Detected {
    let Some(kind) = infer::get(head) else {
        return Detected::MaybeText;
    };
    match kind.mime_type() {
        known @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp" | PDF) => Detected::Known(known),
        _ if kind.matcher_type() == infer::MatcherType::Text => Detected::MaybeText,
        other => Detected::Unusable(other),
    }
}

/// Returns the media type of a text file.
pub fn text_type(name: &str) -> &'static str {
    let extension = Path::new(name).extension().and_then(|end| end.to_str());
    let extension = extension.unwrap_or_default().to_ascii_lowercase();
    let found = TEXT_TYPES.iter().find(|(end, _)| *end == extension);
    found.map_or("text/plain", |(_, media_type)| media_type)
}

/// Checks that a text that comes in chunks is UTF-8 without NUL.
#[derive(Debug, Default)]
pub struct TextCheck {
    /// The beginning of a character that the last chunk cut.
    cut: Vec<u8>,
    is_broken: bool,
}

impl TextCheck {
    pub fn push(&mut self, chunk: &[u8]) {
        if self.is_broken {
            return;
        }
        let joined;
        let mut rest = chunk;
        if !self.cut.is_empty() {
            joined = [&self.cut[..], chunk].concat();
            rest = &joined;
        }
        self.is_broken = rest.contains(&0);
        let cut = match std::str::from_utf8(rest) {
            Ok(_) => Vec::new(),
            Err(error) if error.error_len().is_none() => rest[error.valid_up_to()..].to_vec(),
            Err(_) => {
                self.is_broken = true;
                Vec::new()
            }
        };
        self.cut = cut;
    }

    /// Returns true if all of it was text.
    pub fn is_text(&self) -> bool {
        !self.is_broken && self.cut.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_comes_from_the_content() {
        for (head, expected) in [
            (&b"\x89PNG\r\n\x1a\nrest"[..], Detected::Known("image/png")),
            (b"\xFF\xD8\xFF\xE0..JFIF", Detected::Known("image/jpeg")),
            (b"GIF89a....", Detected::Known("image/gif")),
            (b"RIFF....WEBPVP8 ", Detected::Known("image/webp")),
            (b"%PDF-1.7\n", Detected::Known(PDF)),
            (b"PK\x03\x04........", Detected::Unusable("application/zip")),
            (b"fn main() {}", Detected::MaybeText),
            (b"<!DOCTYPE html><html></html>", Detected::MaybeText),
            (b"#!/bin/sh\nls", Detected::MaybeText),
            (b"", Detected::MaybeText),
        ] {
            assert_eq!(detect(head), expected, "{head:?}");
        }
    }

    #[test]
    fn text_may_be_cut_anywhere() {
        let text = "Grüße, 日本 😀".as_bytes();
        for at in 0..=text.len() {
            let mut check = TextCheck::default();
            check.push(&text[..at]);
            check.push(&text[at..]);
            assert!(check.is_text(), "{at}");
        }
        for broken in [&b"a\0b"[..], b"\xFF\xFE", b"\xC3"] {
            let mut check = TextCheck::default();
            check.push(b"fine ");
            check.push(broken);
            assert!(!check.is_text(), "{broken:?}");
        }
    }

    #[test]
    fn text_types_follow_names() {
        assert_eq!(text_type("Data.CSV"), "text/csv");
        assert_eq!(text_type("main.rs"), "text/plain");
    }
}
