//! How control text begins.

use super::Marker;

/// White space allowed where the beginning of control text may have some: more than a model writes, and not so much that
/// it would be held back for long.
pub(super) const MAX_SPACE: usize = 64;

/// What kind of control text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `SUGGESTED_VALUES: […]`
    Values,
    /// `SUGGESTED_ACTIONS: […]`
    Actions,
    /// A page's marker, the one with this index, with JSON behind it.
    Payload(usize),
    /// `<!-- METADATA: {…} -->`
    Metadata,
    /// `{"sources": […]}`, alone or in a fence.
    Sources { fenced: bool },
}

/// What stands before the place at which control text would begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Nothing but white space, on its line.
    pub line: bool,
    /// Nothing that the first word would be a part of.
    pub word: bool,
}

/// How a text stands to the openings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    Found(Kind),
    Possible,
    No,
}

/// Every way in which control text may begin.
#[derive(Clone, Debug)]
pub(super) struct Openings {
    all: Vec<Opening>,
    /// The characters with which they begin.
    first: String,
}

#[derive(Clone, Debug)]
struct Opening {
    kind: Kind,
    needs: Place,
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    /// White space, or none.
    Space,
    /// White space with a line end in it.
    Line,
}

const ANYWHERE: Place = Place {
    line: false,
    word: false,
};
const AT_WORD: Place = Place {
    line: false,
    word: true,
};
const AT_LINE: Place = Place {
    line: true,
    word: true,
};

impl Openings {
    pub fn new(markers: &[Marker]) -> Self {
        let mut openings = Vec::new();
        let mut add = |kind, needs, pieces| openings.push(Opening { kind, needs, pieces });
        for text in spellings("SUGGESTED_VALUES:") {
            add(Kind::Values, AT_LINE, vec![Piece::Text(text)]);
        }
        for text in spellings("SUGGESTED_ACTIONS:") {
            add(Kind::Actions, AT_LINE, vec![Piece::Text(text)]);
        }
        for (index, marker) in markers.iter().enumerate() {
            for text in spellings(&marker.marker) {
                add(Kind::Payload(index), AT_WORD, vec![Piece::Text(text)]);
            }
        }
        let text = |text: &str| Piece::Text(text.into());
        let metadata = vec![text("<!--"), Piece::Space, text("METADATA:")];
        add(Kind::Metadata, ANYWHERE, metadata);
        for word in ["metadata:", "Metadata:"] {
            add(
                Kind::Metadata,
                AT_LINE,
                vec![text("<!--"), Piece::Space, text(word)],
            );
        }
        let sources = || {
            [
                text("{"),
                Piece::Space,
                text("\"sources\""),
                Piece::Space,
                text(":"),
            ]
        };
        add(Kind::Sources { fenced: false }, AT_LINE, sources().into());
        for fence in ["```", "```json"] {
            let mut pieces = vec![text(fence), Piece::Line];
            pieces.extend(sources());
            add(Kind::Sources { fenced: true }, AT_LINE, pieces);
        }
        let first = openings.iter().filter_map(Opening::first).collect();
        Self { all: openings, first }
    }

    /// Whether any begins with this character.
    pub fn may_begin(&self, c: char) -> bool {
        self.first.contains(c)
    }

    /// Whether `text`, which stands at this place, is an opening or the beginning of one.
    pub fn find(&self, text: &str, place: Place) -> Match {
        let mut found = Match::No;
        let here = |opening: &&Opening| place.line >= opening.needs.line && place.word >= opening.needs.word;
        for opening in self.all.iter().filter(here) {
            match opening.find(text) {
                Match::No => {}
                Match::Possible => found = Match::Possible,
                Match::Found(kind) => return Match::Found(kind),
            }
        }
        found
    }
}

/// A marker as models write it: plain, or bold with or without its colon.
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
    fn first(&self) -> Option<char> {
        match self.pieces.first() {
            Some(Piece::Text(text)) => text.chars().next(),
            _ => None,
        }
    }

    fn find(&self, text: &str) -> Match {
        let mut rest = text;
        for piece in &self.pieces {
            match piece {
                Piece::Text(piece) => match rest.strip_prefix(piece.as_str()) {
                    Some(after) => rest = after,
                    None if piece.starts_with(rest) => return Match::Possible,
                    None => return Match::No,
                },
                Piece::Space | Piece::Line => {
                    let after = rest.trim_start_matches(super::is_space);
                    let space = &rest[..rest.len() - after.len()];
                    if space.len() > MAX_SPACE {
                        return Match::No;
                    }
                    if after.is_empty() {
                        return Match::Possible;
                    }
                    if matches!(piece, Piece::Line) && !space.contains(['\n', '\r']) {
                        return Match::No;
                    }
                    rest = after;
                }
            }
        }
        Match::Found(self.kind)
    }
}
