//! The registry's side of added model servers.

use secrecy::SecretString;

use super::Endpoints;
use parlor_base::settings::{EndpointSettings, Secret};
use parlor_protocol::{EndpointKeyState, EndpointKind, EndpointView, RunError};
use parlor_providers::{AddedEndpoint, EndpointChangeGuard, EndpointConfig, display_url};
use parlor_storage::{StorageError, endpoints::StoredEndpoint};

impl Endpoints {
    /// Gives all enabled model servers to the registry. Returns those that are stored.
    pub(super) async fn register(
        &self,
        guard: &EndpointChangeGuard,
    ) -> Result<Vec<StoredEndpoint>, StorageError> {
        let stored = self.stored().await?;
        let (mut added, mut problems) = (Vec::new(), Vec::new());
        for endpoint in stored.iter().filter(|endpoint| endpoint.is_enabled) {
            if self.is_of_settings(&endpoint.name) {
                continue;
            }
            match self.unseal(endpoint) {
                Ok(key) => added.push(AddedEndpoint {
                    config: EndpointConfig {
                        models: endpoint.models.clone(),
                        ..self.config(&endpoint.name, endpoint.kind, &endpoint.base_url, key.as_ref())
                    },
                    hidden_models: endpoint.hidden_models.iter().cloned().collect(),
                }),
                Err(error) => {
                    tracing::error!(endpoint = endpoint.name, %error, "the key of a model server can't be read");
                    problems.push(key_needed(&endpoint.name));
                }
            }
        }
        guard.set_added(added, problems);
        Ok(stored)
    }

    /// Returns the configuration of a model server.
    pub(super) fn config(
        &self,
        name: &str,
        kind: EndpointKind,
        base_url: &str,
        key: Option<&Secret>,
    ) -> EndpointConfig {
        EndpointConfig {
            kind,
            api_key: key.map(|key| SecretString::from(key.0.as_str())),
            is_added: true,
            secrets: self.models.secrets().clone(),
            max_frame_bytes: self.settings.limits.model_event_bytes,
            connect_timeout: self.settings.timeouts.connect,
            ..EndpointConfig::new(name, base_url)
        }
    }
}

fn key_needed(name: &str) -> RunError {
    RunError {
        code: "endpoint_key_needed".into(),
        message: format!("The key of the model server “{name}” has to be entered again."),
        hint: "An administrator can do that in the settings, under Models.".into(),
    }
}

/// Returns a model server of the settings, as administrators see it.
pub(super) fn settings_view(endpoint: &EndpointSettings) -> EndpointView {
    let has_key = endpoint.api_key.is_some() || !endpoint.headers_env.is_empty();
    EndpointView {
        id: None,
        name: endpoint.name.clone(),
        kind: endpoint.kind,
        base_url: display_url(&endpoint.base_url),
        key: match has_key {
            true => EndpointKeyState::Set,
            false => EndpointKeyState::None,
        },
        is_enabled: true,
        models: endpoint.models.clone(),
        hidden_models: Vec::new(),
        problem: None,
    }
}
