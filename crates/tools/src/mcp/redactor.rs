//! Redacts texts about an MCP server: the secrets of all settings, and the server's URL if it
//! contains a key.

use std::sync::Arc;

use super::log::ServerLog;
use parlor_base::{
    secrets::Secrets,
    settings::{McpServer, mcp::McpTransport},
};

/// The log about a server, and the secrets to redact in texts about it.
#[derive(Clone)]
pub struct ServerRedactor {
    log: ServerLog,
    /// The server's whole URL, if it may contain a key: in a query or before an `@`.
    url: Option<Arc<str>>,
    secrets: Arc<Secrets>,
}

/// Maximum length of an error that is shown, in bytes.
const MAX_EXCERPT_BYTES: usize = 1000;

impl ServerRedactor {
    pub fn new(settings: &McpServer, secrets: Arc<Secrets>) -> Self {
        let url = match &settings.transport {
            McpTransport::Url { url, .. } if url.contains(['@', '?']) => Some(url.as_str().into()),
            _ => None,
        };
        Self {
            log: ServerLog::new(&settings.name),
            url,
            secrets,
        }
    }

    /// The log about the server.
    pub fn log(&self) -> &ServerLog {
        &self.log
    }

    /// Returns the length in bytes of the text beyond the shown part that is needed for redaction.
    pub fn redaction_margin(&self) -> usize {
        self.secrets.lookahead_bytes()
    }

    /// Redacts a text and cuts it to the length of an error. `more` is true if the original text
    /// continues.
    pub fn redact_excerpt(&self, text: &str, more: bool) -> String {
        self.secrets
            .redact_truncated(&self.without_url(text), MAX_EXCERPT_BYTES, more)
            .0
    }

    /// Redacts a text of any length.
    pub fn redact(&self, text: &str) -> String {
        self.secrets.redact(&self.without_url(text))
    }

    fn without_url(&self, text: &str) -> String {
        match &self.url {
            Some(url) => text.replace(&**url, "•••"),
            None => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_base::settings::Settings;

    #[test]
    fn redacts_secrets_of_all_settings() {
        let file = r#"
            [[endpoints]]
            name = "e"
            base_url = "http://127.0.0.1:1/v1"
            headers = { Authorization = "Bearer others-0123" }

            [[mcp]]
            name = "x"
            url = "http://x/mcp?key=abc"
            headers = { authorization = "Bearer hush/hush", short = "no" }

            [[mcp]]
            name = "y"
            command = "run"
            args = ["--token", "arg-secret-1", "0123abcd4567efgh"]
            env = { API_KEY = "of the environment" }
        "#;
        let settings: Settings = toml::from_str(file).unwrap();
        let secrets = Arc::new(Secrets::from_settings(&settings));
        let redactor = ServerRedactor::new(&settings.mcp[0], secrets);
        let said = "no answer to Bearer hush/hush at http://x/mcp?key=abc, hush%2Fhush, hush\\/hush, arg-secret-1, \
                    0123abcd4567efgh, others-0123, of+the+environment";
        let expected = "no answer to ••• at •••, •••, •••, •••, •••, •••, •••";
        assert_eq!(redactor.redact_excerpt(said, false), expected);
        assert_eq!(redactor.redact(said), expected);
        assert_eq!(
            redactor
                .redact_excerpt(&"é".repeat(MAX_EXCERPT_BYTES), false)
                .len(),
            MAX_EXCERPT_BYTES
        );
    }
}
