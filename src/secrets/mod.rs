//! Redaction: keys, passwords and tokens of the settings are taken out of every text that is written down or shown, whoever said it. A
//! model server can echo the key that it was sent, a tool can print its environment or its arguments, a person can paste an
//! address with a password.
//!
//! One [`Secrets`] has those of all settings, in every [`spelling`]: one server's words may have another one's key. The
//! log goes through it as well ([`log`]).

mod known;
pub mod log;
mod spelling;

use std::{collections::BTreeSet, fmt};

use self::known::Known;
use crate::settings::Settings;

/// Stands in the place of a secret.
const HIDDEN: &str = "•••";

/// The user name in an address counts as a token from this length on.
const MIN_USER: usize = 16;

/// The secrets in the settings.
#[derive(Clone)]
pub struct Secrets {
    /// The longest first, since one may be a part of another.
    known: Vec<String>,
    /// Parts of Base64 texts that have one of them.
    encoded: Vec<String>,
    /// The bytes with which any spelling of one begins.
    begins: [bool; 256],
}

impl Default for Secrets {
    fn default() -> Self {
        Self::new(BTreeSet::new())
    }
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
        Self::new(known.0)
    }

    /// These and some more.
    pub fn with<'a>(&self, more: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = Known(self.known.iter().cloned().collect());
        more.into_iter().for_each(|secret| known.add(secret));
        Self::new(known.0)
    }

    fn new(known: BTreeSet<String>) -> Self {
        let mut known: Vec<String> = known.into_iter().collect();
        known.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        let encoded: BTreeSet<String> = known
            .iter()
            .flat_map(|secret| spelling::in_base64(secret))
            .collect();
        let mut begins = [false; 256];
        let first = known.iter().filter_map(|secret| secret.bytes().next());
        for byte in first.chain(spelling::ESCAPES) {
            begins[usize::from(byte)] = !known.is_empty();
        }
        Self {
            known,
            encoded: encoded.into_iter().collect(),
            begins,
        }
    }

    /// A text without any of them, however it is spelled, and without the passwords in addresses.
    pub fn hide(&self, text: &str) -> String {
        without_user_info(self.without_encoded(self.without_known(text)))
    }

    fn without_known(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut hidden = String::with_capacity(text.len());
        let (mut copied, mut at) = (0, 0);
        while let Some(byte) = bytes.get(at) {
            let lengths = || {
                self.known
                    .iter()
                    .find_map(|secret| spelling::length_of(secret, &bytes[at..]))
            };
            match self.begins[usize::from(*byte)].then(lengths).flatten() {
                Some(length) => {
                    hidden.push_str(&text[copied..at]);
                    hidden.push_str(HIDDEN);
                    at += length;
                    copied = at;
                }
                None => at += 1,
            }
        }
        hidden.push_str(&text[copied..]);
        hidden
    }

    fn without_encoded(&self, mut text: String) -> String {
        for part in &self.encoded {
            while let Some(at) = text.find(part.as_str()) {
                text.replace_range(spelling::around(&text, at, part.len()), HIDDEN);
            }
        }
        text
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

    /// The bytes of a text beyond a limit that have to be known to cut it there.
    pub fn margin(&self) -> usize {
        let longest = self.known.first().map_or(0, String::len);
        longest * spelling::MAX_GROWTH
    }
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
            && (user_info.contains(':') || user_info.len() >= MIN_USER)
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

#[cfg(test)]
mod tests;
