//! The reports that have ended, or wait for a decision, since the user last looked at them: for the dot beside the link to their page, and for a
//! notification while the user looks elsewhere.

use leptos::{prelude::*, task::spawn_local};
use serde::Deserialize;

use super::{
    connection::Connection,
    feeds::{ChangeFeeds, PageUpdate},
    lifecycle::PageLifecycle,
    navigation::Navigation,
    notifications, texts,
};
use crate::{api::reports as rpc, browser, runtime::requests::LastRequest};
use parlor_protocol::{
    JobId, RunStatus, Timestamp, json,
    report::{OpenReport, REPORT, REPORTS_PAGE},
};

/// The unseen reports. One store per page.
#[derive(Clone, Copy)]
pub struct UnseenReports {
    ids: RwSignal<Vec<JobId>>,
    connection: Connection,
    lifecycle: PageLifecycle,
    navigation: Navigation,
    requests: LastRequest,
    is_loading: StoredValue<bool>,
}

/// The part of a change of the jobs that counts here, without the code that reads the whole.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum JobUpdate {
    Changed(ChangedJob),
    Deleted(JobId),
}

#[derive(Deserialize)]
struct ChangedJob {
    id: JobId,
    kind: String,
    title: String,
    status: RunStatus,
    #[serde(default)]
    unseen: bool,
    #[serde(default)]
    ended_at: Option<Timestamp>,
}

impl UnseenReports {
    pub(super) fn new(
        ids: Vec<JobId>,
        connection: Connection,
        lifecycle: PageLifecycle,
        navigation: Navigation,
    ) -> Self {
        Self {
            ids: RwSignal::new(ids),
            connection,
            lifecycle,
            navigation,
            requests: LastRequest::new(),
            is_loading: StoredValue::new(false),
        }
    }

    /// The number of unseen reports. Tracked.
    pub fn count(self) -> usize {
        self.ids.with(Vec::len)
    }

    /// Follows the log.
    pub(super) fn start(self, feeds: ChangeFeeds) {
        feeds.on_page_change(REPORTS_PAGE.name, move |update| self.on_update(update));
    }

    fn on_update(self, update: PageUpdate) {
        let Some((_, change)) = update else {
            return self.load();
        };
        match json::parse::<JobUpdate>(change.as_str().as_bytes()) {
            Ok(JobUpdate::Changed(job)) if job.kind == REPORT => {
                let is_new = job.unseen && !self.ids.with_untracked(|ids| ids.contains(&job.id));
                self.set(job.id, job.unseen);
                if is_new {
                    self.notify_later(job);
                }
            }
            Ok(JobUpdate::Changed(_)) => return,
            Ok(JobUpdate::Deleted(id)) => self.set(id, false),
            Err(_) => return self.load(),
        }
        // What is being loaded may be older.
        if self.is_loading.get_value() {
            self.load();
        }
    }

    fn set(self, id: JobId, is_unseen: bool) {
        if self.ids.with_untracked(|ids| ids.contains(&id)) != is_unseen {
            self.ids.update(|ids| {
                ids.retain(|other| *other != id);
                ids.extend(is_unseen.then_some(id));
            });
        }
    }

    fn load(self) {
        let number = self.requests.begin();
        self.is_loading.set_value(true);
        spawn_local(async move {
            let loaded = self.connection.call(rpc::unseen_reports()).await;
            if !self.requests.is_last(number) {
                return;
            }
            self.is_loading.set_value(false);
            if let Ok(ids) = loaded {
                self.ids.set(ids);
            }
        });
    }

    fn notify_later(self, job: ChangedJob) {
        if job.ended_at.is_none_or(notifications::is_recent) && notifications::is_enabled() {
            browser::set_timeout(notifications::SEEN_DELAY_MS, move || {
                self.notify_unless_seen(&job)
            })
            .detach();
        }
    }

    fn notify_unless_seen(self, job: &ChangedJob) {
        let is_unseen = self
            .ids
            .try_with_untracked(|ids| ids.contains(&job.id))
            .unwrap_or(false);
        let url = OpenReport::summary(job.id).to_url();
        let is_on_screen = untrack(|| self.navigation.with_url(|shown| *shown == url));
        if !is_unseen || is_on_screen && untrack(|| self.lifecycle.is_visible()) {
            return;
        }
        let line = match job.status {
            RunStatus::Complete => texts::REPORT_READY,
            RunStatus::Running | RunStatus::Waiting => texts::REPORT_WAITS,
            RunStatus::Stopped | RunStatus::Failed | RunStatus::Interrupted => texts::REPORT_ENDED,
        };
        let (title, tag) = (job.title.clone(), job.id.to_string());
        notifications::show_in_one_tab(&tag.clone(), move || {
            browser::notify(&title, line, &tag, move || {
                self.navigation.open_page(url);
            });
        });
    }
}
