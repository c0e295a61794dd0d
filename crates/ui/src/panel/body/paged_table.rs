//! Tables with more rows than the page has: the server sorts and filters them, and sends one page at a time.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::{
    empty_notice,
    table::{COLUMNS_GRID, filter_input, grid_content, missing_notice, title},
};
use crate::{
    api::rpc,
    columns::table_with_columns,
    grid::{Grid, GridChoices, GridContent, GridPage, grid},
    markdown::Order,
    panel::texts,
    runtime::erase::Erase,
    state::{Connection, page_registry::ShownPayload, use_connection},
};
use parlor_protocol::{
    ApiError,
    columns::ColumnSource,
    number_format::group_digits,
    panel::{TABLE_PAGE_ROWS, TablePage, TableView},
};

/// The id of the grid. The panel shows one table at a time.
const PAGED_GRID: &str = "paged-grid";

const PAGE_ROWS: u64 = TABLE_PAGE_ROWS as u64;

/// The rows that somebody wants to see.
#[derive(Clone, Debug, Default, PartialEq)]
struct WantedRows {
    /// The number of rows before the page.
    offset: u64,
    order: Option<Order>,
    filter: String,
}

/// The rows that are shown.
#[derive(Clone, Debug, PartialEq)]
struct ShownRows {
    wanted: WantedRows,
    page: TablePage,
}

#[derive(Clone, Copy)]
struct PagedTable {
    payload: StoredValue<ShownPayload>,
    connection: Connection,
    /// The number of all rows.
    count: u64,
    offset: RwSignal<u64>,
    choices: GridChoices,
    shown: RwSignal<ShownRows>,
    is_loading: RwSignal<bool>,
    error: RwSignal<Option<ApiError>>,
}

/// A table with its title, to which columns can be added. The view has its first rows.
pub fn table(payload: &ShownPayload, table: &TableView, count: u64) -> AnyView {
    let source = ColumnSource::payload(payload.conversation_id, &*payload.payload.payload_id);
    let (shown, view) = (payload.clone(), table.clone());
    let plain = move || pages(&shown, &view, count);
    view! {
        {title(table)}
        {table_with_columns(COLUMNS_GRID, source, table.has_columns, plain)}
    }
    .erase()
}

/// The pages of a table.
fn pages(payload: &ShownPayload, table: &TableView, count: u64) -> AnyView {
    let rows: Vec<_> = table.rows.iter().take(TABLE_PAGE_ROWS).cloned().collect();
    let are_missing = (rows.len() as u64) < PAGE_ROWS.min(count);
    let page = TablePage { rows, found: count };
    let paged = PagedTable {
        payload: StoredValue::new(payload.clone()),
        connection: use_connection(),
        count,
        offset: RwSignal::new(0),
        choices: GridChoices::new(),
        shown: RwSignal::new(ShownRows {
            wanted: WantedRows::default(),
            page,
        }),
        is_loading: RwSignal::new(false),
        error: RwSignal::new(None),
    };
    Effect::new(move |before: Option<(Option<Order>, String)>| {
        let now = (paged.choices.order.get(), paged.choices.filter.get());
        let is_first = before.is_none();
        if before.is_some_and(|before| before != now) {
            paged.turn_to(0);
        } else if is_first && are_missing {
            paged.load();
        }
        now
    });
    paged.view(table)
}

impl PagedTable {
    fn wanted(self) -> Option<WantedRows> {
        Some(WantedRows {
            offset: self.offset.try_get_untracked()?,
            order: self.choices.order.try_get_untracked()?,
            filter: self.choices.filter.try_get_untracked()?,
        })
    }

    fn turn_to(self, offset: u64) {
        self.offset.set(offset);
        self.load();
    }

    /// Loads the wanted rows. While a request is under way, no other is sent: it is followed by one for what is wanted then.
    fn load(self) {
        if self.is_loading.get_untracked() {
            return;
        }
        self.is_loading.set(true);
        spawn_local(async move {
            // The panel may show something else by now.
            while let Some(wanted) = self.wanted()
                && let Some(payload) = self.payload.try_get_value()
            {
                let (column, is_descending) = match wanted.order {
                    Some(order) => (Some(order.column()), order.is_descending()),
                    None => (None, false),
                };
                let request = rpc::table_rows(
                    payload.conversation_id,
                    payload.payload.payload_id,
                    wanted.offset,
                    column,
                    is_descending,
                    wanted.filter.clone(),
                );
                let answer = self.connection.call(request).await;
                if self.wanted().as_ref() == Some(&wanted) {
                    return self.finish(wanted, answer);
                }
            }
        });
    }

    fn finish(self, wanted: WantedRows, answer: Result<TablePage, ApiError>) {
        self.is_loading.try_set(false);
        match answer {
            Ok(page) => {
                self.error.try_set(None);
                self.shown.try_set(ShownRows { wanted, page });
            }
            Err(error) => {
                self.error.try_set(Some(error));
            }
        }
    }

    fn view(self, table: &TableView) -> AnyView {
        let missing = missing_notice(table);
        let table = table.clone();
        let content = Memo::new(move |_| {
            let (rows, page) = self.shown.with(|shown| {
                let page = GridPage {
                    before: shown.wanted.offset as usize,
                    all: shown.page.found as usize,
                };
                (shown.page.rows.clone(), page)
            });
            let content = grid_content(&table, rows);
            Arc::new(GridContent {
                page: Some(page),
                ..content
            })
        });
        let nothing = move || {
            let is_empty = self.shown.with(|shown| shown.page.found == 0);
            is_empty.then(|| empty_notice(texts::NO_MATCHES))
        };
        let is_busy = move || self.is_loading.get().to_string();
        view! {
            <div class="panel-tools needs-script">{filter_input(self.choices.filter)}</div>
            <div class="table-page" aria-busy=is_busy>
                {grid(Grid::new(PAGED_GRID, content, self.choices, |_, _| {}))}
            </div>
            {nothing}
            {move || self.error.get().map(|error| self.failure(error))}
            {self.pager()}
            {missing}
        }
        .erase()
    }

    fn failure(self, error: ApiError) -> AnyView {
        view! {
            <div class="notice" role="alert">
                <h3>{texts::ROWS_FAILED}</h3>
                <p>{error.message}</p>
                <button type="button" class="button" on:click=move |_| self.load()>{texts::TRY_AGAIN}</button>
            </div>
        }
        .erase()
    }

    fn pager(self) -> AnyView {
        let status = move || match self.is_loading.get() {
            true => texts::LOADING.to_owned(),
            false => self.shown.with(|shown| count_words(shown, self.count)),
        };
        let found = move || self.shown.with(|shown| shown.page.found);
        let last = move || found().saturating_sub(1) / PAGE_ROWS * PAGE_ROWS;
        let first_page = self.button(texts::FIRST, || 0, last);
        let previous = move || self.offset.get().saturating_sub(PAGE_ROWS);
        let next = move || last().min(self.offset.get() + PAGE_ROWS);
        view! {
            <div class="table-pager">
                <span class="panel-count" role="status">{status}</span>
                <div class="table-pager-buttons needs-script" role="group" aria-label=texts::PAGES>
                    {first_page}
                    {self.button(texts::PREVIOUS, previous, last)}
                    {self.button(texts::NEXT, next, last)}
                    {self.button(texts::LAST, last, last)}
                </div>
            </div>
        }
        .erase()
    }

    /// A button that turns to a page. One that would change nothing keeps the focus.
    fn button(
        self,
        name: &'static str,
        to: impl Fn() -> u64 + Copy + Send + Sync + 'static,
        last: impl Fn() -> u64 + Copy + Send + Sync + 'static,
    ) -> AnyView {
        let is_there = move || to() == self.offset.get().min(last());
        let press = move |_| {
            if !untrack(is_there) {
                self.turn_to(untrack(to));
            }
        };
        let disabled = move || is_there().then_some("true");
        view! {
            <button type="button" class="button" aria-disabled=disabled on:click=press>{name}</button>
        }
        .erase()
    }
}

/// Returns the place of the shown rows: "1–100 of 1,000,000 rows".
fn count_words(shown: &ShownRows, count: u64) -> String {
    let ShownRows { wanted, page } = shown;
    let last = wanted.offset + page.rows.len() as u64;
    let (first, last) = (group_digits((wanted.offset + 1).min(last)), group_digits(last));
    let found = group_digits(page.found);
    let place = [&first, "–", &last].concat();
    match wanted.filter.trim().is_empty() {
        true => texts::rows_of(&place, &found),
        false if page.found == 0 => texts::rows_of("0", &group_digits(count)),
        false => texts::rows_found(&place, &found, &group_digits(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_of_rows_is_counted_from_one() {
        let words = |offset: u64, rows: usize, found: u64, filter: &str| {
            let wanted = WantedRows {
                offset,
                order: None,
                filter: filter.into(),
            };
            let page = TablePage {
                rows: vec![vec![]; rows],
                found,
            };
            count_words(&ShownRows { wanted, page }, 1_000_000)
        };
        assert_eq!(words(0, 100, 1_000_000, ""), "1–100 of 1,000,000 rows");
        assert_eq!(
            words(999_900, 100, 1_000_000, " "),
            "999,901–1,000,000 of 1,000,000 rows"
        );
        assert_eq!(words(0, 37, 37, "north"), "1–37 of 37 found in 1,000,000 rows");
        assert_eq!(words(0, 0, 0, "nowhere"), "0 of 1,000,000 rows");
    }
}
