//! The settings of model servers, as the registry of models takes them.

use std::sync::Arc;

use secrecy::SecretString;

use parlor_base::{
    secrets::Secrets,
    settings::{self, Settings},
};
use parlor_providers::{DEFAULT_MAX_TOOLS, EndpointConfig, ModelsConfig};

/// Returns the names of the variables that have an endpoint's key, for hints to the user.
fn key_source(endpoint: &settings::EndpointSettings) -> String {
    let headers = endpoint.headers_env.values().map(String::as_str);
    let variables: Vec<&str> = endpoint
        .api_key_env
        .as_deref()
        .into_iter()
        .chain(headers)
        .collect();
    variables.join(" and ")
}

/// Returns the endpoints of the settings, and the local servers to try if there are none.
pub fn models_config(settings: &Settings, secrets: &Arc<Secrets>) -> ModelsConfig {
    let max_frame = settings.limits.model_event_bytes;
    let connect_timeout = settings.timeouts.connect;
    let endpoints = settings.endpoints.iter().map(|endpoint| EndpointConfig {
        api_key: endpoint
            .api_key
            .as_ref()
            .map(|key| SecretString::from(key.0.as_str())),
        api_key_source: key_source(endpoint),
        base_url_source: endpoint.base_url_source(),
        kind: endpoint.kind,
        models: endpoint.models.clone(),
        headers: endpoint
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.0.as_str().into()))
            .collect(),
        context_window: endpoint.context_window,
        context_windows: endpoint.context_windows.clone(),
        capabilities: endpoint
            .capabilities
            .iter()
            .map(|(model, set)| (model.clone(), set.into()))
            .collect(),
        lists_all_models: endpoint.lists_all_models,
        dialect: endpoint.dialect,
        prompt_length: endpoint.prompt,
        takes_tools: endpoint.tools,
        max_tools: endpoint.max_tools.unwrap_or(DEFAULT_MAX_TOOLS),
        secrets: secrets.clone(),
        max_frame_bytes: max_frame,
        connect_timeout,
        ..EndpointConfig::new(&endpoint.name, &endpoint.base_url)
    });
    let local = settings.models.local.iter().filter(|_| settings.models.discover);
    ModelsConfig {
        endpoints: endpoints.collect(),
        default_model: settings.models.default.clone(),
        prices: settings
            .models
            .prices
            .iter()
            .map(|(model, price)| (model.clone(), price.into()))
            .collect(),
        candidates: local
            .map(|(name, base_url)| EndpointConfig {
                secrets: secrets.clone(),
                max_frame_bytes: max_frame,
                connect_timeout,
                ..EndpointConfig::new(name, base_url)
            })
            .collect(),
        secrets: secrets.clone(),
        own_address: Some(settings.server.addr),
        ..ModelsConfig::default()
    }
}
