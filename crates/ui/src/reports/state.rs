//! The user's reports, which follow the log, and the open one with its open article.

use std::sync::Arc;

use leptos::{prelude::*, task::spawn_local};

use super::texts;
use crate::{
    api::reports as rpc,
    components::{
        confirm::{Confirm, ConfirmRequest},
        toast::{Toasts, use_toasts},
    },
    state::{
        Connection, Navigation, PageUpdate,
        remote::Remote,
        replica::{Replica, Replicated},
        snapshot::OpenedPage,
        use_connection, use_feeds, use_lifecycle, use_navigation,
    },
};
use parlor_protocol::{
    ApiError, Dollars, ErrorCode, JobId, Position, ResearchStreamId, RunStatus,
    job::{Job, JobUpdate},
    json,
    report::{
        OpenReport, REPORTS_PAGE, ReportArticle, ReportList, ReportLocation, ReportView, ReportsPageData,
    },
    transcript::MissingEventError,
};

impl Replicated for ReportList {
    type Change = (Position, JobUpdate);
    type Update = ();

    fn apply(&mut self, (position, update): &Self::Change) -> Result<(), MissingEventError> {
        ReportList::apply(self, *position, update);
        Ok(())
    }
}

/// The request of a report, and whether it is complete.
type ReportRequest = (JobId, bool);

/// The request of an article.
type ArticleRequest = (JobId, String);

type Requested = (Option<ReportRequest>, Option<ArticleRequest>);

/// The page's state, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct ReportsState {
    pub connection: Connection,
    pub navigation: Navigation,
    pub toasts: Toasts,
    pub confirm: Confirm,
    /// `None` if the page has nothing at the URL.
    pub location: Memo<Option<ReportLocation>>,
    pub list: RwSignal<Replica<ReportList>>,
    /// The open report.
    pub report: RwSignal<Remote<ReportView>>,
    /// The open article, with its text.
    pub article: RwSignal<Remote<ReportArticle>>,
    /// The requests that [`report`](Self::report) and [`article`](Self::article) belong to.
    requested: StoredValue<Requested>,
}

impl ReportsState {
    /// Starts from the page's snapshot, or empty.
    pub fn new() -> Self {
        let navigation = use_navigation();
        let location = Memo::new(move |_| navigation.with_url(|url| ReportLocation::parse(url)));
        let state = Self {
            connection: use_connection(),
            navigation,
            toasts: use_toasts(),
            confirm: Confirm::new(),
            location,
            list: RwSignal::default(),
            report: RwSignal::new(Remote::NotRequested),
            article: RwSignal::new(Remote::NotRequested),
            requested: StoredValue::default(),
        };
        // The snapshot is shown once, on the first view of the page.
        let opened = expect_context::<OpenedPage>().0;
        let opened = opened.filter(|_| !use_lifecycle().is_hydrated());
        let opened =
            opened.and_then(|opened| json::parse::<ReportsPageData>(opened.as_str().as_bytes()).ok());
        if let Some(opened) = opened {
            state.list.set(Remote::from(opened.list).into());
            let complete = |view: &ReportView| (view.job.id, view.job.status == RunStatus::Complete);
            let report = opened
                .report
                .as_ref()
                .and_then(|view| view.as_ref().ok())
                .map(complete);
            let article = location.with_untracked(|location| article_request(location.as_ref()));
            let article = article.filter(|_| opened.article.is_some());
            state.requested.set_value((report, article));
            state.report.set(Remote::from_snapshot(false, opened.report));
            state.article.set(Remote::from_snapshot(false, opened.article));
        }
        state
    }

    /// Follows the URL and the log.
    pub fn start(self) {
        use_feeds().on_page_change(REPORTS_PAGE.name, move |change| self.on_update(change));
        Effect::new(move |before: Option<()>| {
            let is_current = |list: &ReportList| list.as_of >= self.connection.cursor();
            if before.is_none() && !self.list.read_untracked().get().is_some_and(is_current) {
                self.load();
            }
        });
        Effect::new(move |_| {
            let id = self.report_id();
            // Its result is there once it is complete.
            let is_complete = id
                .and_then(|id| self.job(id))
                .map(|job| job.status == RunStatus::Complete);
            let wanted = id.map(|id| (id, is_complete == Some(true)));
            if wanted != self.requested.get_value().0 {
                self.load_report(wanted);
            }
            let article = self.location.with(|location| article_request(location.as_ref()));
            if article != self.requested.get_value().1 {
                self.load_article(article);
            }
        });
        let lifecycle = use_lifecycle();
        let unseen = Memo::new(move |_| {
            let shown = self.report_id().filter(|_| lifecycle.is_visible());
            shown.filter(|id| self.job(*id).is_some_and(|job| job.unseen))
        });
        Effect::new(move |_| {
            if let Some(id) = unseen.get() {
                spawn_local(async move {
                    // If that fails, it stays unseen until it is opened again.
                    let _ = self.connection.call(rpc::mark_report_seen(id)).await;
                });
            }
        });
    }

    /// Applies a change of the jobs, or reloads the reports if all of them may have changed.
    fn on_update(self, change: PageUpdate) {
        let Some((position, change)) = change else {
            return self.load();
        };
        let Ok(update) = json::parse::<JobUpdate>(change.as_str().as_bytes()) else {
            return self.load();
        };
        // Perhaps in another tab.
        if let JobUpdate::Deleted(id) = update
            && untrack(|| self.report_id()) == Some(id)
        {
            let gone = ApiError::new(ErrorCode::NotFound, texts::NOT_FOUND);
            self.report.set(Remote::Failed(gone));
        }
        self.list.update(|list| {
            list.apply(&(position, update));
        });
    }

    pub fn load(self) {
        self.list.update(Replica::begin_load);
        spawn_local(async move {
            let loaded = self.connection.call(rpc::reports()).await;
            // The page may be left by now.
            let _ = self.list.try_update(|list| match loaded {
                Ok(loaded) => {
                    // No change of a job needs the one before it.
                    let _ = list.finish_load(loaded);
                }
                Err(error) => list.fail_load(error),
            });
        });
    }

    fn load_report(self, wanted: Option<ReportRequest>) {
        let before = self.requested.get_value().0;
        self.requested.update_value(|requested| requested.0 = wanted);
        let Some((id, _)) = wanted else {
            return self.report.set(Remote::NotRequested);
        };
        // What is shown of the same report stays until its result is here.
        if before.is_none_or(|(shown, _)| shown != id) {
            self.report.set(Remote::Loading);
        }
        spawn_local(async move {
            let report = self.connection.call(rpc::report(id)).await;
            // Its status may have been unknown when it was requested.
            let has_result = report.as_ref().is_ok_and(|view| view.report.is_some());
            let requested = self
                .requested
                .try_get_value()
                .and_then(|(requested, _)| requested);
            let is_wanted =
                requested == wanted || has_result && requested.is_some_and(|(other, _)| other == id);
            if is_wanted && requested.is_some() {
                if has_result {
                    self.requested
                        .update_value(|requested| requested.0 = Some((id, true)));
                }
                self.report.set(report.into());
            }
        });
    }

    pub fn load_report_again(self) {
        self.report.set(Remote::Loading);
        self.load_report(self.requested.get_value().0);
    }

    fn load_article(self, wanted: Option<ArticleRequest>) {
        self.requested
            .update_value(|requested| requested.1.clone_from(&wanted));
        let Some((id, pmid)) = wanted.clone() else {
            return self.article.set(Remote::NotRequested);
        };
        self.article.set(Remote::Loading);
        spawn_local(async move {
            let article = self.connection.call(rpc::report_article(id, pmid)).await;
            if self
                .requested
                .try_get_value()
                .is_some_and(|(_, requested)| requested == wanted)
            {
                self.article.set(article.into());
            }
        });
    }

    pub fn load_article_again(self) {
        self.load_article(self.requested.get_value().1);
    }

    /// The id of the open report. Tracked.
    pub fn report_id(self) -> Option<JobId> {
        self.open().map(|open| open.report_id)
    }

    /// The open place of a report. Tracked.
    pub fn open(self) -> Option<OpenReport> {
        self.location.with(|location| match location {
            Some(ReportLocation::Report(open)) => Some(open.clone()),
            _ => None,
        })
    }

    /// A report without its result: as the log has it. Tracked.
    pub fn job(self, id: JobId) -> Option<Job> {
        let listed = self
            .list
            .with(|list| list.get().and_then(|list| list.report(id).cloned()));
        listed.or_else(|| {
            self.report.with(|report| match report {
                Remote::Ready(view) if view.job.id == id => Some(view.job.clone()),
                _ => None,
            })
        })
    }

    /// Starts a report of a stream, and opens it. A repeated request with its id starts nothing more.
    pub fn make(
        self,
        (id, stream): (JobId, ResearchStreamId),
        model: Option<String>,
        cost_limit: Option<Dollars>,
        done: impl FnOnce() + 'static,
    ) {
        spawn_local(async move {
            let started = self
                .connection
                .call(rpc::start_report(id, stream, model, cost_limit))
                .await;
            done();
            match started {
                // The user may have left the page by now and must not be taken back.
                Ok(()) if self.list.is_disposed() => {}
                Ok(()) => self.go_to(&ReportLocation::Report(OpenReport::summary(id))),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    pub fn stop(self, id: JobId) {
        self.send(rpc::stop_job(id), |_| {});
    }

    pub fn go_on(self, id: JobId, cost_limit: Option<Dollars>) {
        self.send(rpc::continue_job(id, cost_limit), |_| {});
    }

    /// Deletes a report after a confirmation.
    pub fn delete(self, job: &Job) {
        let id = job.id;
        self.confirm.ask(ConfirmRequest {
            title: texts::delete_title(&job.title),
            text: texts::DELETE_TEXT.into(),
            button_label: texts::DELETE,
            on_confirm: Arc::new(move || {
                self.send(rpc::delete_report(id), move |state| {
                    if untrack(|| state.report_id()) == Some(id) {
                        state.go_to(&ReportLocation::List);
                    }
                });
            }),
        });
    }

    /// Sends a request for a change. The result arrives with the log.
    fn send(
        self,
        request: impl Future<Output = Result<(), ApiError>> + 'static,
        done: impl FnOnce(Self) + 'static,
    ) {
        spawn_local(async move {
            match self.connection.call(request).await {
                // The user may have left the page by now.
                Ok(()) if self.list.is_disposed() => {}
                Ok(()) => done(self),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Navigates to another URL of the page.
    pub fn go_to(self, to: &ReportLocation) {
        self.navigation.set_url(to.to_url(), false);
    }
}

fn article_request(location: Option<&ReportLocation>) -> Option<ArticleRequest> {
    match location {
        Some(ReportLocation::Report(open)) => Some((open.report_id, open.article.clone()?)),
        _ => None,
    }
}
