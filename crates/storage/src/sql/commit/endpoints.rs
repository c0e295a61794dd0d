//! Changes to model servers. The logs of those who may use them say that the models have changed, and nothing else.

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::{
        endpoints::{ALLOWED, OWN_KEYS},
        id, text,
    },
    Batch, ChangeError,
    audit::NewEntry,
    personal::ensure_user,
};
use crate::{
    ChangeRejection, Outcome, StorageError,
    audit::AuditAction,
    damage::skip_damaged,
    endpoints::{EndpointChange, EndpointValues, SealedKey, StoredEndpoint},
};
use parlor_protocol::{ConversationId, EndpointId, UserEvent, UserId};

/// The place after all others.
const LAST_PLACE: &str = "SELECT coalesce(max(place), 0) + 1 FROM endpoints WHERE typeof(place) = 'integer'";

impl Batch<'_> {
    pub(super) async fn change_endpoints(
        &mut self,
        connection: &mut Connection,
        by: UserId,
        change: &EndpointChange,
    ) -> Result<Outcome, ChangeError> {
        let (action, name, outcome) = match change {
            EndpointChange::Add { endpoint, limit } => {
                // A user who has done nothing yet has no row.
                ensure_user(&mut *connection, by).await?;
                self.add_endpoint(connection, endpoint, *limit).await?;
                (AuditAction::EndpointAdded, endpoint.name.clone(), Outcome::Done)
            }
            EndpointChange::Update { id, owner, values } => {
                let name = self
                    .update_endpoint(connection, by, (*id, *owner), values)
                    .await?;
                let (action, outcome) = match values.key {
                    // A replaced key counts as deleted data.
                    Some(_) => (AuditAction::EndpointKeyChanged, Outcome::DataDeleted),
                    None => (AuditAction::EndpointChanged, Outcome::Done),
                };
                (action, name, outcome)
            }
            EndpointChange::Reseal { id, from, to } => return reseal(connection, *id, from, to).await,
            EndpointChange::Remove { id, owner } => {
                let removed = query(
                    "DELETE FROM endpoints WHERE id = $1 AND user_id IS NOT DISTINCT FROM $2 RETURNING name",
                )
                .bind_value(id)
                .bind_value(*owner)
                .fetch_optional(&mut *connection)
                .await?;
                let name = text(&removed.ok_or(ChangeRejection::NotFound)?, "name")?;
                (AuditAction::EndpointRemoved, name, Outcome::DataDeleted)
            }
            EndpointChange::AllowOwnKeys { is_allowed } => {
                let action = allow_own_keys(connection, *is_allowed).await?;
                (action, String::new(), Outcome::Done)
            }
        };
        let entry = NewEntry::by_user(by, action).about(name);
        entry.store(&mut *connection, self.at).await?;
        // The only user of a new installation has no log yet, and waits for the models.
        ensure_user(&mut *connection, by).await?;
        match change.owner() {
            Some(owner) => self.log_change_for(connection, owner).await?,
            None => self.log_models_changed(connection).await?,
        }
        Ok(outcome)
    }

    async fn add_endpoint(
        &self,
        connection: &mut Connection,
        endpoint: &StoredEndpoint,
        limit: usize,
    ) -> Result<(), ChangeError> {
        let counts = query(
            "SELECT count(*) FILTER (WHERE user_id IS NOT DISTINCT FROM $3) AS count, count(*) FILTER (WHERE id = $1) AS same_id, \
                 count(*) FILTER (WHERE name = $2 AND user_id IS NOT DISTINCT FROM $3) AS same_name FROM endpoints",
        )
        .bind_value(endpoint.id)
        .bind(&endpoint.name)
        .bind_value(endpoint.owner)
        .fetch_one(&mut *connection)
        .await?;
        let count = |column| counts.try_get::<i64>(column);
        if count("same_id")? > 0 {
            Err(ChangeRejection::IntentReused)?;
        }
        if count("same_name")? > 0 {
            Err(ChangeRejection::EndpointNameTaken)?;
        }
        if usize::try_from(count("count")?).is_ok_and(|count| count >= limit) {
            Err(ChangeRejection::EndpointsFull)?;
        }
        let place: i64 = query_scalar(LAST_PLACE).fetch_one(&mut *connection).await?;
        query(
            "INSERT INTO endpoints (id, user_id, name, kind, base_url, key, models, hidden_models, enabled, takes_own_keys, place, \
                 created_at, updated_by, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $12)",
        )
        .bind_value(endpoint.id)
        .bind_value(endpoint.owner)
        .bind(&endpoint.name)
        .bind(endpoint.kind.as_str())
        .bind(&endpoint.base_url)
        .bind(bytes(endpoint.key.as_ref()))
        .bind(json_text(&endpoint.models)?)
        .bind(json_text(&endpoint.hidden_models)?)
        .bind(endpoint.is_enabled)
        .bind(endpoint.takes_own_keys)
        .bind(place)
        .bind_value(self.at)
        .bind_value(endpoint.updated_by)
        .execute(connection)
        .await?;
        Ok(())
    }

    /// Changes a model server. Returns its name.
    async fn update_endpoint(
        &self,
        connection: &mut Connection,
        by: UserId,
        (id, owner): (EndpointId, Option<UserId>),
        values: &EndpointValues,
    ) -> Result<String, ChangeError> {
        let updated = query(
            "UPDATE endpoints SET kind = coalesce($2, kind), base_url = coalesce($3, base_url), \
                 key = CASE WHEN $4 <> 0 THEN $5 ELSE key END, models = coalesce($6, models), \
                 hidden_models = coalesce($7, hidden_models), enabled = coalesce($8, enabled), \
                 takes_own_keys = coalesce($9, takes_own_keys), updated_by = $10, updated_at = $11 \
             WHERE id = $1 AND user_id IS NOT DISTINCT FROM $12 RETURNING name",
        )
        .bind_value(id)
        .bind(values.kind.map(|kind| kind.as_str()))
        .bind(&values.base_url)
        .bind(values.key.is_some())
        .bind(bytes(values.key.as_ref().and_then(Option::as_ref)))
        .bind(values.models.as_deref().map(json_text).transpose()?)
        .bind(values.hidden_models.as_deref().map(json_text).transpose()?)
        .bind(values.is_enabled)
        .bind(values.takes_own_keys)
        .bind_value(by)
        .bind_value(self.at)
        .bind_value(owner)
        .fetch_optional(connection)
        .await?;
        Ok(text(&updated.ok_or(ChangeRejection::NotFound)?, "name")?)
    }

    /// Tells all users that the models to choose from may have changed.
    async fn log_models_changed(&mut self, connection: &mut Connection) -> Result<(), ChangeError> {
        let users = query("SELECT id FROM users").fetch_all(&mut *connection).await?;
        for row in users {
            let user_id = skip_damaged("users", text(&row, "id")?, id(&row, "id"))?;
            if let Some(user_id) = user_id {
                self.log_change_for(connection, user_id).await?;
            }
        }
        Ok(())
    }

    async fn log_change_for(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
    ) -> Result<(), ChangeError> {
        let event = UserEvent::ModelsChanged;
        self.log_event(connection, user_id, ConversationId::NONE, None, event)
            .await?;
        Ok(())
    }
}

impl EndpointChange {
    /// The only user whom the change concerns.
    fn owner(&self) -> Option<UserId> {
        match self {
            Self::Add { endpoint, .. } => endpoint.owner,
            Self::Update { owner, .. } | Self::Remove { owner, .. } => *owner,
            Self::Reseal { .. } | Self::AllowOwnKeys { .. } => None,
        }
    }
}

async fn allow_own_keys(connection: &mut Connection, is_allowed: bool) -> Result<AuditAction, ChangeError> {
    query("DELETE FROM server_options WHERE name = $1")
        .bind(OWN_KEYS)
        .execute(&mut *connection)
        .await?;
    if !is_allowed {
        return Ok(AuditAction::OwnKeysForbidden);
    }
    query("INSERT INTO server_options (name, value) VALUES ($1, $2)")
        .bind(OWN_KEYS)
        .bind(ALLOWED)
        .execute(connection)
        .await?;
    Ok(AuditAction::OwnKeysAllowed)
}

/// Replaces a sealed key by one of the same content, unless it was changed meanwhile.
async fn reseal(
    connection: &mut Connection,
    id: EndpointId,
    from: &SealedKey,
    to: &SealedKey,
) -> Result<Outcome, ChangeError> {
    query("UPDATE endpoints SET key = $3 WHERE id = $1 AND key = $2")
        .bind_value(id)
        .bind(&from.0[..])
        .bind(&to.0[..])
        .execute(connection)
        .await?;
    Ok(Outcome::DataDeleted)
}

fn bytes(key: Option<&SealedKey>) -> Option<&[u8]> {
    key.map(|key| &key.0[..])
}

fn json_text(names: &[String]) -> Result<String, StorageError> {
    Ok(serde_json::to_string(names)?)
}
