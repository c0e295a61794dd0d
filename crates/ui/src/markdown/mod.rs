//! Markdown on the page: the blocks of [`parlor_markup::markdown`] as views that follow a growing text.
//!
//! - [`prose`]: a text, shown or not; [`loader`]: the loader of the parser, which is loaded after the page with all
//!   modules below
//! - [`state`]: the state of one text; it turns patches into changes of the nodes that they name
//! - [`node`]: the tree of nodes, a mirror of the blocks in which everything that can grow is a signal
//! - [`piece`]: the pieces in which a long text is shown; [`formula_meter`]: the cost of its formulas
//! - [`text_node`]: a text node that follows a growing text
//! - [`growing`]: lists and texts that grow at a cost that does not depend on their length
//! - [`formula`]: formulas, drawn by code that is loaded with the first of them
//! - [`blocks`], [`inlines`], [`code`] (highlighted once it has ended: [`highlighting`]), [`table`], [`footnotes`]: the
//!   views; [`context`]: the data that they share; [`footnote_index`]: the footnotes of a text; [`scroll`]: scrolling of
//!   wide and long content
//! - [`code_tools`], [`code_file`]: the tools of code; [`preview`], [`preview_view`]: code that is shown as an image
//!   ([`xml_error`]: why it cannot), a page ([`framed_page`]) or a diagram ([`diagram`]); [`table_order`], [`table_export`]: sorted and copied tables
//!
//! Text becomes text nodes and attributes, never HTML: there is nothing to sanitise.

mod blocks;
mod code;
mod code_file;
mod code_tools;
mod context;
mod diagram;
mod footnote_index;
mod footnotes;
mod formula;
mod formula_meter;
mod framed_page;
mod growing;
mod highlighting;
mod inlines;
mod loader;
mod node;
mod node_builder;
mod piece;
mod preview;
mod preview_view;
mod prose;
mod scroll;
mod state;
mod table;
mod table_export;
mod table_order;
mod text_node;
mod texts;
mod xml_error;

#[cfg(test)]
mod tests;

use leptos::prelude::*;

pub use self::{
    context::CitationLookup,
    highlighting::load_colours,
    loader::{MarkdownLoader, copy_without_markup, load_markdown},
    prose::{ParseText, Prose},
    table_order::{Order, sort_by_texts},
};
use crate::runtime::erase::Erase;

/// Shows a text, finished or growing; as plain text until the parser is loaded.
///
/// `prefix` begins the ids of its footnotes. It must be unique on the page and the same on the server and in the
/// browser, for example the id of the message.
#[component]
pub fn MarkdownView(
    prose: Prose,
    #[prop(into)] prefix: String,
    /// The sources that it may cite, by their numbers.
    #[prop(optional_no_strip)]
    cited: Option<CitationLookup>,
) -> impl IntoView {
    let reading = expect_context::<MarkdownLoader>();
    if let Some(reader) = reading.get_untracked() {
        return prose.parse(reader).view(prefix, cited);
    }
    let view = move || match reading.get() {
        Some(reader) => prose.parse(reader).view(prefix.clone(), cited.clone()),
        None => view! { <div class="md md-plain">{prose.plain_text()}</div> }.erase(),
    };
    view.erase()
}
