//! `/design` of development builds: the tokens, and every component in every state that HTML can have without scripts.
//!
//! One document: `make photos` photographs it, and a change of the style sheet is seen in all its places at once.
//!
//! - [`conversation`]: an invented conversation with messages and files in every state; [`answers`]: its answers and tool calls
//! - [`controls`]: buttons, fields, dialogs, toasts and icons
//! - [`lists`]: the list, the header, choices, tabs and rows
//! - [`tokens`]: the custom properties of the style sheet, read from it

mod answers;
mod controls;
mod conversation;
mod lists;
mod tokens;

use leptos::prelude::*;

pub use self::tokens::stylesheet;
use crate::{
    components::not_found::not_found_notice,
    composer::Composer,
    layout::chat,
    panel::{own_body, payload_preview},
    runtime::erase::Erase,
    state::{page_registry::ShownPayload, use_conversations},
    transcript::Conversation,
};
use parlor_protocol::{ConversationId, PayloadRef, panel::PanelView};

/// A payload of the page.
pub struct ExamplePayload {
    pub reference: PayloadRef,
    pub view: PanelView,
    /// The part that an answer shows.
    pub preview: PanelView,
}

/// Renders the page to HTML, with these payloads.
pub fn render(payloads: Vec<ExamplePayload>) -> String {
    let owner = Owner::new_root(None);
    let content = owner.with(|| design_page(payloads).to_html());
    owner.cleanup();
    content
}

/// Renders the sections: the tokens, the controls, these payloads, and views in each state.
fn design_page(payloads: Vec<ExamplePayload>) -> AnyView {
    let (page, id) = conversation::page();
    let navigation = chat::create_navigation(["/c/", &id.to_string()].concat());
    chat::provide_stores(page, navigation);
    let panels: Vec<_> = payloads.into_iter().map(payload).collect();
    let parts = vec![
        section("Tokens", tokens::swatches()),
        section("Controls", controls::controls()),
        section("Icons", controls::icon_list()),
        section("Lists", lists::list()),
        section("Choices and rows", lists::choices()),
        section("Home", lists::home()),
        section("Payloads", panels.into_any()),
        section("Notices", controls::notices()),
        section("Notices of forms", lists::form_notices()),
        section(
            "Nothing here",
            not_found_notice("This conversation does not exist."),
        ),
        section(
            "Composer with a queue",
            view! { <div class="design-stage"><Composer/></div> }.erase(),
        ),
        section(
            // Not "Messages", as the list in it is called.
            "A conversation",
            view! { <div class="design-stage"><Conversation view=use_conversations().view(id)/></div> }
                .erase(),
        ),
    ];
    parts.into_any()
}

fn section(title: &'static str, content: AnyView) -> AnyView {
    view! {
        <section class="design-section" aria-label=title>
            <h2>{title}</h2>
            {content}
        </section>
    }
    .erase()
}

/// A payload as the panel shows it, below its preview in an answer.
fn payload(example: ExamplePayload) -> AnyView {
    let preview = payload_preview(&example.preview).map(|preview| {
        view! { <div class="preview">{preview}</div> }
    });
    let shown = ShownPayload {
        conversation_id: ConversationId::new(),
        payload: example.reference,
    };
    view! {
        <figure class="design-payload">
            <figcaption>{example.view.summary.clone()}</figcaption>
            {preview}
            <div class="panel-body">{own_body(&shown, &example.view)}</div>
        </figure>
    }
    .erase()
}
