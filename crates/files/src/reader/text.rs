//! Texts in any encoding.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use icu_properties::{CodePointMapData, props::GeneralCategory};

use super::document::Document;
use parlor_protocol::FilePreview;

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

/// The part of a text in which one NUL is an accident, in bytes. A second one needs twice as much.
const BYTES_PER_NUL: usize = 1000;

/// The minimum size of a text with a NUL, in bytes.
const MIN_BYTES_WITH_NUL: usize = 8;

/// The minimum share of zero bytes in UTF-16 without a mark that is mostly Latin: one of this number.
const LATIN_ZERO_SHARE: usize = 4;

/// Decodes a text by its byte order mark, as UTF-8, or as what it looks like. Returns `None` if it is not a text.
pub fn decode(data: &[u8]) -> Option<Cow<'_, str>> {
    let decoded = match (Encoding::for_bom(data), std::str::from_utf8(data)) {
        (Some((encoding, _)), _) => encoding.decode_with_bom_removal(data).0,
        _ if data.contains(&0) => decode_utf16(data).or_else(|| without_nul(data, true))?.into(),
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
    (!decoded.contains(is_binary)).then_some(decoded)
}

/// Returns `true` for control characters that texts don't have.
fn is_binary(c: char) -> bool {
    c.is_control() && !"\t\n\r\u{c}\u{1b}\u{85}".contains(c)
}

/// Decodes UTF-16 without a byte order mark. Its spaces and line ends, and all of a Latin text, have a zero byte on the same
/// side of each character; few other characters have one on the other side.
///
/// Pairs of bytes of another text with zero bytes are mostly Chinese characters, but its spaces and line ends are in pairs with
/// letters.
fn decode_utf16(data: &[u8]) -> Option<String> {
    if !data.len().is_multiple_of(2) {
        return None;
    }
    let zeros = |side: usize| {
        data.iter()
            .skip(side)
            .step_by(2)
            .filter(|byte| **byte == 0)
            .count()
    };
    let (encoding, count, high_byte) = match (zeros(0), zeros(1)) {
        (first, second) if second > first => (UTF_16LE, second, 1),
        (first, second) if first > second => (UTF_16BE, first, 0),
        _ => return None,
    };
    let is_latin = count * LATIN_ZERO_SHARE >= data.len();
    // A text with a NUL by accident is no pairs of bytes.
    if !is_latin && without_nul(data, false).is_some() {
        return None;
    }
    let gaps = data
        .chunks_exact(2)
        .filter(|pair| matches!(pair[1 - high_byte], b'\n' | b' '));
    let (alone, in_pairs): (Vec<&[u8]>, Vec<_>) = gaps.partition(|pair| pair[high_byte] == 0);
    if in_pairs.len() > alone.len() {
        return None;
    }
    let (text, has_errors) = encoding.decode_without_bom_handling(data);
    (!has_errors && text.chars().all(is_of_text)).then(|| text.into_owned())
}

/// Returns `true` for characters of a text, and `false` for those that the bytes of other data are.
fn is_of_text(c: char) -> bool {
    use GeneralCategory::{PrivateUse, Unassigned};
    let category = CodePointMapData::<GeneralCategory>::new().get(c);
    !is_binary(c) && !matches!(category, Unassigned | PrivateUse)
}

/// Returns a text in UTF-8 with a few NUL, which are shown as U+FFFD: a program or a disk has failed to write it. `may_separate` is
/// true if any number of them may stand between other characters, as some programs separate texts.
fn without_nul(data: &[u8], may_separate: bool) -> Option<String> {
    let text = std::str::from_utf8(data).ok()?;
    let count = data.iter().filter(|byte| **byte == 0).count();
    let is_few = count <= 1 + data.len() / BYTES_PER_NUL;
    let are_apart = || may_separate && !data.windows(2).any(|pair| pair == [0, 0]);
    let is_text = data.len() >= MIN_BYTES_WITH_NUL && (is_few || are_apart());
    let text = is_text.then(|| text.replace('\0', "\u{fffd}"))?;
    (!text.contains(is_binary)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_editors_write() {
        let utf16 = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let utf16_be_bytes =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
        let sentence = "Die Grüße aus Köln kosten größere Mühe als früher.";
        let latin1: Vec<u8> = sentence.chars().map(|c| c as u8).collect();
        for (data, expected) in [
            (utf16("\u{feff}Grüße 日本"), "Grüße 日本"),
            (utf16_be_bytes("\u{feff}Grüße 日本"), "Grüße 日本"),
            (b"\xEF\xBB\xBFa".to_vec(), "a"),
            (latin1, sentence),
            ("Grüße".into(), "Grüße"),
            // Without a mark.
            (utf16("name,city\r\nÅse,Århus\r\n"), "name,city\r\nÅse,Århus\r\n"),
            (utf16_be_bytes("a\nb"), "a\nb"),
            (utf16("Привет, мир. Как дела?"), "Привет, мир. Как дела?"),
            (utf16("数据 一二三\n四五六"), "数据 一二三\n四五六"),
            (utf16("a 😀\n"), "a 😀\n"),
            // With a NUL by accident.
            (b"a,b\n1,x\0y\n2,z\n".to_vec(), "a,b\n1,x\u{fffd}y\n2,z\n"),
            (b"a line of a log\0\n".to_vec(), "a line of a log\u{fffd}\n"),
            (b"a,b\n1,\0x\0\n2,y\n".to_vec(), "a,b\n1,\u{fffd}x\u{fffd}\n2,y\n"),
            (
                b"HOME=/root\0LANG=C\0".to_vec(),
                "HOME=/root\u{fffd}LANG=C\u{fffd}",
            ),
            (utf16("数据\n数据\n"), "数据\n数据\n"),
            (utf16_be_bytes("数据 一\n"), "数据 一\n"),
        ] {
            assert_eq!(decode(&data).as_deref(), Some(expected));
        }
    }

    #[test]
    fn rejects_what_is_no_text() {
        for data in [
            &b"a\0b"[..],
            b"\xFF\xD8\xFF\xE0\0\x10",
            b"\x7FELF\x02\x01\xFF",
            b"\x01\0\x02\0\x03\0\x04\0",
            b"some text\0\0\0\0and more",
        ] {
            assert_eq!(decode(data), None, "{data:?}");
        }
    }
}
