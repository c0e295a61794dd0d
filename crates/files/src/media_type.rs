//! The type of an uploaded file, from its content. Its name decides only between kinds of text.

use std::path::Path;

use super::{IPYNB, PDF, reader::document::Container};

/// The media types of workbooks and text documents.
pub const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
pub const XLSB: &str = "application/vnd.ms-excel.sheet.binary.macroenabled.12";
pub const XLS: &str = "application/vnd.ms-excel";
pub const ODS: &str = "application/vnd.oasis.opendocument.spreadsheet";
pub const DOCX: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
pub const PPTX: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
pub const ODT: &str = "application/vnd.oasis.opendocument.text";

/// The media type of tables of Parquet, which only code can read.
const PARQUET: &str = "application/vnd.apache.parquet";

/// Documents in ZIP archives by the ends of their names, for those whose content does not tell it: damaged or too large.
const ZIP_TYPES: [(&str, &str); 6] = [
    ("xlsx", XLSX),
    ("xlsb", XLSB),
    ("ods", ODS),
    ("docx", DOCX),
    ("pptx", PPTX),
    ("odt", ODT),
];

/// The same in containers of the form before 2007. Those with a password are in one too, whatever is in it.
const OLE_TYPES: [(&str, &str); 5] = [
    ("xls", XLS),
    ("xlsx", XLSX),
    ("xlsb", XLSB),
    ("docx", DOCX),
    ("pptx", PPTX),
];

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
    /// An image.
    Image(&'static str),
    /// A document, if its reader finds one.
    Document(Container),
    /// Text, if all of it is.
    MaybeText,
    /// Data for code.
    Data(&'static str),
    /// A type that Parlor can't use, such as a video.
    Unusable(&'static str),
}

/// Detects the type of a file from its beginning.
pub fn detect(head: &[u8]) -> Detected {
    // A text as UTF-16, which has the beginning of a sound for some readers.
    if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
        return Detected::MaybeText;
    }
    if head.starts_with(b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1") {
        return Detected::Document(Container::Ole);
    }
    if head.starts_with(b"PK\x03\x04") {
        return Detected::Document(Container::Zip);
    }
    if head.starts_with(b"PAR1") {
        return Detected::Data(PARQUET);
    }
    let Some(kind) = infer::get(head) else {
        return Detected::MaybeText;
    };
    match kind.mime_type() {
        image @ ("image/png" | "image/jpeg" | "image/gif" | "image/webp") => Detected::Image(image),
        PDF => Detected::Document(Container::Pdf),
        _ if kind.matcher_type() == infer::MatcherType::Text => Detected::MaybeText,
        other => Detected::Unusable(other),
    }
}

/// Returns the media type of a text file.
pub fn text_type(name: &str) -> &'static str {
    by_extension(&TEXT_TYPES, name).unwrap_or("text/plain")
}

/// Returns the media type of a document by its name, if its container may have such a document.
pub fn document_type(name: &str, container: Container) -> Option<&'static str> {
    match container {
        Container::Pdf => Some(PDF),
        Container::Zip => by_extension(&ZIP_TYPES, name),
        Container::Ole => by_extension(&OLE_TYPES, name),
        Container::Table | Container::WorkbookText | Container::Notebook | Container::Text => None,
    }
}

/// Returns true for the name of a notebook. Browsers and systems have no type of their own for it.
pub fn is_notebook(name: &str) -> bool {
    by_extension(&[("ipynb", IPYNB)], name).is_some()
}

/// Returns true for the name of a workbook. Programs write tables as texts under such names.
pub fn is_workbook_name(name: &str) -> bool {
    let types = [
        ("xls", XLS),
        ("xlsx", XLSX),
        ("xlsb", XLSB),
        ("xlsm", XLSX),
        ("ods", ODS),
    ];
    by_extension(&types, name).is_some()
}

/// Returns true for the media type of a table that is a text.
pub fn is_table(media_type: &str) -> bool {
    matches!(media_type, "text/csv" | "text/tab-separated-values")
}

fn by_extension(types: &[(&str, &'static str)], name: &str) -> Option<&'static str> {
    let extension = Path::new(name).extension().and_then(|end| end.to_str())?;
    let found = types.iter().find(|(end, _)| extension.eq_ignore_ascii_case(end));
    found.map(|(_, media_type)| *media_type)
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
            (&b"\x89PNG\r\n\x1a\nrest"[..], Detected::Image("image/png")),
            (b"\xFF\xD8\xFF\xE0..JFIF", Detected::Image("image/jpeg")),
            (b"GIF89a....", Detected::Image("image/gif")),
            (b"RIFF....WEBPVP8 ", Detected::Image("image/webp")),
            (b"%PDF-1.7\n", Detected::Document(Container::Pdf)),
            (b"\xFF\xFEa\0", Detected::MaybeText),
            (b"PK\x03\x04........", Detected::Document(Container::Zip)),
            (b"PAR1\x15\x04", Detected::Data(PARQUET)),
            (
                b"\x7FELF\x02\x01\x01\0........................................................",
                Detected::Unusable("application/x-executable"),
            ),
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
    fn document_types_fit_their_container() {
        for (name, container, expected) in [
            ("a.pdf", Container::Pdf, Some(PDF)),
            ("a.pdf", Container::Zip, None),
            ("a.pdf", Container::Ole, None),
            ("a.xlsx", Container::Pdf, Some(PDF)),
            ("a.XLSX", Container::Zip, Some(XLSX)),
            ("a.xls", Container::Zip, None),
            ("a.xls", Container::Ole, Some(XLS)),
            ("a.docx", Container::Ole, Some(DOCX)),
            ("a.xlsx", Container::Table, None),
        ] {
            assert_eq!(document_type(name, container), expected, "{name} {container:?}");
        }
    }

    #[test]
    fn text_types_follow_names() {
        assert_eq!(text_type("Data.CSV"), "text/csv");
        assert_eq!(text_type("main.rs"), "text/plain");
        assert!(is_notebook("Tides.IPYNB") && !is_notebook("ipynb") && !is_notebook("a.ipynb.json"));
    }
}
