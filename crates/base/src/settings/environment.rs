//! The endpoints that the environment defines, without a settings file.

use std::collections::BTreeMap;

use super::{BaseUrlOrigin, Dialect, EndpointKind, EndpointSettings, PromptLength, Secret};

/// A provider that environment variables define.
#[derive(Clone, Copy, Debug)]
pub struct EnvironmentProvider {
    /// The name of its endpoint.
    pub name: &'static str,
    pub kind: EndpointKind,
    pub key_variable: &'static str,
    pub base_url_variable: &'static str,
    /// The base URL unless the variable is set.
    base_url: &'static str,
    /// True if the base URL alone defines the endpoint, too: such servers also run without keys.
    works_without_key: bool,
}

/// The providers, in the order of their endpoints.
pub const ENVIRONMENT_PROVIDERS: [EnvironmentProvider; 3] = [
    EnvironmentProvider {
        name: "openai",
        kind: EndpointKind::OpenAi,
        key_variable: "OPENAI_API_KEY",
        base_url_variable: "OPENAI_BASE_URL",
        base_url: "https://api.openai.com/v1",
        works_without_key: true,
    },
    EnvironmentProvider {
        name: "anthropic",
        kind: EndpointKind::Anthropic,
        key_variable: "ANTHROPIC_API_KEY",
        base_url_variable: "ANTHROPIC_BASE_URL",
        base_url: "https://api.anthropic.com",
        works_without_key: false,
    },
    EnvironmentProvider {
        name: "gemini",
        kind: EndpointKind::Gemini,
        key_variable: "GEMINI_API_KEY",
        base_url_variable: "GEMINI_BASE_URL",
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        works_without_key: false,
    },
];

impl EnvironmentProvider {
    /// Returns its endpoint, if the variables define it.
    fn endpoint(self, env: impl Fn(&str) -> Option<String>) -> Option<EndpointSettings> {
        let (base_url, key) = (env(self.base_url_variable), env(self.key_variable));
        if key.is_none() && !(self.works_without_key && base_url.is_some()) {
            return None;
        }
        Some(EndpointSettings {
            name: self.name.into(),
            kind: self.kind,
            base_url_origin: match base_url {
                Some(_) => BaseUrlOrigin::Variable(self.base_url_variable),
                None => BaseUrlOrigin::Provider,
            },
            base_url: base_url.unwrap_or_else(|| self.base_url.into()),
            api_key_env: Some(self.key_variable.into()),
            api_key: key.map(Secret),
            headers: BTreeMap::new(),
            headers_env: BTreeMap::new(),
            models: Vec::new(),
            context_window: None,
            context_windows: BTreeMap::new(),
            capabilities: BTreeMap::new(),
            lists_all_models: true,
            dialect: Dialect::default(),
            prompt: PromptLength::default(),
            tools: None,
            max_tools: None,
        })
    }
}

/// Returns the endpoints that the environment defines, except those whose names the file defines itself,
/// perhaps with more settings.
pub fn endpoints_from_environment(
    endpoints: &[EndpointSettings],
    env: impl Fn(&str) -> Option<String>,
) -> Vec<EndpointSettings> {
    ENVIRONMENT_PROVIDERS
        .into_iter()
        .filter(|provider| endpoints.iter().all(|endpoint| endpoint.name != provider.name))
        .filter_map(|provider| provider.endpoint(&env))
        .collect()
}
