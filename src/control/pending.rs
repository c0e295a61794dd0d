//! Control text from behind its opening to its end: white space, maybe a fence, JSON, and what closes it.

use std::ops::Range;

use super::{
    is_space,
    json_scanner::{ScanStep, Scanner},
    opening::{ControlKind, MAX_OPENING_SPACE},
};

/// The longest word behind a fence, such as `json`.
const MAX_FENCE_INFO: usize = 16;

/// Control text that is arriving. All of it is held until its end shows whether it is any.
#[derive(Clone, Debug)]
pub(super) struct PendingControl {
    pub kind: ControlKind,
    /// It is a comment with metadata, and nothing stands before it on its line.
    pub is_at_line_start: bool,
    /// All of it, as it came, the opening included.
    pub held: String,
    json: Range<usize>,
    /// How many backticks the fence around the JSON has; 0 if there is none.
    fence: usize,
    /// White space that came just now.
    pending_space: usize,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// The JSON or its fence begins next.
    BeforeJson,
    /// In the fence's backticks.
    FenceTicks,
    /// Behind them, on the same line.
    FenceInfo(usize),
    Json(Scanner),
    /// What closes it comes next; so much of that has come.
    AfterJson(usize),
}

impl PendingControl {
    /// `held` is an opening of this kind.
    pub fn new(kind: ControlKind, held: String, begins_line: bool) -> Self {
        let mut body = Self {
            kind,
            is_at_line_start: begins_line,
            json: 0..0,
            fence: 0,
            pending_space: 0,
            phase: Phase::BeforeJson,
            held,
        };
        // The opening of sources is a part of their JSON.
        if let ControlKind::Sources { fenced } = kind {
            body.fence = if fenced { 3 } else { 0 };
            body.json.start = body.held.find('{').unwrap_or(0);
            let mut scanner = Scanner::default();
            for c in body.held[body.json.start..].chars() {
                scanner.feed(c);
            }
            body.phase = Phase::Json(scanner);
        }
        body
    }

    /// Whether its JSON has begun.
    pub fn has_json(&self) -> bool {
        matches!(self.phase, Phase::Json(_))
    }

    /// The JSON in it, once it has ended; else nothing.
    pub fn json(&self) -> &str {
        self.held.get(self.json.clone()).unwrap_or_default()
    }

    /// What has come behind its JSON.
    pub fn after_json(&self) -> &str {
        &self.held[self.json.end..]
    }

    /// Takes the next character, unless it is wrong there.
    pub fn feed(&mut self, c: char) -> ScanStep {
        let step = self.step(c);
        if step != ScanStep::Invalid {
            self.held.push(c);
        }
        step
    }

    fn step(&mut self, c: char) -> ScanStep {
        match &mut self.phase {
            Phase::BeforeJson if is_space(c) => self.skip(c),
            Phase::BeforeJson if c == '`' && self.fence == 0 && self.kind != ControlKind::Metadata => {
                self.fence = 1;
                self.phase = Phase::FenceTicks;
                ScanStep::Continue
            }
            Phase::BeforeJson => self.begin_json(c),
            Phase::FenceTicks if c == '`' => {
                self.fence += 1;
                ScanStep::Continue
            }
            // Fewer would be a code span.
            Phase::FenceTicks if self.fence < 3 => ScanStep::Invalid,
            Phase::FenceTicks => {
                self.phase = Phase::FenceInfo(0);
                self.step(c)
            }
            Phase::FenceInfo(length) => match c {
                '\n' => {
                    self.pending_space = 0;
                    self.phase = Phase::BeforeJson;
                    ScanStep::Continue
                }
                c if *length < MAX_FENCE_INFO && (c.is_ascii_alphanumeric() || is_space(c)) => {
                    *length += 1;
                    ScanStep::Continue
                }
                _ => ScanStep::Invalid,
            },
            Phase::Json(scanner) => match scanner.feed(c) {
                ScanStep::End => {
                    self.json.end = self.held.len() + c.len_utf8();
                    self.pending_space = 0;
                    self.phase = Phase::AfterJson(0);
                    if self.closing_length() == 0 {
                        ScanStep::End
                    } else {
                        ScanStep::Continue
                    }
                }
                step => step,
            },
            Phase::AfterJson(0) if is_space(c) => self.skip(c),
            Phase::AfterJson(closed) => {
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
        self.phase = Phase::Json(scanner);
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
