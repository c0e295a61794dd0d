//! Views of blocks.

use leptos::prelude::*;

use super::{
    code::{CodeBlock, CodeBlockProps},
    context::RenderContext,
    footnotes,
    growing::GrowingList,
    inlines,
    node::{BlockNode, InlineNode, ItemNode, NodeKind, Nodes},
    table::render_table,
    texts,
};
use crate::runtime::erase::Erase;
use parlor_markup::markdown::AlertKind;

/// The blocks of a text.
pub fn render_blocks(nodes: &Nodes, context: &RenderContext) -> AnyView {
    let context = context.clone();
    let block = move |node| render_block(node, OWN_DIRECTION, &context);
    nodes.view(|node| node.key, block)
}

/// The blocks within a container. The first takes over the direction of its container, which would otherwise look for
/// it in the other blocks only.
fn render_inner_blocks(nodes: &Nodes, context: &RenderContext) -> AnyView {
    let context = context.clone();
    let all = nodes.clone();
    let block = move |node: BlockNode| {
        let is_first = all.get(0).is_none_or(|first| first.key == node.key);
        let dir = if is_first { None } else { OWN_DIRECTION };
        render_block(node, dir, &context)
    };
    nodes.view(|node| node.key, block)
}

/// The `dir` of a block whose first letter decides on which side its bullets, bar or first column are.
const OWN_DIRECTION: Option<&str> = Some("auto");

fn render_block(node: BlockNode, dir: Option<&'static str>, context: &RenderContext) -> AnyView {
    match node.kind {
        NodeKind::Paragraph(inlines) => view! { <p>{inlines::render_growing(&inlines, context)}</p> }.erase(),
        NodeKind::Heading { level, inlines } => heading(level, &inlines, context),
        NodeKind::Code { info, text, ended } => {
            let language = info
                .as_deref()
                .and_then(|info| info.split_whitespace().next())
                .map(str::to_owned);
            CodeBlock(CodeBlockProps {
                language,
                text,
                ended,
                open_code: context.open_code.clone(),
            })
            .erase()
        }
        NodeKind::Quote(nodes) => {
            view! { <blockquote dir=dir>{render_inner_blocks(&nodes, context)}</blockquote> }.erase()
        }
        NodeKind::Alert { kind, nodes } => alert(kind, &nodes, dir, context),
        NodeKind::Details { summary, nodes } => view! {
            <details class="md-details" dir=dir>
                <summary>{summary_text(&summary, context)}</summary>
                <div class="md-details-content">{render_inner_blocks(&nodes, context)}</div>
            </details>
        }
        .erase(),
        NodeKind::List { start, tight, items } => list(start, tight, &items, dir, context),
        NodeKind::Table(table) => render_table(&table, dir, context),
        NodeKind::Rule => view! { <hr/> }.erase(),
        NodeKind::Footnote { label, nodes } => {
            footnotes::footnote(&label, node.key, render_inner_blocks(&nodes, context), context)
        }
        NodeKind::Html(text) => view! { <div class="md-html">{text.view()}</div> }.erase(),
    }
}

fn alert(kind: AlertKind, nodes: &Nodes, dir: Option<&'static str>, context: &RenderContext) -> AnyView {
    let (class, title) = match kind {
        AlertKind::Note => ("md-alert md-alert-note", texts::NOTE),
        AlertKind::Tip => ("md-alert md-alert-tip", texts::TIP),
        AlertKind::Important => ("md-alert md-alert-important", texts::IMPORTANT),
        AlertKind::Warning => ("md-alert md-alert-warning", texts::WARNING),
        AlertKind::Caution => ("md-alert md-alert-caution", texts::CAUTION),
    };
    view! {
        <div class=class role="note" dir=dir>
            <p class="md-alert-title"><bdi>{title}</bdi></p>
            {render_inner_blocks(nodes, context)}
        </div>
    }
    .erase()
}

/// The text of a summary; a general one in place of an empty one, as in browsers.
fn summary_text(summary: &[InlineNode], context: &RenderContext) -> Vec<AnyView> {
    if summary.is_empty() {
        vec![view! { <span>{texts::DETAILS}</span> }.erase()]
    } else {
        inlines::render_inlines(summary, context)
    }
}

/// A heading, shown two levels below its own: the page has a title, and each message has a heading that names its
/// author. Its class keeps the level that it has in the text.
fn heading(level: u8, inlines: &GrowingList<InlineNode>, context: &RenderContext) -> AnyView {
    let text = inlines::render_growing(inlines, context);
    let class = format!("md-h{level}");
    match level {
        1 => view! { <h3 class=class>{text}</h3> }.erase(),
        2 => view! { <h4 class=class>{text}</h4> }.erase(),
        3 => view! { <h5 class=class>{text}</h5> }.erase(),
        _ => view! { <h6 class=class>{text}</h6> }.erase(),
    }
}

/// A list. In a tight list the style sheet removes the space between the paragraphs: a list that becomes loose while it
/// grows keeps its items.
fn list(
    start: Option<u64>,
    tight: ArcRwSignal<bool>,
    items: &GrowingList<ItemNode>,
    dir: Option<&'static str>,
    context: &RenderContext,
) -> AnyView {
    let context = context.clone();
    let items = items.view(|item| item.key, move |item| self::item(&item, &context));
    let class = move || {
        if tight.get() {
            "md-list md-tight"
        } else {
            "md-list"
        }
    };
    match start {
        Some(start) => {
            let start = (start != 1).then(|| start.to_string());
            view! { <ol class=class start=start dir=dir>{items}</ol> }.erase()
        }
        None => view! { <ul class=class dir=dir>{items}</ul> }.erase(),
    }
}

fn item(item: &ItemNode, context: &RenderContext) -> AnyView {
    let blocks = render_inner_blocks(&item.nodes, context);
    match item.task {
        Some(done) => {
            let name = if done { texts::TASK_DONE } else { texts::TASK_OPEN };
            view! {
                <li class="md-task">
                    <input type="checkbox" disabled checked=done aria-label=name/>
                    <div>{blocks}</div>
                </li>
            }
            .erase()
        }
        None => view! { <li>{blocks}</li> }.erase(),
    }
}
