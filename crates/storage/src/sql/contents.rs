//! Contents of files in the database. They are written and deleted in connections of their own, of which there are few: a large one
//! takes longer than commits may wait.

use std::time::Duration;

use async_trait::async_trait;
use futures::{StreamExt, stream::BoxStream};
use tokio::sync::Semaphore;

use super::{
    SqlStorage,
    database::{Connection, Row, query},
    id, read_undamaged_rows, text,
    writer::{begin, within},
};
use crate::{
    FileLocation, StorageError,
    contents::{ContentStorage, StoredContent},
    damage::name_damaged,
};
use parlor_protocol::Timestamp;

/// The contents that this process writes or deletes at the same time, each in a connection.
static CONTENT_WRITERS: Semaphore = Semaphore::const_new(3);

/// A content without its parts.
macro_rules! select_contents {
    ($rest:literal) => {
        concat!(
            "SELECT stored_name, form, user_id, stored_in, bytes, sha256, created_at FROM file_contents",
            $rest
        )
    };
}

#[async_trait]
impl ContentStorage for SqlStorage {
    async fn store_content(
        &self,
        content: &StoredContent,
        parts: BoxStream<'_, std::io::Result<Vec<u8>>>,
    ) -> Result<(), StorageError> {
        self.with_own_connection(async |connection, limit| store(connection, limit, content, parts).await)
            .await
    }

    async fn content(
        &self,
        location: FileLocation,
        form: &str,
    ) -> Result<Option<StoredContent>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(select_contents!(
            " WHERE user_id = $1 AND stored_name = $2 AND form = $3"
        ))
        .bind_value(location.user_id)
        .bind_value(location.stored_name)
        .bind(form)
        .fetch_optional(&mut connection)
        .await?;
        let read = |row| name_damaged("file_contents", location.stored_name, read_content(row));
        row.as_ref().map(read).transpose()
    }

    async fn content_part(
        &self,
        location: FileLocation,
        form: &str,
        part: u64,
    ) -> Result<Option<Vec<u8>>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(
            "SELECT data FROM file_parts WHERE user_id = $1 AND stored_name = $2 AND form = $3 AND part = $4",
        )
        .bind_value(location.user_id)
        .bind_value(location.stored_name)
        .bind(form)
        .bind(i64::try_from(part).unwrap_or(i64::MAX))
        .fetch_optional(&mut connection)
        .await?;
        let read = |row: &Row| Ok(row.try_get("data")?);
        let named = |row| name_damaged("file_parts", location.stored_name, read(row));
        row.as_ref().map(named).transpose()
    }

    async fn delete_content(&self, location: FileLocation) -> Result<(), StorageError> {
        self.with_own_connection(async |connection, limit| within(limit, delete(connection, location)).await)
            .await
    }

    async fn contents(&self) -> Result<Vec<StoredContent>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(select_contents!(" ORDER BY stored_name, form"))
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("file_contents", "stored_name", &rows, read_content)
    }
}

impl SqlStorage {
    async fn with_own_connection(
        &self,
        work: impl AsyncFnOnce(&mut Connection, Option<Duration>) -> Result<(), StorageError>,
    ) -> Result<(), StorageError> {
        // It is never closed.
        let _permit = CONTENT_WRITERS.acquire().await;
        let (connector, limit) = {
            let writer = self.writer.lock().await;
            (writer.connector()?, writer.time_limit())
        };
        let mut connection = within(limit, async { Ok(connector.connect().await?) }).await?;
        within(limit, begin(&mut connection, limit)).await?;
        let done = work(&mut connection, limit).await;
        // Closing rolls back what was not committed.
        let closed = within(limit, async { Ok(connection.close().await?) }).await;
        done?;
        closed
    }
}

/// In an open transaction, which it commits. Each part may take as long as the time limit.
async fn store(
    connection: &mut Connection,
    limit: Option<Duration>,
    content: &StoredContent,
    mut parts: BoxStream<'_, std::io::Result<Vec<u8>>>,
) -> Result<(), StorageError> {
    within(limit, begin_content(&mut *connection, content)).await?;
    let mut number = 0_i64;
    while let Some(part) = parts.next().await {
        within(limit, store_part(&mut *connection, content, number, part?)).await?;
        number += 1;
    }
    within(limit, async {
        query("COMMIT").execute(connection).await?;
        Ok(())
    })
    .await
}

/// Stores a content without parts.
async fn begin_content(connection: &mut Connection, content: &StoredContent) -> Result<(), StorageError> {
    let name = content.location.stored_name.to_string();
    let user_id = content.location.user_id;
    // The row is locked: of two that store the same content, the second replaces the first one's parts.
    query(
        "INSERT INTO file_contents (stored_name, form, user_id, stored_in, bytes, sha256, created_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (stored_name, form) DO UPDATE SET \
             bytes = excluded.bytes, sha256 = excluded.sha256, created_at = excluded.created_at",
    )
    .bind(&name)
    .bind(&content.form)
    .bind_value(user_id)
    .bind_value(content.location.conversation_id)
    .bind(i64::try_from(content.bytes).unwrap_or(i64::MAX))
    .bind(&content.sha256)
    .bind_value(content.created_at)
    .execute(&mut *connection)
    .await?;
    query("DELETE FROM file_parts WHERE user_id = $1 AND stored_name = $2 AND form = $3")
        .bind_value(user_id)
        .bind(&name)
        .bind(&content.form)
        .execute(&mut *connection)
        .await?;
    Ok(())
}

async fn store_part(
    connection: &mut Connection,
    content: &StoredContent,
    number: i64,
    part: Vec<u8>,
) -> Result<(), StorageError> {
    query("INSERT INTO file_parts (stored_name, form, part, user_id, data) VALUES ($1, $2, $3, $4, $5)")
        .bind_value(content.location.stored_name)
        .bind(&content.form)
        .bind(number)
        .bind_value(content.location.user_id)
        .bind(part)
        .execute(connection)
        .await?;
    Ok(())
}

/// In an open transaction, which it commits.
async fn delete(connection: &mut Connection, location: FileLocation) -> Result<(), StorageError> {
    query("DELETE FROM file_contents WHERE user_id = $1 AND stored_name = $2")
        .bind_value(location.user_id)
        .bind_value(location.stored_name)
        .execute(&mut *connection)
        .await?;
    query("COMMIT").execute(connection).await?;
    Ok(())
}

fn read_content(row: &Row) -> Result<StoredContent, StorageError> {
    let bytes: i64 = row.try_get("bytes")?;
    let created_at: i64 = row.try_get("created_at")?;
    Ok(StoredContent {
        location: FileLocation {
            user_id: id(row, "user_id")?,
            conversation_id: id(row, "stored_in")?,
            stored_name: id(row, "stored_name")?,
        },
        form: text(row, "form")?,
        bytes: u64::try_from(bytes).unwrap_or_default(),
        sha256: text(row, "sha256")?,
        created_at: Timestamp(created_at),
    })
}
