//! Texts in any encoding.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::Encoding;

use super::document::Document;
use crate::protocol::FilePreview;

/// The part of a text from which its encoding is guessed, in bytes.
const GUESSED_BYTES: usize = 1 << 20;

/// Reads a text in any encoding.
pub fn read(data: &[u8], max_bytes: usize) -> Document {
    match decode(data) {
        Some(text) => {
            let cut = text.floor_char_boundary(max_bytes);
            let mut shown = text[..cut].to_owned();
            if cut < text.len() {
                shown.push_str(&format!("\n[{} more bytes are not shown.]", text.len() - cut));
            }
            Document::new(
                "text/plain",
                Ok(FilePreview {
                    text: shown,
                    ..FilePreview::default()
                }),
            )
        }
        None => Document::UNUSABLE,
    }
}

/// Decodes a text by its byte order mark, as UTF-8, or as what it looks like. Returns `None` if it is not a text.
pub fn decode(data: &[u8]) -> Option<Cow<'_, str>> {
    let decoded = match (Encoding::for_bom(data), std::str::from_utf8(data)) {
        (Some((encoding, _)), _) => encoding.decode_with_bom_removal(data).0,
        (None, Ok(text)) => text.into(),
        (None, Err(_)) => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
            let guessed = &data[..data.len().min(GUESSED_BYTES)];
            detector.feed(guessed, guessed.len() == data.len());
            let encoding = detector.guess(None, Utf8Detection::Deny);
            let (text, has_errors) = encoding.decode_without_bom_handling(data);
            if has_errors {
                return None;
            }
            text
        }
    };
    let is_binary = |c: char| c.is_control() && !"\t\n\r\u{c}\u{1b}\u{85}".contains(c);
    (!decoded.contains(is_binary)).then_some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_editors_write() {
        let utf16: Vec<u8> = "\u{feff}Grüße 日本"
            .encode_utf16()
            .flat_map(u16::to_le_bytes)
            .collect();
        let utf16_be: Vec<u8> = "\u{feff}Grüße 日本"
            .encode_utf16()
            .flat_map(u16::to_be_bytes)
            .collect();
        let sentence = "Die Grüße aus Köln kosten größere Mühe als früher.";
        let latin1: Vec<u8> = sentence.chars().map(|c| c as u8).collect();
        for (data, expected) in [
            (utf16, "Grüße 日本"),
            (utf16_be, "Grüße 日本"),
            (b"\xEF\xBB\xBFa".to_vec(), "a"),
            (latin1, sentence),
            ("Grüße".into(), "Grüße"),
        ] {
            assert_eq!(decode(&data).as_deref(), Some(expected));
        }
    }

    #[test]
    fn rejects_what_is_no_text() {
        for data in [&b"a\0b"[..], b"\xFF\xD8\xFF\xE0\0\x10", b"\x7FELF\x02\x01\xFF"] {
            assert_eq!(decode(data), None, "{data:?}");
        }
    }
}
