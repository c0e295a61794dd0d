//! Markdown: text to a tree of typed blocks, whole or while it is still arriving.
//!
//! - [`parse`] reads a finished text.
//! - [`Document`] reads a text that grows. Each [`Document::push`] returns the [`Patch`]es that bring a mirror of the
//!   tree (the views on the page) up to date, and parses only the open tail again: what is closed keeps its place and
//!   its views. After [`Document::finish`] its blocks equal `parse` of the whole text, however the text was cut.
//! - While a text grows, its unfinished end is shown as what it is about to become: `**bol` is bold already and
//!   half a table is held back ([`tail`], [`repair`]). `finish` shows the plain truth.
//! - [`CodeTracker`] follows a growing text only to say whether it ends in code.
//!
//! There is no HTML here, neither in (raw HTML is text) nor out (views are made in `ui::markdown`), and no Leptos: the
//! module is compiled for the server and the browser alike and depends on nothing of ours.
//!
//! `pulldown-cmark` does the parsing; this module decides what of a growing text it has to see again. Two of its limits
//! against abuse count over a whole text (100 KB of expanded reference links, 262,144 cells that a table's short rows
//! lack); past those a text that was streamed may differ from the same text parsed at once.

mod autolink;
mod block_frame;
mod blocks;
mod builder;
mod citation;
mod closed_part;
mod code_tracker;
mod diff;
mod document;
mod emphasis;
mod inline_repair;
mod last_leaf;
mod link_destination;
mod link_policy;
mod parse;
mod patch;
mod references;
mod settle;
mod tail_repair;
mod unseen;

#[cfg(test)]
mod tests;

pub use blocks::{Alignment, Block, Inline, ListItem, TableCell, citation_text, plain_text};
pub use code_tracker::CodeTracker;
pub use document::MarkdownDocument;
pub use link_policy::is_allowed as is_allowed_link;
pub use parse::parse;
pub use patch::{BlockPath, Patch, apply};
pub use references::label_key;
#[cfg(test)]
pub(crate) use tests::shows_as_code;
pub use unseen::is_unseen;
