//! The search of the settings for what is secret: by the names of things, and by their looks.

use std::collections::BTreeSet;

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::Url;

use super::MIN_USER_TOKEN_BYTES;
use crate::settings::mcp::{McpServer, McpTransport};

/// A shorter text stands in too many texts that have nothing to do with it.
const MIN_SECRET_BYTES: usize = 4;

/// The value of something with the name of a secret counts as one from this length on.
const MIN_NAMED_SECRET_BYTES: usize = 6;

/// A header or a variable whose name says nothing of a secret counts as one from this length on.
const MIN_UNNAMED_SECRET_BYTES: usize = 12;

/// A number with the name of a secret counts as one from so many digits on. Shorter ones are limits, ports and years.
const MIN_NUMERIC_SECRET_DIGITS: usize = 8;

/// An argument of a command may be a token from this length of one of its words on.
const MIN_TOKEN_WORD_BYTES: usize = 8;

/// Keys that are none: for servers on this machine, which want one and take any, and for switches.
const PLACEHOLDERS: [&str; 16] = [
    "disabled",
    "enabled",
    "optional",
    "required",
    "none",
    "null",
    "empty",
    "dummy",
    "test",
    "token",
    "no-key",
    "not-needed",
    "ollama",
    "lm-studio",
    "llama.cpp",
    "sk-no-key-required",
];

/// The beginnings of well-known tokens.
const TOKEN_PREFIXES: [&str; 12] = [
    "sk-",
    "pk-",
    "sk_",
    "ghp_",
    "gho_",
    "github_pat_",
    "glpat-",
    "xox",
    "AKIA",
    "AIza",
    "hf_",
    "eyJ",
];

/// Words of a name that say that it is a secret's.
const SECRET_WORDS: [&str; 18] = [
    "apikey",
    "auth",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "key",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pat",
    "pwd",
    "secret",
    "session",
    "sessionid",
    "token",
];

/// The ends of such words that are written as one, as in `PGPASSWORD` and `accesskey`.
const SECRET_SUFFIXES: [&str; 7] = [
    "apikey",
    "accesskey",
    "authkey",
    "password",
    "secret",
    "secretkey",
    "token",
];

#[derive(Default)]
pub(super) struct SecretCollector(pub BTreeSet<String>);

impl SecretCollector {
    pub fn add(&mut self, secret: &str) {
        let secret = secret.trim();
        let is_placeholder = PLACEHOLDERS.iter().any(|word| secret.eq_ignore_ascii_case(word));
        if secret.len() < MIN_SECRET_BYTES || is_placeholder {
            return;
        }
        self.0.insert(secret.to_owned());
    }

    pub fn add_key(&mut self, key: Option<&str>) {
        self.add(key.unwrap_or_default());
    }

    /// Adds all that is in an address besides where it leads.
    pub fn add_from_address(&mut self, address: &str) {
        let Ok(url) = Url::parse(address.trim()) else {
            return;
        };
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        self.add(password);
        let (plain_user, plain_password) = (percent_decode(user), percent_decode(password));
        self.add(&plain_password);
        if user.len() >= MIN_USER_TOKEN_BYTES {
            self.add(user);
        }
        if !user.is_empty() || !password.is_empty() {
            // What is sent in their place.
            self.add(&BASE64_STANDARD.encode(format!("{plain_user}:{plain_password}")));
        }
        for (name, value) in url.query_pairs() {
            self.add_named(&name, &value);
        }
    }

    /// A header, or a variable of the environment.
    pub fn add_named(&mut self, name: &str, value: &str) {
        if is_secret_name(name) {
            self.add_value(value);
            // `Bearer …`
            if let Some((_, token)) = value.trim().rsplit_once(' ') {
                self.add_value(token);
            }
        } else if value.len() >= MIN_UNNAMED_SECRET_BYTES && !is_number(value) {
            self.add_value(value);
        }
    }

    /// A value that is to be secret, unless it is none by its looks.
    fn add_value(&mut self, value: &str) {
        let value = value.trim();
        let is_short = value.len() < MIN_NAMED_SECRET_BYTES
            || is_number(value) && value.len() < MIN_NUMERIC_SECRET_DIGITS;
        if !is_short && !is_path(value) {
            self.add(value);
        }
    }

    pub fn add_from_mcp_server(&mut self, server: &McpServer) {
        match &server.reached {
            McpTransport::Command { args, .. } => {
                let before = std::iter::once("").chain(args.iter().map(String::as_str));
                for (before, arg) in before.zip(args) {
                    match arg.split_once('=') {
                        Some((name, value)) if is_secret_name(name) => self.add_value(value),
                        _ if before.starts_with('-') && !before.contains('=') && is_secret_name(before) => {
                            self.add_value(arg);
                        }
                        _ => {}
                    }
                    // `--header`, `Authorization: Bearer …`
                    if let Some((name, value)) = arg.split_once(':').filter(|(name, _)| is_secret_name(name))
                    {
                        self.add_named(name, value);
                    }
                    let value = arg.split_once('=').map_or(arg.as_str(), |(_, value)| value);
                    if is_token_like(value) {
                        self.add(value);
                    }
                    self.add_from_address(arg);
                }
            }
            McpTransport::Url { url, .. } => self.add_from_address(url),
        }
        let variables = server.variables();
        for (name, value) in &variables.values {
            if variables.from_environment.contains_key(name) {
                self.add_value(&value.0);
            }
            self.add_named(name, &value.0);
        }
    }
}

/// A part of an address without its percent signs.
fn percent_decode(text: &str) -> String {
    let query = text.replace('+', "%2B").replace('&', "%26");
    let Ok(url) = Url::parse(&format!("http://x/?x={query}")) else {
        return String::new();
    };
    let value = url.query_pairs().next().map(|(_, value)| value.into_owned());
    value.unwrap_or_default()
}

/// True if one of the words of a name is a secret's: `API_KEY`, `--auth-token`, `accessToken`, but not `--max-tokens`.
pub(super) fn is_secret_name(name: &str) -> bool {
    let mut words = String::with_capacity(name.len() + 4);
    let mut was_small = false;
    for c in name.chars() {
        if was_small && c.is_ascii_uppercase() {
            words.push(' ');
        }
        was_small = c.is_ascii_lowercase();
        words.push(c.to_ascii_lowercase());
    }
    words
        .split(|c: char| !c.is_ascii_alphanumeric())
        .any(|word| SECRET_WORDS.contains(&word) || SECRET_SUFFIXES.iter().any(|end| word.ends_with(end)))
}

fn is_number(value: &str) -> bool {
    value.parse::<f64>().is_ok()
}

/// True for what begins as a path and has no part that looks like Base64, in which a secret may begin with a slash.
fn is_path(value: &str) -> bool {
    let begins = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| value.starts_with(start));
    let is_mixed = |part: &str| {
        part.len() >= MIN_TOKEN_WORD_BYTES
            && part.contains(|c: char| c.is_ascii_digit())
            && part.contains(|c: char| c.is_ascii_lowercase())
            && part.contains(|c: char| c.is_ascii_uppercase())
    };
    begins && !value.split('/').any(is_mixed)
}

/// True if an argument is a token by its looks: one word without a path, with letters and digits all mixed, or one that begins as
/// tokens do.
pub(super) fn is_token_like(arg: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-_.~+=:".contains(c);
    if arg.len() < MIN_USER_TOKEN_BYTES || arg.starts_with('-') || !arg.chars().all(is_part) {
        return false;
    }
    let mixed = |word: &str| {
        word.len() >= MIN_TOKEN_WORD_BYTES
            && word.contains(|c: char| c.is_ascii_digit())
            && word.contains(|c: char| c.is_ascii_alphabetic())
    };
    TOKEN_PREFIXES.iter().any(|prefix| arg.starts_with(prefix))
        || arg.split(|c: char| !c.is_ascii_alphanumeric()).any(mixed)
}
