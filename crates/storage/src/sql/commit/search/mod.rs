//! The search index: what a transaction has changed is indexed at its end, what there was before in the background.
//!
//! Triggers note what has changed in `search_pending`, and delete the words of what is deleted. An index that is damaged fails
//! no change: see [`is_damaged_index`].

mod sources;

use crate::sql::database::{Connection, query, query_scalar};

pub(in crate::sql) use self::sources::article_text;
use self::sources::{Source, read_article, read_file, read_message, read_title};
use super::{
    super::{database::dialect, id, text},
    Batch, ChangeError, Transaction,
};
use crate::{
    Outcome, StorageError, StorageErrorKind,
    damage::skip_damaged,
    search::{Word, Words, passages::Passage},
};
use parlor_protocol::{AttachmentId, ConversationId, MessageId, ProjectId, UserId, search::HitKind};

/// How much of one transaction is indexed at its end, and how much at once in the background. More would keep other changes
/// waiting.
const MAX_AT_COMMIT: i64 = 200;
const MAX_IN_BACKGROUND: i64 = 20;

/// The number of documents that a second can have.
const DOCUMENTS_PER_SECOND: i64 = 1 << 20;

const INSERT_DOCUMENT: &str = "INSERT INTO search_documents \
     (id, user_id, source, passage, kind, conversation_id, message_id, tags, words, parts, file, text) VALUES ( \
     coalesce((SELECT max(id) FROM search_documents WHERE id >= $1 AND id < $1 + 1048576), $1 - 1) + 1, \
     $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";

/// Deletes the words of messages (`$1`) and of their files.
const FORGET_MESSAGES: &str = "DELETE FROM search_documents WHERE source IN (SELECT value FROM json_each($1)) \
     OR source IN (SELECT f.id FROM json_each($1) m JOIN files f ON f.message_id = m.value)";

/// Notes that a conversation (`$2`) is to be indexed: its title and the ids of its messages.
const NOTE_TITLE: &str = "INSERT INTO search_pending (kind, source, is_new) \
     SELECT 'title', id, 1 FROM conversations WHERE user_id = $1 AND id = $2 \
     ON CONFLICT (kind, source) DO UPDATE SET is_new = excluded.is_new";
const SELECT_MESSAGES: &str = "SELECT id FROM messages WHERE user_id = $1 AND conversation_id = $2";

/// Notes that messages (`$1`) and their files are to be indexed.
const NOTE_MESSAGES: [&str; 2] = [
    "INSERT INTO search_pending (kind, source, is_new) SELECT 'message', value, 1 FROM json_each($1) WHERE true \
     ON CONFLICT (kind, source) DO UPDATE SET is_new = excluded.is_new",
    "INSERT INTO search_pending (kind, source, is_new) \
     SELECT k.kind, f.id, k.is_new FROM json_each($1) m JOIN files f ON f.message_id = m.value \
     JOIN (SELECT 'file' AS kind, 1 AS is_new UNION ALL SELECT 'text', 0) k ON true WHERE true \
     ON CONFLICT (kind, source) DO UPDATE SET is_new = excluded.is_new",
];

impl Batch<'_> {
    /// Indexes what the transaction has changed.
    pub(super) async fn index_changes(&mut self, connection: &mut Connection) -> Result<(), StorageError> {
        if self.transaction != Transaction::InSavepoint {
            return Ok(());
        }
        query("RELEASE change; SAVEPOINT change")
            .execute(&mut *connection)
            .await?;
        match index_pending(&mut *connection, true).await {
            Err(error) if error.kind() == StorageErrorKind::Damaged => {
                tracing::error!(%error, "the search index is damaged: what has changed is not found until it is built again");
                query("ROLLBACK TO change; UPDATE search_pending SET is_new = 0 WHERE is_new = 1")
                    .execute(connection)
                    .await?;
                Ok(())
            }
            indexed => indexed.map(|_| ()),
        }
    }

    /// Removes hidden messages from the index.
    pub(super) async fn forget_messages(
        &self,
        connection: &mut Connection,
        messages: &[MessageId],
    ) -> Result<(), ChangeError> {
        query(FORGET_MESSAGES)
            .bind_list(messages)
            .execute(connection)
            .await?;
        Ok(())
    }

    /// Puts messages that are shown again into the index.
    pub(super) async fn index_messages(
        &self,
        connection: &mut Connection,
        messages: &[MessageId],
    ) -> Result<(), ChangeError> {
        for note in NOTE_MESSAGES {
            query(note).bind_list(messages).execute(&mut *connection).await?;
        }
        Ok(())
    }

    /// Puts a conversation into the index: one that was temporary, or that an earlier version has taken out of it.
    pub(super) async fn index_conversation(
        &self,
        connection: &mut Connection,
        (user_id, conversation_id): (UserId, ConversationId),
    ) -> Result<(), ChangeError> {
        query(NOTE_TITLE)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .execute(&mut *connection)
            .await?;
        let rows = query(SELECT_MESSAGES)
            .bind_value(user_id)
            .bind_value(conversation_id)
            .fetch_all(&mut *connection)
            .await?;
        let mut messages = Vec::with_capacity(rows.len());
        for row in &rows {
            messages.extend(skip_damaged(
                "messages",
                "of a conversation",
                id::<MessageId>(row, "id"),
            )?);
        }
        self.index_messages(connection, &messages).await
    }

    /// Adds passages of a file's text, from the passage `first` on (the name is 0). Has no effect if the file is deleted.
    pub(super) async fn index_file_text(
        &mut self,
        connection: &mut Connection,
        file: AttachmentId,
        first: usize,
        texts: &[String],
        is_last: bool,
    ) -> Result<Outcome, ChangeError> {
        let file = file.to_string();
        let is_pending: bool =
            query_scalar("SELECT EXISTS (SELECT 1 FROM search_pending WHERE kind = 'text' AND source = $1)")
                .bind(&file)
                .fetch_one(&mut *connection)
                .await?;
        if !is_pending {
            return Ok(Outcome::Done);
        }
        lock_index(&mut *connection).await?;
        let name = read_file(&mut *connection, &file).await?;
        query("DELETE FROM search_documents WHERE source = $1 AND passage >= $2")
            .bind(&file)
            .bind(number(first))
            .execute(&mut *connection)
            .await?;
        if let Some((source, name)) = name {
            for (index, text) in texts.iter().enumerate() {
                let document = Document {
                    kind: HitKind::File,
                    passage: first + index,
                    text,
                    file: &name,
                    keeps_text: true,
                };
                insert_document(&mut *connection, &source, document).await?;
            }
        }
        if is_last {
            query("DELETE FROM search_pending WHERE kind = 'text' AND source = $1")
                .bind(&file)
                .execute(connection)
                .await?;
        }
        Ok(Outcome::Done)
    }
}

/// Indexes some of what is noted, in an open transaction: what this transaction has changed, or what there was before. Returns
/// the number of things.
pub(in crate::sql) async fn index_pending(
    connection: &mut Connection,
    is_new: bool,
) -> Result<usize, StorageError> {
    let (select, limit) = match is_new {
        true => (
            // Documents of the same second have the order in which they are indexed.
            "SELECT kind, source FROM search_pending WHERE is_new = 1 AND kind <> 'text' ORDER BY kind, source LIMIT $1",
            MAX_AT_COMMIT,
        ),
        // Titles are first, and newer data before older.
        false => (
            "SELECT kind, source FROM search_pending WHERE kind IN ('title', 'message', 'file', 'article') AND is_new = 0 \
             ORDER BY kind DESC, source DESC LIMIT $1",
            MAX_IN_BACKGROUND,
        ),
    };
    let rows = query(select).bind(limit).fetch_all(&mut *connection).await?;
    if !rows.is_empty() {
        lock_index(&mut *connection).await?;
    }
    for row in &rows {
        let (kind, source) = (text(row, "kind")?, text(row, "source")?);
        index_source(&mut *connection, &kind, &source).await?;
        query("DELETE FROM search_pending WHERE kind = $1 AND source = $2")
            .bind(&kind)
            .bind(&source)
            .execute(&mut *connection)
            .await?;
    }
    if is_new && number(rows.len()) == limit {
        query("UPDATE search_pending SET is_new = 0 WHERE is_new = 1")
            .execute(connection)
            .await?;
    }
    Ok(rows.len())
}

/// Keeps other nodes from giving the same ids to documents, until the transaction ends.
async fn lock_index(connection: &mut Connection) -> Result<(), StorageError> {
    if connection.is_postgres() {
        query(dialect::LOCK_INDEX_ON_POSTGRES)
            .fetch_all(connection)
            .await?;
    }
    Ok(())
}

/// Indexes a message, a title, the name of a file or an article, in place of what is indexed of it.
async fn index_source(connection: &mut Connection, kind: &str, source: &str) -> Result<(), StorageError> {
    if kind == "file" {
        let found = read_file(&mut *connection, source).await?;
        query("DELETE FROM search_documents WHERE source = $1 AND passage = 0")
            .bind(source)
            .execute(&mut *connection)
            .await?;
        if let Some((source, name)) = found {
            let document = Document {
                kind: HitKind::File,
                passage: 0,
                text: "",
                file: &name,
                keeps_text: false,
            };
            insert_document(connection, &source, document).await?;
        }
        return Ok(());
    }
    let found = match kind {
        "message" => read_message(&mut *connection, source).await?,
        "title" => read_title(&mut *connection, source).await?,
        _ => read_article(&mut *connection, source).await?,
    };
    query("DELETE FROM search_documents WHERE source = $1")
        .bind(source)
        .execute(&mut *connection)
        .await?;
    let Some((source, passages)) = found else {
        return Ok(());
    };
    for (index, Passage { kind, text, .. }) in passages.iter().enumerate() {
        let document = Document {
            kind: *kind,
            passage: index,
            text,
            file: "",
            keeps_text: false,
        };
        insert_document(&mut *connection, &source, document).await?;
    }
    Ok(())
}

/// A passage to be indexed.
struct Document<'a> {
    kind: HitKind,
    passage: usize,
    text: &'a str,
    /// The name of its file.
    file: &'a str,
    keeps_text: bool,
}

async fn insert_document(
    connection: &mut Connection,
    source: &Source<'_>,
    document: Document<'_>,
) -> Result<(), StorageError> {
    let words = Words::of(document.text);
    let name = Words::of(document.file);
    let second = source.at.0.div_euclid(1000).clamp(0, 1 << 40);
    query(INSERT_DOCUMENT)
        .bind(second * DOCUMENTS_PER_SECOND)
        .bind_value(source.user_id)
        .bind(source.id)
        .bind(number(document.passage))
        .bind(document.kind.as_str())
        .bind_value(source.conversation_id)
        .bind_value(source.message_id)
        .bind(tags(source, document.kind))
        .bind(spaced([&*words.words]))
        .bind(spaced(words.parts_by_word()))
        .bind(spaced(std::iter::once(&*name.words).chain(name.parts_by_word())))
        .bind(document.keeps_text.then_some(document.text))
        .execute(connection)
        .await?;
    Ok(())
}

fn tags(source: &Source<'_>, kind: HitKind) -> String {
    let is_of_user = source.is_of_user && kind != HitKind::Title;
    let mut tags = vec![user_tag(source.user_id), kind_tag(kind).to_owned()];
    match kind {
        HitKind::Question | HitKind::File if is_of_user => tags.push(TAG_OF_ME.to_owned()),
        HitKind::Answer | HitKind::Tool | HitKind::File => tags.push(TAG_OF_ASSISTANT.to_owned()),
        HitKind::Question | HitKind::Title | HitKind::Article => {}
    }
    tags.extend(source.conversation_id.map(conversation_tag));
    tags.extend(source.project_id.map(project_tag));
    tags.join(" ")
}

pub(in crate::sql) const TAG_OF_ME: &str = "fme";
pub(in crate::sql) const TAG_OF_ASSISTANT: &str = "fai";

pub(in crate::sql) fn user_tag(user_id: UserId) -> String {
    format!("u{}", user_id.0.simple())
}

pub(in crate::sql) fn conversation_tag(conversation_id: ConversationId) -> String {
    format!("c{}", conversation_id.0.simple())
}

/// The tag of a project's files. Its conversations do not have it, as they may be moved.
pub(in crate::sql) fn project_tag(project_id: ProjectId) -> String {
    format!("p{}", project_id.0.simple())
}

pub(in crate::sql) fn kind_tag(kind: HitKind) -> &'static str {
    match kind {
        HitKind::Title => "ktitle",
        HitKind::Question => "kquestion",
        HitKind::Answer => "kanswer",
        HitKind::Tool => "ktool",
        HitKind::File => "kfile",
        HitKind::Article => "karticle",
    }
}

/// Separates sequences of words, so that no phrase is found across them. It is no word of a text.
const SEPARATOR: &str = "\u{b7} ";

/// Writes words with a space before and after each.
fn spaced<'a>(sequences: impl IntoIterator<Item = &'a [Word]>) -> String {
    let mut text = String::from(" ");
    for (index, words) in sequences.into_iter().enumerate() {
        if index > 0 {
            text.push_str(SEPARATOR);
        }
        for word in words {
            text.push_str(&word.text);
            text.push(' ');
        }
    }
    text
}

fn number(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Returns true if an error is that of a damaged search index, and of nothing else.
pub(in crate::sql) fn is_damaged_index(error: &StorageError) -> bool {
    // SQLITE_CORRUPT_VTAB
    matches!(error, StorageError::Database(sqlx::Error::Database(cause)) if cause.code().as_deref() == Some("267"))
}

/// Builds the index again from the words of the documents.
pub(in crate::sql) const REBUILD_INDEX: &str = "INSERT INTO search_index (search_index) VALUES ('rebuild')";
