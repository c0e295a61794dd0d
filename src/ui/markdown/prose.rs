//! A text that may be on the screen. It is read as Markdown when it is first shown, not while it streams in unseen.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use leptos::prelude::*;

use super::{CitationLookup, ParseText};

/// The length of a text that is shown until it is read.
const MAX_PLAIN_BYTES: usize = 256 << 10;

/// A text. Clones are the same one.
///
/// It belongs to nobody's reactive owner: it goes on growing while nothing shows it.
#[derive(Clone)]
pub struct Prose(Arc<Mutex<ProseState>>);

enum ProseState {
    Unparsed { text: ArcRwSignal<String>, ended: bool },
    Parsed(Arc<dyn ParsedText>),
}

/// A text that has been read.
pub trait ParsedText: Send + Sync {
    /// Adds what came.
    fn append(&self, more: &str);
    /// Nothing more will come.
    fn finish(&self);
    /// `prefix` and `cited` as [`MarkdownView`](super::MarkdownView) has them.
    fn view(self: Arc<Self>, prefix: String, cited: Option<CitationLookup>) -> AnyView;
}

impl Prose {
    /// Begins with what there is. With `ended`, that is all, as far as is known.
    pub fn new(text: String, ended: bool) -> Self {
        Self(Arc::new(Mutex::new(ProseState::Unparsed {
            text: ArcRwSignal::new(text),
            ended,
        })))
    }

    /// A text of which all is here.
    pub fn finished(text: &str) -> Self {
        Self::new(text.to_owned(), true)
    }

    /// Adds what came.
    pub fn append(&self, more: &str) {
        self.with_state(|state| match state {
            ProseState::Unparsed { text, ended } => {
                text.update(|text| text.push_str(more));
                *ended = false;
            }
            ProseState::Parsed(read) => read.append(more),
        });
    }

    /// Nothing more will come.
    pub fn finish(&self) {
        self.with_state(|state| match state {
            ProseState::Unparsed { ended, .. } => *ended = true,
            ProseState::Parsed(read) => read.finish(),
        });
    }

    /// It is shown from now on.
    pub(super) fn parse(&self, reader: ParseText) -> Arc<dyn ParsedText> {
        self.with_state(|state| {
            let read = match state {
                ProseState::Unparsed { text, ended } => text.with_untracked(|text| reader(text, *ended)),
                ProseState::Parsed(read) => read.clone(),
            };
            *state = ProseState::Parsed(read.clone());
            read
        })
    }

    /// The text, until it is read: its beginning, if it is long.
    pub(super) fn plain_text(&self) -> String {
        self.with_state(|state| match state {
            ProseState::Unparsed { text, .. } => {
                text.with(|text| text[..text.floor_char_boundary(MAX_PLAIN_BYTES)].to_owned())
            }
            ProseState::Parsed(_) => String::new(),
        })
    }

    fn with_state<T>(&self, run: impl FnOnce(&mut ProseState) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prose")
    }
}
