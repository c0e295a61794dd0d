//! Texts of a file that are not drawn, such as the values of forms.

use encoding_rs::{UTF_8, UTF_16BE, UTF_16LE};

/// The characters of PDFDocEncoding from 0x18 and from 0x80 that differ from Latin-1.
const LOW: [char; 8] = ['˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'];
const HIGH: [char; 33] = [
    '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ', 'ﬂ',
    'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
];

/// Decodes a text string: Unicode with a byte order mark, or PDFDocEncoding.
pub fn decode(bytes: &[u8]) -> String {
    let decoded = match bytes {
        [0xfe, 0xff, text @ ..] => UTF_16BE.decode_without_bom_handling(text).0,
        [0xff, 0xfe, text @ ..] => UTF_16LE.decode_without_bom_handling(text).0,
        [0xef, 0xbb, 0xbf, text @ ..] => UTF_8.decode_without_bom_handling(text).0,
        bytes => bytes
            .iter()
            .map(|byte| document_character(*byte))
            .collect::<String>()
            .into(),
    };
    without_language_marks(&decoded)
}

fn document_character(byte: u8) -> char {
    let place = |first: u8| usize::from(byte.wrapping_sub(first));
    match byte {
        0x18..=0x1f => LOW[place(0x18)],
        0x80..=0xa0 => HIGH[place(0x80)],
        byte => char::from(byte),
    }
}

/// Removes the names of languages, which stand between two escapes.
fn without_language_marks(text: &str) -> String {
    let parts = text.split('\u{1b}').enumerate();
    parts
        .filter(|(index, _)| index % 2 == 0)
        .map(|(_, part)| part)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_strings_are_decoded() {
        for (bytes, text) in [
            (&b"Caf\xe9 \x84 \xa0"[..], "Café — €"),
            (b"\xfe\xff\x05\xd0\x00-", "א-"),
            (b"\xff\xfe\xd0\x05", "א"),
            (b"\xef\xbb\xbf\xd7\x90", "א"),
            (b"\xfe\xff\x00\x1b\x00d\x00e\x00\x1b\x00J\x00a", "Ja"),
            (b"\x18\x1f", "˘˜"),
            (b"", ""),
        ] {
            assert_eq!(decode(bytes), text);
        }
    }
}
