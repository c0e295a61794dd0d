//! The user's schedules, loaded when the page is shown and whenever the log says that they have changed.

use leptos::{prelude::*, task::spawn_local};

use super::texts;
use crate::{
    api::schedules as rpc,
    components::toast::{Toasts, use_toasts},
    runtime::requests::LastRequest,
    state::{
        Connection, Navigation, PageUpdate, remote::Remote, snapshot::OpenedPage, use_connection, use_feeds,
        use_lifecycle, use_navigation,
    },
};
use parlor_protocol::{
    IntentId, ListedSchedule, RunSchedule, RunStatus, Schedule, ScheduleId, ScheduleList, ScheduleStarted,
    job::JobUpdate, json, report::REPORTS_PAGE, schedule::ScheduleLocation,
};

/// The page's state, for as long as it is shown.
#[derive(Clone, Copy)]
pub struct SchedulesState {
    pub connection: Connection,
    pub navigation: Navigation,
    pub toasts: Toasts,
    pub list: RwSignal<Remote<ScheduleList>>,
    requests: LastRequest,
}

impl SchedulesState {
    /// Starts from the page's snapshot, or empty.
    pub fn new() -> Self {
        // The snapshot is shown once, on the first view of the page.
        let opened = expect_context::<OpenedPage>().0;
        let opened = opened.filter(|_| !use_lifecycle().is_hydrated());
        let opened = opened.and_then(|opened| json::parse::<ScheduleList>(opened.as_str().as_bytes()).ok());
        Self {
            connection: use_connection(),
            navigation: use_navigation(),
            toasts: use_toasts(),
            list: RwSignal::new(opened.map_or(Remote::Loading, Remote::Ready)),
            requests: LastRequest::new(),
        }
    }

    /// Follows the changes.
    pub fn start(self) {
        let feeds = use_feeds();
        // The state and the cost of a report that has ended: no change of its schedule announces them.
        feeds.on_page_change(REPORTS_PAGE.name, move |change| {
            if may_end_report(&change) {
                self.load();
            }
        });
        Effect::new(move |before: Option<u32>| {
            let version = feeds.settings_version();
            let is_loaded = matches!(*self.list.read_untracked(), Remote::Ready(_));
            if before.map_or(!is_loaded, |before| before != version) {
                self.load();
            }
            version
        });
    }

    pub fn load(self) {
        let request = self.requests.begin();
        spawn_local(async move {
            let loaded = self.connection.call(rpc::schedules()).await;
            // The page may be left by now.
            if !self.requests.is_last(request) {
                return;
            }
            // What is shown is better than an error.
            let is_shown = matches!(*self.list.read_untracked(), Remote::Ready(_));
            if loaded.is_ok() || !is_shown {
                self.list.set(loaded.into());
            }
        });
    }

    /// Returns a schedule, if it is loaded. Tracked.
    pub fn schedule(self, id: ScheduleId) -> Option<ListedSchedule> {
        self.list.with(|list| match list {
            Remote::Ready(list) => list.schedules.iter().find(|listed| listed.id == id).cloned(),
            _ => None,
        })
    }

    /// Returns true if schedules are switched off. Tracked.
    pub fn is_off(self) -> bool {
        self.list
            .with(|list| matches!(list, Remote::Ready(list) if list.limit == 0))
    }

    /// Saves a schedule, and reports whether that has worked.
    pub fn save(self, id: ScheduleId, schedule: Schedule, done: impl FnOnce(bool) + 'static) {
        spawn_local(async move {
            let saved = self.connection.call(rpc::save_schedule(id, schedule)).await;
            let is_saved = saved.is_ok();
            match saved {
                Ok(saved) => {
                    // The page may be left by now.
                    self.list.try_update(|list| {
                        if let Remote::Ready(list) = list {
                            match list.schedules.iter_mut().find(|listed| listed.id == id) {
                                Some(listed) => *listed = saved,
                                None => list.schedules.push(saved),
                            }
                        }
                    });
                }
                Err(error) => self.toasts.show(error.message),
            }
            done(is_saved);
        });
    }

    /// Pauses a schedule, or resumes it.
    pub fn set_paused(self, listed: &ListedSchedule, is_paused: bool) {
        let schedule = Schedule {
            is_paused,
            ..listed.schedule.clone()
        };
        self.save(listed.id, schedule, |_| {});
    }

    /// Deletes a schedule. It can be restored while its notice is shown, unless schedules are switched off.
    pub fn delete(self, listed: ListedSchedule) {
        let id = listed.id;
        let is_off = untrack(|| self.is_off());
        spawn_local(async move {
            match self.connection.call(rpc::delete_schedule(id)).await {
                Ok(()) => {
                    self.list.try_update(|list| {
                        if let Remote::Ready(list) = list {
                            list.schedules.retain(|listed| listed.id != id);
                        }
                    });
                    match is_off {
                        true => self.toasts.show(texts::DELETED),
                        false => self
                            .toasts
                            .show_with_undo(texts::DELETED, move || self.restore(&listed)),
                    }
                }
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Saves a deleted schedule again, also if the page was left meanwhile. Its conversations link to its id. One that has ended
    /// has no planned time left and comes back paused.
    fn restore(self, listed: &ListedSchedule) {
        self.set_paused(listed, listed.next_at.is_none());
    }

    /// Sends the prompt of a schedule now.
    pub fn run(self, id: ScheduleId) {
        let intent = RunSchedule {
            intent_id: IntentId::new(),
            schedule_id: id,
        };
        spawn_local(async move {
            match self.connection.call(rpc::run_schedule(intent)).await {
                Ok(ScheduleStarted::Answer(_)) => self.toasts.show(texts::STARTED),
                Ok(ScheduleStarted::Report(_)) => self.toasts.show(texts::REPORT_STARTED),
                Err(error) => self.toasts.show(error.message),
            }
        });
    }

    /// Goes to another place of the page.
    pub fn go_to(self, location: ScheduleLocation) {
        self.navigation.set_url(location.to_url(), false);
    }
}

/// Returns true if a change of the reports may be the end of one, or its wait for a person.
fn may_end_report(change: &PageUpdate) -> bool {
    let update = change
        .as_ref()
        .map(|(_, update)| json::parse::<JobUpdate>(update.as_str().as_bytes()));
    match update {
        Some(Ok(JobUpdate::Changed(job))) => job.status != RunStatus::Running,
        _ => true,
    }
}
