//! The endpoint's description in error messages: enough to find the setting, without secrets.

use std::fmt;

use reqwest::Url;
use secrecy::{ExposeSecret, SecretString};

use crate::{EndpointConfig, config::redact_url};
use parlor_base::{secrets::Secrets, settings::EndpointKind, text::single_line};
use parlor_model::{ErrorReply, ModelError, ModelErrorKind};
use parlor_protocol::RunError;

/// The maximum length of a quoted server message, in characters.
const MAX_QUOTE_CHARS: usize = 300;

/// The maximum length of a server message that is kept for the adapters, in characters.
const MAX_REPLY_CHARS: usize = 4000;

/// The only query parameter that messages may quote: Azure's errors depend on it.
const API_VERSION_PARAM: &str = "api-version";

/// An endpoint as described in messages.
#[derive(Clone)]
pub struct EndpointInfo {
    pub name: String,
    pub kind: EndpointKind,
    /// The base URL without userinfo and query.
    pub url: String,
    pub base_url_source: String,
    /// True if it was added in the page.
    pub is_added: bool,
    /// True if a user has added it for themselves alone.
    pub is_own: bool,
    pub api_key_source: String,
    /// True if a key, or a header that may be one, is sent.
    pub has_key: bool,
    /// Secrets that are never quoted, even if the server sends them.
    secrets: Secrets,
}

impl fmt::Debug for EndpointInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name, self.url)
    }
}

impl EndpointInfo {
    pub fn new(config: &EndpointConfig, url: &Url) -> Self {
        let mut secrets: Vec<SecretString> = config.headers.iter().map(|(_, value)| value.clone()).collect();
        secrets.extend(config.api_key.clone());
        secrets.extend(url.password().map(SecretString::from));
        let has_key = !secrets.is_empty();
        let parameters = url.query_pairs().filter(|(name, _)| name != API_VERSION_PARAM);
        secrets.extend(parameters.map(|(_, value)| SecretString::from(&*value)));
        Self {
            name: config.name.clone(),
            kind: config.kind,
            url: redact_url(url),
            base_url_source: config.base_url_source.clone(),
            is_added: config.is_added,
            is_own: config.is_own,
            api_key_source: config.api_key_source.clone(),
            has_key,
            secrets: config
                .secrets
                .with_more(secrets.iter().map(ExposeSecret::expose_secret)),
        }
    }

    /// Returns the subject of every message: `The endpoint “openai” (https://api.openai.com/v1)`.
    pub fn error_subject(&self) -> String {
        format!("The endpoint “{}” ({})", self.name, self.url)
    }

    /// Creates an error about this endpoint. Its message is the endpoint's name with the predicate.
    pub fn error(
        &self,
        kind: ModelErrorKind,
        code: &str,
        predicate: impl fmt::Display,
        hint: impl Into<String>,
    ) -> ModelError {
        let message = format!("{} {predicate}", self.error_subject());
        ModelError {
            error: RunError {
                code: code.into(),
                message,
                hint: hint.into(),
            },
            kind,
            reply: None,
        }
    }

    /// Returns a server message that can be shown: on one line, without control characters and secrets,
    /// truncated.
    pub fn quote(&self, words: &str) -> String {
        single_line(&self.secrets.redact(words), MAX_QUOTE_CHARS)
    }

    /// Returns the server's own error, for the adapters.
    pub fn error_reply(&self, status: u16, words: &str) -> ErrorReply {
        let text = single_line(&self.secrets.redact(words), MAX_REPLY_CHARS);
        ErrorReply { status, text }
    }

    /// Returns the hint for a possibly wrong URL.
    pub fn url_hint(&self) -> String {
        match self.base_url_source.as_str() {
            _ if self.is_own => "Try again later.".into(),
            _ if self.is_added => {
                "Is it running? An administrator can change its address in the settings, under Models.".into()
            }
            "" => format!("Is it still running at {}?", self.url),
            source => format!("Is it running? Its address is set in {source}."),
        }
    }

    /// Returns the question whether a setting has the right URL.
    pub fn url_question(&self, source: &str) -> String {
        let api = match self.kind {
            EndpointKind::OpenAi => "an OpenAI-compatible API",
            EndpointKind::OpenAiResponses => "an API with OpenAI's Responses",
            EndpointKind::Anthropic => "an API with Anthropic's Messages",
            EndpointKind::Gemini => "Google's Gemini API",
        };
        format!("Is {source} the address of {api}?")
    }

    /// Returns the usual form of a URL of this kind, as the predicate of a sentence.
    pub fn url_form(&self) -> &'static str {
        match self.kind {
            EndpointKind::OpenAi | EndpointKind::OpenAiResponses => "usually ends with /v1",
            EndpointKind::Anthropic => "is what stands before /v1/messages",
            EndpointKind::Gemini => "usually ends with /v1beta",
        }
    }

    /// Returns the hint about the key.
    pub fn key_hint(&self) -> String {
        match self.api_key_source.as_str() {
            _ if self.is_own => "You can replace your key in the settings, under Models.".into(),
            _ if self.is_added => {
                "An administrator can replace its key in the settings, under Models.".into()
            }
            "" => "Give this endpoint an API key in the settings and restart Parlor.".into(),
            source => format!("Set {source} to a valid key and restart Parlor."),
        }
    }
}
