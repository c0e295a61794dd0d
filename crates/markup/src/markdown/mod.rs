//! Markdown: parses text into a tree of typed blocks, either whole or while it is still arriving.
//!
//! - [`parse()`] parses a finished text.
//! - [`MarkdownDocument`] parses a growing text. Each [`MarkdownDocument::push`] returns the [`Patch`]es that
//!   update a mirror of the tree (the views on the page), and parses only the open tail again: closed blocks keep
//!   their place and their views. After [`MarkdownDocument::finish`] its blocks equal `parse` of the whole text,
//!   however the text was cut.
//! - While a text grows, its unfinished end is shown as its probable result: `**bol` is bold already and half a
//!   table is held back ([`tail_repair`], [`inline_repair`]). `finish` shows the text as it is.
//! - [`CodeTracker`] follows a growing text only to decide whether it ends in code.
//!
//! - Formulas are masked before the text is parsed, because LaTeX is full of Markdown's markup ([`formula_mask`],
//!   [`formula_scanner`]). Here they stay LaTeX; `math` parses that.
//! - An example of Markdown may have fences in it ([`nested_fences`]).
//! - Emphasis follows the amendment for Chinese, Japanese and Korean text ([`cjk`]).
//! - A few HTML tags become elements of the tree ([`html_tags`], [`details`]).
//!
//! There is no HTML here, neither as input (other raw HTML is text) nor as output (views are made in `ui::markdown`),
//! and no Leptos: the module is compiled for the server and the browser and depends on no other module of
//! Parlor.
//!
//! `pulldown-cmark` does the parsing; this module decides which part of a growing text has to be parsed again.
//! Three limits against abuse count over a whole text (100 KB of expanded reference links, 262,144
//! cells that a table's short rows lack, 32 examples of Markdown with fences). Past those, a streamed text may differ from the same text parsed at
//! once.

mod autolink;
mod block_frame;
mod blocks;
mod builder;
mod builder_elements;
mod builder_start;
mod citation;
mod cjk;
mod closed_part;
mod code_tracker;
mod details;
mod diff;
mod document;
mod emphasis;
mod formula;
mod formula_mask;
mod formula_rules;
mod formula_scanner;
mod html_tags;
mod inline_repair;
mod invisible;
mod last_leaf;
mod link_destination;
mod link_host;
mod link_policy;
mod loose_lists;
mod nested_fences;
mod parse;
mod patch;
mod plain;
mod references;
mod settle;
#[cfg(any(test, feature = "testing"))]
mod shown_code;
mod tail_repair;

#[cfg(test)]
mod tests;

pub use blocks::{
    AlertKind, Alignment, Block, Inline, ListItem, Markup, TableCell, citation_text, plain_text,
};
pub use code_tracker::CodeTracker;
pub use document::MarkdownDocument;
pub use formula::{Formula, FormulaDelimiters};
pub use invisible::is_invisible;
pub use link_policy::is_allowed as is_allowed_link;
pub use parse::parse;
pub use patch::{BlockPath, Patch, apply};
pub use plain::without_markup;
pub use references::label_key;
#[cfg(any(test, feature = "testing"))]
pub use shown_code::shows_as_code;
