//! The grid: rows with many columns, sorted, filtered and read with the keyboard. It has only the rows near the visible ones in the
//! document, so thousands of rows cost as much as a screen of them.
//!
//! - [`content`]: what it shows, and which rows in which order
//! - [`mod@window`]: the part of the rows that is in the document
//! - [`keys`]: moving from cell to cell
//! - [`mod@view`]: the table

mod content;
mod keys;
mod texts;
mod view;
mod window;

use std::sync::Arc;

use leptos::{html, prelude::*};

use self::content::filter_rows;
pub use self::{
    content::{CellMark, GridCell, GridColumn, GridContent, GridPage, GridRow},
    view::grid,
};
use self::{keys::Place, window::RowWindow};
use crate::{markdown::Order, runtime::effect::effect};

/// The state of a grid.
#[derive(Clone, Copy)]
pub struct Grid {
    /// The id of its element; the first part of those of its cells.
    id: StoredValue<String>,
    content: Memo<Arc<GridContent>>,
    filter: RwSignal<String>,
    order: RwSignal<Option<Order>>,
    /// The rows that are found, by their numbers, in their order.
    found: Memo<Arc<[usize]>>,
    /// The first rows in the document, and the height of one.
    window: RowWindow,
    /// The cell that the keyboard reaches.
    active: RwSignal<Place>,
    scroller: NodeRef<html::Div>,
    /// The text about the cell that has the focus.
    about: RwSignal<String>,
    /// True if texts wrap while there are few rows.
    wraps: bool,
    /// Called with the row and the column of a cell that is opened, and with no row for a heading.
    open: Callback<(Option<usize>, usize)>,
}

/// The filter and the order of a grid, which may outlive it.
#[derive(Clone, Copy)]
pub struct GridChoices {
    pub filter: RwSignal<String>,
    pub order: RwSignal<Option<Order>>,
}

impl GridChoices {
    pub fn new() -> Self {
        Self {
            filter: RwSignal::default(),
            order: RwSignal::new(None),
        }
    }

    /// Takes the filter from elsewhere on the page.
    pub fn with_filter(filter: Memo<String>) -> Self {
        let choices = Self {
            filter: RwSignal::new(filter.get_untracked()),
            order: RwSignal::new(None),
        };
        effect(move || choices.filter.set(filter.get()));
        choices
    }
}

impl Grid {
    /// Creates a grid. Cells and headings with a button call `open` with their row, by its number in the content, and their column.
    pub fn new(
        id: impl Into<String>,
        content: Memo<Arc<GridContent>>,
        choices: GridChoices,
        open: impl Fn(Option<usize>, usize) + Send + Sync + 'static,
    ) -> Self {
        let GridChoices { filter, order } = choices;
        // Lower case once, and not with each letter that is typed; not before the first one.
        let texts = Memo::new(move |_| content.with(|content| content.search_texts()));
        // Sorted once, and not with each letter.
        let ordered = Memo::new(move |_| content.with(|content| content.order(order.get())));
        let found = Memo::new(move |_| {
            let is_page = content.with(|content| content.page.is_some());
            filter.with(|filter| match is_page || filter.trim().is_empty() {
                true => ordered.get(),
                false => texts.with(|texts| ordered.with(|rows| filter_rows(rows, texts, filter))),
            })
        });
        Self {
            id: StoredValue::new(id.into()),
            content,
            filter,
            order,
            found,
            window: RowWindow::new(),
            active: RwSignal::new(Place::default()),
            scroller: NodeRef::new(),
            about: RwSignal::new(String::new()),
            wraps: false,
            open: Callback::new(move |(row, column)| open(row, column)),
        }
    }

    /// Lets texts wrap, so that they can be read, if there are few rows.
    pub fn wrapping(self) -> Self {
        let count = self.content.with_untracked(|content| content.rows.len());
        Self {
            wraps: count <= window::WRAPPED_ROWS,
            ..self
        }
    }

    /// The number of rows that are found. Tracked.
    pub fn count(self) -> usize {
        self.found.with(|found| found.len())
    }
}
