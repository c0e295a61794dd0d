//! Reading and checking the settings: their sources and the precedence among them.

use std::{
    collections::BTreeSet,
    fs, io,
    net::{IpAddr, SocketAddr},
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use http::uri::Authority;

use super::{
    AuthMode, BaseUrlOrigin, CONTEXT_WINDOW_RANGE, DatabaseSettingsError, EndpointSettings, FileStore,
    InvalidHostError, InvalidStore, MAX_ITERATIONS, MAX_REPETITIONS, MAX_RESUMPTIONS, MIN_REPETITIONS,
    POSITIVE_RANGE, SYSTEM_SETTINGS_FILE, Secret, Settings, access_rules, accounts::parse_mode, databases,
    environment::endpoints_from_environment, listen, places, python,
};
use crate::sealing::{InvalidKey, check_keys};

/// The values from the command line, which override all others.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    /// The settings file; it must exist.
    pub file: Option<PathBuf>,
    /// The address to listen on; a name is resolved.
    pub addr: Option<String>,
    pub data: Option<PathBuf>,
}

/// The error about an unusable setting, with its name and the reason.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("the settings file {} can't be read: {cause}", path.display())]
    File { path: PathBuf, cause: io::Error },
    #[error("the settings file {} is invalid: {cause}", path.display())]
    Syntax {
        path: PathBuf,
        cause: Box<toml::de::Error>,
    },
    #[error("{name} can't be used: {why}")]
    Address { name: &'static str, why: String },
    #[error(
        "the address {0} can be reached from other machines, and accounts.auth is \"none\": set accounts.auth (PARLOR_AUTH) to \
         \"password\", or use a loopback address such as 127.0.0.1:7387 (setting server.addr, PARLOR_ADDR, --addr)"
    )]
    NotLoopback(SocketAddr),
    #[error("PARLOR_SECRET_KEY can't be used: {0}")]
    SecretKey(#[from] InvalidKey),
    #[error(
        "the database must be postgres://user@host/database (setting database.url, or PARLOR_DATABASE); without one, everything is \
         stored in the data folder"
    )]
    NoPostgresUrl,
    #[error("{0}, or PARLOR_FILES")]
    FileStore(#[from] InvalidStore),
    #[error(
        "files.store is \"database\", and the database is a file in the data folder: files are there, too. Leave it out, or set a Postgres \
         database"
    )]
    FilesInSqlite,
    #[error(
        "nodes.enabled is true, which needs a database of Postgres: set database.url or PARLOR_DATABASE, or switch it off"
    )]
    NodesWithoutPostgres,
    #[error(
        "nodes.renewal must be at most a third of nodes.lease, so that one late extension does not end the lease"
    )]
    LongRenewal,
    #[error("PARLOR_AUTH is “{0}”; it must be none, password, oidc or proxy")]
    UnknownAuthMode(String),
    #[error(
        "accounts.auth is \"oidc\": set accounts.oidc.issuer and accounts.oidc.client_id, the provider and Parlor's name there"
    )]
    MissingProvider,
    #[error(
        "accounts.oidc.client_secret_env names the variable {0}, which is not set: set it to the client's secret"
    )]
    MissingClientSecret(String),
    #[error(
        "rule {0} of accounts.access names neither models nor tools: set models, such as [\"openai/*\"], or tools, or remove the rule"
    )]
    EmptyAccessRule(usize),
    #[error(
        "rule {0} of accounts.access names the model “{1}” without its endpoint, so that it has no effect: write “endpoint/{1}”, \
         “*/{1}” for any endpoint, or “{1}/*” for all models of the endpoint “{1}”"
    )]
    AccessRuleWithoutEndpoint(usize, String),
    #[error(
        "accounts.auth is \"proxy\" and server.proxies names no proxy: add the address from which the proxy reaches Parlor, such as \
         127.0.0.1"
    )]
    MissingProxy,
    #[error(
        "the setting server.allowed_hosts names “{0}”, which is neither a host nor host:port, such as parlor.example or \
         parlor.example:8443"
    )]
    InvalidHost(String),
    #[error(
        "two endpoints have the name “{0}”: the names are part of the models' ids, so give each endpoint its own"
    )]
    DuplicateEndpoint(String),
    #[error(
        "two MCP servers have the name “{0}”: the names are part of the tools' names, so give each server its own"
    )]
    DuplicateMcpServer(String),
    #[error(
        "the MCP servers “{0}” and “{1}”: a name with a _ after it must not be the start of another name, or tools of both could \
         have the same name"
    )]
    AmbiguousMcpNames(String, String),
    #[error("the setting {name} is {value}; it must be from {min} to {max}")]
    OutOfRange {
        name: &'static str,
        value: usize,
        min: usize,
        max: usize,
    },
    #[error("the setting {0} must be a URL that begins with http:// or https://")]
    InvalidUrl(&'static str),
    #[error(
        "the setting history.timezone is “{0}”, which is not a time zone: use an IANA name, such as Europe/Copenhagen"
    )]
    UnknownTimeZone(String),
    #[error("the token of the metrics can't be read from {} (setting metrics.token_file): {cause}", path.display())]
    MetricsToken { path: PathBuf, cause: io::Error },
    #[error(
        "the token of the metrics (PARLOR_METRICS_TOKEN, or the file of metrics.token_file) has less than {0} characters: use a longer one, \
         such as that of openssl rand -hex 32"
    )]
    ShortMetricsToken(usize),
    #[error("the setting tools.fetch_webpage.allowed_hosts: {0}")]
    AllowedHost(#[from] InvalidHostError),
    #[error(transparent)]
    Database(#[from] DatabaseSettingsError),
    #[error("tools.web_search has the provider “searxng” and no url: set the URL of your SearXNG")]
    MissingSearchUrl,
    #[error(
        "python.unsandboxed gives everybody who may sign in all rights of Parlor itself, so it needs accounts.auth = \"none\": remove \
         it, and install bubblewrap (docs/python.md)"
    )]
    UnsandboxedPython,
    #[error(
        "tools.web_search has a provider that needs a key and no api_key_env: set it to the environment variable that has the key"
    )]
    MissingSearchKey,
}

impl Settings {
    /// Reads the settings; `env` returns the value of an environment variable.
    ///
    /// # Errors
    ///
    /// If a set value can't be used; never for an unset one.
    pub fn read(overrides: &Overrides, env: impl Fn(&str) -> Option<String>) -> Result<Self, SettingsError> {
        let env = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let file = Self::find_file(overrides, env);
        let mut settings = match &file {
            Some(path) => Self::from_file(path)?,
            None => Self::default(),
        };
        settings.file = file.map(Into::into);
        if let Some(value) = env("PARLOR_ADDR") {
            settings.server.addr = resolve_address("PARLOR_ADDR", &value)?;
        }
        if let Some(value) = env("PARLOR_DATA") {
            settings.server.data = Some(value.as_str().into());
        }
        if let Some(value) = env("PARLOR_SITE") {
            settings.server.site = Some(value.as_str().into());
        }
        if let Some(url) = env("PARLOR_DATABASE") {
            settings.database.url = Some(Secret(url));
        }
        if let Some(place) = env("PARLOR_FILES") {
            settings.files.store = Some(place.try_into()?);
        }
        settings.server.secret_key = env("PARLOR_SECRET_KEY").map(Secret);
        if let Some(value) = env("PARLOR_AUTH") {
            let mode = parse_mode(&value);
            settings.accounts.auth = mode.ok_or(SettingsError::UnknownAuthMode(value))?;
        }
        if let Some(value) = env("PARLOR_MODEL") {
            settings.models.default = Some(value);
        }
        for endpoint in &mut settings.endpoints {
            endpoint.api_key = endpoint.api_key_env.as_deref().and_then(&env).map(Secret);
            endpoint.read_headers(env);
        }
        settings
            .endpoints
            .extend(endpoints_from_environment(&settings.endpoints, env));
        settings.tools.read_keys(env);
        settings.accounts.oidc.read_secret(env);
        settings.metrics.read_token(env)?;
        for database in &mut settings.databases {
            database.read_password(env);
        }
        for server in &mut settings.mcp {
            server.read_environment(env);
        }
        if let Some(addr) = &overrides.addr {
            settings.server.addr = resolve_address("--addr", addr)?;
        }
        if let Some(data) = &overrides.data {
            settings.server.data = Some(data.as_path().into());
        }
        let data = &mut settings.server.data;
        data.get_or_insert_with(|| places::data_folder(env).into());
        settings.check()?;
        Ok(settings)
    }

    /// Returns the settings file: the named one, which need not exist, or one that is found.
    fn find_file(overrides: &Overrides, env: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
        let named = overrides.file.clone();
        let named = named.or_else(|| env("PARLOR_CONFIG").map(PathBuf::from));
        named.or_else(|| places::settings_file(env, Path::new(SYSTEM_SETTINGS_FILE)))
    }

    fn from_file(path: &Path) -> Result<Self, SettingsError> {
        let text = fs::read_to_string(path).map_err(|cause| SettingsError::File {
            path: path.to_owned(),
            cause,
        })?;
        toml::from_str(&text).map_err(|cause| SettingsError::Syntax {
            path: path.to_owned(),
            cause: Box::new(cause),
        })
    }

    fn check(&self) -> Result<(), SettingsError> {
        if let Some(key) = &self.server.secret_key {
            check_keys(key)?;
        }
        self.database.check()?;
        if self.files.store == Some(FileStore::Database) && self.database.url.is_none() {
            return Err(SettingsError::FilesInSqlite);
        }
        self.nodes.check(self.database.url.is_some())?;
        self.metrics.check()?;
        match self.accounts.auth {
            AuthMode::None if !self.server.addr.ip().is_loopback() => {
                return Err(SettingsError::NotLoopback(self.server.addr));
            }
            AuthMode::Proxy if self.server.proxies.is_empty() => return Err(SettingsError::MissingProxy),
            AuthMode::Oidc => self.accounts.oidc.check()?,
            _ => {}
        }
        access_rules::check(&self.accounts.access)?;
        if let Some(runs) = self.accounts.runs {
            check_range("accounts.runs", runs, POSITIVE_RANGE)?;
        }
        if let Some(name) = first_duplicate(self.endpoints.iter().map(|endpoint| &endpoint.name)) {
            return Err(SettingsError::DuplicateEndpoint(name.clone()));
        }
        if let Some(name) = first_duplicate(self.mcp.iter().map(|server| &server.name)) {
            return Err(SettingsError::DuplicateMcpServer(name.clone()));
        }
        let names = || self.mcp.iter().map(|server| &server.name);
        for name in names() {
            let begins = |other: &&String| {
                other
                    .strip_prefix(name.as_str())
                    .is_some_and(|rest| rest.starts_with('_'))
            };
            if let Some(other) = names().find(begins) {
                return Err(SettingsError::AmbiguousMcpNames(name.clone(), other.clone()));
            }
        }
        let windows = self.endpoints.iter().flat_map(|endpoint| {
            let of_models = endpoint.context_windows.values().copied();
            let of_capabilities = endpoint.capabilities.values();
            let of_capabilities = of_capabilities.filter_map(|capabilities| capabilities.context_window);
            let of_all = endpoint.context_window.into_iter();
            of_all.chain(of_models).chain(of_capabilities)
        });
        for max in self.endpoints.iter().filter_map(|endpoint| endpoint.max_tools) {
            check_range("endpoints.max_tools", max, POSITIVE_RANGE)?;
        }
        for window in windows {
            check_range("endpoints.context_window", window, CONTEXT_WINDOW_RANGE)?;
        }
        check_range(
            "agent.max_iterations",
            self.agent.max_iterations,
            0..=MAX_ITERATIONS,
        )?;
        check_range(
            "agent.max_resumptions",
            self.agent.max_resumptions,
            0..=MAX_RESUMPTIONS,
        )?;
        check_range(
            "limits.request_bytes_per_second",
            self.limits.request_bytes_per_second,
            POSITIVE_RANGE,
        )?;
        let positive = self.limits.positive().into_iter();
        for (name, value) in positive
            .chain(self.files.positive())
            .chain(self.images.positive())
            .chain(self.accounts.positive())
            .chain(self.data.positive())
            .chain(self.python.positive())
        {
            check_range(name, value, POSITIVE_RANGE)?;
        }
        check_range("files.user_bytes", self.files.user_bytes, 1..=usize::MAX)?;
        let hosts = &self.server.allowed_hosts;
        if let Some(host) = hosts.iter().find(|host| !is_host(host)) {
            return Err(SettingsError::InvalidHost(host.clone()));
        }
        if self.agent.repetitions != 0 {
            check_range(
                "agent.repetitions",
                self.agent.repetitions,
                MIN_REPETITIONS..=MAX_REPETITIONS,
            )?;
        }
        self.history.check()?;
        check_range("titles.max_tokens", self.titles.max_tokens, POSITIVE_RANGE)?;
        check_range("titles.waiting", self.titles.waiting, POSITIVE_RANGE)?;
        databases::check(&self.databases)?;
        for (name, value) in self.python.memory() {
            check_range(name, value, python::MIN_MEMORY_BYTES..=usize::MAX)?;
        }
        self.python.check(self.accounts.auth)?;
        self.tools.check()
    }
}

impl EndpointSettings {
    /// Returns the name of the setting that has the base URL, for hints; empty if none has.
    pub fn base_url_source(&self) -> String {
        match self.base_url_origin {
            BaseUrlOrigin::File => format!("base_url of “{}” in the settings file", self.name),
            BaseUrlOrigin::Variable(name) => name.into(),
            BaseUrlOrigin::Provider => String::new(),
        }
    }

    /// Returns true if its URL is of this machine or of its network.
    pub fn is_local(&self) -> bool {
        is_local_url(&self.base_url)
    }

    /// Reads the headers that the file leaves to the environment. A header is not sent if its variable is not
    /// set.
    fn read_headers(&mut self, env: impl Fn(&str) -> Option<String>) {
        for (header, variable) in &self.headers_env {
            match env(variable) {
                Some(value) => {
                    self.headers.insert(header.clone(), Secret(value));
                }
                None => tracing::warn!(
                    endpoint = self.name,
                    header,
                    variable,
                    "the variable of a header is not set: the header is not sent"
                ),
            }
        }
    }
}

/// Returns true if a URL is of this machine or of its network, or is none.
pub fn is_local_url(url: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(url) else {
        return true;
    };
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    match host.parse() {
        Ok(IpAddr::V4(ip)) => ip.is_loopback() || ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => {
            let endings = [".localhost", ".local", ".lan", ".internal"];
            !host.contains('.') || endings.iter().any(|ending| host.ends_with(ending))
        }
    }
}

fn resolve_address(name: &'static str, value: &str) -> Result<SocketAddr, SettingsError> {
    listen::resolve(value).map_err(|why| SettingsError::Address { name, why })
}

fn check_range(name: &'static str, value: usize, range: RangeInclusive<usize>) -> Result<(), SettingsError> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(SettingsError::OutOfRange {
        name,
        value,
        min: *range.start(),
        max: *range.end(),
    })
}

/// Returns true if a browser would show the text as the host of a URL.
fn is_host(text: &str) -> bool {
    text.parse::<Authority>().is_ok() && !text.contains('@')
}

fn first_duplicate<'a>(names: impl Iterator<Item = &'a String>) -> Option<&'a String> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    names.find(|name| !seen.insert(*name))
}
