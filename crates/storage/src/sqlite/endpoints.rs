//! Queries about model servers.

use async_trait::async_trait;
use sqlx::{Row, sqlite::SqliteRow};

use super::{SqliteStorage, id, json, optional_id, read_undamaged_rows};
use crate::{
    StorageError,
    column_value::BindValue,
    endpoints::{EndpointStorage, SealedKey, StoredEndpoint},
};
use parlor_protocol::{EndpointKind, Timestamp, UserId};

#[async_trait]
impl EndpointStorage for SqliteStorage {
    async fn endpoints(&self, owner: Option<UserId>) -> Result<Vec<StoredEndpoint>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = sqlx::query(
            "SELECT id, user_id, name, kind, base_url, key, models, hidden_models, enabled, created_by, created_at, updated_by, \
                 updated_at FROM endpoints WHERE user_id IS $1 ORDER BY place, id",
        )
        .bind_value(owner)
        .fetch_all(&mut *connection)
        .await?;
        read_undamaged_rows("endpoints", "id", &rows, read_endpoint)
    }
}

fn read_endpoint(row: &SqliteRow) -> Result<StoredEndpoint, StorageError> {
    let kind: &str = row.try_get("kind")?;
    let kind = EndpointKind::from_name(kind)
        .ok_or_else(|| sqlx::Error::Decode(format!("the kind “{kind}” is unknown").into()))?;
    let time = |column: &str| -> Result<Timestamp, StorageError> { Ok(Timestamp(row.try_get(column)?)) };
    Ok(StoredEndpoint {
        id: id(row, "id")?,
        owner: optional_id(row, "user_id")?,
        name: row.try_get("name")?,
        kind,
        base_url: row.try_get("base_url")?,
        key: row.try_get::<Option<Vec<u8>>, _>("key")?.map(SealedKey),
        models: json(row, "models")?,
        hidden_models: json(row, "hidden_models")?,
        is_enabled: row.try_get::<i64, _>("enabled")? != 0,
        created_by: id(row, "created_by")?,
        created_at: time("created_at")?,
        updated_by: id(row, "updated_by")?,
        updated_at: time("updated_at")?,
    })
}
