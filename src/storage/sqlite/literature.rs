//! The queries about literature: what a person keeps, and what they looked at when they asked.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{id, json, optional_text, read, text, undamaged_rows};
use crate::{
    protocol::{
        MessageId, StreamId, Timestamp, UserId,
        literature::{Article, Library, ResearchStream, SavedArticle},
    },
    storage::{Looking, StorageError, damage::undamaged},
};

pub(super) async fn looking(
    connection: &mut SqliteConnection,
    user_id: UserId,
    message_id: MessageId,
) -> Result<Option<Looking>, StorageError> {
    let row =
        sqlx::query("SELECT context, text, instructions FROM contexts WHERE user_id = ? AND message_id = ?")
            .bind(user_id.to_string())
            .bind(message_id.to_string())
            .fetch_optional(connection)
            .await?;
    let looking = row.as_ref().map(|row| read_looking(row, message_id));
    let looking = looking.transpose()?;
    Ok(looking.flatten())
}

/// Reads what was looked at, if a row has anything of it that can be read.
pub(super) fn read_looking(row: &SqliteRow, asked: MessageId) -> Result<Option<Looking>, StorageError> {
    let Some(context) = optional_text(row, "context")? else {
        return Ok(None);
    };
    let Some(context) = undamaged(
        "contexts",
        asked,
        serde_json::from_str(&context).map_err(StorageError::from),
    )?
    else {
        return Ok(None);
    };
    Ok(Some(Looking {
        context,
        text: text(row, "text")?,
        instructions: text(row, "instructions")?,
    }))
}

/// The connection's transaction makes it one picture.
pub(super) async fn library(
    connection: &mut SqliteConnection,
    user_id: UserId,
) -> Result<Library, StorageError> {
    let as_of = read::head(&mut *connection, user_id).await?;
    let articles = sqlx::query(
        "SELECT pmid, title, authors, journal, published, doi, note, saved_at FROM articles WHERE user_id = ?",
    )
    .bind(user_id.to_string())
    .fetch_all(&mut *connection)
    .await?;
    let streams = sqlx::query("SELECT id, name, query, instructions FROM streams WHERE user_id = ?")
        .bind(user_id.to_string())
        .fetch_all(connection)
        .await?;
    let mut library = Library {
        as_of,
        articles: undamaged_rows("articles", "pmid", &articles, saved)?,
        streams: undamaged_rows("streams", "id", &streams, kept_stream)?,
        no_search: None,
    };
    library.sort();
    Ok(library)
}

pub(super) async fn saved_article(
    connection: &mut SqliteConnection,
    user_id: UserId,
    pmid: &str,
) -> Result<Option<(SavedArticle, Option<Vec<String>>)>, StorageError> {
    let row = sqlx::query(
        "SELECT pmid, title, authors, journal, published, doi, summary, note, saved_at FROM articles \
         WHERE user_id = ? AND pmid = ?",
    )
    .bind(user_id.to_string())
    .bind(pmid)
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let Some(saved) = undamaged("articles", pmid, saved(&row))? else {
        return Ok(None);
    };
    // What can't be read is not known, and is asked for again.
    let summary = undamaged("articles", pmid, json(&row, "summary"))?.flatten();
    Ok(Some((saved, summary)))
}

pub(super) async fn saved_articles(
    connection: &mut SqliteConnection,
    user_id: UserId,
    pmids: &[String],
) -> Result<Vec<SavedArticle>, StorageError> {
    let rows = sqlx::query(
        "SELECT pmid, title, authors, journal, published, doi, note, saved_at FROM articles \
         WHERE user_id = ? AND pmid IN (SELECT value FROM json_each(?))",
    )
    .bind(user_id.to_string())
    .bind(serde_json::to_string(pmids)?)
    .fetch_all(connection)
    .await?;
    undamaged_rows("articles", "pmid", &rows, saved)
}

pub(super) async fn stream(
    connection: &mut SqliteConnection,
    user_id: UserId,
    stream_id: StreamId,
) -> Result<Option<ResearchStream>, StorageError> {
    let row = sqlx::query("SELECT id, name, query, instructions FROM streams WHERE user_id = ? AND id = ?")
        .bind(user_id.to_string())
        .bind(stream_id.to_string())
        .fetch_optional(connection)
        .await?;
    let stream = row.map(|row| undamaged("streams", stream_id, kept_stream(&row)));
    Ok(stream.transpose()?.flatten())
}

/// An article. The person must be able to see and remove it, so its authors may be unknown.
fn saved(row: &SqliteRow) -> Result<SavedArticle, StorageError> {
    let pmid = text(row, "pmid")?;
    let authors = undamaged("articles", &pmid, json(row, "authors"))?;
    let article = Article {
        pmid,
        title: text(row, "title")?,
        authors: authors.unwrap_or_default(),
        journal: text(row, "journal")?,
        published: text(row, "published")?,
        doi: optional_text(row, "doi")?,
    };
    Ok(SavedArticle {
        article,
        note: text(row, "note")?,
        saved_at: Timestamp(row.try_get("saved_at")?),
    })
}

fn kept_stream(row: &SqliteRow) -> Result<ResearchStream, StorageError> {
    Ok(ResearchStream {
        id: id(row, "id")?,
        name: text(row, "name")?,
        query: text(row, "query")?,
        instructions: text(row, "instructions")?,
    })
}
