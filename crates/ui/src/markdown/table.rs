//! Tables: sorted by a column on request, copied as CSV or Markdown.

use std::sync::Arc;

use leptos::{html, prelude::*};

use super::{
    context::RenderContext,
    inlines,
    node::{InlineKind, InlineNode, TableNode, TableRow},
    scroll::tab_stop_while_wider,
    table_export::{cell_text, to_csv, to_markdown},
    table_order::{Order, Sorting, sorter},
    texts,
};
use crate::{
    browser,
    components::{copy::CopyButton, toast::Toasts},
    runtime::{each::Each, erase::Erase, lazy::when_loaded},
};
use parlor_markup::markdown::Alignment;

/// The order of the rows, unless it is that of the text.
type TableOrder = RwSignal<Option<Sorting>>;

/// A table in a box of its own, in which a wide one can be scrolled, also by keyboard.
pub fn render_table(table: &Arc<TableNode>, dir: Option<&'static str>, context: &RenderContext) -> AnyView {
    let order: TableOrder = RwSignal::new(None);
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
            <div node_ref=scroller class="md-table" class:md-growing=is_growing role="group" aria-label=texts::TABLE tabindex=tab_stop>
                <table node_ref=content>
                    <thead>
                        <tr>{head}</tr>
                    </thead>
                    <tbody>{body}</tbody>
                </table>
            </div>
            <div class="md-table-tools needs-script" dir="ltr">
                {copy_button(texts::COPY_CSV, table, order, to_csv)}
                {copy_button(texts::COPY_MARKDOWN, table, order, to_markdown)}
            </div>
        </div>
    }
    .erase()
}

fn copy_button(
    name: &'static str,
    table: &Arc<TableNode>,
    order: TableOrder,
    export: fn(&TableNode, &[TableRow]) -> String,
) -> AnyView {
    let table = table.clone();
    let text = move || {
        let rows = table.rows.items();
        let rows = match order.get_untracked() {
            Some(sorting) => sorting.sorted(rows),
            None => rows,
        };
        export(&table, &rows)
    };
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

/// Changes the order as after a press on a column, once the code that sorts is loaded.
fn sort_by(column: usize, order: TableOrder, toasts: Option<Toasts>) {
    when_loaded(Box::pin(sorter()), move |loaded| match (loaded, toasts) {
        // The table may be removed meanwhile.
        (Ok(sort), _) => drop(order.try_update(|sorting| {
            let next = Order::next(sorting.map(|sorting| sorting.order), column);
            *sorting = next.map(|order| Sorting { order, sort });
        })),
        (Err(_), Some(toasts)) => toasts.show(texts::SORTING_FAILED),
        (Err(_), None) => {}
    });
}

fn head(table: &Arc<TableNode>, order: TableOrder, context: &RenderContext) -> Vec<AnyView> {
    let toasts = use_context::<Toasts>();
    let header = table.header.cells.iter().zip(&table.alignments).enumerate();
    let cell = |(column, (inlines, side)): (usize, (&Vec<InlineNode>, &Alignment))| {
        let class = alignment_class(side);
        let direction = move || order.get()?.order.direction_of(column);
        let text = inlines::render_inlines(inlines, context);
        let sort = move |_| sort_by(column, order, toasts);
        let content = if inlines.iter().any(is_interactive) {
            // Buttons contain no links.
            view! { {text} <button type="button" class="md-sort needs-script" aria-label=texts::SORT on:click=sort></button> }
                .erase()
        } else {
            let name = cell_text(inlines).is_empty().then_some(texts::SORT);
            view! { <button type="button" class="md-sort" aria-label=name on:click=sort>{text}</button> }
                .erase()
        };
        view! { <th scope="col" class=class aria-sort=direction>{content}</th> }.erase()
    };
    header.map(cell).collect()
}

/// True for a link, or what contains one.
fn is_interactive(inline: &InlineNode) -> bool {
    match &inline.kind {
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
fn body(table: &Arc<TableNode>, order: TableOrder, context: &RenderContext) -> AnyView {
    let row = {
        let (context, table) = (context.clone(), table.clone());
        move |row: TableRow| {
            let cells = row.cells.iter().zip(&table.alignments);
            let cells = cells.map(|(inlines, side)| {
                let text = inlines::render_inlines(inlines, &context);
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
            let rows = move || match order.get() {
                Some(sorting) => sorting.sorted(table.rows.items()),
                None => table.rows.items(),
            };
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
