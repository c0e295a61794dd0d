//! The text of PDF files, in the order in which it is drawn, with a mark before each page.

use std::time::{Duration, Instant};

use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask,
    font::{Glyph, GlyphRun},
    hayro_cmap::BfString,
    hayro_syntax::{DecryptionError, LoadPdfError, Pdf},
    interpret_page,
    kurbo::{Affine, BezPath, Point, Rect, Vec2},
};
use parking_lot::Mutex;

use crate::protocol::{FilePreview, FileProblem};

/// The time after which no further page is read. What was read is kept.
pub const READING_TIME: Duration = Duration::from_secs(10);

/// The units of a glyph's space for its em.
const UNITS_PER_EM: f64 = 1000.0;

/// The minimum gap between glyphs that is a space, in ems.
const MIN_SPACE_GAP: f64 = 0.17;

/// The minimum gap between glyphs that separates columns, in ems.
const MIN_COLUMN_GAP: f64 = 2.0;

/// The minimum distance between the baselines of two lines, in ems.
const MIN_LINE_DISTANCE: f64 = 0.5;

/// The minimum distance between baselines at which a paragraph ends, in ems.
const MIN_PARAGRAPH_DISTANCE: f64 = 1.9;

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

    /// Returns the size of the pages' text in bytes.
    fn bytes(&self) -> usize {
        self.0.lock().text.len()
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
        } = self.0.lock().clone();
        if !has_text {
            return Err(FileProblem::NoText);
        }
        if read < count {
            let number = read + 1;
            text.push_str(&format!(
                "\n[Pages {number} to {count} of {count} are not shown.]\n"
            ));
        }
        Ok(FilePreview {
            text,
            ..FilePreview::default()
        })
    }
}

/// Reads the text of a PDF file page by page.
pub fn read(data: Vec<u8>, max_bytes: usize, read: &ReadPages) -> Result<FilePreview, FileProblem> {
    let pdf = Pdf::new(data).map_err(|error| match error {
        LoadPdfError::Decryption(
            DecryptionError::PasswordProtected | DecryptionError::UnsupportedAlgorithm,
        ) => FileProblem::Encrypted,
        LoadPdfError::Decryption(_) | LoadPdfError::Invalid => FileProblem::Damaged,
    })?;
    let began = Instant::now();
    let cache = InterpreterCache::new();
    let pages = pdf.pages();
    for page in pages.iter() {
        if read.bytes() >= max_bytes || began.elapsed() >= READING_TIME {
            break;
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
        read.push(page_text.text.trim(), page_text.is_cut, pages.len());
    }
    read.preview()
}

/// The position after a glyph.
#[derive(Clone, Copy)]
struct Pen {
    start: Point,
    end: Point,
    /// The direction of its baseline.
    direction: Vec2,
    size: f64,
}

/// Collects the text of a page from its glyphs: a page has no words, and often no spaces.
struct PageText {
    text: String,
    /// The maximum size of the text, in bytes.
    room: usize,
    is_cut: bool,
    pen: Option<Pen>,
    /// The first place and the length of the last run, which is drawn again for an outline or as a shadow.
    last_run: Option<(Point, usize)>,
}

impl PageText {
    fn new(room: usize) -> Self {
        Self {
            text: String::new(),
            room,
            is_cut: false,
            pen: None,
            last_run: None,
        }
    }

    fn push_glyph(&mut self, glyph: &Glyph<'_>, transform: Affine) {
        let Some(text) = unicode(glyph) else { return };
        if self.text.len() + text.len() > self.room {
            self.is_cut = true;
            return;
        }
        let start = transform * Point::ZERO;
        let up = transform * Point::new(0.0, UNITS_PER_EM) - start;
        let along = transform * Point::new(UNITS_PER_EM, 0.0) - start;
        let size = up.hypot();
        let advance = match glyph {
            Glyph::Outline(glyph) => glyph.advance_width(),
            Glyph::Type3(_) => None,
        };
        let end = match advance {
            Some(width) => transform * Point::new(width.into(), 0.0),
            None => start + along * 0.5,
        };
        if !(size.is_finite() && size > 0.0 && end.is_finite()) {
            return;
        }
        let pen = Pen {
            start,
            end,
            direction: along / along.hypot().max(f64::MIN_POSITIVE),
            size,
        };
        if let Some(last) = self.pen {
            self.push_gap(last, pen);
        }
        self.pen = Some(pen);
        let is_space = text.chars().all(char::is_whitespace);
        match is_space {
            true => self.push_space(" "),
            false => self.text.push_str(&text),
        }
    }

    /// Appends the gap between two glyphs: nothing, a space, or the end of a line or paragraph.
    fn push_gap(&mut self, last: Pen, next: Pen) {
        let size = last.size.max(next.size);
        let step = next.start - last.end;
        let along = step.dot(last.direction) / size;
        let across = step.cross(last.direction).abs() / size;
        // A heading over a smaller text is not one line with it.
        let is_turned = last.direction.dot(next.direction) < 0.9;
        if across > MIN_PARAGRAPH_DISTANCE || is_turned {
            self.push_space("\n\n");
        } else if across > MIN_LINE_DISTANCE || along < -MIN_COLUMN_GAP {
            self.push_space("\n");
        } else if along > MIN_COLUMN_GAP {
            self.push_space("\t");
        } else if along > MIN_SPACE_GAP {
            self.push_space(" ");
        }
    }

    /// Appends whitespace, unless more of it is there.
    fn push_space(&mut self, space: &str) {
        let shown = self.text.trim_end_matches([' ', '\t']).len();
        if space.starts_with('\n') {
            self.text.truncate(shown);
            let ends = self.text.bytes().rev().take_while(|byte| *byte == b'\n').count();
            for _ in ends..space.len() {
                self.text.push('\n');
            }
        } else if shown == self.text.len() && !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push_str(space);
        }
    }
}

/// Returns the text of a glyph without characters that can't be shown.
fn unicode(glyph: &Glyph<'_>) -> Option<String> {
    let text = match glyph.as_unicode() {
        Some(BfString::Char(c)) => c.to_string(),
        Some(BfString::String(text)) => text,
        // Some fonts do not name their quotes and dashes.
        None => {
            let code = u8::try_from(glyph.char_code()).ok()?;
            code.is_ascii_punctuation()
                .then(|| char::from(code).to_string())?
        }
    };
    let is_shown = |c: &char| !c.is_control() && *c != '\u{fffd}' && *c != '\u{ad}';
    let shown: String = text.chars().filter(is_shown).collect();
    (!shown.is_empty()).then_some(shown)
}

impl Device<'_> for PageText {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let place = |glyph: &hayro_interpret::font::PositionedGlyph<'_>| props.transform * glyph.transform();
        let Some(first) = run.glyphs().first() else { return };
        let start = place(first) * Point::ZERO;
        let size = (place(first) * Point::new(0.0, UNITS_PER_EM) - start).hypot();
        let is_again = self
            .last_run
            .is_some_and(|(last, count)| count == run.glyphs().len() && (start - last).hypot() < size * 0.1);
        self.last_run = Some((start, run.glyphs().len()));
        if is_again {
            return;
        }
        for glyph in run.glyphs() {
            self.push_glyph(glyph, place(glyph));
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
