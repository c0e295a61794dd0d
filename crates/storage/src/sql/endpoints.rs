//! Queries about model servers.

use crate::sql::database::{Row, query};
use async_trait::async_trait;

use super::{SqlStorage, id, json, optional_id, read_undamaged_rows};
use crate::{
    StorageError,
    endpoints::{EndpointStorage, SealedKey, StoredEndpoint},
};
use parlor_protocol::{EndpointKind, Timestamp, UserId};

#[async_trait]
impl EndpointStorage for SqlStorage {
    async fn endpoints(&self, owner: Option<UserId>) -> Result<Vec<StoredEndpoint>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(OF_OWNER)
            .bind_value(owner)
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("endpoints", "id", &rows, read_endpoint)
    }

    async fn own_endpoints(&self) -> Result<Vec<StoredEndpoint>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(OF_USERS).fetch_all(&mut connection).await?;
        read_undamaged_rows("endpoints", "id", &rows, read_endpoint)
    }

    async fn allows_own_keys(&self) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query("SELECT name, value FROM server_options WHERE name = $1")
            .bind(OWN_KEYS)
            .fetch_optional(&mut connection)
            .await?;
        // An unreadable value allows nothing.
        let value = |row: &Row| Ok(row.try_get::<String>("value")?);
        let read = read_undamaged_rows("server_options", "name", row.as_slice(), value)?;
        Ok(read == [ALLOWED])
    }
}

/// The name of the option, and its value if users may bring keys of their own.
pub(crate) const OWN_KEYS: &str = "own_keys";
pub(crate) const ALLOWED: &str = "allowed";

/// `select!("…")`: the query for model servers with this condition.
macro_rules! select {
    ($condition:literal) => {
        concat!(
            "SELECT id, user_id, name, kind, base_url, key, models, hidden_models, enabled, takes_own_keys, created_at, ",
            "updated_by, updated_at FROM endpoints WHERE ",
            $condition,
            " ORDER BY place, id"
        )
    };
}

const OF_OWNER: &str = select!("user_id IS NOT DISTINCT FROM $1");
const OF_USERS: &str = select!("user_id IS NOT NULL");

fn read_endpoint(row: &Row) -> Result<StoredEndpoint, StorageError> {
    let kind: String = row.try_get("kind")?;
    let kind = EndpointKind::from_name(&kind)
        .ok_or_else(|| sqlx::Error::Decode(format!("the kind “{kind}” is unknown").into()))?;
    let time = |column: &str| -> Result<Timestamp, StorageError> { Ok(Timestamp(row.try_get(column)?)) };
    Ok(StoredEndpoint {
        id: id(row, "id")?,
        owner: optional_id(row, "user_id")?,
        name: row.try_get("name")?,
        kind,
        base_url: row.try_get("base_url")?,
        key: row.try_get::<Option<Vec<u8>>>("key")?.map(SealedKey),
        models: json(row, "models")?,
        hidden_models: json(row, "hidden_models")?,
        is_enabled: row.try_get::<i64>("enabled")? != 0,
        takes_own_keys: row.try_get::<i64>("takes_own_keys")? != 0,
        created_at: time("created_at")?,
        updated_by: id(row, "updated_by")?,
        updated_at: time("updated_at")?,
    })
}
