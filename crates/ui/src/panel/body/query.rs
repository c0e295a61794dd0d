//! A query that the model proposes.

use leptos::prelude::*;

use crate::{
    components::copy::CopyButton,
    markdown::{MarkdownView, Prose},
    runtime::erase::Erase,
};
use parlor_protocol::panel::QuerySuggestion;

/// The query and its reason. Accept and Reject stand below it if the page has a handler for queries.
pub fn query(suggestion: &QuerySuggestion) -> AnyView {
    let copied = suggestion.query.clone();
    let explanation = suggestion.explanation.as_deref().map(|text| {
        let prose = Prose::finished(text);
        view! { <div class="prose"><MarkdownView prose prefix="panel-query"/></div> }
    });
    view! {
        <div class="tool-text">
            <pre tabindex="0"><code>{suggestion.query.clone()}</code></pre>
            <CopyButton name="Copy the query" text=move || copied.clone()/>
        </div>
        {explanation}
    }
    .erase()
}
