//! Views of inline content.

use leptos::{ev, prelude::*};

use super::{
    context::RenderContext,
    footnotes,
    formula::FormulaView,
    growing::GrowingList,
    node::{InlineKind, InlineNode},
    text_node::TextNode,
};
use crate::{
    browser,
    components::link::{EXTERNAL_LINK_REL, PageLinks},
    runtime::erase::Erase,
};
use parlor_markup::markdown::{Markup, citation_text};
use parlor_protocol::CitedSource;

/// Text that can grow.
pub fn render_growing(inlines: &GrowingList<InlineNode>, context: &RenderContext) -> AnyView {
    let context = context.clone();
    inlines.view(
        |inline| inline.key,
        move |inline| render_inline(&inline, &context),
    )
}

/// Text that does not change.
pub fn render_inlines(inlines: &[InlineNode], context: &RenderContext) -> Vec<AnyView> {
    inlines
        .iter()
        .map(|inline| render_inline(inline, context))
        .collect()
}

fn render_inline(inline: &InlineNode, context: &RenderContext) -> AnyView {
    match &inline.kind {
        InlineKind::Text(text) => {
            let text = text.clone();
            (move || TextNode(text.get())).erase()
        }
        InlineKind::Code(text) => view! { <code dir="ltr">{text.to_string()}</code> }.erase(),
        InlineKind::Emphasis(children) => view! { <em>{render_inlines(children, context)}</em> }.erase(),
        InlineKind::Strong(children) => {
            view! { <strong>{render_inlines(children, context)}</strong> }.erase()
        }
        InlineKind::Strikethrough(children) => {
            view! { <del>{render_inlines(children, context)}</del> }.erase()
        }
        InlineKind::Markup { markup, children } => {
            let children = render_inlines(children, context);
            match markup {
                Markup::Subscript => view! { <sub>{children}</sub> }.erase(),
                Markup::Superscript => view! { <sup>{children}</sup> }.erase(),
                Markup::Keyboard => view! { <kbd>{children}</kbd> }.erase(),
                Markup::Highlight => view! { <mark>{children}</mark> }.erase(),
            }
        }
        InlineKind::Formula(formula) => FormulaView(formula.clone()).erase(),
        InlineKind::Link {
            href,
            title,
            children,
        } => {
            let (href, title) = (href.to_string(), title.as_deref().map(str::to_owned));
            let children = render_inlines(children, context);
            let pages = use_context::<PageLinks>().filter(|pages| pages.is_page.run(href.clone()));
            match pages {
                Some(pages) => page_link(pages, href, title, children),
                None => view! {
                    <a class="md-link" href=href title=title target="_blank" rel=EXTERNAL_LINK_REL>
                        {children}
                    </a>
                }
                .erase(),
            }
        }
        InlineKind::Image { href, title, alt } => {
            let name = if alt.trim().is_empty() {
                href.to_string()
            } else {
                alt.to_string()
            };
            let (href, title) = (href.to_string(), title.as_deref().map(str::to_owned));
            view! {
                <a class="md-link md-image" href=href title=title target="_blank" rel=EXTERNAL_LINK_REL>
                    {name}
                </a>
            }
            .erase()
        }
        InlineKind::Reference(label) => footnotes::reference_link(label, inline.key, context),
        InlineKind::Citation(number) => citation(*number, context),
        InlineKind::HardBreak => view! { <br/> }.erase(),
    }
}

/// A link to something of a page. It opens here, with the conversation beside it.
fn page_link(pages: PageLinks, href: String, title: Option<String>, children: Vec<AnyView>) -> AnyView {
    let url = href.clone();
    let open = move |event: ev::MouseEvent| {
        if browser::is_plain_click(&event) {
            event.prevent_default();
            pages.open.run(url.clone());
        }
    };
    view! { <a class="md-link" href=href title=title on:click=open>{children}</a> }.erase()
}

/// The number of a source, a link once the source is known.
fn citation(number: usize, context: &RenderContext) -> AnyView {
    let text = citation_text(number);
    // In an element of its own: on the server's page it would merge with the texts next to it.
    let plain = move |text: String| view! { <span>{text}</span> }.erase();
    let Some(cited) = context.citations.clone() else {
        return plain(text);
    };
    let shown = move || match cited(number) {
        Some(CitedSource { title, url, .. }) if url.is_empty() => {
            view! { <span class="citation" title=title>{text.clone()}</span> }.erase()
        }
        Some(CitedSource { title, url, .. }) => {
            let title = if title.is_empty() { url.clone() } else { title };
            view! { <a class="md-link citation" href=url title=title target="_blank" rel=EXTERNAL_LINK_REL>{text.clone()}</a> }.erase()
        }
        None => plain(text.clone()),
    };
    shown.erase()
}
