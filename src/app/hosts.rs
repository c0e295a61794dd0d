//! The host names under which Parlor answers: those of the settings, and the one under which the first account was made. The latter
//! is stored in the data folder, a line each, so that a new Parlor works where it was set up without a change of its settings. Several
//! nodes store it in their database, too.
//!
//! A page of another site can make its own name resolve to Parlor's address (DNS rebinding), so every other name is rejected. An IP
//! address needs no list: a browser that shows it has loaded the page from there.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::PathBuf,
    time::{Duration, Instant},
};

use parking_lot::RwLock;
use tokio::sync::Mutex;

use parlor_base::settings::{AuthMode, Settings};
use parlor_storage::{Storage, StorageError};

/// The file in the data folder.
const FILE_NAME: &str = "hosts";

/// The time between two reads of the names that nodes have stored.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);

/// The host names that requests may have.
#[derive(Debug)]
pub struct Hosts {
    configured: Vec<String>,
    stored: RwLock<Vec<String>>,
    /// The names that nodes have stored.
    shared: RwLock<Vec<String>>,
    /// The time at which these were read last.
    reloaded: Mutex<Option<Instant>>,
    file: PathBuf,
    /// True with accounts. Without them, everybody who reaches Parlor would have all conversations, so it answers on loopback only.
    accepts_addresses: bool,
}

/// The reason why a name was not added.
#[derive(Debug, thiserror::Error)]
pub enum HostNotStored {
    #[error("the data folder can't be written: {0}")]
    Folder(#[from] io::Error),
    #[error(transparent)]
    Database(#[from] StorageError),
}

impl Hosts {
    /// Reads the stored names. With accounts only: they count for nobody else.
    pub fn open(settings: &Settings) -> Self {
        let has_accounts = settings.accounts.auth != AuthMode::None;
        let file = settings.server.data().join(FILE_NAME);
        let stored = match has_accounts.then(|| fs::read_to_string(&file)) {
            Some(Ok(text)) => text
                .lines()
                .map(str::trim)
                .filter(|line| !line.is_empty())
                .map(ToOwned::to_owned)
                .collect(),
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                tracing::error!(%error, "the stored host names can't be read from {}", file.display());
                Vec::new()
            }
            _ => Vec::new(),
        };
        Self {
            configured: settings.server.allowed_hosts.clone(),
            stored: RwLock::new(stored),
            shared: RwLock::default(),
            reloaded: Mutex::default(),
            file,
            accepts_addresses: has_accounts,
        }
    }

    /// Returns true if IP addresses are accepted.
    pub fn accepts_addresses(&self) -> bool {
        self.accepts_addresses
    }

    /// Returns true if the settings or the data folder have a name.
    pub fn contains(&self, name: &str) -> bool {
        let is_name = |host: &String| host.eq_ignore_ascii_case(name);
        self.configured.iter().any(is_name)
            || self.stored.read().iter().any(is_name)
            || self.shared.read().iter().any(is_name)
    }

    /// Returns all names.
    pub fn all(&self) -> Vec<String> {
        let mut all = self.configured.clone();
        all.extend(self.stored());
        all
    }

    /// Returns the stored names.
    pub fn stored(&self) -> Vec<String> {
        let mut stored = self.stored.read().clone();
        stored.extend(self.shared.read().iter().cloned());
        stored.sort_unstable();
        stored.dedup();
        stored
    }

    /// Reads the names that nodes have stored, once a second at most. Returns true if they may be others than before.
    pub async fn reload_shared(&self, storage: &dyn Storage) -> bool {
        if !self.accepts_addresses || !storage.has_nodes() {
            return false;
        }
        // Requests that come meanwhile wait for what this one finds.
        let mut reloaded = self.reloaded.lock().await;
        if reloaded.is_none_or(|at| at.elapsed() >= RELOAD_INTERVAL) {
            match storage.hosts().await {
                Ok(names) => *self.shared.write() = names,
                Err(error) => tracing::warn!(%error, "the host names of other nodes can't be read"),
            }
            *reloaded = Some(Instant::now());
        }
        true
    }

    /// Adds a name for good, for all nodes.
    ///
    /// # Errors
    ///
    /// If it can't be stored.
    pub async fn add_everywhere(&self, name: &str, storage: &dyn Storage) -> Result<(), HostNotStored> {
        self.add(name)?;
        Ok(storage.add_host(&name.to_ascii_lowercase()).await?)
    }

    fn add(&self, name: &str) -> io::Result<()> {
        if self.contains(name) {
            return Ok(());
        }
        let mut stored = self.stored.write();
        let mut names = stored.clone();
        names.push(name.to_ascii_lowercase());
        // A whole new file: a cut of power leaves the old one or the new one.
        let new = self.file.with_extension("new");
        let mut file = File::create(&new)?;
        file.write_all((names.join("\n") + "\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &self.file)?;
        *stored = names;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(folder: &std::path::Path, auth: AuthMode) -> Settings {
        let mut settings = Settings::default();
        settings.server.data = Some(folder.into());
        settings.server.allowed_hosts = vec!["parlor.lan".into()];
        settings.accounts.auth = auth;
        settings
    }

    #[test]
    fn added_names_outlive_the_process() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(folder.path(), AuthMode::Password);
        let hosts = Hosts::open(&settings);
        assert!(hosts.contains("Parlor.LAN") && !hosts.contains("nas.local:7387"));
        hosts.add("NAS.local:7387").unwrap();
        hosts.add("nas.local:7387").unwrap();
        hosts.add("parlor.lan").unwrap();
        for hosts in [hosts, Hosts::open(&settings)] {
            assert!(hosts.contains("nas.local:7387") && !hosts.contains("nas.local"));
            assert_eq!(hosts.stored(), ["nas.local:7387"]);
        }
    }

    #[test]
    fn added_names_count_with_accounts_only() {
        let folder = tempfile::tempdir().unwrap();
        let with_accounts = settings(folder.path(), AuthMode::Password);
        Hosts::open(&with_accounts).add("nas.local").unwrap();
        let without = Hosts::open(&settings(folder.path(), AuthMode::None));
        assert!(!without.contains("nas.local") && !without.accepts_addresses());
    }

    #[test]
    fn name_that_cannot_be_stored_is_not_added() {
        let folder = tempfile::tempdir().unwrap();
        let settings = settings(&folder.path().join("missing"), AuthMode::Password);
        let hosts = Hosts::open(&settings);
        assert!(hosts.add("nas.local").is_err() && !hosts.contains("nas.local"));
    }
}
