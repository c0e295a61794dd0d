//! Tries a model server before it is added or changed.

use super::{Endpoints, check, origin};
use parlor_base::settings::Secret;
use parlor_protocol::{ApiError, EndpointKind, EndpointTest, EndpointTestResult, ErrorCode};
use parlor_providers::{EndpointConfig, test_endpoint};
use parlor_storage::endpoints::StoredEndpoint;

/// The name of a model server that is tested, in details of errors.
const TESTED: &str = "test";

impl Endpoints {
    pub(super) async fn test(&self, request: EndpointTest) -> Result<EndpointTestResult, ApiError> {
        let base_url = check::check_base_url(&request.base_url, request.kind)?;
        let given = check::check_key(&request.key.unwrap_or_default().0)?;
        let key = match (given, request.id) {
            (Some(key), _) => Some(key),
            (None, None) => None,
            (None, Some(id)) => {
                let stored = self.find(id).await?;
                if origin(&stored.base_url) != origin(&base_url) && stored.key.is_some() {
                    return Err(ApiError::new(
                        ErrorCode::BadRequest,
                        "The key belongs to the former address and is not sent to another one. Enter it again to test the new one.",
                    ));
                }
                self.unseal_to_test(&stored)?
            }
        };
        Ok(test_endpoint(&self.tested_config(request.kind, &base_url, key)).await)
    }

    pub(super) fn unseal_to_test(&self, stored: &StoredEndpoint) -> Result<Option<Secret>, ApiError> {
        self.unseal(stored).map_err(|_| {
            let message = "The stored key can't be read any more. Enter it again.";
            ApiError::new(ErrorCode::BadRequest, message)
        })
    }

    /// Returns the configuration of a model server that is tested.
    pub(super) fn tested_config(
        &self,
        kind: EndpointKind,
        base_url: &str,
        key: Option<Secret>,
    ) -> EndpointConfig {
        let mut config = self.config(TESTED, kind, base_url, key.as_ref());
        if let Some(key) = &key {
            // It is not among the known ones before it is saved.
            config.secrets = std::sync::Arc::new(config.secrets.with_more([key.0.as_str()]));
        }
        config
    }
}
