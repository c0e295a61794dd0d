//! The text of a page from its glyphs: a page has no words, often no spaces, and right-to-left text in any order.

use hayro_interpret::{
    BlendMode, ClipPath, Device, DrawMode, DrawProps, Image, ImageDrawProps, SoftMask,
    font::{Glyph, GlyphRun, PositionedGlyph},
    hayro_syntax::object::{self as pdf_object, Dict},
    kurbo::{Affine, BezPath, Point, Shape, Vec2},
};

use super::{
    brackets::PairCounts,
    direction::{Direction, WordCounts},
    glyph_text::{is_mark, is_shown, unicode, with_letters},
    line::{Line, LineEnds, PlacedGlyph, line_words},
    text_string,
};

/// The units of a glyph's space for its em.
const UNITS_PER_EM: f64 = 1000.0;

/// The minimum gap between glyphs that is a space, in ems.
pub const MIN_SPACE_GAP: f64 = 0.17;

/// The minimum gap between glyphs that separates columns, in ems.
pub const MIN_COLUMN_GAP: f64 = 2.0;

/// The minimum distance between the baselines of two lines, in ems.
const MIN_LINE_DISTANCE: f64 = 0.5;

/// The minimum distance between baselines at which a paragraph ends, in ems.
const MIN_PARAGRAPH_DISTANCE: f64 = 1.9;

/// The maximum distance of a combining mark from the baseline of its letter, in ems.
const MAX_MARK_DISTANCE: f64 = 1.5;

/// The maximum advance of a combining mark, in ems.
const MAX_MARK_ADVANCE: f64 = 0.1;

/// The maximum distance between the baselines of joined letters in one line of Arabic script, in ems: Nastaliq slopes.
const MAX_SLOPE_DISTANCE: f64 = 0.9;

/// The maximum gap between joined letters, in ems.
const MAX_JOINED_GAP: f64 = 0.35;

/// The maximum size of a text that stands for glyphs, in bytes.
const MAX_REPLACED_BYTES: usize = 4096;

/// The gap between two glyphs that follow each other in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    None,
    Space,
    Column,
    /// A step back in the same line.
    Back,
    Line,
    Paragraph,
}

impl Gap {
    /// The text of the gap.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Space => " ",
            Self::Column => "\t",
            Self::Back | Self::Line => "\n",
            Self::Paragraph => "\n\n",
        }
    }
}

/// The place of a glyph.
#[derive(Clone, Copy)]
struct Pen {
    start: Point,
    end: Point,
    /// The direction of its baseline.
    direction: Vec2,
    /// The direction of its baseline to the right, as its top is seen.
    rightwards: Vec2,
    size: f64,
    is_right_to_left: bool,
}

/// The first place, the first code and the length of a run.
#[derive(Clone, Copy)]
struct DrawnRun {
    start: Point,
    code: u32,
    count: usize,
}

/// The text that stands for the glyphs of a marked content, and of those in it.
struct ReplacedText {
    text: String,
    /// The number of open marked contents around it.
    depth: usize,
    /// `true` after the first glyph, which has the text.
    is_used: bool,
}

/// Collects the text of a page from its glyphs.
pub struct PageText {
    /// The lines that ended, with the gap before each.
    lines: Vec<(Gap, Line)>,
    current: Vec<PlacedGlyph>,
    /// The gap before the current line.
    gap: Gap,
    bytes: usize,
    /// The maximum size of the text, in bytes.
    room: usize,
    pub is_cut: bool,
    pen: Option<Pen>,
    words: WordCounts,
    /// The ends of all lines.
    ends: LineEnds,
    /// The number of open marked contents.
    depth: usize,
    /// The text of the outermost open marked content that has one.
    replaced: Option<ReplacedText>,
    /// The last run, which is drawn again for an outline or as a shadow.
    last_run: Option<DrawnRun>,
}

impl PageText {
    pub fn new(room: usize) -> Self {
        Self {
            lines: Vec::new(),
            current: Vec::new(),
            gap: Gap::None,
            bytes: 0,
            room,
            is_cut: false,
            pen: None,
            words: WordCounts::default(),
            ends: LineEnds::default(),
            depth: 0,
            replaced: None,
            last_run: None,
        }
    }

    /// Returns the text of the page.
    pub fn finish(mut self) -> String {
        self.end_line(Gap::None);
        let WordCounts { left, right } = self.words;
        let direction = match right > 0 && right >= left {
            true => Direction::RightToLeft,
            false => Direction::LeftToRight,
        };
        let ends = self.ends;
        let ordered = |(gap, line): (Gap, Line)| (gap, line.ordered(direction, ends));
        let lines: Vec<_> = self.lines.into_iter().map(ordered).collect();
        let mut pairs = PairCounts::default();
        for (_, line) in &lines {
            pairs.add(line.pairs());
        }
        let are_named_by_looks = pairs.are_named_by_looks().unwrap_or(true);
        let mut text = String::new();
        for (gap, line) in lines {
            push_space(&mut text, gap.as_str());
            line.push_to(&mut text, are_named_by_looks);
        }
        text.trim().to_owned()
    }

    fn push_glyph(&mut self, glyph: &Glyph<'_>, transform: Affine) {
        let is_replaced = self.replaced.is_some();
        let text = match &mut self.replaced {
            Some(replaced) if replaced.is_used => return self.extend_glyph(glyph, transform),
            Some(replaced) => {
                replaced.is_used = true;
                Some(replaced.text.clone())
            }
            None => unicode(glyph),
        };
        let Some(text) = text else { return };
        if self.bytes + text.len() > self.room {
            self.is_cut = true;
            return;
        }
        let mut placed = PlacedGlyph::new(text);
        if is_replaced {
            placed.looks = unicode(glyph);
            placed.is_as_typed = true;
        }
        let has_mark = is_mark(&placed.text);
        let Some(mut pen) = pen(glyph, has_mark, transform) else {
            return;
        };
        pen.is_right_to_left = placed.kind.is_right();
        // The ends of a line that is read from its right.
        let along = |point: Point| point.to_vec2().dot(pen.rightwards);
        let (start, end) = (along(pen.start), along(pen.end));
        (placed.left, placed.right, placed.size) = (start.min(end), start.max(end), pen.size);
        let advance = (pen.end - pen.start).hypot() / pen.size;
        placed.is_mark = has_mark && advance < MAX_MARK_ADVANCE;
        if placed.is_mark {
            placed.ink = ink(glyph, transform).map(along);
        }
        let is_of_line = placed.is_mark
            && self.pen.is_some_and(|last| {
                let step = pen.start - last.end;
                let (along, across) = (step.dot(last.direction), step.cross(last.direction));
                along.abs().max(across.abs()) < MAX_MARK_DISTANCE * last.size
            });
        if !is_of_line {
            let gap = self.pen.map_or(Gap::None, |last| gap(last, pen));
            match gap {
                Gap::Line | Gap::Paragraph => self.end_line(gap),
                gap => placed.gap = gap,
            }
            self.pen = Some(pen);
        }
        self.bytes += placed.text.len() + placed.gap.as_str().len();
        self.current.push(placed);
    }

    /// Extends the last glyph, which has the text of this one too.
    fn extend_glyph(&mut self, glyph: &Glyph<'_>, transform: Affine) {
        let Some(mut pen) = pen(glyph, true, transform) else {
            return;
        };
        let (Some(placed), Some(last)) = (self.current.last_mut(), self.pen) else {
            return;
        };
        let along = |point: Point| point.to_vec2().dot(last.rightwards);
        let (start, end) = (along(pen.start), along(pen.end));
        if gap(last, pen) < Gap::Back {
            placed.left = placed.left.min(start.min(end));
            placed.right = placed.right.max(start.max(end));
        }
        pen.is_right_to_left = last.is_right_to_left;
        if start != end {
            self.pen = Some(pen);
        }
    }

    /// Ends the current line. `gap` is that after it.
    fn end_line(&mut self, gap: Gap) {
        let glyphs = std::mem::take(&mut self.current);
        if !glyphs.is_empty() {
            self.words.add(line_words(&glyphs));
            self.ends.add(LineEnds::from_glyphs(&glyphs));
            self.lines.push((self.gap, Line::new(glyphs)));
        }
        self.bytes += gap.as_str().len();
        self.gap = gap;
    }
}

/// Returns the place of a glyph; `None` if it has none.
fn pen(glyph: &Glyph<'_>, is_mark: bool, transform: Affine) -> Option<Pen> {
    let start = transform * Point::ZERO;
    let up = transform * Point::new(0.0, UNITS_PER_EM) - start;
    let along = transform * Point::new(UNITS_PER_EM, 0.0) - start;
    let size = up.hypot();
    let advance = match glyph {
        Glyph::Outline(glyph) => glyph.advance_width(),
        Glyph::Type3(glyph) => glyph.advance_width().filter(|width| is_mark || *width != 0.0),
    };
    let end = match advance {
        Some(width) => transform * Point::new(width.into(), 0.0),
        None => start + along * 0.5,
    };
    let direction = along / along.hypot().max(f64::MIN_POSITIVE);
    // Text recognition mirrors right-to-left text, so that its glyphs follow each other to the left.
    let is_mirrored = matches!(glyph, Glyph::Outline(_)) && up.cross(direction) > 0.0;
    (size.is_finite() && size > 0.0 && end.is_finite()).then_some(Pen {
        start,
        end,
        direction,
        rightwards: if is_mirrored { -direction } else { direction },
        size,
        is_right_to_left: false,
    })
}

/// Returns the gap between two glyphs.
fn gap(last: Pen, next: Pen) -> Gap {
    let size = last.size.max(next.size);
    let step = next.start - last.end;
    let along = step.dot(last.direction) / size;
    let across = step.cross(last.direction).abs() / size;
    // A heading over a smaller text is not one line with it.
    let turn = last.direction.dot(next.direction);
    let is_mirrored = turn < 0.0 && (last.is_right_to_left || next.is_right_to_left);
    let is_turned = turn.abs() < 0.9 || turn < 0.0 && !is_mirrored;
    let is_joined = || {
        let between = |pen: Pen| {
            let (start, end) = (
                pen.start.to_vec2().dot(last.rightwards),
                pen.end.to_vec2().dot(last.rightwards),
            );
            (start.min(end), start.max(end))
        };
        let ((left, right), (next_left, next_right)) = (between(last), between(next));
        last.is_right_to_left
            && next.is_right_to_left
            && across < MAX_SLOPE_DISTANCE
            && (next_left - right).max(left - next_right).abs() / size < MAX_JOINED_GAP
    };
    match () {
        () if across > MIN_PARAGRAPH_DISTANCE || is_turned => Gap::Paragraph,
        () if across > MIN_LINE_DISTANCE && !is_joined() => Gap::Line,
        () if along < -MIN_COLUMN_GAP => Gap::Back,
        () if along > MIN_COLUMN_GAP => Gap::Column,
        () if along > MIN_SPACE_GAP => Gap::Space,
        () => Gap::None,
    }
}

/// Appends whitespace, unless more of it is there.
pub fn push_space(text: &mut String, space: &str) {
    let shown = text.trim_end_matches([' ', '\t']).len();
    if space.starts_with('\n') {
        text.truncate(shown);
        let ends = text.bytes().rev().take_while(|byte| *byte == b'\n').count();
        for _ in ends..space.len() {
            text.push('\n');
        }
    } else if shown == text.len() && !text.is_empty() && !text.ends_with('\n') {
        text.push_str(space);
    }
}

/// Returns the centre of what a glyph draws.
fn ink(glyph: &Glyph<'_>, transform: Affine) -> Option<Point> {
    let Glyph::Outline(glyph) = glyph else { return None };
    let bounds = glyph.outline().bounding_box();
    (bounds.area() > 0.0).then(|| transform * bounds.center())
}

impl Device<'_> for PageText {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        let place = |glyph: &PositionedGlyph<'_>| props.transform * glyph.transform();
        let Some(first) = run.glyphs().first() else { return };
        let start = place(first) * Point::ZERO;
        let size = (place(first) * Point::new(0.0, UNITS_PER_EM) - start).hypot();
        let drawn = DrawnRun {
            start,
            code: first.char_code(),
            count: run.glyphs().len(),
        };
        let is_again = self.last_run.is_some_and(|last| {
            (last.count, last.code) == (drawn.count, drawn.code) && (start - last.start).hypot() < size * 0.1
        });
        self.last_run = Some(drawn);
        if is_again {
            return;
        }
        for glyph in run.glyphs() {
            self.push_glyph(glyph, place(glyph));
        }
    }

    fn begin_marked_content(&mut self, _tag: &[u8], properties: Option<&Dict<'_>>) {
        let depth = self.depth;
        self.depth += 1;
        // The text of a content in it is never used.
        if self.replaced.is_some() {
            return;
        }
        let text = properties.and_then(|properties| properties.get::<pdf_object::String<'_>>("ActualText"));
        self.replaced = text.and_then(|text| {
            let text = text_string::decode(text.as_bytes());
            // A hyphen at the end of a line is shown.
            let is_hyphen = text == "\u{ad}";
            let is_small = text.len() <= MAX_REPLACED_BYTES;
            (is_small && !is_hyphen).then(|| ReplacedText {
                text: with_letters(text.chars().filter(|c| is_shown(*c)).collect()),
                depth,
                is_used: false,
            })
        });
    }

    fn end_marked_content(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        self.replaced.take_if(|replaced| replaced.depth == self.depth);
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}
