//! The table of a grid.

use std::sync::Arc;

use leptos::{ev, prelude::*, web_sys};

use super::{
    Grid,
    content::{CellMark, GridCell, GridColumn},
    keys::Place,
    texts,
    window::ROWS,
};
use crate::{
    browser,
    components::icons,
    markdown::Order,
    runtime::{each::Each, effect::effect, erase::Erase},
};

/// The table with its scroll bars.
pub fn grid(grid: Grid) -> AnyView {
    let content = grid.content;
    // A heading keeps its element, and the focus, while the cells change.
    let columns = Memo::new(move |_| content.with(|content| content.columns.clone()));
    let head = move || {
        let columns = columns.get().into_iter().enumerate();
        columns
            .map(|(number, column)| grid.heading(number, &column))
            .collect::<Vec<_>>()
    };
    // The rows of a window that has only moved stay.
    let drawn = Memo::new(move |before: Option<&(usize, Arc<[usize]>)>| {
        content.track();
        let found = grid.found.get();
        (before.map_or(0, |(version, _)| version + 1), found)
    });
    let rows = move || {
        let first = grid.window.first();
        drawn.with(|(version, found)| {
            let shown = found.iter().enumerate().skip(first).take(ROWS);
            shown
                .map(|(place, row)| (*version, place, *row))
                .collect::<Vec<_>>()
        })
    };
    let above = move || grid.window.first().min(grid.count()) * grid.window.row_height() as usize;
    let below = move || {
        let after = grid.count().saturating_sub(grid.window.first() + ROWS);
        after * grid.window.row_height() as usize
    };
    let (id_above, id_below) = ([grid.id, "-above"].concat(), [grid.id, "-below"].concat());
    let (above_of, below_of) = (id_above.clone(), id_below.clone());
    // Not by attributes: the content security policy has no styles in the document of the server.
    effect(move || browser::set_style(&above_of, "height", &pixels(above())));
    effect(move || browser::set_style(&below_of, "height", &pixels(below())));
    effect(move || {
        // Another order or filter begins at the top.
        grid.order.track();
        grid.filter.track();
        if let Some(scroller) = grid.scroller.get() {
            scroller.set_scroll_top(0);
            grid.window.scroll_to(0);
            grid.measure();
        }
    });
    let scroll = move |_| {
        if let Some(scroller) = grid.scroller.get_untracked() {
            grid.window
                .scroll_to(u32::try_from(scroller.scroll_top()).unwrap_or_default());
        }
    };
    let width = move || columns.with(|columns| columns.len().to_string());
    let height = move || (grid.count() + 1).to_string();
    let label = move || content.with(|content| content.label.clone());
    view! {
        <div class="grid-scroller" node_ref=grid.scroller on:scroll=scroll>
            <table
                id=grid.id
                class="grid"
                role="grid"
                aria-label=label
                aria-rowcount=height
                aria-colcount=width
                on:keydown=move |event| grid.press_key(&event)
                on:focusin=move |event| grid.note_focus(&event)
            >
                <thead><tr aria-rowindex="1">{head}</tr></thead>
                <tbody>
                    <tr class="grid-space" aria-hidden="true"><td id=id_above></td></tr>
                    <Each of=rows key=|(version, place, _): &(usize, usize, usize)| (*version, *place) let:row>
                        {grid.row(row.1, row.2)}
                    </Each>
                    <tr class="grid-space" aria-hidden="true"><td id=id_below></td></tr>
                </tbody>
            </table>
        </div>
    }
    .erase()
}

impl Grid {
    fn tab_stop(self, place: Place) -> &'static str {
        match self.active.get_value() == place {
            true => "0",
            false => "-1",
        }
    }

    fn heading(self, number: usize, column: &GridColumn) -> AnyView {
        let place = Place {
            row: 0,
            column: number,
        };
        let order = self.order;
        let direction = move || order.get().and_then(|order| order.direction_of(number));
        let sort = move |_| order.update(|order| *order = Order::next(*order, number));
        let open = column.open.clone().map(|name| {
            view! {
                <button
                    type="button"
                    class="icon-button grid-open needs-script"
                    tabindex="-1"
                    aria-label=name.clone()
                    title=name
                    on:click=move |_| self.open.run((None, number))
                >{icons::pencil()}</button>
            }
        });
        let unnamed = column.name.is_empty().then_some(texts::SORT);
        let about = Some(column.about.clone()).filter(|about| !about.is_empty());
        view! {
            <th
                scope="col"
                role="columnheader"
                id=place.element_id(self.id)
                class=column.is_numeric.then_some("panel-number")
                tabindex=self.tab_stop(place)
                aria-colindex=(number + 1).to_string()
                aria-sort=direction
            >
                <span class="grid-heading">
                    <button type="button" class="md-sort" dir="auto" tabindex="-1" aria-label=unnamed title=about on:click=sort>
                        {column.name.clone()}
                    </button>
                    {open}
                </span>
            </th>
        }
        .erase()
    }

    /// A row of the content at a place of the screen, counted from 0.
    fn row(self, place: usize, row: usize) -> AnyView {
        let cells = self.content.with_untracked(|content| {
            let cells = content.rows.get(row).map(|row| row.cells.as_slice());
            let cells = cells.unwrap_or_default().iter().zip(&content.columns);
            let cells = cells.enumerate().map(|(column, (cell, about))| {
                let place = Place {
                    row: place + 1,
                    column,
                };
                self.cell(place, row, cell, about.is_numeric)
            });
            cells.collect::<Vec<_>>()
        });
        view! { <tr aria-rowindex=(place + 2).to_string()>{cells}</tr> }.erase()
    }

    fn cell(self, place: Place, row: usize, cell: &GridCell, is_numeric: bool) -> AnyView {
        let column = place.column;
        // Before the text, whose end may be cut.
        let marks: Vec<_> = cell.marks.iter().map(mark).collect();
        let text = cell.text.clone();
        let content = match &cell.href {
            Some(href) => view! { {marks} <a href=href.clone() tabindex="-1" dir="auto">{text}</a> }.erase(),
            None if cell.opens => view! {
                <button type="button" class="grid-cell" tabindex="-1" on:click=move |_| self.open.run((Some(row), column))>
                    {marks} <bdi>{text}</bdi>
                </button>
            }
            .erase(),
            None => view! { {marks} <bdi>{text}</bdi> }.erase(),
        };
        view! {
            <td
                role="gridcell"
                id=place.element_id(self.id)
                class=is_numeric.then_some("panel-number")
                tabindex=self.tab_stop(place)
                aria-colindex=(column + 1).to_string()
                title=Some(cell.text.clone()).filter(|text| !text.is_empty())
            >
                {content}
            </td>
        }
        .erase()
    }

    fn extent(self) -> (usize, usize) {
        let columns = self.content.with_untracked(|content| content.columns.len());
        (self.found.with_untracked(|found| found.len()), columns)
    }

    fn press_key(self, event: &ev::KeyboardEvent) {
        let place = self.active.get_value();
        match event.key().as_str() {
            // The first button of a heading sorts; the last one opens the column.
            key @ ("Enter" | "F2")
                if browser::is_within(event, "td, th") && !browser::is_within(event, "button, a") =>
            {
                let last = ["#", &place.element_id(self.id), " :is(a, button):last-of-type"].concat();
                let first = ["#", &place.element_id(self.id), " :is(a, button)"].concat();
                let selector = if key == "F2" { last } else { first };
                event.prevent_default();
                browser::press(&selector);
            }
            key => {
                let has_modifier = browser::has_modifier(event);
                if let Some(to) = place.after(key, has_modifier, self.extent()) {
                    event.prevent_default();
                    self.move_to(to);
                }
            }
        }
    }

    /// Moves the focus to a cell, which may have to be drawn first.
    fn move_to(self, to: Place) {
        self.make_reachable(to);
        let id = to.element_id(self.id);
        if let Some(cell) = browser::element_by_id(&id) {
            return browser::focus(&cell);
        }
        let row_height = untrack(|| self.window.row_height());
        let top = u32::try_from(to.row.saturating_sub(1)).unwrap_or_default() * row_height;
        if let Some(scroller) = self.scroller.get_untracked() {
            scroller.set_scroll_top(i32::try_from(top).unwrap_or(i32::MAX));
        }
        self.window.scroll_to(top);
        browser::on_next_frame(move || {
            if let Some(cell) = browser::element_by_id(&id) {
                browser::focus(&cell);
            }
        });
    }

    /// Makes a cell the one that Tab reaches.
    fn make_reachable(self, place: Place) {
        let before = self.active.get_value();
        self.active.set_value(place);
        for (place, tab_stop) in [(before, "-1"), (place, "0")] {
            if let Some(cell) = browser::element_by_id(&place.element_id(self.id)) {
                let _ = cell.set_attribute("tabindex", tab_stop);
            }
        }
    }

    /// Notes the cell that got the focus, perhaps by a press on something in it.
    fn note_focus(self, event: &web_sys::FocusEvent) {
        let Some(id) = browser::id_around(event, "td, th") else {
            return;
        };
        let mut numbers = id.rsplit('-').map_while(|number| number.parse().ok());
        if let (Some(column), Some(row)) = (numbers.next(), numbers.next()) {
            let place = Place { row, column };
            if self.active.get_value() != place {
                self.make_reachable(place);
            }
        }
    }

    /// Measures the height of a row.
    fn measure(self) {
        let first = Place { row: 1, column: 0 };
        if let Some(cell) = browser::element_by_id(&first.element_id(self.id)) {
            let height = cell.offset_height();
            self.window
                .set_row_height(u32::try_from(height).unwrap_or_default());
        }
    }
}

fn pixels(number: usize) -> String {
    [&number.to_string(), "px"].concat()
}

fn mark(mark: &CellMark) -> AnyView {
    match mark {
        CellMark::Problem(words) => view! {
            <span class="grid-mark" title=words.clone()>{icons::alert()} <span class="visually-hidden">{words.clone()}</span></span>
        }
        .erase(),
        CellMark::Edited(words) => view! {
            <span class="grid-mark" title=words.clone()>{icons::pencil()} <span class="visually-hidden">{words.clone()}</span></span>
        }
        .erase(),
        CellMark::Note(words) => view! { <span class="grid-note">{words.clone()}</span> }.erase(),
    }
}
