//! The text of the XML parts of office documents.

use std::io::{BufReader, Read};

use quick_xml::{
    Reader,
    escape::resolve_predefined_entity,
    events::{BytesStart, Event},
};

use super::{math::FormulaWriter, symbols::symbol};
use parlor_protocol::FileProblem;

/// The maximum number of spaces that one element stands for.
const MAX_SPACES: usize = 100;

/// The elements of a form of text documents.
pub struct TextForm {
    /// Elements whose text is shown: runs of a text, or its paragraphs.
    texts: &'static [&'static str],
    /// Elements that end a line.
    lines: &'static [&'static str],
    tabs: &'static [&'static str],
    /// Elements of which nothing is shown: what was deleted, what repeats something for old programs, and how a word is pronounced.
    skipped: &'static [&'static str],
}

pub const WORD: TextForm = TextForm {
    texts: &["w:t", "m:t"],
    lines: &["w:p", "w:br", "w:cr", "w:tr"],
    tabs: &["w:tab", "w:ptab", "w:tc"],
    skipped: &["mc:Fallback", "w:moveFrom", "w:tabs", "w:rPr", "w:pPr", "w:rt"],
};

pub const SLIDES: TextForm = TextForm {
    texts: &["a:t", "m:t"],
    lines: &["a:p", "a:br", "a:tr"],
    tabs: &["a:tc"],
    skipped: &["mc:Fallback"],
};

pub const OPEN_DOCUMENT: TextForm = TextForm {
    texts: &["text:p", "text:h"],
    lines: &["text:p", "text:h", "text:line-break", "table:table-row"],
    tabs: &["text:tab", "table:table-cell"],
    skipped: &[
        "text:tracked-changes",
        "office:annotation",
        "text:ruby-text",
        "svg:title",
        "svg:desc",
    ],
};

/// Appends the text of an XML document. Returns false if there was not enough room.
pub fn read_xml(
    source: impl Read,
    form: &TextForm,
    max_bytes: usize,
    text: &mut String,
) -> Result<bool, FileProblem> {
    let mut reader = Reader::from_reader(BufReader::new(source));
    let mut buffer = Vec::new();
    let mut writer = Writer {
        form,
        text,
        depth: 0,
        skipped: 0,
        note: None,
        formulas: FormulaWriter::default(),
    };
    loop {
        if writer.text.len() >= max_bytes {
            let cut = writer.text.floor_char_boundary(max_bytes);
            writer.text.truncate(cut);
            return Ok(false);
        }
        buffer.clear();
        let event = reader
            .read_event_into(&mut buffer)
            .map_err(|_| FileProblem::Damaged)?;
        match event {
            Event::Start(element) => writer.start(&element),
            Event::Empty(element) => {
                writer.start(&element);
                writer.end(element.name().into_inner());
            }
            Event::End(element) => writer.end(element.name().into_inner()),
            Event::Text(part) if writer.is_shown() => writer.text.push_str(&part.xml10_content()),
            Event::CData(part) if writer.is_shown() => writer.text.push_str(&part.xml10_content()),
            Event::GeneralRef(name) if writer.is_shown() => match name.resolve_char_ref() {
                Ok(Some(character)) => writer.text.push(character),
                // Custom entities are ignored: one could be very long.
                _ => {
                    let known = resolve_predefined_entity(&name.xml10_content()).unwrap_or_default();
                    writer.text.push_str(known);
                }
            },
            Event::Eof => return Ok(true),
            _ => {}
        }
    }
}

/// Writes the text of elements.
struct Writer<'a> {
    form: &'a TextForm,
    text: &'a mut String,
    /// The number of open elements whose text is shown.
    depth: usize,
    /// The number of open elements of which nothing is shown.
    skipped: usize,
    /// The place in the text at which a note within a paragraph begins.
    note: Option<usize>,
    formulas: FormulaWriter,
}

impl Writer<'_> {
    fn is_shown(&self) -> bool {
        self.depth > 0 && self.skipped == 0
    }

    fn start(&mut self, element: &BytesStart<'_>) {
        let name = element.name().into_inner();
        let value = |key: &str| attribute(element, key);
        if self.skipped > 0 || self.is_skipped(name, value) {
            self.skipped += 1;
            return;
        }
        if self.form.texts.contains(&name) {
            self.depth += 1;
        }
        if name.starts_with("m:") {
            self.formulas.start(name, value("m:val").as_deref(), self.text);
            return;
        }
        match name {
            "w:noBreakHyphen" => self.text.push('-'),
            "w:sym" => {
                let font = value("w:font").unwrap_or_default();
                let code = value("w:char").and_then(|code| u32::from_str_radix(&code, 16).ok());
                self.text.extend(code.map(|code| symbol(&font, code)));
            }
            // The places of notes, and the notes themselves.
            "w:footnoteReference" | "w:footnote" => self.push_note_mark("", value("w:id")),
            "w:endnoteReference" | "w:endnote" => self.push_note_mark("e", value("w:id")),
            "w:commentReference" | "w:comment" => self.push_note_mark("c", value("w:id")),
            "text:s" => {
                let count = value("text:c").and_then(|count| count.parse().ok()).unwrap_or(1);
                self.text.push_str(&" ".repeat(count.min(MAX_SPACES)));
            }
            "text:note" => {
                self.text.push_str(" [Note ");
                self.note = Some(self.text.len());
            }
            _ => {}
        }
    }

    /// Returns `true` for an element of which nothing is shown.
    fn is_skipped(&self, name: &str, value: impl Fn(&str) -> Option<String>) -> bool {
        match name {
            // The lines between a text and its notes.
            "w:footnote" | "w:endnote" => value("w:type").is_some_and(|kind| kind != "normal"),
            // The number of a slide.
            "a:fld" => value("type").is_some_and(|kind| kind == "slidenum"),
            name => self.form.skipped.contains(&name),
        }
    }

    fn push_note_mark(&mut self, kind: &str, id: Option<String>) {
        let id = id.unwrap_or_default();
        self.text.push_str(&format!("[^{kind}{id}]"));
    }

    fn end(&mut self, name: &str) {
        if self.skipped > 0 {
            self.skipped -= 1;
            return;
        }
        if self.form.texts.contains(&name) {
            self.depth = self.depth.saturating_sub(1);
        }
        if name.starts_with("m:") {
            self.formulas.end(name, self.text);
            return;
        }
        match name {
            "text:note-citation" if self.note.is_some() => self.text.push_str(": "),
            "text:note" => {
                if let Some(start) = self.note.take() {
                    let note = self.text.split_off(start.min(self.text.len()));
                    let words: Vec<&str> = note.split_whitespace().collect();
                    self.text.push_str(&words.join(" "));
                    self.text.push_str("] ");
                }
            }
            name => push_break(self.text, self.form, name),
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

/// Returns the value of an attribute.
fn attribute(element: &BytesStart<'_>, key: &str) -> Option<String> {
    let mut attributes = element.attributes().flatten();
    let found = attributes.find(|attribute| attribute.key.into_inner() == key)?;
    Some(found.value.into_owned())
}
