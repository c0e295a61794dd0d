//! Changes to a user's library. Every tab shows it, so each change is logged. Removed or overwritten data is
//! erased from the log.

use crate::sql::database::{Connection, query, query_scalar};

use super::{super::literature, Batch, ChangeError, personal::ensure_user};
use crate::{ChangeRejection, Outcome, StorageError};
use parlor_protocol::{
    ConversationId, RawJson, ResearchStreamId, UserEvent, UserId,
    literature::{LibraryChange, ResearchStream, SavedArticle},
};

impl Batch<'_> {
    pub(super) async fn save_article(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        saved: &SavedArticle,
        abstract_text: Option<&[String]>,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        let SavedArticle {
            article,
            note,
            saved_at,
        } = saved;
        if let Some((known, _)) = literature::saved_article(connection, user_id, &article.pmid).await? {
            if note.is_empty() {
                return Ok(Outcome::Done);
            }
            if !known.note.is_empty() && known.note != *note {
                return Ok(Outcome::NoteConflict);
            }
            let replaces = [known.note];
            return self
                .set_article_note(connection, user_id, &article.pmid, note, &replaces)
                .await;
        }
        ensure_user(connection, user_id).await?;
        check_limit(
            connection,
            "SELECT count(*) FROM articles WHERE user_id = $1",
            user_id,
            limit,
        )
        .await?;
        query(
            "INSERT INTO articles (user_id, pmid, title, authors, journal, published, doi, summary, note, saved_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        )
        .bind_value(user_id)
        .bind(&article.pmid)
        .bind(&article.title)
        .bind(serde_json::to_string(&article.authors)?)
        .bind(&article.journal)
        .bind(&article.published)
        .bind(&article.doi)
        // An unknown abstract is stored as `null`.
        .bind(serde_json::to_string(&abstract_text)?)
        .bind(note)
        .bind_value(saved_at)
        .execute(&mut *connection)
        .await?;
        self.log_library_change(connection, user_id, &LibraryChange::ArticleSaved(saved.clone()))
            .await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn set_article_note(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        pmid: &str,
        note: &str,
        replaces: &[String],
    ) -> Result<Outcome, ChangeError> {
        let Some((mut saved, _)) = literature::saved_article(connection, user_id, pmid).await? else {
            Err(ChangeRejection::NotFound)?
        };
        if saved.note == note {
            return Ok(Outcome::Done);
        }
        if !replaces.contains(&saved.note) {
            Err(ChangeRejection::NoteChanged)?;
        }
        query("UPDATE articles SET note = $1 WHERE user_id = $2 AND pmid = $3")
            .bind(note)
            .bind_value(user_id)
            .bind(pmid)
            .execute(&mut *connection)
            .await?;
        note.clone_into(&mut saved.note);
        self.erase_logged_item(connection, user_id, LibraryItem::Article(pmid))
            .await?;
        self.log_library_change(connection, user_id, &LibraryChange::ArticleSaved(saved))
            .await?;
        // The overwritten note counts as deleted data.
        Ok(Outcome::DataDeleted)
    }

    /// Removes an article. Removing a missing one has no effect.
    pub(super) async fn remove_article(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Outcome, ChangeError> {
        let removed = query("DELETE FROM articles WHERE user_id = $1 AND pmid = $2")
            .bind_value(user_id)
            .bind(pmid)
            .execute(&mut *connection)
            .await?;
        if removed.rows_affected() > 0 {
            self.erase_logged_item(connection, user_id, LibraryItem::Article(pmid))
                .await?;
            let change = LibraryChange::ArticleRemoved(pmid.into());
            self.log_library_change(connection, user_id, &change).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    /// Saves a stream. The client chooses the id, which is unique over all users: another user's stream is
    /// not found.
    pub(super) async fn save_stream(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        stream: &ResearchStream,
        limit: usize,
    ) -> Result<Outcome, ChangeError> {
        let known = literature::research_stream(connection, user_id, stream.id).await?;
        match &known {
            Some(known) if known == stream => return Ok(Outcome::Done),
            Some(_) => {}
            None => {
                ensure_user(connection, user_id).await?;
                check_limit(
                    connection,
                    "SELECT count(*) FROM streams WHERE user_id = $1",
                    user_id,
                    limit,
                )
                .await?;
            }
        }
        let saved = query(
            "INSERT INTO streams (id, user_id, name, query, instructions, purpose, schema, categories) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (id) DO UPDATE SET name = $3, query = $4, instructions = $5, \
             purpose = $6, schema = $7, categories = $8 WHERE streams.user_id = $2",
        )
        .bind_value(stream.id)
        .bind_value(user_id)
        .bind(&stream.name)
        .bind(&stream.query)
        .bind(&stream.instructions)
        .bind(&stream.purpose)
        .bind(serde_json::to_string(&stream.schema)?)
        .bind(serde_json::to_string(&stream.categories)?)
        .execute(&mut *connection)
        .await?;
        if saved.rows_affected() == 0 {
            Err(ChangeRejection::NotFound)?;
        }
        if known.is_some() {
            let item = LibraryItem::Stream(stream.id);
            self.erase_logged_item(connection, user_id, item).await?;
        }
        self.log_library_change(connection, user_id, &LibraryChange::StreamSaved(stream.clone()))
            .await?;
        Ok(match known {
            Some(_) => Outcome::DataDeleted,
            None => Outcome::Done,
        })
    }

    pub(super) async fn delete_stream(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        stream_id: ResearchStreamId,
    ) -> Result<Outcome, ChangeError> {
        let deleted = query("DELETE FROM streams WHERE user_id = $1 AND id = $2")
            .bind_value(user_id)
            .bind_value(stream_id)
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            let item = LibraryItem::Stream(stream_id);
            self.erase_logged_item(connection, user_id, item).await?;
            let change = LibraryChange::StreamDeleted(stream_id);
            self.log_library_change(connection, user_id, &change).await?;
        }
        Ok(Outcome::DataDeleted)
    }

    pub(super) async fn log_library_change(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &LibraryChange,
    ) -> Result<(), ChangeError> {
        let change = RawJson::parse_or_quote(&serde_json::to_string(change)?);
        let changed = UserEvent::LiteratureChanged { change };
        self.log_event(connection, user_id, ConversationId::NONE, None, changed)
            .await?;
        Ok(())
    }

    /// Erases the logged events about a library item that was removed or replaced.
    async fn erase_logged_item(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        item: LibraryItem<'_>,
    ) -> Result<(), StorageError> {
        let (path, id) = match item {
            LibraryItem::Article(pmid) => ("$.change.article_saved.article.pmid", pmid.to_owned()),
            LibraryItem::Stream(id) => ("$.change.stream_kept.id", id.to_string()),
        };
        self.erase_logged_changes(connection, user_id, (path, &id), |event| {
            item.is_changed_by(event)
        })
        .await
    }
}

/// An item of a user's library.
#[derive(Clone, Copy)]
enum LibraryItem<'a> {
    Article(&'a str),
    Stream(ResearchStreamId),
}

impl LibraryItem<'_> {
    /// Returns true if an event contains the item.
    fn is_changed_by(self, event: &UserEvent) -> bool {
        let UserEvent::LiteratureChanged { change } = event else {
            return false;
        };
        match (self, serde_json::from_str(change.as_str())) {
            (Self::Article(pmid), Ok(LibraryChange::ArticleSaved(saved))) => saved.article.pmid == pmid,
            (Self::Stream(id), Ok(LibraryChange::StreamSaved(stream))) => stream.id == id,
            _ => false,
        }
    }
}

/// Stores the abstract of a saved article, if it was unknown. No list shows it, so it is not logged.
pub(super) async fn store_abstract(
    connection: &mut Connection,
    user_id: UserId,
    pmid: &str,
    abstract_text: &[String],
) -> Result<Outcome, ChangeError> {
    query("UPDATE articles SET summary = $1 WHERE user_id = $2 AND pmid = $3 AND (summary = 'null' OR NOT json_valid(summary))")
        .bind(serde_json::to_string(abstract_text)?)
        .bind_value(user_id)
        .bind(pmid)
        .execute(connection)
        .await?;
    Ok(Outcome::Done)
}

async fn check_limit(
    connection: &mut Connection,
    count: &'static str,
    user_id: UserId,
    limit: usize,
) -> Result<(), ChangeError> {
    let count: i64 = query_scalar(count)
        .bind_value(user_id)
        .fetch_one(connection)
        .await?;
    if usize::try_from(count).is_ok_and(|count| count >= limit) {
        Err(ChangeRejection::LibraryFull)?;
    }
    Ok(())
}
