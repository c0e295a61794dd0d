//! Decodes bytes to text, following the Encoding and HTML standards: a byte order mark has priority
//! over the header, and the header over the page's own `<meta>`. Without any of them, the text is
//! UTF-8 if it is valid, else what its letters look like: windows-1251, Shift_JIS, windows-1252 and others.

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use html5gum::{StartTag, Token, Tokenizer};

/// The number of bytes that the standard scans for a `<meta>`.
const META_PRESCAN_BYTES: usize = 1024;

/// The part of a page from which its encoding is guessed, in bytes.
const GUESSED_BYTES: usize = 1 << 20;

pub fn decode<'a>(bytes: &'a [u8], content_type: &str, is_html: bool) -> Cow<'a, str> {
    if let Some((encoding, length)) = Encoding::for_bom(bytes) {
        return encoding.decode_without_bom_handling(&bytes[length..]).0;
    }
    let declared = from_content_type(content_type.as_bytes())
        .or_else(|| from_meta(bytes).filter(|_| is_html))
        .or_else(|| from_xml(bytes));
    let encoding = declared.unwrap_or_else(|| guess_encoding(bytes));
    encoding.decode_without_bom_handling(bytes).0
}

/// Returns the encoding named by `text/html; charset=…`.
fn from_content_type(value: &[u8]) -> Option<&'static Encoding> {
    let value = String::from_utf8_lossy(value).to_ascii_lowercase();
    let (_, label) = value.split_once("charset")?;
    let label = label.trim_start().strip_prefix('=')?;
    let label = label.split([';', ',']).next()?;
    Encoding::for_label(label.trim().trim_matches(['"', '\'']).as_bytes())
}

fn from_meta(bytes: &[u8]) -> Option<&'static Encoding> {
    let Ok(tokens) =
        Tokenizer::new(&bytes[..bytes.len().min(META_PRESCAN_BYTES)]).collect::<Result<Vec<_>, _>>();
    let encoding = tokens.into_iter().find_map(|token| match token {
        Token::StartTag(tag) if *tag.name == b"meta" => from_meta_tag(&tag),
        _ => None,
    });
    encoding.map(of_ascii)
}

/// Returns the encoding that a declaration in ASCII means: if it were UTF-16, the declaration could not have been read.
fn of_ascii(declared: &'static Encoding) -> &'static Encoding {
    match [UTF_16BE, UTF_16LE].contains(&declared) {
        true => UTF_8,
        false => declared,
    }
}

/// Returns the encoding of an XML declaration, which XHTML and feeds have: `<?xml version="1.0" encoding="windows-1251"?>`.
fn from_xml(bytes: &[u8]) -> Option<&'static Encoding> {
    let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(META_PRESCAN_BYTES)]);
    let (declaration, _) = beginning.trim_start().strip_prefix("<?xml")?.split_once("?>")?;
    let value = declaration
        .split_once("encoding")?
        .1
        .trim_start()
        .strip_prefix('=')?;
    let label = value.trim_start().split(['"', '\'']).nth(1)?;
    Encoding::for_label(label.as_bytes()).map(of_ascii)
}

fn from_meta_tag(tag: &StartTag<()>) -> Option<&'static Encoding> {
    let attribute = |name: &[u8]| tag.attributes.get(name).map(|value| &value.value.0);
    match attribute(b"charset") {
        Some(label) => Encoding::for_label(label),
        None => {
            let is_content_type = attribute(b"http-equiv")?.eq_ignore_ascii_case(b"content-type");
            from_content_type(attribute(b"content")?).filter(|_| is_content_type)
        }
    }
}

/// Guesses the encoding. The end may be in the middle of a character: a page can be cut off
/// anywhere.
fn guess_encoding(bytes: &[u8]) -> &'static Encoding {
    match str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() => {
            let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
            let guessed = &bytes[..bytes.len().min(GUESSED_BYTES)];
            detector.feed(guessed, guessed.len() == bytes.len());
            detector.guess(None, Utf8Detection::Deny)
        }
        _ => UTF_8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "text/html; charset=iso-8859-2";

    #[test]
    fn prefers_byte_order_mark_then_header_then_meta() {
        assert_eq!(decode(b"\xef\xbb\xbf\xc5\xbe", HEADER, true), "ž");
        assert_eq!(decode(b"\xff\xfea\0", HEADER, true), "a");
        assert_eq!(
            decode(b"<meta charset=utf-8>\xbe", HEADER, true),
            "<meta charset=utf-8>ž"
        );
        assert_eq!(
            decode(
                b"\xbe",
                "text/plain; format=flowed; Charset = \"ISO-8859-2\"",
                false
            ),
            "ž"
        );
    }

    #[test]
    fn reads_the_meta_encoding() {
        for meta in [
            "<meta charset=iso-8859-2>",
            "<META CHARSET='ISO-8859-2'/>",
            "<!-- <meta charset=utf-8> --><meta http-equiv=Content-Type content='text/html; charset=iso-8859-2'>",
        ] {
            let bytes = [meta.as_bytes(), b"\xbe"].concat();
            assert_eq!(decode(&bytes, "text/html", true), format!("{meta}ž"));
        }
    }

    #[test]
    fn reads_the_encoding_of_an_xml_declaration() {
        for declaration in [
            r#"<?xml version="1.0" encoding="iso-8859-2"?>"#,
            "\n<?xml version='1.0' encoding = 'ISO-8859-2' standalone='yes' ?>",
        ] {
            let bytes = [declaration.as_bytes(), b"<p>\xbe"].concat();
            assert_eq!(
                decode(&bytes, "application/xhtml+xml", false),
                format!("{declaration}<p>ž")
            );
        }
        let text = "<?xml version=\"1.0\" encoding=\"utf-16\"?>ž";
        assert_eq!(decode(text.as_bytes(), "text/html", true), text);
    }

    #[test]
    fn guesses_undeclared_encodings() {
        for (label, text) in [
            (
                "windows-1251",
                "<p>Москва — столица России, крупнейший город страны.</p>",
            ),
            (
                "koi8-r",
                "<p>Москва - столица России, крупнейший город страны.</p>",
            ),
            (
                "windows-1252",
                "<p>Die Größe der Straße überrascht – für „früher“ ist das viel.</p>",
            ),
            (
                "windows-1250",
                "<p>Praha je hlavní a současně největší město České republiky, sídlo úřadů a škol.</p>",
            ),
            ("windows-1253", "<p>Η Αθήνα είναι η πρωτεύουσα της Ελλάδας.</p>"),
            ("shift_jis", "<p>東京は日本の首都であり、世界最大の都市です。</p>"),
            ("euc-kr", "<p>서울은 대한민국의 수도이자 최대 도시이다.</p>"),
            ("gbk", "<p>北京是中华人民共和国的首都，全国的政治中心。</p>"),
        ] {
            let (bytes, _, has_errors) = Encoding::for_label(label.as_bytes()).unwrap().encode(text);
            assert!(!has_errors, "{label}");
            assert_eq!(decode(&bytes, "text/html", true), text, "{label}");
        }
    }

    #[test]
    fn defaults_to_utf_8_if_valid() {
        assert_eq!(decode("ž".as_bytes(), "text/html; charset=klingon", true), "ž");
        assert_eq!(decode(b"caf\xe9 \x80", "", false), "café €");
        assert_eq!(
            decode(b"<meta charset=utf-16>\xc5\xbe", "", true),
            "<meta charset=utf-16>ž"
        );
        let cut = &"žž".as_bytes()[..3];
        assert_eq!(decode(cut, "", false), "ž\u{fffd}");
    }
}
