//! The registry's side of added model servers.

use std::{collections::HashMap, sync::atomic::Ordering};

use secrecy::SecretString;

use super::{Endpoints, own};
use parlor_base::settings::{EndpointSettings, Secret};
use parlor_protocol::{EndpointKeyState, EndpointKind, EndpointView, RunError, UserId};
use parlor_providers::{AddedEndpoint, EndpointChangeGuard, EndpointConfig, UserEndpoints, display_url};
use parlor_storage::{StorageError, endpoints::StoredEndpoint};

impl Endpoints {
    /// Gives all enabled model servers to the registry, and the keys of users' own. Returns those that are stored.
    pub(super) async fn register(
        &self,
        guard: &EndpointChangeGuard,
    ) -> Result<Vec<StoredEndpoint>, StorageError> {
        let common = self.stored().await?;
        let own = self.storage.own_endpoints().await?;
        let allows_own_keys = self.storage.allows_own_keys().await?;
        self.allows_own_keys.store(allows_own_keys, Ordering::Relaxed);
        let mut for_all = UserEndpoints::default();
        for endpoint in &common {
            self.add_usable(endpoint, false, &mut for_all);
        }
        let services = own::offered(&common);
        let mut of_users: HashMap<UserId, UserEndpoints> = HashMap::new();
        for endpoint in own.iter().filter(|_| allows_own_keys) {
            let service = services.iter().find(|service| service.has(endpoint));
            if let Some((service, owner)) = service.zip(endpoint.owner) {
                let of_user = of_users.entry(owner).or_default();
                self.add_usable(endpoint, service.is_public(), of_user);
            }
        }
        guard.set_added(for_all.added, for_all.problems);
        guard.set_own(of_users);
        Ok([common, own].concat())
    }

    /// Adds a model server, unless it is switched off or the settings have one of its name.
    fn add_usable(&self, endpoint: &StoredEndpoint, is_guarded: bool, to: &mut UserEndpoints) {
        if !endpoint.is_enabled || self.is_of_settings(&endpoint.name) {
            return;
        }
        match self.unseal(endpoint) {
            Ok(key) => to.added.push(AddedEndpoint {
                config: EndpointConfig {
                    models: endpoint.models.clone(),
                    is_own: endpoint.owner.is_some(),
                    is_guarded,
                    ..self.config(&endpoint.name, endpoint.kind, &endpoint.base_url, key.as_ref())
                },
                hidden_models: endpoint.hidden_models.iter().cloned().collect(),
            }),
            Err(error) => {
                tracing::error!(endpoint = endpoint.name, %error, "the key of a model server can't be read");
                to.problems
                    .push(key_needed(&endpoint.name, endpoint.owner.is_some()));
            }
        }
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

fn key_needed(name: &str, is_own: bool) -> RunError {
    let hint = match is_own {
        true => "You can do that in the settings, under Models.",
        false => "An administrator can do that in the settings, under Models.",
    };
    RunError {
        code: "endpoint_key_needed".into(),
        message: format!("The key of the model server “{name}” has to be entered again."),
        hint: hint.into(),
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
        takes_own_keys: false,
        problem: None,
    }
}
