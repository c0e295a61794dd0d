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
use crate::{api::reports as rpc, browser};
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
    is_loading: StoredValue<bool>,
    /// Something has changed since the load in progress began.
    is_outdated: StoredValue<bool>,
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
            is_loading: StoredValue::new(false),
            is_outdated: StoredValue::new(false),
        }
    }

    /// The number of unseen reports. Tracked.
    pub fn count(self) -> usize {
        self.ids.with(Vec::len)
    }

    /// The number of unseen reports besides the one on the screen. Tracked.
    pub fn count_elsewhere(self) -> usize {
        self.ids.with(|ids| {
            let is_elsewhere = |id: &&JobId| !self.is_on_screen(**id);
            ids.iter().filter(is_elsewhere).count()
        })
    }

    /// Returns true if the user sees a report. Tracked.
    fn is_on_screen(self, id: JobId) -> bool {
        let url = OpenReport::summary(id).to_url();
        self.navigation.with_url(|shown| *shown == url) && self.lifecycle.is_visible()
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
        self.is_outdated.set_value(true);
    }

    fn set(self, id: JobId, is_unseen: bool) {
        if self.ids.with_untracked(|ids| ids.contains(&id)) != is_unseen {
            self.ids.update(|ids| {
                ids.retain(|other| *other != id);
                ids.extend(is_unseen.then_some(id));
            });
        }
    }

    /// Loads them, and again if something has changed meanwhile: what was loaded may be older.
    fn load(self) {
        self.is_outdated.set_value(true);
        if self.is_loading.try_update_value(|is| std::mem::replace(is, true)) != Some(false) {
            return;
        }
        spawn_local(async move {
            while self.is_outdated.try_update_value(std::mem::take) == Some(true) {
                match self.connection.call(rpc::unseen_reports()).await {
                    Ok(ids) if self.is_outdated.try_get_value() == Some(false) => self.ids.set(ids),
                    Ok(_) => {}
                    // What is known stays, until the next change.
                    Err(_) => break,
                }
            }
            let _ = self.is_loading.try_set_value(false);
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
        if !is_unseen || untrack(|| self.is_on_screen(job.id)) {
            return;
        }
        let url = OpenReport::summary(job.id).to_url();
        let line = match job.status {
            RunStatus::Complete => texts::REPORT_READY,
            RunStatus::Running | RunStatus::Waiting => texts::REPORT_WAITS,
            RunStatus::Stopped | RunStatus::Failed | RunStatus::Interrupted => texts::REPORT_ENDED,
        };
        let (title, tag) = (job.title.clone(), job.id.to_string());
        // One that waited may end soon after.
        let end = job.ended_at.map_or(0, |at| at.0);
        notifications::show_in_one_tab(&[&tag, "-", &end.to_string()].concat(), move || {
            browser::notify(&title, line, &tag, move || {
                self.navigation.open_page(url);
            });
        });
    }
}
