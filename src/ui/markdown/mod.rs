//! Markdown on the page: the blocks of [`crate::markdown`] as views that follow a growing text.
//!
//! - [`prose`]: a text, shown or not; [`reader`]: what reads it, in a file that is loaded after the page. All below comes in it
//! - [`state`]: the state of one text; it turns patches into changes of the nodes that they name
//! - [`node`]: the tree of nodes, a mirror of the blocks in which everything that can grow is a signal
//! - [`piece`]: how much of a long text is shown at once
//! - [`text`]: a text node that follows a growing text
//! - [`grow`]: lists and texts that grow at a cost that does not depend on their length
//! - [`blocks`], [`inlines`], [`code`] (in colours once it has ended: [`colours`]), [`footnotes`]: what it all looks like; [`scroll`]: what is too wide
//!
//! Text becomes text nodes and attributes, never HTML: there is nothing to sanitise.

mod blocks;
mod code;
mod footnotes;
mod growing;
mod highlighting;
mod inlines;
mod loader;
mod node;
mod piece;
mod prose;
mod scroll;
mod state;
mod text_node;

#[cfg(test)]
mod tests;

use leptos::prelude::*;

pub use self::{
    blocks::CitationLookup,
    highlighting::load_colours,
    loader::{MarkdownLoader, ParseText, load_markdown},
    prose::Prose,
};
use crate::ui::runtime::erase::Erase;

/// Shows a text, finished or growing; until what reads it is here, the text as it was written.
///
/// `prefix` begins the ids of its footnotes and must be unique on the page and the same on the server and in the
/// browser: the id of the message, say.
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
