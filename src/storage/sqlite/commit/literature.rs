//! What a person keeps of the literature. Every tab shows it, so each change is in the log; but what was removed, or written over,
//! is there no more.

use sqlx::SqliteConnection;

use super::{super::literature, Batch, Failure, blank, personal::user};
use crate::{
    protocol::{
        ConversationId, EventBody, Json, MessageId, StreamId, UserId,
        literature::{Change, ResearchStream, SavedArticle},
    },
    storage::{Looking, Outcome, Refusal, RunKey, StorageError},
};

impl Batch {
    pub(super) async fn save_article(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        saved: &SavedArticle,
        summary: Option<&[String]>,
        limit: usize,
    ) -> Result<Outcome, Failure> {
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
                return Ok(Outcome::NotedOtherwise);
            }
            let replaces = [known.note];
            return self
                .note_article(connection, user_id, &article.pmid, note, &replaces)
                .await;
        }
        user(connection, user_id).await?;
        check_room(
            connection,
            "SELECT count(*) FROM articles WHERE user_id = ?",
            user_id,
            limit,
        )
        .await?;
        sqlx::query(
            "INSERT INTO articles (user_id, pmid, title, authors, journal, published, doi, summary, note, saved_at) \
             VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(user_id.to_string())
        .bind(&article.pmid)
        .bind(&article.title)
        .bind(serde_json::to_string(&article.authors)?)
        .bind(&article.journal)
        .bind(&article.published)
        .bind(&article.doi)
        // What is not known is `null`.
        .bind(serde_json::to_string(&summary)?)
        .bind(note)
        .bind(saved_at.0)
        .execute(&mut *connection)
        .await?;
        self.log_literature(connection, user_id, &Change::ArticleSaved(saved.clone()))
            .await?;
        Ok(Outcome::Done)
    }

    pub(super) async fn note_article(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        pmid: &str,
        note: &str,
        replaces: &[String],
    ) -> Result<Outcome, Failure> {
        let Some((mut saved, _)) = literature::saved_article(connection, user_id, pmid).await? else {
            Err(Refusal::NotFound)?
        };
        if saved.note == note {
            return Ok(Outcome::Done);
        }
        if !replaces.contains(&saved.note) {
            Err(Refusal::NoteChanged)?;
        }
        sqlx::query("UPDATE articles SET note = ? WHERE user_id = ? AND pmid = ?")
            .bind(note)
            .bind(user_id.to_string())
            .bind(pmid)
            .execute(&mut *connection)
            .await?;
        note.clone_into(&mut saved.note);
        self.forget_changes(connection, user_id, Kept::Article(pmid))
            .await?;
        self.log_literature(connection, user_id, &Change::ArticleSaved(saved))
            .await?;
        // What stood there before.
        Ok(Outcome::Forgotten)
    }

    /// What is gone already stays gone.
    pub(super) async fn remove_article(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Outcome, Failure> {
        let removed = sqlx::query("DELETE FROM articles WHERE user_id = ? AND pmid = ?")
            .bind(user_id.to_string())
            .bind(pmid)
            .execute(&mut *connection)
            .await?;
        if removed.rows_affected() > 0 {
            self.forget_changes(connection, user_id, Kept::Article(pmid))
                .await?;
            let change = Change::ArticleRemoved(pmid.into());
            self.log_literature(connection, user_id, &change).await?;
        }
        Ok(Outcome::Forgotten)
    }

    /// The client makes the id, which is there once: somebody else's is not found.
    pub(super) async fn keep_stream(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        stream: &ResearchStream,
        limit: usize,
    ) -> Result<Outcome, Failure> {
        let known = literature::stream(connection, user_id, stream.id).await?;
        match &known {
            Some(known) if known == stream => return Ok(Outcome::Done),
            Some(_) => {}
            None => {
                user(connection, user_id).await?;
                check_room(
                    connection,
                    "SELECT count(*) FROM streams WHERE user_id = ?",
                    user_id,
                    limit,
                )
                .await?;
            }
        }
        let kept = sqlx::query(
            "INSERT INTO streams (id, user_id, name, query, instructions) VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT (id) DO UPDATE SET name = ?3, query = ?4, instructions = ?5 WHERE user_id = ?2",
        )
        .bind(stream.id.to_string())
        .bind(user_id.to_string())
        .bind(&stream.name)
        .bind(&stream.query)
        .bind(&stream.instructions)
        .execute(&mut *connection)
        .await?;
        if kept.rows_affected() == 0 {
            Err(Refusal::NotFound)?;
        }
        if known.is_some() {
            let kept = Kept::Stream(stream.id);
            self.forget_changes(connection, user_id, kept).await?;
        }
        self.log_literature(connection, user_id, &Change::StreamKept(stream.clone()))
            .await?;
        Ok(match known {
            Some(_) => Outcome::Forgotten,
            None => Outcome::Done,
        })
    }

    pub(super) async fn delete_stream(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        stream_id: StreamId,
    ) -> Result<Outcome, Failure> {
        let deleted = sqlx::query("DELETE FROM streams WHERE user_id = ? AND id = ?")
            .bind(user_id.to_string())
            .bind(stream_id.to_string())
            .execute(&mut *connection)
            .await?;
        if deleted.rows_affected() > 0 {
            let kept = Kept::Stream(stream_id);
            self.forget_changes(connection, user_id, kept).await?;
            let change = Change::StreamDeleted(stream_id);
            self.log_literature(connection, user_id, &change).await?;
        }
        Ok(Outcome::Forgotten)
    }

    async fn log_literature(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        change: &Change,
    ) -> Result<(), Failure> {
        let change = Json::or_string(&serde_json::to_string(change)?);
        let changed = EventBody::LiteratureChanged { change };
        self.log(connection, user_id, ConversationId::NONE, None, changed)
            .await?;
        Ok(())
    }

    /// Empties what the log has of something that is kept: it is gone, or another one. So it does with what can't be read, which
    /// may be of it.
    async fn forget_changes(
        &mut self,
        connection: &mut SqliteConnection,
        user_id: UserId,
        kept: Kept<'_>,
    ) -> Result<(), StorageError> {
        let (path, id) = match kept {
            Kept::Article(pmid) => ("$.change.article_saved.article.pmid", pmid.to_owned()),
            Kept::Stream(id) => ("$.change.stream_kept.id", id.to_string()),
        };
        sqlx::query(
            "UPDATE events SET event = json_object('position', position, 'type', 'empty') \
             WHERE +user_id = ?1 AND message_id IS NULL AND conversation_id = ?2 \
             AND CASE WHEN json_valid(event) THEN json_extract(event, ?3) ELSE ?4 END = ?4",
        )
        .bind(user_id.to_string())
        .bind(ConversationId::NONE.to_string())
        .bind(path)
        .bind(id)
        .execute(connection)
        .await?;
        self.events
            .iter_mut()
            .filter(|logged| logged.user_id == user_id && kept.is_in(&logged.event.body))
            .for_each(blank);
        Ok(())
    }
}

/// Something that a person keeps.
#[derive(Clone, Copy)]
enum Kept<'a> {
    Article(&'a str),
    Stream(StreamId),
}

impl Kept<'_> {
    /// Whether an event has it.
    fn is_in(self, body: &EventBody) -> bool {
        let EventBody::LiteratureChanged { change } = body else {
            return false;
        };
        match (self, serde_json::from_str(change.as_str())) {
            (Self::Article(pmid), Ok(Change::ArticleSaved(saved))) => saved.article.pmid == pmid,
            (Self::Stream(id), Ok(Change::StreamKept(stream))) => stream.id == id,
            _ => false,
        }
    }
}

/// The abstract of an article that is kept, if it was not known. No list shows it, so it is not in the log.
pub(super) async fn keep_summary(
    connection: &mut SqliteConnection,
    user_id: UserId,
    pmid: &str,
    summary: &[String],
) -> Result<Outcome, Failure> {
    sqlx::query("UPDATE articles SET summary = ? WHERE user_id = ? AND pmid = ? AND (summary = 'null' OR NOT json_valid(summary))")
        .bind(serde_json::to_string(summary)?)
        .bind(user_id.to_string())
        .bind(pmid)
        .execute(connection)
        .await?;
    Ok(Outcome::Done)
}

async fn check_room(
    connection: &mut SqliteConnection,
    count: &'static str,
    user_id: UserId,
    limit: usize,
) -> Result<(), Failure> {
    let count: i64 = sqlx::query_scalar(count)
        .bind(user_id.to_string())
        .fetch_one(connection)
        .await?;
    if usize::try_from(count).is_ok_and(|count| count >= limit) {
        Err(Refusal::LibraryFull)?;
    }
    Ok(())
}

/// What a person looks at while they write a message.
pub(super) async fn keep_looking(
    connection: &mut SqliteConnection,
    user_id: UserId,
    message_id: MessageId,
    looking: &Looking,
) -> Result<(), StorageError> {
    sqlx::query(
        "INSERT INTO contexts (message_id, user_id, context, text, instructions) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(message_id.to_string())
    .bind(user_id.to_string())
    .bind(serde_json::to_string(&looking.context)?)
    .bind(&looking.text)
    .bind(&looking.instructions)
    .execute(connection)
    .await?;
    Ok(())
}

/// Keeps the text that tells the model what the person looked at. The first that is told stays.
pub(super) async fn keep_seen(
    connection: &mut SqliteConnection,
    run: &RunKey,
    text: &str,
    instructions: &str,
) -> Result<Outcome, Failure> {
    sqlx::query(
        "UPDATE contexts SET text = ?, instructions = ? WHERE user_id = ? AND text = '' \
         AND message_id = (SELECT parent_id FROM messages WHERE user_id = contexts.user_id AND id = ?)",
    )
    .bind(text)
    .bind(instructions)
    .bind(run.user_id.to_string())
    .bind(run.message_id.to_string())
    .execute(connection)
    .await?;
    Ok(Outcome::Done)
}
