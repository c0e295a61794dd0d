//! Notifications of what ended while the user looks elsewhere: the setting, which is stored in this browser, and their display, of long
//! answers in [`run_end`].

mod run_end;

pub(super) use self::run_end::RunEndNotifier;
use crate::{
    browser::{self, NotificationPermission},
    state::texts,
};
use parlor_protocol::Timestamp;

/// The setting's key in the browser's storage.
pub const STORAGE_KEY: &str = "parlor-notify";

/// A page that shows what has ended, in any tab or on any machine, says so within this time; then no notification is shown.
pub(super) const SEEN_DELAY_MS: f64 = 2000.0;

/// Older ends get no notification, for example when a tab catches up after a sleep.
const MAX_END_AGE_MS: f64 = 60_000.0;

/// The setting, as far as the browser permits it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NotifySetting {
    #[default]
    Off,
    On,
    /// The user or the browser has denied the permission.
    Blocked,
    /// The browser has no notifications.
    Unsupported,
}

impl NotifySetting {
    /// The setting now.
    pub fn current() -> Self {
        match browser::notification_permission() {
            NotificationPermission::Unsupported => Self::Unsupported,
            NotificationPermission::Denied => Self::Blocked,
            NotificationPermission::Granted if browser::storage_get(STORAGE_KEY).is_some() => Self::On,
            NotificationPermission::Granted | NotificationPermission::Undecided => Self::Off,
        }
    }

    /// The tooltip of the switch.
    pub fn title(self) -> &'static str {
        match self {
            Self::On => texts::NOTIFY_ON,
            Self::Off | Self::Unsupported => texts::NOTIFY_OFF,
            Self::Blocked => texts::NOTIFY_BLOCKED,
        }
    }
}

/// Returns true if the user wants notifications and the browser permits them.
pub fn is_enabled() -> bool {
    NotifySetting::current() == NotifySetting::On
}

/// Returns true if an end is recent enough for a notification.
pub(super) fn is_recent(ended_at: Timestamp) -> bool {
    ((browser::now().0 - ended_at.0) as f64) < MAX_END_AGE_MS
}

/// Shows a notification in one of the tabs that were told of an end, by the id of what has ended: in the one that gets the lock, which it keeps
/// for as long as other tabs may ask for it.
pub(super) fn show_in_one_tab(id: &str, show: impl FnOnce() + 'static) {
    let lock = browser::try_lock(&["parlor-told-", id].concat(), show);
    browser::set_timeout(MAX_END_AGE_MS, move || {
        let _lock = lock;
    })
    .detach();
}
