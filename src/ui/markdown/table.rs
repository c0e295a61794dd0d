//! Tables: sorted by a column on request, copied as CSV or Markdown.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    context::RenderContext,
    inlines,
    node::{InlineKind, InlineNode, TableNode, TableRow},
    scroll::tab_stop_while_wider,
    table_export::{cell_text, to_csv, to_markdown},
    table_order::{Order, sorted},
};
use crate::{
    markdown::Alignment,
    ui::{
        browser,
        components::copy::CopyButton,
        runtime::{each::Each, erase::Erase},
    },
};

/// A table in a box of its own, in which a wide one can be scrolled, also by keyboard.
pub fn render_table(table: &Arc<TableNode>, dir: Option<&'static str>, context: &RenderContext) -> AnyView {
    let order = RwSignal::new(None::<Order>);
    let (scroller, content) = (NodeRef::<html::Div>::new(), NodeRef::<html::Table>::new());
    let tab_stop = tab_stop_while_wider(scroller, content);
    keep_column_widths(table, content);
    let head = head(table, order, context);
    let body = body(table, order, context);
    let is_growing = {
        let ended = table.ended.clone();
        move || !ended.get()
    };
    view! {
        <div class="md-table-box" dir=dir>
            <div node_ref=scroller class="md-table" class:md-growing=is_growing role="group" aria-label="Table" tabindex=tab_stop>
                <table node_ref=content>
                    <thead>
                        <tr>{head}</tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
            <div class="md-table-tools needs-script" dir="ltr">
                {copy_button("Copy as CSV", table, order, to_csv)}
                {copy_button("Copy as Markdown", table, order, to_markdown)}
            </div>
        </div>
    }
    .erase()
}

fn copy_button(
    name: &'static str,
    table: &Arc<TableNode>,
    order: RwSignal<Option<Order>>,
    export: fn(&TableNode, &[TableRow]) -> String,
) -> AnyView {
    let table = table.clone();
    let text = move || export(&table, &sorted(table.rows.items(), order.get_untracked()));
    view! { <CopyButton name=name label=name text=text/> }.erase()
}

/// Keeps the columns of a table that streams in as wide as its first row makes them, so that nothing in it moves.
fn keep_column_widths(table: &Arc<TableNode>, element: NodeRef<html::Table>) {
    if table.ended.get_untracked() {
        return;
    }
    let table = table.clone();
    Effect::new(move |is_fixed: Option<bool>| {
        let is_fixed = is_fixed == Some(true);
        match element.get() {
            Some(element) if !is_fixed && !table.rows.is_empty() => {
                // The row is on the page by then.
                browser::on_next_frame(move || browser::fix_column_widths(&element));
                true
            }
            _ => is_fixed,
        }
    });
}

fn head(table: &Arc<TableNode>, order: RwSignal<Option<Order>>, context: &RenderContext) -> Vec<AnyView> {
    let header = table.header.cells.iter().zip(&table.alignments).enumerate();
    let cell = |(column, (pieces, side)): (usize, (&Vec<InlineNode>, &Alignment))| {
        let class = alignment_class(side);
        let direction = move || order.get().and_then(|order| order.direction_of(column));
        let text = inlines::render_inlines(pieces, context);
        let sort = move |_| order.update(|order| *order = Order::next(*order, column));
        let content = if pieces.iter().any(is_interactive) {
            // Buttons contain no links.
            view! { {text} <button type="button" class="md-sort needs-script" aria-label="Sort" on:click=sort></button> }
                .erase()
        } else {
            let name = cell_text(pieces).is_empty().then_some("Sort");
            view! { <button type="button" class="md-sort" aria-label=name on:click=sort>{text}</button> }
                .erase()
        };
        view! { <th scope="col" class=class aria-sort=direction>{content}</th> }.erase()
    };
    header.map(cell).collect()
}

/// True for a link, or what contains one.
fn is_interactive(piece: &InlineNode) -> bool {
    match &piece.kind {
        InlineKind::Link { .. }
        | InlineKind::Image { .. }
        | InlineKind::Reference(_)
        | InlineKind::Citation(_) => true,
        InlineKind::Emphasis(children)
        | InlineKind::Strong(children)
        | InlineKind::Strikethrough(children)
        | InlineKind::Markup { children, .. } => children.iter().any(is_interactive),
        _ => false,
    }
}

/// The rows: a list that grows, or all of them sorted.
fn body(table: &Arc<TableNode>, order: RwSignal<Option<Order>>, context: &RenderContext) -> AnyView {
    let row = {
        let (context, table) = (context.clone(), table.clone());
        move |row: TableRow| {
            let cells = row.cells.iter().zip(&table.alignments);
            let cells = cells.map(|(pieces, side)| {
                let text = inlines::render_inlines(pieces, &context);
                view! { <td class=alignment_class(side)>{text}</td> }.erase()
            });
            view! { <tr>{cells.collect::<Vec<_>>()}</tr> }.erase()
        }
    };
    let is_sorted = Memo::new(move |_| order.get().is_some());
    let table = table.clone();
    let rows = move || {
        let (row, table) = (row.clone(), table.clone());
        if is_sorted.get() {
            let rows = move || sorted(table.rows.items(), order.get());
            view! { <Each of=rows key=|row: &TableRow| row.key children=row/> }.erase()
        } else {
            table.rows.view(|row| row.key, row)
        }
    };
    rows.erase()
}

fn alignment_class(alignment: &Alignment) -> Option<&'static str> {
    match alignment {
        Alignment::None => None,
        Alignment::Left => Some("md-left"),
        Alignment::Center => Some("md-center"),
        Alignment::Right => Some("md-right"),
    }
}
