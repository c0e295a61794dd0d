//! The queries about literature: what a person keeps, and what they looked at when they asked.

use sqlx::{Row, SqliteConnection, sqlite::SqliteRow};

use super::{id, read};
use crate::{
    protocol::{
        MessageId, StreamId, Timestamp, UserId,
        literature::{Article, Library, ResearchStream, SavedArticle},
    },
    storage::{Looking, StorageError},
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
    let looking = row.as_ref().map(read_looking).transpose()?;
    Ok(looking.flatten())
}

/// What was looked at, if a row has anything of it.
pub(super) fn read_looking(row: &SqliteRow) -> Result<Option<Looking>, StorageError> {
    let Some(context) = row.try_get::<Option<&str>, _>("context")? else {
        return Ok(None);
    };
    Ok(Some(Looking {
        context: serde_json::from_str(context)?,
        text: row.try_get("text")?,
        instructions: row.try_get("instructions")?,
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
        articles: articles.iter().map(saved).collect::<Result<_, _>>()?,
        streams: streams.iter().map(kept_stream).collect::<Result<_, _>>()?,
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
    row.map(|row| Ok((saved(&row)?, serde_json::from_str(row.try_get("summary")?)?)))
        .transpose()
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
    rows.iter().map(saved).collect()
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
    row.as_ref().map(kept_stream).transpose()
}

fn saved(row: &SqliteRow) -> Result<SavedArticle, StorageError> {
    let article = Article {
        pmid: row.try_get("pmid")?,
        title: row.try_get("title")?,
        authors: serde_json::from_str(row.try_get("authors")?)?,
        journal: row.try_get("journal")?,
        published: row.try_get("published")?,
        doi: row.try_get("doi")?,
    };
    Ok(SavedArticle {
        article,
        note: row.try_get("note")?,
        saved_at: Timestamp(row.try_get("saved_at")?),
    })
}

fn kept_stream(row: &SqliteRow) -> Result<ResearchStream, StorageError> {
    Ok(ResearchStream {
        id: id(row, "id")?,
        name: row.try_get("name")?,
        query: row.try_get("query")?,
        instructions: row.try_get("instructions")?,
    })
}
