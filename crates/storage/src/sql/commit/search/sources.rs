//! What has a text: messages, titles, articles and files, as they are read to be indexed.

use crate::sql::database::{Connection, Row, query};

use super::super::{
    super::{id, json, optional_id, optional_text, text},
    deletion::is_message_hidden,
};
use crate::{
    StorageError,
    damage::skip_damaged,
    search::passages::{self, Passage},
};
use parlor_protocol::{
    ConversationId, MessageBody, MessageId, ProjectId, Timestamp, UserId, search::HitKind,
};

/// What has a text.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) user_id: UserId,
    pub(super) id: &'a str,
    pub(super) at: Timestamp,
    pub(super) conversation_id: Option<ConversationId>,
    pub(super) message_id: Option<MessageId>,
    /// The project of a file that is in no conversation.
    pub(super) project_id: Option<ProjectId>,
    pub(super) is_of_user: bool,
}

pub(super) type Found<'a, T> = Result<Option<(Source<'a>, T)>, StorageError>;

pub(super) async fn read_message<'a>(
    connection: &mut Connection,
    message: &'a str,
) -> Found<'a, Vec<Passage>> {
    // Nothing of a temporary conversation is indexed.
    let row = query(
        "SELECT m.id, m.user_id, m.conversation_id, m.created_at, m.body FROM messages m WHERE m.id = $1 \
         AND NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = m.conversation_id AND c.temporary <> 0)",
    )
    .bind(message)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let read = || {
        let body: MessageBody = json(&row, "body")?;
        let message_id = id(&row, "id")?;
        let source = Source {
            user_id: id(&row, "user_id")?,
            id: message,
            at: Timestamp(row.try_get("created_at")?),
            conversation_id: Some(id(&row, "conversation_id")?),
            message_id: Some(message_id),
            project_id: None,
            is_of_user: matches!(body, MessageBody::User { .. }),
        };
        Ok((source, body))
    };
    let Some((source, body)) = skip_damaged("messages", message, read())? else {
        return Ok(None);
    };
    let passages = passages::of_message(&body);
    if passages.is_empty() || is_hidden(connection, &source).await? {
        return Ok(None);
    }
    Ok(Some((source, passages)))
}

async fn is_hidden(connection: &mut Connection, source: &Source<'_>) -> Result<bool, StorageError> {
    let (Some(conversation), Some(message)) = (source.conversation_id, source.message_id) else {
        return Ok(false);
    };
    is_message_hidden(connection, (source.user_id, conversation), message).await
}

pub(super) async fn read_title<'a>(
    connection: &mut Connection,
    conversation: &'a str,
) -> Found<'a, Vec<Passage>> {
    let row =
        query("SELECT id, user_id, title, created_at FROM conversations WHERE id = $1 AND temporary = 0")
            .bind(conversation)
            .fetch_optional(connection)
            .await?;
    let Some(row) = row else { return Ok(None) };
    let read = || {
        let source = Source {
            user_id: id(&row, "user_id")?,
            id: conversation,
            at: Timestamp(row.try_get("created_at")?),
            conversation_id: Some(id(&row, "id")?),
            message_id: None,
            project_id: None,
            is_of_user: true,
        };
        let passage = Passage {
            kind: HitKind::Title,
            tool_call: None,
            text: text(&row, "title")?,
        };
        Ok((source, vec![passage]))
    };
    skip_damaged("conversations", conversation, read())
}

pub(super) async fn read_article<'a>(
    connection: &mut Connection,
    article: &'a str,
) -> Found<'a, Vec<Passage>> {
    let (user, pmid) = article.split_once('/').unwrap_or_default();
    let row = query(
        "SELECT user_id, title, authors, summary, note, saved_at FROM articles WHERE user_id = $1 AND pmid = $2",
    )
    .bind(user)
    .bind(pmid)
    .fetch_optional(connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let read = || {
        let source = Source {
            user_id: id(&row, "user_id")?,
            id: article,
            at: Timestamp(row.try_get("saved_at")?),
            conversation_id: None,
            message_id: None,
            project_id: None,
            is_of_user: true,
        };
        Ok((source, passages::of_article(&article_text(&row)?)))
    };
    skip_damaged("articles", pmid, read())
}

/// Returns all that is searched in an article: the title, then the authors, the note and the abstract.
pub(in crate::sql) fn article_text(row: &Row) -> Result<String, StorageError> {
    let authors: Vec<String> = json(row, "authors")?;
    let mut paragraphs = vec![text(row, "title")?, authors.join(", "), text(row, "note")?];
    // An unknown abstract is `null`.
    paragraphs.extend(json::<Option<Vec<String>>>(row, "summary")?.unwrap_or_default());
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    Ok(paragraphs.join("\n"))
}

/// Reads a file that is in a message or a project, with its name.
pub(super) async fn read_file<'a>(connection: &mut Connection, file: &'a str) -> Found<'a, String> {
    let row = query(
        "SELECT f.user_id, f.conversation_id, f.message_id, f.project_id, f.name, f.created_at, \
             NOT EXISTS (SELECT 1 FROM runs r WHERE r.id = f.message_id) AS is_of_user \
         FROM files f WHERE f.id = $1 AND (f.message_id IS NOT NULL OR f.project_id IS NOT NULL) \
             AND (f.project_id IS NOT NULL \
                 OR NOT EXISTS (SELECT 1 FROM conversations c WHERE c.id = f.conversation_id AND c.temporary <> 0))",
    )
    .bind(file)
    .fetch_optional(&mut *connection)
    .await?;
    let Some(row) = row else { return Ok(None) };
    let read = || {
        let source = Source {
            user_id: id(&row, "user_id")?,
            id: file,
            at: Timestamp(row.try_get("created_at")?),
            conversation_id: Some(id(&row, "conversation_id")?).filter(|id| *id != ConversationId::NONE),
            message_id: optional_id(&row, "message_id")?,
            project_id: optional_id(&row, "project_id")?,
            is_of_user: row.try_get("is_of_user")?,
        };
        Ok((source, optional_text(&row, "name")?.unwrap_or_default()))
    };
    let Some((source, name)) = skip_damaged("files", file, read())? else {
        return Ok(None);
    };
    let hidden = is_hidden(connection, &source).await?;
    Ok((!hidden).then_some((source, name)))
}
