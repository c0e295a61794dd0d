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

pub use self::{
    content::{CellMark, GridCell, GridColumn, GridContent, GridRow},
    view::grid,
};
use self::{keys::Place, window::RowWindow};
use crate::{markdown::Order, runtime::effect::effect};

/// The state of a grid.
#[derive(Clone, Copy)]
pub struct Grid {
    /// The id of its element; the first part of those of its cells.
    id: &'static str,
    content: Memo<Arc<GridContent>>,
    filter: RwSignal<String>,
    order: RwSignal<Option<Order>>,
    /// The rows that are found, by their numbers, in their order.
    found: Memo<Arc<[usize]>>,
    /// The first rows in the document, and the height of one.
    window: RowWindow,
    /// The cell that the keyboard reaches.
    active: StoredValue<Place>,
    scroller: NodeRef<html::Div>,
    /// Called with the row and the column of a cell that is opened, and with no row for a heading.
    open: Callback<(Option<usize>, usize)>,
}

/// The filter and the order of a grid, which may outlive it.
#[derive(Clone, Copy)]
pub struct GridChoices {
    pub filter: RwSignal<String>,
    order: RwSignal<Option<Order>>,
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
        id: &'static str,
        content: Memo<Arc<GridContent>>,
        choices: GridChoices,
        open: impl Fn(Option<usize>, usize) + Send + Sync + 'static,
    ) -> Self {
        let GridChoices { filter, order } = choices;
        // Lower case once, and not with each letter that is typed.
        let texts = Memo::new(move |_| content.with(|content| content.search_texts()));
        let found = Memo::new(move |_| {
            content.with(|content| texts.with(|texts| content.find(texts, &filter.get(), order.get())))
        });
        Self {
            id,
            content,
            filter,
            order,
            found,
            window: RowWindow::new(),
            active: StoredValue::new(Place::default()),
            scroller: NodeRef::new(),
            open: Callback::new(move |(row, column)| open(row, column)),
        }
    }

    /// The number of rows that are found. Tracked.
    pub fn count(self) -> usize {
        self.found.with(|found| found.len())
    }
}
