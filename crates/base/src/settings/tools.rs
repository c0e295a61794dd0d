//! Settings of the built-in tools: the offered ones, and the services they use.

use std::{fmt, time::Duration};

use reqwest::Url;
use serde::Deserialize;

use super::{AllowedHosts, Secret, SettingsError};

/// The settings of tools.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ToolSettings {
    /// Tools that are not offered to any model, such as "search_pubmed" or "remember".
    pub disabled: Vec<String>,
    pub fetch_webpage: FetchWebpageSettings,
    /// The search engine; without it there is no web search.
    pub web_search: Option<WebSearchSettings>,
    pub pubmed: PubmedSettings,
}

/// The settings of reading web pages.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchWebpageSettings {
    /// Hosts inside this network that may be read, as host or host:port. All others inside are blocked, since
    /// models and pages are not trusted.
    pub allowed_hosts: Vec<String>,
    /// The maximum length of a page, in bytes. The rest is not read.
    pub page_bytes: usize,
    /// The timeout of a page.
    #[serde(deserialize_with = "super::duration::positive")]
    pub timeout: Duration,
}

impl Default for FetchWebpageSettings {
    fn default() -> Self {
        Self {
            allowed_hosts: Vec::new(),
            page_bytes: 4 << 20,
            timeout: Duration::from_secs(20),
        }
    }
}

/// The settings of web search.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WebSearchSettings {
    /// The search engine: "searxng" (your own SearXNG, which has to list json under search.formats in its
    /// settings.yml), "brave" or "tavily".
    pub provider: SearchEngine,
    /// The URL, if it is not the official one of brave or tavily.
    #[serde(default)]
    pub url: Option<String>,
    /// The environment variable that has the key. brave and tavily require one.
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// The key, read from the environment.
    #[serde(skip)]
    pub api_key: Option<Secret>,
}

/// A kind of search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchEngine {
    /// SearXNG or a compatible server. It has no official URL.
    Searxng,
    Brave,
    Tavily,
}

/// The settings of NCBI's E-utilities, which search PubMed.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PubmedSettings {
    /// True if PubMed can be searched.
    pub enabled: bool,
    /// The URL of the E-utilities.
    pub base_url: String,
    /// The e-mail address that NCBI writes to before it blocks a server that sends too many requests.
    pub email: Option<String>,
    /// The environment variable that has the key: with one, NCBI allows ten requests a second instead of
    /// three.
    pub api_key_env: Option<String>,
    /// The key, read from the environment.
    #[serde(skip)]
    pub api_key: Option<Secret>,
}

impl SearchEngine {
    /// Returns its official URL.
    pub fn default_url(self) -> Option<&'static str> {
        match self {
            Self::Searxng => None,
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
        }
    }

    /// Returns true if it requires a key.
    pub fn needs_key(self) -> bool {
        match self {
            Self::Searxng => false,
            Self::Brave | Self::Tavily => true,
        }
    }
}

impl Default for PubmedSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            base_url: "https://eutils.ncbi.nlm.nih.gov/entrez/eutils".into(),
            email: None,
            api_key_env: None,
            api_key: None,
        }
    }
}

impl ToolSettings {
    /// Reads the keys from the environment.
    pub(super) fn read_keys(&mut self, env: impl Fn(&str) -> Option<String>) {
        let read = |name: &Option<String>| name.as_deref().and_then(&env).map(Secret);
        if let Some(search) = &mut self.web_search {
            search.api_key = read(&search.api_key_env);
        }
        self.pubmed.api_key = read(&self.pubmed.api_key_env);
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        AllowedHosts::parse(&self.fetch_webpage.allowed_hosts)?;
        if let Some(search) = &self.web_search {
            match &search.url {
                Some(url) => check_url("tools.web_search.url", url)?,
                None if search.provider.default_url().is_none() => {
                    return Err(SettingsError::MissingSearchUrl);
                }
                None => {}
            }
            if search.provider.needs_key() && search.api_key_env.is_none() {
                return Err(SettingsError::MissingSearchKey);
            }
        }
        check_url("tools.pubmed.base_url", &self.pubmed.base_url)
    }
}

fn check_url(name: &'static str, value: &str) -> Result<(), SettingsError> {
    match Url::parse(value) {
        Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(()),
        // The value is not shown: it may contain a password.
        _ => Err(SettingsError::InvalidUrl(name)),
    }
}

/// Redacts the URL, which may contain a password.
impl fmt::Debug for WebSearchSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSearch")
            .field("provider", &self.provider)
            .field("url", &self.url.as_deref().map(super::strip_password))
            .field("api_key_env", &self.api_key_env)
            .field("api_key", &self.api_key)
            .finish()
    }
}

/// Redacts the URL, which may contain a password.
impl fmt::Debug for PubmedSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pubmed")
            .field("enabled", &self.enabled)
            .field("base_url", &super::strip_password(&self.base_url))
            .field("email", &self.email)
            .field("api_key_env", &self.api_key_env)
            .field("api_key", &self.api_key)
            .finish()
    }
}
