//! The openings of control text.

use super::Marker;

/// The maximum whitespace inside an opening: more than a model writes, and little enough to be held back.
pub(super) const MAX_OPENING_SPACE: usize = 64;

/// The kind of control text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ControlKind {
    /// `SUGGESTED_VALUES: […]`
    Values,
    /// `SUGGESTED_ACTIONS: […]`
    Actions,
    /// The page's marker with this index, followed by JSON.
    Payload(usize),
    /// `<!-- METADATA: {…} -->`
    Metadata,
    /// `{"sources": […]}`, alone or in a fence.
    Sources { fenced: bool },
}

/// The context before a possible opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineContext {
    /// True if the line has only whitespace before this position.
    pub is_line_start: bool,
    /// True if the preceding character does not belong to the same word.
    pub is_word_start: bool,
}

/// The result of matching a text with the openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpeningMatch {
    Found(ControlKind),
    Partial,
    No,
}

/// All possible openings.
#[derive(Clone, Debug)]
pub(super) struct Openings {
    all: Vec<Opening>,
    /// The first characters of all openings.
    first_chars: String,
}

#[derive(Clone, Debug)]
struct Opening {
    kind: ControlKind,
    required: LineContext,
    parts: Vec<OpeningPart>,
}

#[derive(Clone, Debug)]
enum OpeningPart {
    Text(String),
    /// Optional whitespace.
    Space,
    /// Whitespace with a line end.
    LineBreak,
}

const ANYWHERE: LineContext = LineContext {
    is_line_start: false,
    is_word_start: false,
};
const AT_WORD: LineContext = LineContext {
    is_line_start: false,
    is_word_start: true,
};
const AT_LINE: LineContext = LineContext {
    is_line_start: true,
    is_word_start: true,
};

impl Openings {
    pub fn new(markers: &[Marker]) -> Self {
        let mut openings = Vec::new();
        let mut add = |kind, needs, parts| {
            openings.push(Opening {
                kind,
                required: needs,
                parts,
            })
        };
        for text in spellings("SUGGESTED_VALUES:") {
            add(ControlKind::Values, AT_LINE, vec![OpeningPart::Text(text)]);
        }
        for text in spellings("SUGGESTED_ACTIONS:") {
            add(ControlKind::Actions, AT_LINE, vec![OpeningPart::Text(text)]);
        }
        for (index, marker) in markers.iter().enumerate() {
            for text in spellings(&marker.marker) {
                add(
                    ControlKind::Payload(index),
                    AT_WORD,
                    vec![OpeningPart::Text(text)],
                );
            }
        }
        let text = |text: &str| OpeningPart::Text(text.into());
        let metadata = vec![text("<!--"), OpeningPart::Space, text("METADATA:")];
        add(ControlKind::Metadata, ANYWHERE, metadata);
        for word in ["metadata:", "Metadata:"] {
            add(
                ControlKind::Metadata,
                AT_LINE,
                vec![text("<!--"), OpeningPart::Space, text(word)],
            );
        }
        let sources = || {
            [
                text("{"),
                OpeningPart::Space,
                text("\"sources\""),
                OpeningPart::Space,
                text(":"),
            ]
        };
        add(ControlKind::Sources { fenced: false }, AT_LINE, sources().into());
        for fence in ["```", "```json"] {
            let mut parts = vec![text(fence), OpeningPart::LineBreak];
            parts.extend(sources());
            add(ControlKind::Sources { fenced: true }, AT_LINE, parts);
        }
        let first = openings.iter().filter_map(Opening::first_char).collect();
        Self {
            all: openings,
            first_chars: first,
        }
    }

    /// Returns true if an opening begins with this character.
    pub fn may_begin(&self, c: char) -> bool {
        self.first_chars.contains(c)
    }

    /// Matches `text` in its context with all openings and their beginnings.
    pub fn find(&self, text: &str, context: LineContext) -> OpeningMatch {
        let mut found = OpeningMatch::No;
        let here = |opening: &&Opening| {
            context.is_line_start >= opening.required.is_line_start
                && context.is_word_start >= opening.required.is_word_start
        };
        for opening in self.all.iter().filter(here) {
            match opening.find(text) {
                OpeningMatch::No => {}
                OpeningMatch::Partial => found = OpeningMatch::Partial,
                OpeningMatch::Found(kind) => return OpeningMatch::Found(kind),
            }
        }
        found
    }
}

/// Returns the spellings of a marker: plain, or bold with or without its colon.
fn spellings(marker: &str) -> Vec<String> {
    if marker.is_empty() {
        return Vec::new();
    }
    let mut spellings = vec![marker.to_owned()];
    for bold in ["**", "__"] {
        spellings.push(format!("{bold}{marker}{bold}"));
        if let Some(name) = marker.strip_suffix(':') {
            spellings.push(format!("{bold}{name}{bold}:"));
        }
    }
    spellings
}

impl Opening {
    fn first_char(&self) -> Option<char> {
        match self.parts.first() {
            Some(OpeningPart::Text(text)) => text.chars().next(),
            _ => None,
        }
    }

    fn find(&self, text: &str) -> OpeningMatch {
        let mut rest = text;
        for part in &self.parts {
            match part {
                OpeningPart::Text(part) => match rest.strip_prefix(part.as_str()) {
                    Some(after) => rest = after,
                    None if part.starts_with(rest) => return OpeningMatch::Partial,
                    None => return OpeningMatch::No,
                },
                OpeningPart::Space | OpeningPart::LineBreak => {
                    let after = rest.trim_start_matches(super::is_space);
                    let space = &rest[..rest.len() - after.len()];
                    if space.len() > MAX_OPENING_SPACE {
                        return OpeningMatch::No;
                    }
                    if after.is_empty() {
                        return OpeningMatch::Partial;
                    }
                    if matches!(part, OpeningPart::LineBreak) && !space.contains(['\n', '\r']) {
                        return OpeningMatch::No;
                    }
                    rest = after;
                }
            }
        }
        OpeningMatch::Found(self.kind)
    }
}
