//! What must not be written down: keys, passwords and tokens, wherever they turn up. A model server can echo the key that it
//! was sent, a tool can print its environment, a person can paste an address with a password.

use std::{collections::BTreeSet, fmt};

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::Url;

use crate::settings::{
    Settings,
    mcp::{McpServer, Reached},
};

/// What stands in the place of a secret.
const HIDDEN: &str = "•••";

/// What is shorter stands in too many texts that have nothing to do with it.
const SHORTEST: usize = 4;

/// A header or a variable whose name says nothing of a secret counts as one from this length on.
const SHORTEST_UNNAMED: usize = 12;

/// The user name in an address counts as a token from this length on.
const SHORTEST_USER: usize = 16;

/// The secrets in the settings.
pub struct Secrets {
    /// The longest first, since one may be a part of another.
    known: Vec<String>,
}

/// Says how many there are.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.known.len())
    }
}

impl Secrets {
    /// All that the settings have.
    pub fn of(settings: &Settings) -> Self {
        let mut known = Known::default();
        for endpoint in &settings.endpoints {
            known.key(endpoint.api_key.as_ref().map(|key| &*key.0));
            known.address(&endpoint.base_url);
            for (name, value) in &endpoint.headers {
                match endpoint.headers_env.contains_key(name) {
                    true => known.key(Some(&value.0)),
                    false => known.named(name, &value.0),
                }
            }
        }
        for base_url in settings.models.local.values() {
            known.address(base_url);
        }
        if let Some(search) = &settings.tools.web_search {
            known.key(search.api_key.as_ref().map(|key| &*key.0));
            known.address(search.url.as_deref().unwrap_or_default());
        }
        known.key(settings.tools.pubmed.api_key.as_ref().map(|key| &*key.0));
        known.address(&settings.tools.pubmed.base_url);
        for server in &settings.mcp {
            known.server(server);
        }
        let mut known: Vec<String> = known.0.into_iter().collect();
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { known }
    }

    /// A text without any of them, and without the passwords in addresses.
    pub fn hide(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        for secret in &self.known {
            if hidden.contains(secret.as_str()) {
                hidden = hidden.replace(secret.as_str(), HIDDEN);
            }
        }
        without_user_info(hidden)
    }

    /// The beginning of a text without any of them, in at most `limit` bytes. `more` if the text went on beyond what is here.
    pub fn hide_within(&self, text: &str, limit: usize, more: bool) -> (String, bool) {
        let mut hidden = self.hide(text);
        if more {
            // The text may end in the middle of a secret.
            let keep = hidden.len().saturating_sub(self.margin());
            hidden.truncate(hidden.floor_char_boundary(keep));
        }
        let cut = more || hidden.len() > limit;
        hidden.truncate(hidden.floor_char_boundary(limit));
        (hidden, cut)
    }

    /// How much of a text beyond a limit has to be known to cut it there.
    pub fn margin(&self) -> usize {
        self.known.first().map_or(0, String::len)
    }
}

#[derive(Default)]
struct Known(BTreeSet<String>);

impl Known {
    fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        if secret.len() < SHORTEST {
            return;
        }
        // As it stands in JSON that is handed on as text.
        if let Ok(quoted) = serde_json::to_string(secret) {
            self.0.insert(quoted[1..quoted.len() - 1].to_owned());
        }
        self.0.insert(secret.to_owned());
    }

    fn key(&mut self, key: Option<&str>) {
        self.add(key.unwrap_or_default());
    }

    /// What is in an address besides where it leads.
    fn address(&mut self, address: &str) {
        let Ok(url) = Url::parse(address.trim()) else {
            return;
        };
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        self.add(password);
        let (plain_user, plain_password) = (decoded(user), decoded(password));
        self.add(&plain_password);
        if user.len() >= SHORTEST_USER {
            self.add(user);
        }
        if !user.is_empty() || !password.is_empty() {
            // What is sent in their place.
            self.add(&BASE64_STANDARD.encode(format!("{plain_user}:{plain_password}")));
        }
        for (name, value) in url.query_pairs() {
            self.named(&name, &value);
        }
    }

    /// A header, or a variable of the environment.
    fn named(&mut self, name: &str, value: &str) {
        if names_a_secret(name) {
            self.add(value);
            // `Bearer …`
            if let Some((_, token)) = value.trim().rsplit_once(' ') {
                self.add(token);
            }
        } else if value.len() >= SHORTEST_UNNAMED {
            self.add(value);
        }
    }

    fn server(&mut self, server: &McpServer) {
        match &server.reached {
            Reached::Command { args, .. } => {
                let before = std::iter::once("").chain(args.iter().map(String::as_str));
                for (before, arg) in before.zip(args) {
                    match arg.split_once('=') {
                        Some((name, value)) if names_a_secret(name) => self.add(value),
                        _ if before.starts_with('-') && !before.contains('=') && names_a_secret(before) => {
                            self.add(arg);
                        }
                        _ => {}
                    }
                    self.address(arg);
                }
            }
            Reached::Url { url, .. } => self.address(url),
        }
        let variables = server.variables();
        for (name, value) in &variables.values {
            if variables.from.contains_key(name) {
                self.add(&value.0);
            }
            self.named(name, &value.0);
        }
    }
}

/// A part of an address without its percent signs.
fn decoded(text: &str) -> String {
    let query = text.replace('+', "%2B").replace('&', "%26");
    let Ok(url) = Url::parse(&format!("http://x/?x={query}")) else {
        return String::new();
    };
    let value = url.query_pairs().next().map(|(_, value)| value.into_owned());
    value.unwrap_or_default()
}

fn names_a_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = [
        "auth",
        "cookie",
        "credential",
        "key",
        "pass",
        "secret",
        "session",
        "token",
    ];
    words.into_iter().any(|word| name.contains(word))
}

/// Takes user names with passwords, and long tokens in their place, out of the addresses in a text.
fn without_user_info(text: String) -> String {
    let mut rest = text.as_str();
    let mut hidden = String::new();
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        hidden.push_str(before);
        rest = after;
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '\\' | '`');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        if let Some((user_info, _)) = authority.rsplit_once('@')
            && (user_info.contains(':') || user_info.len() >= SHORTEST_USER)
        {
            hidden.push_str(HIDDEN);
            rest = &after[user_info.len()..];
        }
    }
    if hidden.is_empty() {
        return text;
    }
    hidden.push_str(rest);
    hidden
}
