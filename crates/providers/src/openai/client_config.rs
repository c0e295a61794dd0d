//! The URL and the headers of async-openai's requests.

use async_openai::config::{Config, OpenAIConfig};
use reqwest::header::{self, HeaderMap};
use secrecy::SecretString;

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
            // User info in the URL may replace it.
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
