//! Office documents: containers with a workbook, a text or slides.

use std::io::{BufReader, Cursor, Read};

use quick_xml::{Reader, escape::resolve_predefined_entity, events::Event};
use zip::ZipArchive;

use super::{
    document::{Document, PreviewLimits},
    slides::slide_names,
    workbook::{self, WorkbookKind},
};
use crate::{
    files::media_type::{DOCX, ODS, ODT, PPTX, XLS, XLSB, XLSX},
    protocol::{FilePreview, FileProblem},
};

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
        let text = read_parts(&mut archive, &["word/document.xml".into()], &WORD, limits.bytes);
        return Document::new(DOCX, text);
    }
    if has(&archive, "ppt/presentation.xml") {
        let slides = slide_names(&mut archive);
        return Document::new(PPTX, read_parts(&mut archive, &slides, &SLIDES, limits.bytes));
    }
    let mut media_type = String::new();
    if let Ok(entry) = archive.by_name("mimetype") {
        let _ = entry.take(200).read_to_string(&mut media_type);
    }
    match media_type.trim() {
        ODS => workbook(WorkbookKind::Ods, ODS, archive),
        ODT => {
            let text = read_parts(
                &mut archive,
                &["content.xml".into()],
                &OPEN_DOCUMENT,
                limits.bytes,
            );
            Document::new(ODT, text)
        }
        _ => Document::UNUSABLE,
    }
}

/// The elements of a form of text documents.
struct TextForm {
    /// Elements whose text is shown: runs of a text, or its paragraphs.
    texts: &'static [&'static str],
    /// Elements that end a line.
    lines: &'static [&'static str],
    tabs: &'static [&'static str],
    /// The mark before each part, with its number.
    part: Option<&'static str>,
}

const WORD: TextForm = TextForm {
    texts: &["w:t"],
    lines: &["w:p", "w:br", "w:cr", "w:tr"],
    tabs: &["w:tab", "w:tc"],
    part: None,
};

const SLIDES: TextForm = TextForm {
    texts: &["a:t"],
    lines: &["a:p", "a:br", "a:tr"],
    tabs: &["a:tc"],
    part: Some("Slide"),
};

const OPEN_DOCUMENT: TextForm = TextForm {
    texts: &["text:p", "text:h"],
    lines: &["text:p", "text:h", "text:line-break", "table:table-row"],
    tabs: &["text:tab", "table:table-cell"],
    part: None,
};

/// Reads the text of the named parts of an archive, as far as there is room.
fn read_parts(
    archive: &mut Archive,
    names: &[String],
    form: &TextForm,
    max_bytes: usize,
) -> Result<FilePreview, FileProblem> {
    let mut text = String::new();
    let mut has_text = false;
    for (index, name) in names.iter().enumerate() {
        let Ok(part) = archive.by_name(name) else { continue };
        if let Some(mark) = form.part {
            text.push_str(&format!("[{mark} {}]\n", index + 1));
        }
        let before = text.len();
        let is_whole = read_xml(part, form, max_bytes, &mut text)?;
        has_text |= !text[before..].trim().is_empty();
        if !is_whole {
            text.push_str("\n[The rest is not shown.]\n");
            break;
        }
    }
    match has_text {
        true => Ok(FilePreview {
            text,
            ..FilePreview::default()
        }),
        false => Err(FileProblem::NoText),
    }
}

/// Appends the text of an XML document. Returns false if there was not enough room.
fn read_xml(
    source: impl Read,
    form: &TextForm,
    max_bytes: usize,
    text: &mut String,
) -> Result<bool, FileProblem> {
    let mut reader = Reader::from_reader(BufReader::new(source));
    let mut buffer = Vec::new();
    let mut depth = 0_usize;
    loop {
        if text.len() >= max_bytes {
            text.truncate(text.floor_char_boundary(max_bytes));
            return Ok(false);
        }
        buffer.clear();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|_| FileProblem::Damaged)?;
        match event {
            Event::Start(element) if form.texts.contains(&element.name().into_inner()) => depth += 1,
            Event::Text(part) if depth > 0 => text.push_str(&part.xml10_content()),
            Event::CData(part) if depth > 0 => text.push_str(&part.xml10_content()),
            Event::GeneralRef(name) if depth > 0 => match name.resolve_char_ref() {
                Ok(Some(character)) => text.push(character),
                // Custom entities are ignored: one could be very long.
                _ => text.push_str(resolve_predefined_entity(&name.xml10_content()).unwrap_or_default()),
            },
            Event::End(element) => {
                let name = element.name().into_inner();
                if form.texts.contains(&name) {
                    depth = depth.saturating_sub(1);
                }
                push_break(text, form, name);
            }
            Event::Empty(element) => push_break(text, form, element.name().into_inner()),
            Event::Eof => return Ok(true),
            _ => {}
        }
    }
}

fn push_break(text: &mut String, form: &TextForm, name: &str) {
    if form.lines.contains(&name) {
        // A paragraph in a cell does not end its row.
        text.push('\n');
    } else if form.tabs.contains(&name) {
        if text.ends_with('\n') {
            text.pop();
        }
        text.push('\t');
    }
}
