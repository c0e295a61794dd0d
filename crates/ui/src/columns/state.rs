//! The columns of the rows on the screen with their cells, loaded when they are shown and whenever the log says that they have changed.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::{
    OpenDialog,
    content::{BaseRows, grid_content},
    followed_job::FollowedJob,
    texts,
};
use crate::{
    api::{columns as rpc, reports as jobs},
    browser,
    components::{
        confirm::{Confirm, ConfirmRequest},
        toast::{Toasts, use_toasts},
    },
    grid::GridContent,
    runtime::{backoff::backoff_ms, requests::LastRequest},
    state::{Connection, PageUpdate, remote::Remote, replica::Replica, use_connection, use_feeds},
};
use parlor_protocol::{
    ApiError, ColumnId, Dollars, JobId, RunStatus,
    columns::{CellDetails, Column, ColumnSource, ColumnsView, FillEstimate},
    job::{Job, JobUpdate},
    json,
    report::REPORTS_PAGE,
};

/// The number of loads that may fail one after the other. The next change of a job loads the cells again.
const MAX_FAILURES: u32 = 8;

/// The state of a grid with columns, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct ColumnsState {
    /// The id of the grid's element.
    pub id: &'static str,
    /// Returns the URL of a passage in a row, by its key; `None` if its text is on the screen.
    pub passage_url: fn(&str, &str) -> Option<String>,
    /// True while a job fills the cells.
    pub is_running: Memo<bool>,
    pub source: StoredValue<ColumnSource>,
    /// The rows and their own columns.
    pub base: Memo<Arc<BaseRows>>,
    pub connection: Connection,
    pub toasts: Toasts,
    pub confirm: Confirm,
    pub view: RwSignal<Remote<ColumnsView>>,
    /// The last job, as the log has it.
    pub job: RwSignal<Option<Job>>,
    pub dialog: RwSignal<Option<OpenDialog>>,
    requests: LastRequest,
    followed: StoredValue<Replica<FollowedJob>>,
    /// The number of loads that have failed since one succeeded.
    failures: StoredValue<u32>,
}

impl ColumnsState {
    pub fn new(
        id: &'static str,
        source: ColumnSource,
        base: Memo<Arc<BaseRows>>,
        passage_url: fn(&str, &str) -> Option<String>,
    ) -> Self {
        let job = RwSignal::new(None::<Job>);
        let is_running = Memo::new(move |_| {
            job.with(|job| job.as_ref().is_some_and(|job| job.status == RunStatus::Running))
        });
        Self {
            id,
            passage_url,
            is_running,
            job,
            source: StoredValue::new(source),
            base,
            connection: use_connection(),
            toasts: use_toasts(),
            confirm: Confirm::new(),
            view: RwSignal::new(Remote::Loading),
            dialog: RwSignal::new(None),
            requests: LastRequest::new(),
            followed: StoredValue::default(),
            failures: StoredValue::new(0),
        }
    }

    /// Loads the columns, and follows the log.
    pub fn start(self) {
        let feeds = use_feeds();
        feeds.on_page_change(REPORTS_PAGE.name, move |change| self.on_job(change));
        Effect::new(move |_| {
            feeds.settings_version();
            self.load();
        });
    }

    pub fn load(self) {
        let request = self.requests.begin();
        let source = self.source.get_value();
        self.followed.update_value(Replica::begin_load);
        spawn_local(async move {
            let loaded = self.connection.call(rpc::columns(source)).await;
            let is_last = self.requests.is_last(request);
            let ended = self.followed.try_update_value(|followed| match &loaded {
                Ok(view) if is_last => {
                    let job = FollowedJob::new(view, followed.get());
                    // No change of a job needs the one before it.
                    let _ = followed.finish_load(job);
                }
                _ => {
                    followed.end_load();
                    if let Some(job) = followed.get_mut() {
                        job.is_outdated |= loaded.is_err();
                    }
                }
            });
            // The page may be left by now.
            if ended.is_none() {
                return;
            }
            let has_failed = loaded.is_err();
            // What is shown is better than an error.
            if is_last && (!has_failed || !matches!(*self.view.read_untracked(), Remote::Ready(_))) {
                self.view.set(loaded.into());
            }
            if has_failed {
                self.try_again();
            } else {
                self.failures.set_value(0);
                self.on_followed();
            }
        });
    }

    /// Loads what a failed load has left out, after a pause.
    fn try_again(self) {
        let failures = self.failures.try_update_value(|failures| {
            *failures += 1;
            *failures
        });
        let Some(failures) = failures.filter(|failures| *failures <= MAX_FAILURES) else {
            return;
        };
        browser::set_timeout(backoff_ms(failures), move || {
            if !self.followed.is_disposed() {
                self.on_followed();
            }
        })
        .detach();
    }

    /// Applies a change of a job.
    fn on_job(self, change: PageUpdate) {
        let Some((position, change)) = change else {
            return self.load();
        };
        let Ok(update) = json::parse::<JobUpdate>(change.as_str().as_bytes()) else {
            return self.load();
        };
        self.followed.update_value(|followed| {
            followed.apply(&(position, update));
        });
        self.on_followed();
    }

    /// Shows the job, and loads the cells again if it has more of them. One load at a time: the next one has all that came meanwhile.
    /// Called after each change and each load.
    fn on_followed(self) {
        let (job, wants_load) = self.followed.with_value(|followed| match followed.get() {
            Some(known) => (known.job.clone(), known.is_outdated && !followed.is_loading()),
            None => (None, false),
        });
        if self.job.with_untracked(|shown| *shown != job) {
            self.job.set(job);
        }
        if wants_load {
            self.load();
        }
    }

    /// The loaded columns. Tracked.
    pub fn with_view<T>(self, read: impl FnOnce(&ColumnsView) -> T) -> Option<T> {
        self.view.with(|view| match view {
            Remote::Ready(view) => Some(read(view)),
            _ => None,
        })
    }

    /// A column, by its number.
    pub fn column(self, number: usize) -> Option<Column> {
        untrack(|| self.with_view(|view| view.columns.get(number).cloned())).flatten()
    }

    /// The content of the grid. Tracked.
    pub fn content(self) -> Arc<GridContent> {
        self.base.with(|base| {
            let content = self.with_view(|view| grid_content(base, view, self.is_running.get()));
            Arc::new(content.unwrap_or_else(|| grid_content(base, &ColumnsView::default(), false)))
        })
    }

    /// Opens what a press in the grid is about: a cell, or a column without a row.
    pub fn open_place(self, row: Option<usize>, column: usize) {
        let Some(number) = column.checked_sub(self.base.with_untracked(|base| base.lead)) else {
            return;
        };
        let key = row.and_then(|row| {
            self.base
                .with_untracked(|base| Some(base.rows.get(row)?.key.clone()))
        });
        self.dialog.set(Some(match key {
            Some(key) => OpenDialog::Cell(key, number),
            None => OpenDialog::Column(Some(number)),
        }));
    }

    pub async fn cell(self, column_id: ColumnId, row: String) -> Result<CellDetails, ApiError> {
        let request = rpc::column_cell(self.source.get_value(), column_id, row);
        self.connection.call(request).await
    }

    /// Saves a column, and reports whether that has worked.
    pub fn save(self, column: Column, done: impl FnOnce(Result<(), String>) + 'static) {
        let request = rpc::save_column(self.source.get_value(), column);
        self.send(request, done);
    }

    /// Corrects a cell, or takes its correction back.
    pub fn correct(
        self,
        (column_id, row): (ColumnId, String),
        value: Option<String>,
        done: impl FnOnce(Result<(), String>) + 'static,
    ) {
        self.send(rpc::correct_cell(column_id, row, value), done);
    }

    /// Returns what filling the columns would ask a model.
    pub async fn estimate(self, model: Option<String>) -> Result<FillEstimate, ApiError> {
        let request = rpc::fill_estimate(self.source.get_value(), model);
        self.connection.call(request).await
    }

    /// Starts a job. A repeated request with its id starts nothing more.
    pub fn fill(
        self,
        id: JobId,
        model: Option<String>,
        cost_limit: Option<Dollars>,
        done: impl FnOnce(Result<(), String>) + 'static,
    ) {
        let request = rpc::fill_columns(id, self.source.get_value(), model, cost_limit);
        self.send(request, done);
    }

    pub fn stop(self, id: JobId) {
        self.send_quietly(jobs::stop_job(id));
    }

    pub fn go_on(self, id: JobId, cost_limit: Option<Dollars>) {
        self.send_quietly(jobs::continue_job(id, cost_limit));
    }

    /// Deletes a column after a confirmation.
    pub fn delete(self, column: &Column) {
        let id = column.id;
        self.confirm.ask(ConfirmRequest {
            title: texts::delete_title(&column.name),
            text: texts::DELETE_TEXT.into(),
            button_label: texts::DELETE,
            on_confirm: Arc::new(move || self.send_quietly(rpc::delete_column(id))),
        });
    }

    fn send_quietly(self, request: impl Future<Output = Result<(), ApiError>> + 'static) {
        self.send(request, move |sent| {
            if let Err(message) = sent {
                self.toasts.show(message);
            }
        });
    }

    /// Sends a request for a change, and loads what has become of it.
    fn send(
        self,
        request: impl Future<Output = Result<(), ApiError>> + 'static,
        done: impl FnOnce(Result<(), String>) + 'static,
    ) {
        spawn_local(async move {
            let sent = self.connection.call(request).await;
            // The user may have left the page by now.
            if !self.view.is_disposed() {
                if sent.is_ok() {
                    self.load();
                }
                done(sent.map_err(|error| error.message));
            }
        });
    }
}
