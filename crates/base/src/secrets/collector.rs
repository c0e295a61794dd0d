//! The search of the settings for secrets: by the names of values, and by their form.

use std::collections::BTreeSet;

use base64::{Engine, prelude::BASE64_STANDARD};
use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::MIN_USER_TOKEN_BYTES;
use crate::settings::mcp::{McpServer, McpTransport};

/// The minimum length of a secret. A shorter text occurs in too many unrelated texts.
const MIN_SECRET_BYTES: usize = 4;

/// The minimum length of a secret under a name that suggests one.
const MIN_NAMED_SECRET_BYTES: usize = 6;

/// The minimum length of a secret in a header or variable whose name does not suggest one.
const MIN_UNNAMED_SECRET_BYTES: usize = 12;

/// The minimum number of digits of a numeric secret under a name that suggests one. Shorter numbers are
/// limits, ports and years.
const MIN_NUMERIC_SECRET_DIGITS: usize = 8;

/// The minimum length of a word in a command's argument that may be a token.
const MIN_TOKEN_WORD_BYTES: usize = 8;

/// Placeholder keys: for local servers, which require a key and accept any, and for switches.
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

/// The prefixes of well-known tokens.
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

/// Words in a name that suggest a secret.
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

/// Suffixes of names written as one word that suggest a secret, as in `PGPASSWORD` and `accesskey`.
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

    /// Adds the secret parts of a URL: user name, password and query.
    pub fn add_from_url(&mut self, url: &str) {
        let Ok(url) = Url::parse(url.trim()) else {
            return;
        };
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        self.add(password);
        let plain_user = percent_decode_str(user).decode_utf8_lossy();
        let plain_password = percent_decode_str(password).decode_utf8_lossy();
        self.add(&plain_password);
        if user.len() >= MIN_USER_TOKEN_BYTES {
            self.add(user);
        }
        if !user.is_empty() || !password.is_empty() {
            // The form in which they are sent.
            self.add(&BASE64_STANDARD.encode(format!("{plain_user}:{plain_password}")));
        }
        for (name, value) in url.query_pairs() {
            self.add_named(&name, &value);
        }
    }

    /// Adds the value of a header, variable or query parameter if its name or length suggests a secret.
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

    /// Adds a value that the settings declare as a secret, whatever its form. Of `Bearer …`, also the token.
    fn add_declared(&mut self, value: &str) {
        self.add(value);
        if let Some((_, token)) = value
            .trim()
            .split_once(' ')
            .filter(|(_, token)| !token.contains(' '))
        {
            self.add(token);
        }
    }

    /// Adds a value as a secret, unless its form shows that it is none.
    fn add_value(&mut self, value: &str) {
        let value = value.trim();
        let is_short = value.len() < MIN_NAMED_SECRET_BYTES
            || is_number(value) && value.len() < MIN_NUMERIC_SECRET_DIGITS;
        if !is_short && !is_path(value) {
            self.add(value);
        }
    }

    pub fn add_from_mcp_server(&mut self, server: &McpServer) {
        match &server.transport {
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
                    self.add_from_url(arg);
                }
            }
            McpTransport::Url { url, .. } => self.add_from_url(url),
        }
        let variables = server.variables();
        for (name, value) in &variables.values {
            if variables.from_environment.contains_key(name) {
                self.add_declared(&value.0);
            }
            self.add_named(name, &value.0);
        }
    }
}

/// Returns true if one of the words of a name suggests a secret: `API_KEY`, `--auth-token`, `accessToken`,
/// but not `--max-tokens`.
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

/// Returns true if a value starts like a path and has no part that looks like Base64. A Base64 secret may
/// begin with a slash.
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

/// Returns true if a text begins as a well-known token.
pub(super) fn has_token_prefix(text: &str) -> bool {
    TOKEN_PREFIXES.iter().any(|prefix| text.starts_with(prefix))
}

/// Returns true if an argument has the form of a token: one word that is not a path, with letters and digits
/// mixed, or one with the prefix of a known token.
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
    has_token_prefix(arg) || arg.split(|c: char| !c.is_ascii_alphanumeric()).any(mixed)
}
