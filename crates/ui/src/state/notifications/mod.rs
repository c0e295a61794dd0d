//! Notifications of long answers: the setting, which is stored in this browser, and their display ([`run_end`]).

mod run_end;

pub(super) use self::run_end::RunEndNotifier;
use crate::{
    browser::{self, NotificationPermission},
    state::texts,
};

/// The setting's key in the browser's storage.
pub const STORAGE_KEY: &str = "parlor-notify";

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
