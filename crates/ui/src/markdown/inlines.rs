//! Views of inline content.

use leptos::prelude::*;

use super::{
    context::RenderContext,
    footnotes,
    formula::FormulaView,
    growing::GrowingList,
    node::{InlineKind, InlineNode},
    text_node::TextNode,
    texts,
};
use crate::{
    components::link::{EXTERNAL_LINK_REL, answer_link},
    runtime::erase::Erase,
};
use parlor_markup::markdown::{Markup, citation_text};
use parlor_protocol::{CitedSource, Passage};

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
            answer_link("md-link", href, title, children)
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

/// The number of a source, a link once the source is known.
fn citation(number: usize, context: &RenderContext) -> AnyView {
    let text = citation_text(number);
    // In an element of its own: on the server's page it would merge with the texts next to it.
    let plain = move |text: String| view! { <span>{text}</span> }.erase();
    let Some(cited) = context.citations.clone() else {
        return plain(text);
    };
    let shown = move || match cited(number) {
        Some(CitedSource {
            passage: Some(Passage::NotFound { quote }),
            ..
        }) => {
            let title = Some(quote).filter(|quote| !quote.is_empty());
            view! { <span class="citation citation-missing" title=title>{texts::NO_SOURCE}</span> }.erase()
        }
        Some(CitedSource {
            title, url, passage, ..
        }) => {
            let title = match passage {
                Some(Passage::Found(found)) => texts::passage(&found.text, &found.place),
                _ if title.is_empty() => url.clone(),
                _ => title,
            };
            if url.is_empty() {
                return view! { <span class="citation" title=title>{text.clone()}</span> }.erase();
            }
            let number = text.clone();
            answer_link(
                "md-link citation",
                url,
                Some(title),
                vec![view! { <span>{number}</span> }.erase()],
            )
        }
        None => plain(text.clone()),
    };
    shown.erase()
}
