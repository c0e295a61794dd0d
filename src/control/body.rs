//! Control text from behind its opening to its end: white space, maybe a fence, JSON, and what closes it.

use std::ops::Range;

use super::{
    is_space,
    json::{Scanner, Step},
    opening::{Kind, MAX_SPACE},
};

/// The longest word behind a fence, such as `json`.
const MAX_INFO: usize = 16;

/// Control text that is arriving. All of it is held until its end shows whether it is any.
#[derive(Clone, Debug)]
pub(super) struct Body {
    pub kind: Kind,
    /// It is a comment with metadata, and nothing stands before it on its line.
    pub begins_line: bool,
    /// All of it, as it came, the opening included.
    pub held: String,
    json: Range<usize>,
    /// How many backticks the fence around the JSON has; 0 if there is none.
    fence: usize,
    /// White space that came just now.
    space: usize,
    phase: Phase,
}

#[derive(Clone, Debug)]
enum Phase {
    /// The JSON or its fence begins next.
    Before,
    /// In the fence's backticks.
    Ticks,
    /// Behind them, on the same line.
    Info(usize),
    Json(Scanner),
    /// What closes it comes next; so much of that has come.
    After(usize),
}

impl Body {
    /// `held` is an opening of this kind.
    pub fn new(kind: Kind, held: String, begins_line: bool) -> Self {
        let mut body = Self {
            kind,
            begins_line,
            json: 0..0,
            fence: 0,
            space: 0,
            phase: Phase::Before,
            held,
        };
        // The opening of sources is a part of their JSON.
        if let Kind::Sources { fenced } = kind {
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
    pub fn is_json(&self) -> bool {
        matches!(self.phase, Phase::Json(_))
    }

    /// The JSON in it, once it has ended; else nothing.
    pub fn json(&self) -> &str {
        self.held.get(self.json.clone()).unwrap_or_default()
    }

    /// What has come behind its JSON.
    pub fn behind_json(&self) -> &str {
        &self.held[self.json.end..]
    }

    /// Takes the next character, unless it is wrong there.
    pub fn feed(&mut self, c: char) -> Step {
        let step = self.step(c);
        if step != Step::Wrong {
            self.held.push(c);
        }
        step
    }

    fn step(&mut self, c: char) -> Step {
        match &mut self.phase {
            Phase::Before if is_space(c) => self.skip(c),
            Phase::Before if c == '`' && self.fence == 0 && self.kind != Kind::Metadata => {
                self.fence = 1;
                self.phase = Phase::Ticks;
                Step::More
            }
            Phase::Before => self.begin_json(c),
            Phase::Ticks if c == '`' => {
                self.fence += 1;
                Step::More
            }
            // Fewer would be a code span.
            Phase::Ticks if self.fence < 3 => Step::Wrong,
            Phase::Ticks => {
                self.phase = Phase::Info(0);
                self.step(c)
            }
            Phase::Info(length) => match c {
                '\n' => {
                    self.space = 0;
                    self.phase = Phase::Before;
                    Step::More
                }
                c if *length < MAX_INFO && (c.is_ascii_alphanumeric() || is_space(c)) => {
                    *length += 1;
                    Step::More
                }
                _ => Step::Wrong,
            },
            Phase::Json(scanner) => match scanner.feed(c) {
                Step::End => {
                    self.json.end = self.held.len() + c.len_utf8();
                    self.space = 0;
                    self.phase = Phase::After(0);
                    if self.closing_length() == 0 {
                        Step::End
                    } else {
                        Step::More
                    }
                }
                step => step,
            },
            Phase::After(0) if is_space(c) => self.skip(c),
            Phase::After(closed) => {
                let at = *closed;
                *closed += 1;
                if self.closes(at, c) {
                    if at + 1 == self.closing_length() {
                        Step::End
                    } else {
                        Step::More
                    }
                } else {
                    Step::Wrong
                }
            }
        }
    }

    fn skip(&mut self, c: char) -> Step {
        self.space += c.len_utf8();
        if self.space > MAX_SPACE {
            Step::Wrong
        } else {
            Step::More
        }
    }

    fn begin_json(&mut self, c: char) -> Step {
        let fits = match self.kind {
            Kind::Values | Kind::Actions => c == '[',
            Kind::Payload(_) => matches!(c, '[' | '{'),
            Kind::Metadata | Kind::Sources { .. } => c == '{',
        };
        if !fits {
            return Step::Wrong;
        }
        let mut scanner = Scanner::default();
        let step = scanner.feed(c);
        self.json.start = self.held.len();
        self.phase = Phase::Json(scanner);
        step
    }

    fn closing_length(&self) -> usize {
        if self.kind == Kind::Metadata {
            "-->".len()
        } else {
            self.fence
        }
    }

    fn closes(&self, at: usize, c: char) -> bool {
        if self.kind == Kind::Metadata {
            "-->"[at..].starts_with(c)
        } else {
            c == '`'
        }
    }
}
