//! Control text after its opening, up to its end: whitespace, an optional fence, JSON, and the closing.

use std::ops::Range;

use super::{
    is_space,
    json_scanner::{ScanStep, Scanner},
    opening::{ControlKind, MAX_OPENING_SPACE},
};

/// The longest info string of a fence, such as `json`.
const MAX_FENCE_INFO: usize = 16;

/// Control text that is arriving. All of it is held until its end shows if it is valid.
#[derive(Clone, Debug)]
pub(super) struct PendingControl {
    pub kind: ControlKind,
    /// True for a comment with metadata that is first on its line.
    pub is_at_line_start: bool,
    /// The raw text so far, including the opening.
    pub held: String,
    json: Range<usize>,
    /// The number of backticks of the fence around the JSON. 0 without a fence.
    fence: usize,
    /// The length of the preceding whitespace.
    pending_space: usize,
    phase: ReadPhase,
}

#[derive(Clone, Debug)]
enum ReadPhase {
    /// The JSON or its fence is next.
    BeforeJson,
    /// The fence's backticks are being read.
    FenceTicks,
    /// The fence's info string is being read.
    FenceInfo(usize),
    Json(Scanner),
    /// The closing is next; the value is the length of it that has arrived.
    AfterJson(usize),
}

impl PendingControl {
    /// Creates the state after an opening of this kind, which is `held`.
    pub fn new(kind: ControlKind, held: String, is_at_line_start: bool) -> Self {
        let mut body = Self {
            kind,
            is_at_line_start,
            json: 0..0,
            fence: 0,
            pending_space: 0,
            phase: ReadPhase::BeforeJson,
            held,
        };
        // The opening of sources is part of their JSON.
        if let ControlKind::Sources { fenced } = kind {
            body.fence = if fenced { 3 } else { 0 };
            body.json.start = body.held.find('{').unwrap_or(0);
            let mut scanner = Scanner::default();
            for c in body.held[body.json.start..].chars() {
                scanner.feed(c);
            }
            body.phase = ReadPhase::Json(scanner);
        }
        body
    }

    /// Returns true if the JSON has begun.
    pub fn has_json(&self) -> bool {
        matches!(self.phase, ReadPhase::Json(_))
    }

    /// Returns the complete JSON, or an empty text before its end.
    pub fn json(&self) -> &str {
        self.held.get(self.json.clone()).unwrap_or_default()
    }

    /// Returns the text after the JSON.
    pub fn after_json(&self) -> &str {
        &self.held[self.json.end..]
    }

    /// Accepts the next character if it is valid here.
    pub fn feed(&mut self, c: char) -> ScanStep {
        let step = self.step(c);
        if step != ScanStep::Invalid {
            self.held.push(c);
        }
        step
    }

    fn step(&mut self, c: char) -> ScanStep {
        match &mut self.phase {
            ReadPhase::BeforeJson if is_space(c) => self.skip(c),
            ReadPhase::BeforeJson if c == '`' && self.fence == 0 && self.kind != ControlKind::Metadata => {
                self.fence = 1;
                self.phase = ReadPhase::FenceTicks;
                ScanStep::Continue
            }
            ReadPhase::BeforeJson => self.begin_json(c),
            ReadPhase::FenceTicks if c == '`' => {
                self.fence += 1;
                ScanStep::Continue
            }
            // Fewer backticks would be a code span.
            ReadPhase::FenceTicks if self.fence < 3 => ScanStep::Invalid,
            ReadPhase::FenceTicks => {
                self.phase = ReadPhase::FenceInfo(0);
                self.step(c)
            }
            ReadPhase::FenceInfo(length) => match c {
                '\n' => {
                    self.pending_space = 0;
                    self.phase = ReadPhase::BeforeJson;
                    ScanStep::Continue
                }
                c if *length < MAX_FENCE_INFO && (c.is_ascii_alphanumeric() || is_space(c)) => {
                    *length += 1;
                    ScanStep::Continue
                }
                _ => ScanStep::Invalid,
            },
            ReadPhase::Json(scanner) => match scanner.feed(c) {
                ScanStep::End => {
                    self.json.end = self.held.len() + c.len_utf8();
                    self.pending_space = 0;
                    self.phase = ReadPhase::AfterJson(0);
                    if self.closing_length() == 0 {
                        ScanStep::End
                    } else {
                        ScanStep::Continue
                    }
                }
                step => step,
            },
            ReadPhase::AfterJson(0) if is_space(c) => self.skip(c),
            ReadPhase::AfterJson(closed) => {
                let at = *closed;
                *closed += 1;
                if self.is_closing_char(at, c) {
                    if at + 1 == self.closing_length() {
                        ScanStep::End
                    } else {
                        ScanStep::Continue
                    }
                } else {
                    ScanStep::Invalid
                }
            }
        }
    }

    fn skip(&mut self, c: char) -> ScanStep {
        self.pending_space += c.len_utf8();
        if self.pending_space > MAX_OPENING_SPACE {
            ScanStep::Invalid
        } else {
            ScanStep::Continue
        }
    }

    fn begin_json(&mut self, c: char) -> ScanStep {
        let fits = match self.kind {
            ControlKind::Values | ControlKind::Actions => c == '[',
            ControlKind::Payload(_) => matches!(c, '[' | '{'),
            ControlKind::Metadata | ControlKind::Sources { .. } => c == '{',
        };
        if !fits {
            return ScanStep::Invalid;
        }
        let mut scanner = Scanner::default();
        let step = scanner.feed(c);
        self.json.start = self.held.len();
        self.phase = ReadPhase::Json(scanner);
        step
    }

    fn closing_length(&self) -> usize {
        if self.kind == ControlKind::Metadata {
            "-->".len()
        } else {
            self.fence
        }
    }

    fn is_closing_char(&self, at: usize, c: char) -> bool {
        if self.kind == ControlKind::Metadata {
            "-->"[at..].starts_with(c)
        } else {
            c == '`'
        }
    }
}
