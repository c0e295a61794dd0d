//! The URLs of an endpoint, and the headers in its settings.

use reqwest::{
    Url,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use secrecy::ExposeSecret;

use super::EndpointInfo;
use crate::EndpointConfig;
use parlor_model::{ModelError, ModelErrorKind};
use parlor_protocol::RunError;

/// Returns the base URL for paths.
pub fn base_path_url(url: &Url) -> String {
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    base.as_str().trim_end_matches('/').to_owned()
}

/// Parses the URL of an endpoint.
pub fn endpoint_url(config: &EndpointConfig) -> Result<Url, ModelError> {
    let url = Url::parse(config.base_url.trim()).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            // A URL that does not parse can't be redacted either, so it is not quoted.
            let message = format!(
                "The address of the endpoint “{}” is not an http:// or https:// one.",
                config.name
            );
            let hint = match config.base_url_source.as_str() {
                "" => String::new(),
                source => format!("Correct {source} and restart Parlor."),
            };
            let error = RunError {
                code: "settings_invalid".into(),
                message,
                hint,
            };
            ModelError {
                error,
                kind: ModelErrorKind::Refused,
                reply: None,
            }
        })
}

/// Returns the key of an endpoint; empty without one.
///
/// # Errors
///
/// If it can't be sent.
pub fn checked_key<'a>(config: &'a EndpointConfig, facts: &EndpointInfo) -> Result<&'a str, ModelError> {
    let key = config.api_key.as_ref();
    let key = key.map_or("", |key| key.expose_secret()).trim();
    match HeaderValue::from_str(key) {
        Ok(_) => Ok(key),
        Err(_) => Err(unusable(
            facts,
            "its API key has characters that no key has.",
            facts.key_hint(),
        )),
    }
}

/// Returns the headers in the settings of an endpoint.
///
/// # Errors
///
/// If one of them can't be sent.
pub fn configured_headers(config: &EndpointConfig, facts: &EndpointInfo) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &config.headers {
        let header = HeaderName::try_from(name)
            .ok()
            .zip(HeaderValue::from_str(value.expose_secret()).ok());
        let Some((header, mut value)) = header else {
            let what = format!("its header “{name}” cannot be sent.");
            return Err(unusable(facts, &what, String::new()));
        };
        value.set_sensitive(true);
        headers.insert(header, value);
    }
    Ok(headers)
}

fn unusable(facts: &EndpointInfo, what: &str, hint: String) -> ModelError {
    let what = format!("cannot be used: {what}");
    facts.error(ModelErrorKind::Refused, "settings_invalid", what, hint)
}
