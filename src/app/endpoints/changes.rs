//! What administrators add and change for all.

use std::sync::Arc;

use super::{Endpoints, MAX_ENDPOINTS, check, check::CheckedEndpoint, or_not_found, origin};
use parlor_base::clock;
use parlor_protocol::{ApiError, EndpointId, EndpointUpdate, ErrorCode, NewEndpoint, UserId};
use parlor_storage::{
    ChangeRejection,
    endpoints::{EndpointChange, EndpointValues, StoredEndpoint},
};

impl Endpoints {
    pub(super) async fn add(self: &Arc<Self>, by: UserId, new: NewEndpoint) -> Result<(), ApiError> {
        let id = new.id;
        let checked = CheckedEndpoint::new(new, &self.settings)?;
        let key = checked.key.as_ref();
        let sealed = key
            .map(|key| self.seal(id, &checked.base_url, None, key))
            .transpose()?;
        let now = clock::now();
        let endpoint = StoredEndpoint {
            id,
            owner: None,
            name: checked.name.clone(),
            kind: checked.kind,
            base_url: checked.base_url.clone(),
            key: sealed,
            models: checked.models.clone(),
            hidden_models: checked.hidden_models.clone(),
            is_enabled: true,
            takes_own_keys: checked.takes_own_keys,
            created_at: now,
            updated_by: by,
            updated_at: now,
        };
        if self.add_stored(by, endpoint, MAX_ENDPOINTS).await? {
            return Ok(());
        }
        let stored = self.find(id).await?;
        let key = self.unseal(&stored).unwrap_or_default();
        match checked.is_stored_as(&stored, key.as_ref()) {
            true => Ok(()),
            false => Err(ChangeRejection::IntentReused.into()),
        }
    }

    pub(super) async fn change(
        self: &Arc<Self>,
        by: UserId,
        id: EndpointId,
        update: EndpointUpdate,
    ) -> Result<(), ApiError> {
        let stored = self.find(id).await?;
        let base_url = update.base_url.as_deref().map(|url| {
            let kind = update.kind.unwrap_or(stored.kind);
            check::check_base_url(url, kind)
        });
        let base_url = base_url.transpose()?;
        let key = match &update.key {
            None => None,
            Some(key) => Some(check::check_key(&key.0)?),
        };
        let new_url = base_url.as_deref().unwrap_or(&stored.base_url);
        if key.is_none() && stored.key.is_some() && origin(new_url) != origin(&stored.base_url) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "The key belongs to the former address and is not sent to another one. Nothing was changed; enter the key again, \
                 together with the new address.",
            ));
        }
        let sealed = key.map(|key| key.map(|key| self.seal(id, new_url, None, &key)).transpose());
        let check_names = |names: Option<Vec<String>>| names.map(check::check_models).transpose();
        let values = EndpointValues {
            key: sealed.transpose()?,
            kind: update.kind,
            base_url,
            models: check_names(update.models)?,
            hidden_models: check_names(update.hidden_models)?,
            is_enabled: update.is_enabled,
            takes_own_keys: update.takes_own_keys,
        };
        let owner = None;
        let changed = self
            .commit(by, EndpointChange::Update { id, owner, values })
            .await;
        changed.map_err(or_not_found)
    }
}
