//! Columns: questions that the person asks about each row of a grid, which a job answers.
//!
//! - [`state`]: the columns with their cells; [`followed_job`]: the job that fills them
//! - [`content`]: what the grid shows of them
//! - [`bar`]: the actions, and the progress of the job
//! - [`column_form`], [`cell_form`], [`fill_form`]: the dialogs
//! - [`mod@table`]: the rows of a table, which are loaded for the grid

mod bar;
mod cell_form;
mod column_form;
mod content;
mod fill_form;
mod followed_job;
mod state;
mod table;
mod texts;

use leptos::prelude::*;

pub use self::{
    content::{BaseRow, BaseRows},
    state::ColumnsState,
    table::table_with_columns,
};
use crate::{
    components::confirm::{close_dialog, use_modal},
    grid::{Grid, GridChoices, grid},
    runtime::erase::Erase,
};
use parlor_protocol::number_format::group_digits;

/// The dialog that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenDialog {
    /// The form of a column, by its number; of a new one without.
    Column(Option<usize>),
    /// A cell, by the key of its row and the number of its column.
    Cell(String, usize),
    Fill,
}

/// A grid of rows with the person's columns, and all that belongs to it.
pub fn columns_grid(state: ColumnsState, choices: GridChoices) -> AnyView {
    let content = Memo::new(move |_| state.content());
    let table = Grid::new(state.id, content, choices, move |row, column| {
        state.open_place(row, column);
    });
    let count = move || {
        let all = state.base.with(|base| base.rows.len());
        let (found, all) = (table.count(), group_digits(all as u64));
        texts::rows(&group_digits(found as u64), &all)
    };
    view! {
        {bar::bar(state)}
        <p class="literature-count" role="status">{count}</p>
        {grid(table)}
        {dialog(state)}
        {state.confirm.dialog()}
    }
    .erase()
}

fn dialog(state: ColumnsState) -> AnyView {
    let is_open = Memo::new(move |_| state.dialog.with(Option::is_some));
    let node = use_modal(move || is_open.get());
    let close = move || close_dialog(node);
    let body = move || {
        state.dialog.get().map(|open| match open {
            OpenDialog::Column(number) => column_form::column_form(state, number, close),
            OpenDialog::Cell(row, column) => cell_form::cell_form(state, row, column, close),
            OpenDialog::Fill => fill_form::fill_form(state, close),
        })
    };
    view! {
        <dialog node_ref=node class="dialog project-dialog" aria-labelledby="columns-dialog-title" on:close=move |_| state.dialog.set(None)>
            {body}
        </dialog>
    }
    .erase()
}
