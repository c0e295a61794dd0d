//! The check of a machine and its settings, for operators: what works, what does not, and how to mend it. `parlor doctor` prints it,
//! the settings page shows it to administrators.
//!
//! - [`machine`]: the data folder and its file system, the clock, the secrets
//! - [`file_system`]: the kind of file system that a folder lies on
//! - [`reach`]: the address, the host names, proxies and TLS
//! - [`storage`]: the place of all data and of files
//! - [`services`]: model servers, Python, databases, MCP servers
//!
//! Nothing is changed or created by it.

mod file_system;
mod machine;
mod reach;
mod services;
mod storage;

use parlor_base::settings::{Settings, SettingsError};
use serde::Serialize;

pub use self::{
    file_system::network_notice,
    reach::{Listening, PageRequest},
    services::{ServerServices, Services},
};

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Works,
    /// Not configured, and not needed.
    Off,
    /// Works now, and may cause harm later or elsewhere.
    Warning,
    Fails,
}

impl Status {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Off => "off",
            Self::Warning => "warning",
            Self::Fails => "fails",
        }
    }
}

/// One row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The checked part, in one or two words.
    pub subject: &'static str,
    pub status: Status,
    /// The state, in a sentence.
    pub text: String,
    /// The next step for the operator; empty if nothing is to be done.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub mend: String,
}

impl Finding {
    fn new(subject: &'static str, status: Status, text: impl Into<String>) -> Self {
        Self {
            subject,
            status,
            text: text.into(),
            mend: String::new(),
        }
    }

    fn works(subject: &'static str, text: impl Into<String>) -> Self {
        Self::new(subject, Status::Works, text)
    }

    fn off(subject: &'static str, text: impl Into<String>) -> Self {
        Self::new(subject, Status::Off, text)
    }

    /// Returns the finding of settings that can't be used. Nothing else can be checked then.
    pub fn of_settings(error: &SettingsError) -> Self {
        Self::fails(
            "Settings",
            format!("They can’t be used: {error}."),
            "Correct that, then check again.",
        )
    }

    fn warning(subject: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            mend: mend.into(),
            ..Self::new(subject, Status::Warning, text)
        }
    }

    fn fails(subject: &'static str, text: impl Into<String>, mend: impl Into<String>) -> Self {
        Self {
            mend: mend.into(),
            ..Self::new(subject, Status::Fails, text)
        }
    }
}

/// What is known about the place of the check.
pub struct Examined<'a> {
    pub settings: &'a Settings,
    /// The state of the address.
    pub listening: Listening,
    /// The host names that were added besides the settings.
    pub stored_hosts: Vec<String>,
    /// The request, if a page shows the result.
    pub request: Option<PageRequest>,
}

/// Checks everything, in the order in which things depend on each other.
pub async fn examine(examined: Examined<'_>, services: Services) -> Vec<Finding> {
    let settings = examined.settings;
    let mut findings = vec![settings_file(settings.file.as_deref())];
    findings.extend(machine::check(settings));
    findings.extend(reach::check(&examined));
    let (storage, services) = tokio::join!(storage::check(settings), services::check(services));
    findings.extend(storage);
    findings.extend(services);
    findings
}

fn settings_file(file: Option<&std::path::Path>) -> Finding {
    match file {
        Some(file) => Finding::works("Settings", format!("Read from {}.", file.display())),
        None => Finding::works("Settings", "No file; the defaults and the environment apply."),
    }
}
