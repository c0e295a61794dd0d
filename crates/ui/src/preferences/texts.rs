//! The texts of the controls of what this browser stores that people read.

// The theme
pub(super) const THEME: &str = "Theme";
pub(super) const SYSTEM: &str = "System";
pub(super) const LIGHT: &str = "Light";
pub(super) const DARK: &str = "Dark";
pub(super) const THEME_SYSTEM: &str = "Theme: system";
pub(super) const THEME_LIGHT: &str = "Theme: light";
pub(super) const THEME_DARK: &str = "Theme: dark";

// Notifications
pub(super) const NOTIFY: &str = "Notify me when a long answer is finished";
pub(super) const NOTIFY_COMMAND: &str = "Turn notifications on or off";
pub(super) const NOTIFIED: &str = "You get a notification when a long answer is done and you are elsewhere.";
pub(super) const BLOCKED: &str = "The browser blocks notifications from Parlor. Allow them in its settings for this \
     site, then press again.";
pub(super) const UNSUPPORTED: &str = "This browser does not support notifications.";
