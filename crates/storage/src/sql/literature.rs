//! Queries about literature: saved articles and research streams.

use crate::sql::database::{Connection, Row, query};

use super::{id, json, log_page, optional_text, read_undamaged_rows, text};
use crate::{StorageError, damage::skip_damaged};
use parlor_protocol::{
    ResearchStreamId, Timestamp, UserId,
    literature::{Article, Library, ResearchStream, SavedArticle},
};

const SELECT_STREAMS: &str =
    "SELECT id, name, purpose, query, instructions, schema, categories FROM streams WHERE user_id = $1";
const SELECT_STREAM: &str = "SELECT id, name, purpose, query, instructions, schema, categories FROM streams WHERE user_id = $1 AND id = $2";

/// Returns the library. Expects a connection with an open transaction, so that the result is consistent.
pub(super) async fn library(connection: &mut Connection, user_id: UserId) -> Result<Library, StorageError> {
    let as_of = log_page::last_log_position(&mut *connection, user_id).await?;
    let articles = query(
        "SELECT pmid, title, authors, journal, published, doi, note, saved_at FROM articles WHERE user_id = $1",
    )
    .bind_value(user_id)
    .fetch_all(&mut *connection)
    .await?;
    let streams = query(SELECT_STREAMS)
        .bind_value(user_id)
        .fetch_all(connection)
        .await?;
    let mut library = Library {
        as_of,
        articles: read_undamaged_rows("articles", "pmid", &articles, read_saved_article)?,
        streams: read_undamaged_rows("streams", "id", &streams, read_research_stream)?,
        no_search: None,
    };
    library.sort();
    Ok(library)
}

pub(super) async fn saved_article(
    connection: &mut Connection,
    user_id: UserId,
    pmid: &str,
) -> Result<Option<(SavedArticle, Option<Vec<String>>)>, StorageError> {
    let row = query(
        "SELECT pmid, title, authors, journal, published, doi, summary, note, saved_at FROM articles \
         WHERE user_id = $1 AND pmid = $2",
    )
    .bind_value(user_id)
    .bind(pmid)
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let Some(saved) = skip_damaged("articles", pmid, read_saved_article(&row))? else {
        return Ok(None);
    };
    // An unreadable abstract counts as unknown and is requested again.
    let abstract_text = skip_damaged("articles", pmid, json(&row, "summary"))?.flatten();
    Ok(Some((saved, abstract_text)))
}

pub(super) async fn saved_articles(
    connection: &mut Connection,
    user_id: UserId,
    pmids: &[String],
) -> Result<Vec<SavedArticle>, StorageError> {
    let rows = query(
        "SELECT pmid, title, authors, journal, published, doi, note, saved_at FROM articles \
         WHERE user_id = $1 AND pmid IN (SELECT value FROM json_each($2))",
    )
    .bind_value(user_id)
    .bind_list(pmids)
    .fetch_all(connection)
    .await?;
    read_undamaged_rows("articles", "pmid", &rows, read_saved_article)
}

pub(super) async fn research_stream(
    connection: &mut Connection,
    user_id: UserId,
    stream_id: ResearchStreamId,
) -> Result<Option<ResearchStream>, StorageError> {
    let row = query(SELECT_STREAM)
        .bind_value(user_id)
        .bind_value(stream_id)
        .fetch_optional(connection)
        .await?;
    let stream = row.map(|row| skip_damaged("streams", stream_id, read_research_stream(&row)));
    Ok(stream.transpose()?.flatten())
}

/// Reads an article. Damaged authors count as unknown, so that the user can still see and remove the article.
fn read_saved_article(row: &Row) -> Result<SavedArticle, StorageError> {
    let pmid = text(row, "pmid")?;
    let authors = skip_damaged("articles", &pmid, json(row, "authors"))?;
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

fn read_research_stream(row: &Row) -> Result<ResearchStream, StorageError> {
    let id = id(row, "id")?;
    // A damaged list counts as empty, so that the user can still see and change the stream.
    let schema = skip_damaged("streams", id, json(row, "schema"))?;
    let categories = skip_damaged("streams", id, json(row, "categories"))?;
    Ok(ResearchStream {
        id,
        name: text(row, "name")?,
        purpose: text(row, "purpose")?,
        query: text(row, "query")?,
        instructions: text(row, "instructions")?,
        schema: schema.unwrap_or_default(),
        categories: categories.unwrap_or_default(),
    })
}
