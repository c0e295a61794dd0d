//! The table of a grid.

use std::sync::Arc;

use leptos::{ev, prelude::*, web_sys};

use super::{
    Grid,
    content::{CellMark, GridCell, GridColumn},
    keys::Place,
    texts,
};
use crate::{
    browser,
    components::icons,
    markdown::Order,
    runtime::{each::Each, effect::effect, erase::Erase},
};

/// The length of a text that may have no room in its cell, in characters.
const LONG_TEXT: usize = 40;

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
            let shown = found.iter().enumerate().skip(first).take(grid.window.count());
            shown
                .map(|(place, row)| (*version, place, *row))
                .collect::<Vec<_>>()
        })
    };
    let above = move || grid.window.first().min(grid.count()) * grid.window.row_height() as usize;
    let below = move || {
        let after = grid
            .count()
            .saturating_sub(grid.window.first() + grid.window.count());
        after * grid.window.row_height() as usize
    };
    let id = grid.id.get_value();
    let (id_above, id_below) = ([&id, "-above"].concat(), [&id, "-below"].concat());
    let (above_of, below_of) = (id_above.clone(), id_below.clone());
    // Not by attributes: the content security policy has no styles in the document of the server.
    effect(move || browser::set_style(&above_of, "height", &pixels(above())));
    effect(move || browser::set_style(&below_of, "height", &pixels(below())));
    let before = Memo::new(move |_| content.with(|content| content.page_of(0).before));
    effect(move || {
        // Another order, filter or page begins at the top.
        grid.order.track();
        grid.filter.track();
        // (To track a memo that nobody has read yet would not have it follow its sources.)
        let _ = before.get();
        if let Some(scroller) = grid.scroller.get() {
            scroller.set_scroll_top(0);
            grid.window.scroll_to(0);
            grid.measure();
        }
    });
    let watch = StoredValue::new_local(None);
    effect(move || {
        if let Some(scroller) = grid.scroller.get() {
            let resized = move || grid.measure_visible();
            watch.set_value(Some(browser::on_resize(&scroller, resized)));
        }
    });
    let scroll = move |_| {
        if let Some(scroller) = grid.scroller.get_untracked()
            && !grid.wraps
        {
            let top = u32::try_from(scroller.scroll_top()).unwrap_or_default();
            grid.keep_focus_at(top, &scroller);
            grid.window.scroll_to(top);
        }
    };
    // The cell that Tab reaches may not be in the document.
    let is_away = Memo::new(move |_| {
        let first = grid.window.first();
        let row = grid.active.get().row;
        row > 0 && (row > grid.count() || !(first..first + grid.window.count()).contains(&(row - 1)))
    });
    let tab_stop = move || if is_away.get() { "0" } else { "-1" };
    let about = move || {
        let about = grid.about.get();
        (!about.is_empty()).then(|| view! { <p class="grid-about" dir="auto">{about}</p> })
    };
    let class = move || if grid.wraps { "grid grid-wrapping" } else { "grid" };
    let width = move || columns.with(|columns| columns.len().to_string());
    let height = move || {
        let page = content.with(|content| content.page_of(grid.count()));
        (page.all + 1).to_string()
    };
    let label = move || content.with(|content| content.label.clone());
    view! {
        <div
            class="grid-scroller"
            node_ref=grid.scroller
            tabindex=tab_stop
            on:scroll=scroll
            on:keydown=move |event| grid.press_key(&event)
            on:focusin=move |event| grid.note_focus(&event)
            on:focusout=move |_| grid.about.set(String::new())
        >
            <table
                id=id
                class=class
                role="grid"
                aria-label=label
                aria-rowcount=height
                aria-colcount=width
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
        {about}
    }
    .erase()
}

impl Grid {
    fn element_id(self, place: Place) -> String {
        self.id.with_value(|id| place.element_id(id))
    }

    fn tab_stop(self, place: Place) -> &'static str {
        match self.active.get_untracked() == place {
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
                id=self.element_id(place)
                class=column.is_numeric.then_some("panel-number")
                tabindex=self.tab_stop(place)
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
        let (number, cells) = self.content.with_untracked(|content| {
            let cells = content.rows.get(row).map(|row| row.cells.as_slice());
            let cells = cells.unwrap_or_default().iter().zip(&content.columns);
            let cells = cells.enumerate().map(|(column, (cell, about))| {
                let place = Place {
                    row: place + 1,
                    column,
                };
                self.cell(place, row, cell, about.is_numeric)
            });
            (content.page_of(0).before + place, cells.collect::<Vec<_>>())
        });
        view! { <tr aria-rowindex=(number + 2).to_string()>{cells}</tr> }.erase()
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
        let title = match (cell.text.is_empty(), cell.about.is_empty()) {
            (true, true) => None,
            (false, true) => Some(cell.text.clone()),
            (true, false) => Some(cell.about.clone()),
            (false, false) => Some([&cell.text, "\n\n", &cell.about].concat()),
        };
        // The roles and the numbers of cells follow from the table's: all columns are in the document.
        view! {
            <td
                id=self.element_id(place)
                class=is_numeric.then_some("panel-number")
                tabindex=self.tab_stop(place)
                title=title
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
        let mut place = self.active.get_untracked();
        // A filter may have taken its row, and a deletion its column.
        let (rows, columns) = self.extent();
        place.row = place.row.min(rows);
        place.column = place.column.min(columns.saturating_sub(1));
        match event.key().as_str() {
            // The first button of a heading sorts; the last one opens the column.
            key @ ("Enter" | "F2")
                if browser::is_within(event, "td, th") && !browser::is_within(event, "button, a") =>
            {
                let id = self.element_id(place);
                let last = ["#", &id, " :is(a, button):last-of-type"].concat();
                let first = ["#", &id, " :is(a, button)"].concat();
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
        let id = self.element_id(to);
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
        let before = self.active.get_untracked();
        self.active.set(place);
        for (place, tab_stop) in [(before, "-1"), (place, "0")] {
            if let Some(cell) = browser::element_by_id(&self.element_id(place)) {
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
            if self.active.get_untracked() != place {
                self.make_reachable(place);
            }
            self.about.set(self.about_of(place));
        }
    }

    /// Returns the text about a cell.
    fn about_of(self, place: Place) -> String {
        let found = self
            .found
            .with_untracked(|found| found.get(place.row.checked_sub(1)?).copied());
        let Some(row) = found else {
            return String::new();
        };
        self.content.with_untracked(|content| {
            let cell = content.rows.get(row).and_then(|row| row.cells.get(place.column));
            // A text that has no room in its cell is read here.
            cell.map(|cell| match cell.about.is_empty() {
                true if cell.text.chars().count() > LONG_TEXT => cell.text.clone(),
                _ => cell.about.clone(),
            })
            .unwrap_or_default()
        })
    }

    /// Gives the grid the focus of a cell that leaves the document when the grid has scrolled to a position. The keyboard goes on from
    /// the cell.
    fn keep_focus_at(self, top: u32, scroller: &web_sys::HtmlDivElement) {
        let active = self.active.get_untracked();
        let (first, end) = self.window.rows_at(top);
        let leaves = active.row > 0 && !(first..end).contains(&(active.row - 1));
        if leaves && browser::has_focus_in(&["#", &self.id.get_value(), " tbody"].concat()) {
            browser::focus(scroller);
        }
    }

    /// Measures the height of a row.
    fn measure(self) {
        let first = Place { row: 1, column: 0 };
        if let Some(cell) = browser::element_by_id(&self.element_id(first))
            && !self.wraps
        {
            let height = cell.offset_height();
            self.window
                .set_row_height(u32::try_from(height).unwrap_or_default());
        }
    }

    /// Measures the height of the visible part.
    fn measure_visible(self) {
        if let Some(scroller) = self.scroller.get_untracked()
            && !self.wraps
        {
            let height = scroller.client_height();
            self.window
                .set_visible_height(u32::try_from(height).unwrap_or_default());
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
