//! Redaction: removes the keys, passwords and tokens of the settings from every text that is stored, logged
//! or shown, whatever its source. A model server can echo the key it was sent, a tool can print its
//! environment or its arguments, a user can paste a URL with a password.
//!
//! One [`Secrets`] has those of all settings, in every [`spelling`]: one server's text may contain another
//! one's key. The log is redacted as well ([`log`]).

mod collector;
pub mod log;
mod spelling;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::RwLock;

use self::collector::SecretCollector;
use crate::{sealing, settings::Settings};

/// The replacement of a secret.
const REDACTED: &str = "•••";

/// The minimum length of a user name in a URL that counts as a token.
const MIN_USER_TOKEN_BYTES: usize = 16;

/// Returns true if a text has the form of a key or a token, such as one that was pasted into the wrong field.
pub fn looks_like_key(text: &str) -> bool {
    let text = text.trim();
    collector::has_token_prefix(text) || collector::is_token_like(text)
}

/// Returns true if a text begins as well-known keys do.
pub fn begins_like_key(text: &str) -> bool {
    collector::has_token_prefix(text.trim())
}

/// The secrets in the settings, and those that were added since. All clones get the added ones.
#[derive(Clone)]
pub struct Secrets {
    /// The secrets of the settings, and of one user of these secrets.
    own: Arc<BTreeSet<String>>,
    added: Arc<AddedSecrets>,
    /// The search for all of them, with the number of the added ones that it has.
    search: Arc<RwLock<(usize, Arc<SecretSearch>)>>,
}

/// The secrets that were added while the server runs. They are never removed: an old text may still have one.
#[derive(Default)]
struct AddedSecrets {
    secrets: RwLock<BTreeSet<String>>,
    /// The number of secrets, so that a search need not lock them.
    count: AtomicUsize,
}

/// Secrets, prepared for the search in a text.
struct SecretSearch {
    /// The secrets, longest first, since one may be a part of another.
    known: Vec<String>,
    /// The Base64 fragments that identify a secret in an encoded text.
    base64_parts: Vec<String>,
    /// The bytes that any spelling of a secret begins with.
    first_bytes: [bool; 256],
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new(BTreeSet::new())
    }
}

/// Prints only the number of secrets.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.search().known.len())
    }
}

impl Secrets {
    /// Collects the secrets of the settings.
    pub fn from_settings(settings: &Settings) -> Self {
        let mut collector = SecretCollector::default();
        let sealing_keys = settings.server.secret_key.iter();
        for key in sealing_keys.flat_map(sealing::key_words) {
            collector.add(key);
        }
        for endpoint in &settings.endpoints {
            collector.add_key(endpoint.api_key.as_ref().map(|key| &*key.0));
            collector.add_from_url(&endpoint.base_url);
            for (name, value) in &endpoint.headers {
                match endpoint.headers_env.contains_key(name) {
                    true => collector.add_key(Some(&value.0)),
                    false => collector.add_named(name, &value.0),
                }
            }
        }
        for base_url in settings.models.local.values() {
            collector.add_from_url(base_url);
        }
        if let Some(search) = &settings.tools.web_search {
            collector.add_key(search.api_key.as_ref().map(|key| &*key.0));
            collector.add_from_url(search.url.as_deref().unwrap_or_default());
        }
        collector.add_key(settings.tools.pubmed.api_key.as_ref().map(|key| &*key.0));
        collector.add_from_url(&settings.tools.pubmed.base_url);
        let oidc = &settings.accounts.oidc;
        collector.add_key(oidc.client_secret.as_ref().map(|secret| &*secret.0));
        collector.add_key(settings.metrics.token.as_ref().map(|token| &*token.0));
        for database in &settings.databases {
            collector.add_key(database.password.as_ref().map(|password| &*password.0));
            collector.add_from_url(&database.url);
        }
        for server in &settings.mcp {
            collector.add_from_mcp_server(server);
        }
        Self::new(collector.0)
    }

    /// Returns these secrets and `more`. What is added to either is in both.
    pub fn with_more<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Self {
        let mut collector = SecretCollector((*self.own).clone());
        more.into_iter().for_each(|secret| collector.add(secret));
        Self::with_added(collector.0, self.added.clone())
    }

    /// Adds a secret to these and to all that were made from the same ones.
    pub fn add(&self, secret: &str) {
        let mut collector = SecretCollector::default();
        collector.add(secret);
        let mut secrets = self.added.secrets.write();
        secrets.append(&mut collector.0);
        self.added.count.store(secrets.len(), Ordering::Release);
    }

    fn new(known: BTreeSet<String>) -> Self {
        Self::with_added(known, Arc::default())
    }

    fn with_added(own: BTreeSet<String>, added: Arc<AddedSecrets>) -> Self {
        let search = Arc::new(SecretSearch::new(own.clone()));
        let secrets = Self {
            own: Arc::new(own),
            added,
            search: Arc::new(RwLock::new((0, search))),
        };
        secrets.search();
        secrets
    }

    /// Returns the search for all secrets that are known now.
    fn search(&self) -> Arc<SecretSearch> {
        let count = self.added.count.load(Ordering::Acquire);
        {
            let search = self.search.read();
            if search.0 == count {
                return search.1.clone();
            }
        }
        let added = self.added.secrets.read();
        let search = Arc::new(SecretSearch::new(self.own.union(&added).cloned().collect()));
        *self.search.write() = (added.len(), search.clone());
        search
    }

    /// Returns a text with all secrets replaced, in any spelling, and the passwords in URLs too.
    pub fn redact(&self, text: &str) -> String {
        self.search().redact(text)
    }

    /// Returns the redacted beginning of a text, in at most `limit` bytes, and true if it was cut. `more` is
    /// true if the text continues after the given part.
    pub fn redact_truncated(&self, text: &str, limit: usize, more: bool) -> (String, bool) {
        self.search().redact_truncated(text, limit, more)
    }

    /// Returns the number of bytes beyond a limit that are needed to cut a text there safely.
    pub fn lookahead_bytes(&self) -> usize {
        self.search().lookahead_bytes()
    }
}

impl SecretSearch {
    fn new(known: BTreeSet<String>) -> Self {
        let mut known: Vec<String> = known.into_iter().collect();
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let encoded: BTreeSet<String> = known
            .iter()
            .flat_map(|secret| spelling::base64_forms(secret))
            .collect();
        let mut first_bytes = [false; 256];
        let first = known.iter().filter_map(|secret| secret.bytes().next());
        for byte in first.chain(spelling::ESCAPE_BYTES) {
            first_bytes[usize::from(byte)] = !known.is_empty();
        }
        Self {
            known,
            base64_parts: encoded.into_iter().collect(),
            first_bytes,
        }
    }

    fn redact(&self, text: &str) -> String {
        redact_user_info(self.redact_base64(self.redact_plain(text)))
    }

    fn redact_plain(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut redacted = String::with_capacity(text.len());
        let (mut copied, mut at) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            let lengths = || {
                self.known
                    .iter()
                    .find_map(|secret| spelling::match_secret(secret, &bytes[at..]))
            };
            match self.first_bytes[usize::from(*byte)].then(lengths).flatten() {
                Some(length) => {
                    redacted.push_str(&text[copied..at]);
                    redacted.push_str(REDACTED);
                    at += length;
                    copied = at;
                }
                None => at += 1,
            }
        }
        redacted.push_str(&text[copied..]);
        redacted
    }

    fn redact_base64(&self, mut text: String) -> String {
        for part in &self.base64_parts {
            while let Some(at) = text.find(part.as_str()) {
                text.replace_range(spelling::base64_span(&text, at, part.len()), REDACTED);
            }
        }
        text
    }

    fn redact_truncated(&self, text: &str, limit: usize, more: bool) -> (String, bool) {
        let mut redacted = self.redact(text);
        if more {
            // The given part may end in the middle of a secret.
            let keep = redacted.len().saturating_sub(self.lookahead_bytes());
            redacted.truncate(redacted.floor_char_boundary(keep));
        }
        let cut = more || redacted.len() > limit;
        redacted.truncate(redacted.floor_char_boundary(limit));
        (redacted, cut)
    }

    fn lookahead_bytes(&self) -> usize {
        let longest = self.known.first().map_or(0, String::len);
        longest * spelling::MAX_SPELLING_FACTOR
    }
}

/// Replaces user names with passwords, and long tokens in their place, in the URLs of a text.
fn redact_user_info(text: String) -> String {
    let mut rest = text.as_str();
    let mut redacted = String::new();
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + "://".len());
        redacted.push_str(before);
        rest = after;
        let ends =
            |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '\\' | '`');
        let authority = &after[..after.find(ends).unwrap_or(after.len())];
        if let Some((user_info, _)) = authority.rsplit_once('@')
            && (user_info.contains(':') || user_info.len() >= MIN_USER_TOKEN_BYTES)
        {
            redacted.push_str(REDACTED);
            rest = &after[user_info.len()..];
        }
    }
    if redacted.is_empty() {
        return text;
    }
    redacted.push_str(rest);
    redacted
}

#[cfg(test)]
mod tests;
