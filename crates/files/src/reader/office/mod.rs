//! Office documents: containers with a workbook, a text or slides.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use self::xml_text::{OPEN_DOCUMENT, SLIDES, TextForm, WORD, read_xml};
use super::{
    document::{Document, PreviewLimits},
    slides::{notes_name, slide_names},
    workbook::{self, WorkbookKind},
};
use crate::media_type::{DOCX, ODS, ODT, PPTX, XLS, XLSB, XLSX};
use parlor_protocol::{FilePreview, FileProblem};

mod math;
mod symbols;
#[cfg(test)]
mod tests;
mod xml_text;

/// An archive in memory.
pub type Archive = ZipArchive<Cursor<Vec<u8>>>;

/// The stream of an encrypted document in its container.
const ENCRYPTED_PACKAGE: &str = "EncryptedPackage";

/// Reads a container of the form before 2007. Documents with a password have it too.
pub fn read_ole(data: &[u8], limits: PreviewLimits) -> Document {
    let name: Vec<u8> = ENCRYPTED_PACKAGE
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    if data.windows(name.len()).any(|part| part == name) {
        return Document {
            media_type: None,
            content: Err(FileProblem::Encrypted),
        };
    }
    match workbook::read(WorkbookKind::Xls, data, limits) {
        Err(FileProblem::Damaged) => Document::UNUSABLE,
        content => Document::new(XLS, content),
    }
}

/// Reads a document in a ZIP archive.
pub fn read_zip(data: Vec<u8>, limits: PreviewLimits) -> Document {
    let Ok(mut archive) = Archive::new(Cursor::new(data)) else {
        return Document::UNUSABLE;
    };
    let has = |archive: &Archive, name: &str| archive.index_for_name(name).is_some();
    let workbook = |kind, media_type, archive: Archive| {
        let data = archive.into_inner().into_inner();
        Document::new(media_type, workbook::read(kind, &data, limits))
    };
    if has(&archive, "xl/workbook.xml") {
        return workbook(WorkbookKind::Xlsx, XLSX, archive);
    }
    if has(&archive, "xl/workbook.bin") {
        return workbook(WorkbookKind::Xlsb, XLSB, archive);
    }
    if has(&archive, "word/document.xml") {
        return Document::new(DOCX, read_word(&mut archive, limits.bytes));
    }
    if has(&archive, "ppt/presentation.xml") {
        let slides = slide_names(&mut archive);
        return Document::new(PPTX, read_slides(&mut archive, &slides, limits.bytes));
    }
    let mut media_type = String::new();
    if let Ok(entry) = archive.by_name("mimetype") {
        let _ = entry.take(200).read_to_string(&mut media_type);
    }
    match media_type.trim() {
        ODS => workbook(WorkbookKind::Ods, ODS, archive),
        ODT => {
            let mut text = PartsText::new(limits.bytes);
            let read = text.push_part(&mut archive, "content.xml", &OPEN_DOCUMENT);
            Document::new(ODT, read.and_then(|()| text.finish()))
        }
        _ => Document::UNUSABLE,
    }
}

/// The maximum number of different headers or footers of a document that are read.
const MAX_HEADERS: usize = 20;

/// The notes of a text document, and their titles.
const WORD_NOTES: [(&str, &str); 3] = [
    ("word/footnotes.xml", "Footnotes"),
    ("word/endnotes.xml", "Endnotes"),
    ("word/comments.xml", "Comments"),
];

/// Reads a text document: its headers, its text, its notes and its footers.
fn read_word(archive: &mut Archive, max_bytes: usize) -> Result<FilePreview, FileProblem> {
    let mut text = PartsText::new(max_bytes);
    text.push_repeated(archive, "Header", "word/header");
    text.push_part(archive, "word/document.xml", &WORD)?;
    for (name, title) in WORD_NOTES {
        // Notes that can't be read must not hide the text.
        if let Ok(notes) = read_part(archive, name, &WORD, max_bytes) {
            text.push_section(title, &notes);
        }
    }
    text.push_repeated(archive, "Footer", "word/footer");
    text.finish()
}

/// Reads slides with the notes of their speaker.
fn read_slides(
    archive: &mut Archive,
    names: &[String],
    max_bytes: usize,
) -> Result<FilePreview, FileProblem> {
    let mut text = PartsText::new(max_bytes);
    for (index, name) in names.iter().enumerate() {
        if archive.index_for_name(name).is_none() {
            continue;
        }
        let number = index + 1;
        text.push_mark(&format!("Slide {number}"));
        text.push_part(archive, name, &SLIDES)?;
        if let Some(notes) = notes_name(archive, name)
            && let Ok(notes) = read_part(archive, &notes, &SLIDES, max_bytes)
        {
            text.push_section(&format!("Notes of slide {number}"), &notes);
        }
        if text.is_cut {
            break;
        }
    }
    text.finish()
}

/// Reads the text of a part of an archive. A missing one has none.
fn read_part(
    archive: &mut Archive,
    name: &str,
    form: &TextForm,
    max_bytes: usize,
) -> Result<String, FileProblem> {
    let mut text = String::new();
    if let Ok(part) = archive.by_name(name) {
        read_xml(part, form, max_bytes, &mut text)?;
    }
    Ok(text)
}

/// The text of the parts of an archive, as far as there is room.
struct PartsText {
    text: String,
    max_bytes: usize,
    has_text: bool,
    /// `true` once something did not fit.
    is_cut: bool,
}

impl PartsText {
    fn new(max_bytes: usize) -> Self {
        Self {
            text: String::new(),
            max_bytes,
            has_text: false,
            is_cut: false,
        }
    }

    /// Appends a mark in a line of its own.
    fn push_mark(&mut self, mark: &str) {
        if !self.is_cut {
            self.text.push_str(&format!("[{mark}]\n"));
        }
    }

    /// Appends the text of a part. A missing one has none.
    fn push_part(&mut self, archive: &mut Archive, name: &str, form: &TextForm) -> Result<(), FileProblem> {
        let Ok(part) = archive.by_name(name) else {
            return Ok(());
        };
        if self.is_cut {
            return Ok(());
        }
        let before = self.text.len();
        let is_whole = read_xml(part, form, self.max_bytes, &mut self.text)?;
        self.has_text |= !self.text[before.min(self.text.len())..].trim().is_empty();
        self.is_cut = !is_whole;
        Ok(())
    }

    /// Appends a text with a mark before it, unless it is empty.
    fn push_section(&mut self, mark: &str, section: &str) {
        let section = section.trim();
        if section.is_empty() || self.is_cut {
            return;
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.push_mark(mark);
        let room = self.max_bytes.saturating_sub(self.text.len());
        self.is_cut = section.len() > room;
        self.text.push_str(&section[..section.floor_char_boundary(room)]);
        self.text.push('\n');
        self.has_text = true;
    }

    /// Appends the different headers or footers of a text document, whose names begin with `prefix`.
    fn push_repeated(&mut self, archive: &mut Archive, mark: &str, prefix: &str) {
        let mut names: Vec<String> = archive
            .file_names()
            .flatten()
            .map(|name| name.to_string())
            .filter(|name| name.starts_with(prefix) && name.ends_with(".xml"))
            .collect();
        names.sort();
        let mut found: Vec<String> = Vec::new();
        for name in names.iter().take(MAX_HEADERS) {
            let text = read_part(archive, name, &WORD, self.max_bytes).unwrap_or_default();
            let text = text.trim().to_owned();
            if !text.is_empty() && !found.contains(&text) {
                found.push(text);
            }
        }
        for text in found {
            self.push_section(mark, &text);
        }
    }

    /// Returns the preview.
    ///
    /// # Errors
    ///
    /// If there is no text.
    fn finish(mut self) -> Result<FilePreview, FileProblem> {
        if self.is_cut {
            self.text.push_str("\n[The rest is not shown.]\n");
        }
        match self.has_text {
            true => Ok(FilePreview {
                text: self.text,
                ..FilePreview::default()
            }),
            false => Err(FileProblem::NoText),
        }
    }
}
