//! A text that may be on the screen. It is parsed as Markdown when it is first shown, not while it streams in unseen.

use std::{fmt, sync::Arc};

use leptos::prelude::*;

use super::context::CitationLookup;
use crate::runtime::lock::Lock;

/// The maximum length shown of an unparsed text.
const MAX_PLAIN_BYTES: usize = 256 << 10;

/// A text. Clones share it.
///
/// It has no reactive owner: it continues to grow while no view shows it.
#[derive(Clone)]
pub struct Prose(Arc<Lock<ProseState>>);

enum ProseState {
    Unparsed { text: ArcRwSignal<String>, ended: bool },
    Parsed(Arc<dyn ParsedText>),
}

/// Parses a text that is complete (`ended`) or may grow.
pub type ParseText = fn(text: &str, ended: bool) -> Arc<dyn ParsedText>;

/// A parsed text.
pub trait ParsedText: Send + Sync {
    /// Appends a delta.
    fn append(&self, more: &str);
    /// Marks the text as complete.
    fn finish(&self);
    /// Creates the view of the parsed text. See [`MarkdownView`](super::MarkdownView) for `prefix` and `cited`.
    fn view(self: Arc<Self>, prefix: String, cited: Option<CitationLookup>) -> AnyView;
}

impl Prose {
    /// Starts from an initial text. With `ended`, it is complete as far as is known.
    pub fn new(text: String, ended: bool) -> Self {
        Self(Arc::new(Lock::new(ProseState::Unparsed {
            text: ArcRwSignal::new(text),
            ended,
        })))
    }

    /// A complete text.
    pub fn finished(text: &str) -> Self {
        Self::new(text.to_owned(), true)
    }

    /// Appends a delta.
    pub fn append(&self, more: &str) {
        self.with_state(|state| match state {
            ProseState::Unparsed { text, ended } => {
                text.update(|text| text.push_str(more));
                *ended = false;
            }
            ProseState::Parsed(read) => read.append(more),
        });
    }

    /// Marks the text as complete.
    pub fn finish(&self) {
        self.with_state(|state| match state {
            ProseState::Unparsed { ended, .. } => *ended = true,
            ProseState::Parsed(read) => read.finish(),
        });
    }

    /// Parses the text, because it is shown from now on.
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

    /// The text to show until it is parsed: its beginning, if it is long.
    pub(super) fn plain_text(&self) -> String {
        self.with_state(|state| match state {
            ProseState::Unparsed { text, .. } => {
                text.with(|text| text[..text.floor_char_boundary(MAX_PLAIN_BYTES)].to_owned())
            }
            ProseState::Parsed(_) => String::new(),
        })
    }

    fn with_state<T>(&self, run: impl FnOnce(&mut ProseState) -> T) -> T {
        run(&mut self.0.lock())
    }
}

impl fmt::Debug for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Prose")
    }
}
