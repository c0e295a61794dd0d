//! Views of blocks.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    code::{CodeBlock, CodeBlockProps},
    context::RenderContext,
    footnotes,
    growing::GrowingList,
    inlines,
    node::{InlineNode, ItemNode, Node, NodeKind, Nodes, TableNode, TableRow},
    scroll::tab_stop_while_wider,
};
use crate::{
    markdown::{AlertKind, Alignment},
    ui::runtime::erase::Erase,
};

/// The blocks of a container.
pub fn render_blocks(nodes: &Nodes, context: &RenderContext) -> AnyView {
    let context = context.clone();
    nodes.view(|node| node.key, move |node| render_block(node, &context))
}

fn render_block(node: Node, context: &RenderContext) -> AnyView {
    match node.kind {
        NodeKind::Paragraph(pieces) => view! { <p>{inlines::render_growing(&pieces, context)}</p> }.erase(),
        NodeKind::Heading { level, pieces } => heading(level, &pieces, context),
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
        NodeKind::Quote(nodes) => view! { <blockquote>{render_blocks(&nodes, context)}</blockquote> }.erase(),
        NodeKind::Alert { kind, nodes } => alert(kind, &nodes, context),
        NodeKind::Details { summary, nodes } => view! {
            <details class="md-details">
                <summary>{summary_text(&summary, context)}</summary>
                <div class="md-details-content">{render_blocks(&nodes, context)}</div>
            </details>
        }
        .erase(),
        NodeKind::List { start, tight, items } => list(start, tight, &items, context),
        NodeKind::Table(table) => self::table(&table, context),
        NodeKind::Rule => view! { <hr/> }.erase(),
        NodeKind::Footnote { label, nodes } => {
            footnotes::footnote(&label, node.key, render_blocks(&nodes, context), context)
        }
        NodeKind::Html(text) => view! { <div class="md-html">{text.view()}</div> }.erase(),
    }
}

fn alert(kind: AlertKind, nodes: &Nodes, context: &RenderContext) -> AnyView {
    let (class, title) = match kind {
        AlertKind::Note => ("md-alert md-alert-note", "Note"),
        AlertKind::Tip => ("md-alert md-alert-tip", "Tip"),
        AlertKind::Important => ("md-alert md-alert-important", "Important"),
        AlertKind::Warning => ("md-alert md-alert-warning", "Warning"),
        AlertKind::Caution => ("md-alert md-alert-caution", "Caution"),
    };
    view! {
        <div class=class role="note">
            <p class="md-alert-title">{title}</p>
            {render_blocks(nodes, context)}
        </div>
    }
    .erase()
}

/// The text of a summary; a general one in place of an empty one, as in browsers.
fn summary_text(summary: &[InlineNode], context: &RenderContext) -> Vec<AnyView> {
    if summary.is_empty() {
        vec![view! { <span>"Details"</span> }.erase()]
    } else {
        inlines::render_inlines(summary, context)
    }
}

/// A heading, shown two levels below its own: the page has a title, and each message has a heading that names its
/// author. Its class keeps the level that it has in the text.
fn heading(level: u8, pieces: &GrowingList<InlineNode>, context: &RenderContext) -> AnyView {
    let text = inlines::render_growing(pieces, context);
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
            view! { <ol class=class start=start>{items}</ol> }.erase()
        }
        None => view! { <ul class=class>{items}</ul> }.erase(),
    }
}

fn item(item: &ItemNode, context: &RenderContext) -> AnyView {
    let blocks = render_blocks(&item.nodes, context);
    match item.task {
        Some(done) => {
            let name = if done { "Done" } else { "To do" };
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

/// A table in a box of its own, in which a wide one can be scrolled, also by keyboard.
fn table(table: &Arc<TableNode>, context: &RenderContext) -> AnyView {
    let head = cells(&table.header, &table.alignments, context, |class, text| {
        view! { <th scope="col" class=class>{text}</th> }.erase()
    });
    let rows = {
        let (context, of) = (context.clone(), Arc::clone(table));
        let row = move |row: TableRow| {
            let cells = cells(&row, &of.alignments, &context, |class, text| {
                view! { <td class=class>{text}</td> }.erase()
            });
            view! { <tr>{cells}</tr> }.erase()
        };
        table.rows.view(|row| row.key, row)
    };
    let (scroller, content) = (NodeRef::<html::Div>::new(), NodeRef::<html::Table>::new());
    let tab_stop = tab_stop_while_wider(scroller, content);
    view! {
        <div node_ref=scroller class="md-table" role="group" aria-label="Table" tabindex=tab_stop>
            <table node_ref=content>
                <thead>
                    <tr>{head}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .erase()
}

fn cells(
    row: &TableRow,
    alignments: &[Alignment],
    context: &RenderContext,
    cell: impl Fn(Option<&'static str>, Vec<AnyView>) -> AnyView,
) -> Vec<AnyView> {
    let class = |alignment: &Alignment| match alignment {
        Alignment::None => None,
        Alignment::Left => Some("md-left"),
        Alignment::Center => Some("md-center"),
        Alignment::Right => Some("md-right"),
    };
    row.cells
        .iter()
        .zip(alignments)
        .map(|(pieces, side)| cell(class(side), inlines::render_inlines(pieces, context)))
        .collect()
}
