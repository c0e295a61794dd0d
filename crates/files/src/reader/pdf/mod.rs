//! The text of PDF files, in the order in which it is drawn, with a mark before each page. A line with right-to-left text is
//! in the order in which it is read.

use std::time::{Duration, Instant};

use hayro_interpret::{
    Context, InterpreterCache, InterpreterSettings,
    hayro_syntax::{DecryptionError, LoadPdfError, Pdf, page::Page},
    interpret_page,
    kurbo::{Affine, Rect},
};
use parking_lot::Mutex;

use self::page_text::PageText;
use parlor_protocol::{FilePreview, FileProblem};

mod brackets;
mod direction;
mod form;
mod glyph_text;
mod line;
mod page_text;
mod reading_order;
#[cfg(test)]
mod tests;
mod text_string;

/// The time after which no further page is read. What was read is kept.
pub const READING_TIME: Duration = Duration::from_secs(10);

/// The pages that were read so far. Another thread may read them at any time.
#[derive(Debug, Default)]
pub struct ReadPages(Mutex<PagesText>);

#[derive(Clone, Debug, Default)]
struct PagesText {
    text: String,
    has_text: bool,
    /// The number of pages that were read, and of all.
    read: usize,
    count: usize,
    /// The fields of a form with their values.
    form: String,
    /// `true` if something is missing in the file.
    is_damaged: bool,
}

impl ReadPages {
    /// Adds the text of the next page of `count`.
    pub fn push(&self, found: &str, is_cut: bool, count: usize) {
        let mut pages = self.0.lock();
        pages.count = count;
        pages.read += 1;
        pages.has_text |= !found.is_empty();
        let number = pages.read;
        pages.text.push_str(&format!("[Page {number}]\n{found}\n"));
        if is_cut {
            let note = format!("[The rest of page {number} is not shown.]\n");
            pages.text.push_str(&note);
        }
    }

    /// Sets what is known of the file before its pages are read.
    fn start(&self, form: String, is_damaged: bool) {
        let mut pages = self.0.lock();
        (pages.form, pages.is_damaged) = (form, is_damaged);
    }

    /// Returns the size of the text in bytes.
    fn bytes(&self) -> usize {
        let pages = self.0.lock();
        pages.text.len() + pages.form.len()
    }

    /// Returns true before the first page was read.
    pub fn is_empty(&self) -> bool {
        self.0.lock().read == 0
    }

    /// Returns the text so far, with a note about pages that were not read.
    pub fn preview(&self) -> Result<FilePreview, FileProblem> {
        let PagesText {
            mut text,
            has_text,
            read,
            count,
            form,
            is_damaged,
        } = self.0.lock().clone();
        if !has_text && form.is_empty() {
            return Err(match is_damaged {
                true => FileProblem::Damaged,
                false => FileProblem::NoText,
            });
        }
        if read < count {
            let number = read + 1;
            text.push_str(&format!(
                "\n[Pages {number} to {count} of {count} are not shown.]\n"
            ));
        }
        if !form.is_empty() {
            text.push_str(&format!("\n[Form fields]\n{form}\n"));
        }
        if is_damaged {
            text.push_str("\n[The file is damaged: some of it may be missing here.]\n");
        }
        Ok(FilePreview {
            text,
            ..FilePreview::default()
        })
    }
}

/// The part at the end of a file in which the mark of the end is looked for, in bytes.
const END_BYTES: usize = 8 << 10;

/// Returns `true` if a file has its end, which padding may follow. One that was cut off has none.
fn has_end(data: &[u8]) -> bool {
    let is_content = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
    let content = data.iter().rposition(is_content).map_or(0, |last| last + 1);
    let data = &data[..content];
    let end = &data[data.len().saturating_sub(END_BYTES)..];
    end.windows(5).any(|part| part == b"%%EOF") || end.windows(9).any(|part| part == b"startxref")
}

/// Returns `true` if a page refers to a content that the file does not have.
fn lacks_content(page: &Page<'_>) -> bool {
    page.raw().contains_key("Contents") && page.page_stream().is_none()
}

/// Reads the text of a PDF file page by page.
pub fn read(data: Vec<u8>, max_bytes: usize, read: &ReadPages) -> Result<FilePreview, FileProblem> {
    let has_end = has_end(&data);
    let pdf = Pdf::new(data).map_err(|error| match error {
        LoadPdfError::Decryption(
            DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm,
        ) => FileProblem::Encrypted,
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid => FileProblem::Damaged,
    })?;
    let began = Instant::now();
    let cache = InterpreterCache::new();
    let pages = pdf.pages();
    let mut form = form::fields(&pdf);
    form.truncate(form.floor_char_boundary(max_bytes / 2));
    read.start(form, !has_end);
    for page in pages.iter() {
        if read.bytes() >= max_bytes || began.elapsed() >= READING_TIME {
            break;
        }
        if lacks_content(page) {
            read.0.lock().is_damaged = true;
        }
        let (width, height) = page.render_dimensions();
        let mut context = Context::new(
            Affine::IDENTITY,
            Rect::new(0.0, 0.0, width.into(), height.into()),
            &cache,
            pdf.xref(),
            InterpreterSettings::default(),
        );
        let room = max_bytes.saturating_sub(read.bytes());
        let mut page_text = PageText::new(room);
        interpret_page(page, &mut context, &mut page_text);
        let is_cut = page_text.is_cut;
        read.push(&page_text.finish(), is_cut, pages.len());
    }
    read.preview()
}
