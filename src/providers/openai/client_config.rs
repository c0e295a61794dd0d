//! The address of an endpoint, and the headers of its requests.

use async_openai::config::{Config, OpenAIConfig};
use reqwest::{
    Url,
    header::{self, HeaderMap},
};
use secrecy::SecretString;

use crate::{
    model::{ModelError, ModelErrorKind},
    protocol::RunError,
    providers::EndpointConfig,
};

/// A configuration for async-openai that sends no empty key, as its default does.
#[derive(Clone)]
pub struct ClientConfig {
    pub openai: OpenAIConfig,
    /// The headers in the settings, which override all others.
    pub headers: HeaderMap,
    /// The query of the base URL, which is added to every request.
    pub query: Option<String>,
}

impl Config for ClientConfig {
    fn headers(&self) -> HeaderMap {
        let mut headers = self.openai.headers();
        if headers
            .get(header::AUTHORIZATION)
            .is_some_and(|value| value == "Bearer ")
        {
            // User info in the address may replace it.
            headers.remove(header::AUTHORIZATION);
        }
        if let Some(value) = headers.get_mut(header::AUTHORIZATION) {
            value.set_sensitive(true);
        }
        headers.extend(self.headers.clone());
        headers
    }

    fn url(&self, path: &str) -> String {
        let url = self.openai.url(path);
        match &self.query {
            Some(query) => format!("{url}?{query}"),
            None => url,
        }
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.openai.query()
    }

    fn api_base(&self) -> &str {
        self.openai.api_base()
    }

    fn api_key(&self) -> &SecretString {
        self.openai.api_key()
    }
}

/// Returns the base address for paths.
pub fn base_path_url(url: &Url) -> String {
    let mut base = url.clone();
    base.set_query(None);
    base.set_fragment(None);
    base.as_str().trim_end_matches('/').to_owned()
}

/// Parses the address of an endpoint.
pub fn endpoint_url(config: &EndpointConfig) -> Result<Url, ModelError> {
    let url = Url::parse(config.base_url.trim()).ok();
    url.filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
        .ok_or_else(|| {
            // An address that does not parse can't be redacted either, so it is not quoted.
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
            }
        })
}
