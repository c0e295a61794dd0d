//! The rules for what is entered about a model server. A rejection never quotes what was entered: it may be a key.

use reqwest::{Url, header::HeaderValue};

use parlor_base::{
    secrets::{begins_like_key, looks_like_key},
    settings::{Secret, Settings},
};
use parlor_markup::markdown::is_invisible;
use parlor_protocol::{ApiError, EndpointKind, ErrorCode, NewEndpoint, is_of_own_key};
use parlor_providers::BUILT_IN_ENDPOINT;
use parlor_storage::endpoints::StoredEndpoint;

const MAX_NAME_CHARACTERS: usize = 40;
const MAX_URL_BYTES: usize = 2000;
const MAX_KEY_BYTES: usize = 8000;
const MAX_MODELS: usize = 5000;
const MAX_MODEL_BYTES: usize = 300;

/// The only query parameter that an address may have: Azure's.
const API_VERSION: &str = "api-version";

/// A model server whose fields can be stored.
pub struct CheckedEndpoint {
    pub name: String,
    pub kind: EndpointKind,
    pub base_url: String,
    pub key: Option<Secret>,
    pub models: Vec<String>,
    pub hidden_models: Vec<String>,
    pub takes_own_keys: bool,
}

impl CheckedEndpoint {
    pub fn new(new: NewEndpoint, settings: &Settings) -> Result<Self, ApiError> {
        Ok(Self {
            name: check_name(&new.name, settings)?,
            kind: new.kind,
            base_url: check_base_url(&new.base_url, new.kind)?,
            key: check_key(&new.key.unwrap_or_default().0)?,
            models: check_models(new.models)?,
            hidden_models: check_models(new.hidden_models)?,
            takes_own_keys: new.takes_own_keys,
        })
    }

    /// Returns true if a stored model server has these values: the request was applied before.
    pub fn is_stored_as(&self, stored: &StoredEndpoint, key: Option<&Secret>) -> bool {
        self.name == stored.name
            && self.kind == stored.kind
            && self.base_url == stored.base_url
            && self.models == stored.models
            && self.hidden_models == stored.hidden_models
            && self.takes_own_keys == stored.takes_own_keys
            && self.key.as_ref() == key
    }
}

fn rejected(message: &str) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, format!("{message} Nothing was saved."))
}

fn check_name(name: &str, settings: &Settings) -> Result<String, ApiError> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if looks_like_key(&name) {
        return Err(rejected(
            "The name looks like a key. Paste the key into its own field.",
        ));
    }
    if name.contains("://") {
        return Err(rejected(
            "The name looks like an address. Paste the address into its own field.",
        ));
    }
    let is_allowed = |c: char| !c.is_control() && !is_invisible(c) && c != '/';
    let is_visible = name.chars().any(char::is_alphanumeric);
    if !is_visible || name.chars().count() > MAX_NAME_CHARACTERS || !name.chars().all(is_allowed) {
        return Err(rejected(&format!(
            "A name has 1 to {MAX_NAME_CHARACTERS} characters, and no slash."
        )));
    }
    if name == BUILT_IN_ENDPOINT {
        return Err(rejected("This name is Parlor’s own. Choose another one."));
    }
    if is_of_own_key(&name) {
        return Err(rejected(
            "Names that begin with “my” are for people’s own keys. Choose another one.",
        ));
    }
    if is_of_settings(settings, &name) {
        return Err(rejected(
            "The settings file or the environment has a model server of this name. Choose another name.",
        ));
    }
    Ok(name)
}

/// Returns true if the settings have a model server of this name.
pub fn is_of_settings(settings: &Settings, name: &str) -> bool {
    settings.endpoints.iter().any(|endpoint| endpoint.name == name)
}

/// Returns an address without what people paste along with it, such as the path of a call.
pub fn check_base_url(text: &str, kind: EndpointKind) -> Result<String, ApiError> {
    let text = text.trim();
    if begins_like_key(text) || !text.contains(['.', ':', '/']) && looks_like_key(text) {
        return Err(rejected(
            "The address looks like a key. Paste the key into its own field.",
        ));
    }
    let url = Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    let url = url.filter(|_| text.len() <= MAX_URL_BYTES);
    let Some(mut url) = url else {
        return Err(rejected(
            "This is no address. It begins with http:// or https://, such as https://api.openai.com/v1.",
        ));
    };
    if !url.username().is_empty() || url.password().is_some() {
        return Err(rejected(
            "The address has a user name or a password in it. Paste the key into its own field.",
        ));
    }
    let has_other_parameter = url.query_pairs().any(|(name, _)| name != API_VERSION);
    let has_key = url.query_pairs().any(|(_, value)| looks_like_key(&value))
        || url.path().split('/').any(begins_like_key);
    if has_key {
        return Err(rejected(
            "The address has a key in it. Paste the key into its own field.",
        ));
    }
    if has_other_parameter || url.fragment().is_some() {
        return Err(rejected(
            "The address must not have parameters after a “?” or “#”, except “?api-version=…”.",
        ));
    }
    let path = url.path().trim_end_matches('/');
    let calls: &[&str] = match kind {
        EndpointKind::OpenAi | EndpointKind::OpenAiResponses => {
            &["/chat/completions", "/responses", "/models"]
        }
        EndpointKind::Anthropic => &["/v1/messages", "/v1/models", "/v1"],
        EndpointKind::Gemini => &["/models"],
    };
    let path = calls
        .iter()
        .find_map(|call| path.strip_suffix(call))
        .unwrap_or(path);
    let path = path.to_owned();
    url.set_path(&path);
    // An empty path is written as a slash.
    let text = String::from(url);
    Ok(match path.is_empty() {
        true => text.replacen("/?", "?", 1).trim_end_matches('/').to_owned(),
        false => text,
    })
}

/// Returns a key; `None` if it is empty.
pub fn check_key(text: &str) -> Result<Option<Secret>, ApiError> {
    let text = text.trim();
    let key = text.strip_prefix("Bearer ").unwrap_or(text).trim();
    if key.contains("://") {
        return Err(rejected(
            "The key looks like an address. Paste the address into its own field.",
        ));
    }
    let is_sendable = HeaderValue::from_str(key).is_ok() && key.is_ascii() && !key.contains(' ');
    if key.len() > MAX_KEY_BYTES || !is_sendable {
        return Err(rejected("The key has characters that no key has. Copy it again."));
    }
    Ok((!key.is_empty()).then(|| Secret(key.to_owned())))
}

/// Checks names of models, as their servers write them.
pub fn check_models(names: Vec<String>) -> Result<Vec<String>, ApiError> {
    let is_name = |name: &String| {
        !name.is_empty() && name.len() <= MAX_MODEL_BYTES && !name.chars().any(char::is_control)
    };
    if names.len() > MAX_MODELS || !names.iter().all(is_name) {
        return Err(rejected(&format!(
            "At most {MAX_MODELS} models can be named, each with 1 to {MAX_MODEL_BYTES} bytes."
        )));
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use EndpointKind::{Anthropic, Gemini, OpenAi};

    #[test]
    fn addresses_are_brought_into_their_form() {
        for (kind, text, expected) in [
            (
                OpenAi,
                " https://api.openai.com/v1/ ",
                "https://api.openai.com/v1",
            ),
            (
                OpenAi,
                "https://api.openai.com/v1/chat/completions",
                "https://api.openai.com/v1",
            ),
            (OpenAi, "http://127.0.0.1:1234", "http://127.0.0.1:1234"),
            (
                OpenAi,
                "https://x.example/openai/deployments/gpt-4o-2024-11-20?api-version=2024-10-21",
                "https://x.example/openai/deployments/gpt-4o-2024-11-20?api-version=2024-10-21",
            ),
            (
                Anthropic,
                "https://api.anthropic.com/v1/messages",
                "https://api.anthropic.com",
            ),
            (
                Anthropic,
                "https://api.anthropic.com/",
                "https://api.anthropic.com",
            ),
            (
                Gemini,
                "https://g.example/v1beta/models",
                "https://g.example/v1beta",
            ),
        ] {
            assert_eq!(check_base_url(text, kind).unwrap(), expected);
        }
    }

    #[test]
    fn secrets_in_addresses_and_names_are_refused_unquoted() {
        let secret = "0123456789abcdef";
        for text in [
            format!("https://user:{secret}@models.example/v1"),
            format!("https://{secret}@models.example/v1"),
            format!("https://models.example/v1?key={secret}"),
            format!("https://models.example/sk-{secret}/v1"),
            format!("https://models.example/v1#{secret}"),
            format!("sk-{secret}"),
            secret.to_owned(),
            format!("ftp://{secret}"),
        ] {
            let error = check_base_url(&text, OpenAi).unwrap_err();
            assert_eq!(error.code, ErrorCode::BadRequest);
            assert!(!error.message.contains(secret), "{}", error.message);
        }
        for name in [
            &*format!("sk-{secret}"),
            "a/b",
            "",
            "\u{200b}",
            "parlor",
            "https://x",
            "my openai",
            &"x".repeat(41),
        ] {
            let error = check_name(name, &Settings::default()).unwrap_err();
            assert!(!error.message.contains(secret), "{}", error.message);
        }
        assert_eq!(
            check_name(" Our  server ", &Settings::default()).unwrap(),
            "Our server"
        );
    }

    #[test]
    fn keys_lose_what_is_around_them() {
        assert_eq!(check_key(" Bearer abc\n").unwrap(), Some(Secret("abc".into())));
        assert_eq!(check_key("  ").unwrap(), None);
        for key in ["a b", "a\nb", "ä", "https://x.example"] {
            assert!(check_key(key).is_err(), "{key}");
        }
    }
}
