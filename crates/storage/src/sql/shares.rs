//! Queries about shares, and about what they show.

use crate::sql::database::{Connection, Row, Sql, query, query_scalar};
use async_trait::async_trait;

use super::{
    SqlStorage, branch::read_branch, files, id, json_array, messages, optional_id, optional_text, payloads,
    project_readers, read_undamaged_rows, text,
};
use crate::{
    PageSize, StorageError, StoredFile, TokenHash,
    damage::skip_damaged,
    shares::{Audience, ShareStorage, Snapshot, StoredShare},
};
use parlor_protocol::{
    AttachmentId, ConversationId, Message, MessageId, Part, Payload, Position, ShareId, Timestamp,
    Transcript, UserId,
};

/// The columns of a share, and its readers as JSON: ids and names.
macro_rules! select_shares {
    ($rest:literal) => {
        Sql::Two {
            sqlite: select_shares!("json_group_array(json_array(CAST(a.user_id AS TEXT), CAST(a.name AS TEXT)))", $rest),
            postgres: select_shares!("coalesce(json_agg(json_build_array(a.user_id, a.name)), '[]')", $rest),
        }
    };
    ($readers:literal, $rest:literal) => {
        concat!(
            "SELECT s.id, s.user_id, s.conversation_id, s.hash IS NOT NULL AS is_link, s.title, s.leaf_id, s.leaf_nodes, \
             s.position, s.created_at, (SELECT ",
            $readers,
            " FROM (SELECT a.user_id, a.name FROM share_readers r \
                 JOIN accounts a ON a.user_id = r.user_id WHERE r.share_id = s.id ORDER BY a.name) a) AS readers \
             FROM shares s ",
            $rest
        )
    };
}

const SELECT_SHARES: Sql = select_shares!("WHERE s.user_id = $1 ORDER BY s.id DESC");

const SELECT_BY_LINK: Sql = select_shares!("WHERE s.hash = $1");

const SELECT_OF_READER: Sql = select_shares!(
    "WHERE s.id = $1 AND s.hash IS NULL AND (s.user_id = $2 OR EXISTS \
         (SELECT 1 FROM share_readers r WHERE r.share_id = s.id AND r.user_id = $2))"
);

/// True if a message (`$4`) is on the branch that ends with `$3`, or with the shown leaf if that is null, and nothing of the
/// branch is hidden, nor the conversation deleted. A damaged link ends the branch here: what is before it is shown, without its files.
pub(crate) const IS_ON_BRANCH: &str = "WITH RECURSIVE branch (id, parent_id, position) AS ( \
         SELECT m.id, m.parent_id, m.position FROM messages m WHERE m.user_id = $1 AND m.conversation_id = $2 \
             AND m.id = coalesce($3, (SELECT active_leaf FROM conversations WHERE user_id = $1 AND id = $2)) \
         UNION ALL \
         SELECT m.id, m.parent_id, m.position FROM branch b JOIN messages m ON m.id = b.parent_id \
             WHERE m.user_id = $1 AND m.conversation_id = $2 AND m.position < b.position) \
     SELECT EXISTS (SELECT 1 FROM branch WHERE id = $4) \
         AND NOT EXISTS (SELECT 1 FROM branch JOIN hidden_messages h ON h.message_id = branch.id WHERE h.user_id = $1) \
         AND NOT EXISTS (SELECT 1 FROM conversations WHERE id = $2 AND trashed_at IS NOT NULL)";

#[async_trait]
impl ShareStorage for SqlStorage {
    async fn shares(&self, user_id: UserId) -> Result<Vec<StoredShare>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = query(SELECT_SHARES)
            .bind_value(user_id)
            .fetch_all(&mut connection)
            .await?;
        read_undamaged_rows("shares", "id", &rows, read_share)
    }

    async fn share_by_link(&self, hash: &TokenHash) -> Result<Option<StoredShare>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(SELECT_BY_LINK)
            .bind_value(hash)
            .fetch_optional(&mut connection)
            .await?;
        read_optional_share(row)
    }

    async fn share_of_reader(
        &self,
        share_id: ShareId,
        reader: UserId,
    ) -> Result<Option<StoredShare>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = query(SELECT_OF_READER)
            .bind_value(share_id)
            .bind_value(reader)
            .fetch_optional(&mut connection)
            .await?;
        read_optional_share(row)
    }

    async fn share_of_project(
        &self,
        conversation_id: ConversationId,
        reader: UserId,
    ) -> Result<Option<StoredShare>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        project_readers::share_of_project(&mut connection, conversation_id, reader).await
    }

    async fn shared_transcript(
        &self,
        share: &StoredShare,
        page: PageSize,
        before: Option<MessageId>,
    ) -> Result<Option<Transcript>, StorageError> {
        let mut tx = self.readers.begin().await?;
        shared_transcript(&mut tx, share, page, before).await
    }

    async fn shared_file(
        &self,
        share: &StoredShare,
        id: AttachmentId,
    ) -> Result<Option<StoredFile>, StorageError> {
        let mut tx = self.readers.begin().await?;
        let message = query(
            "SELECT message_id FROM files WHERE user_id = $1 AND conversation_id = $2 AND id = $3 AND created_at <= $4",
        )
        .bind_value(share.user_id)
        .bind_value(share.conversation_id)
        .bind_value(id)
        .bind(newest_row(share))
        .fetch_optional(&mut tx)
        .await?;
        if shared_message(&mut tx, share, message).await?.is_none() {
            return Ok(None);
        }
        files::file(&mut tx, share.user_id, id).await
    }

    async fn shared_payload(
        &self,
        share: &StoredShare,
        payload_id: &str,
    ) -> Result<Option<Payload>, StorageError> {
        let mut tx = self.readers.begin().await?;
        let message = query(
            "SELECT message_id FROM payloads WHERE user_id = $1 AND conversation_id = $2 AND id = $3 AND created_at <= $4",
        )
        .bind_value(share.user_id)
        .bind_value(share.conversation_id)
        .bind(payload_id)
        .bind(newest_row(share))
        .fetch_optional(&mut tx)
        .await?;
        let Some(message_id) = shared_message(&mut tx, share, message).await? else {
            return Ok(None);
        };
        let message = messages::message(&mut tx, share.user_id, message_id).await?;
        if !message.is_some_and(|(_, message)| has_written(&message, payload_id)) {
            return Ok(None);
        }
        payloads::payload(&mut tx, share.user_id, share.conversation_id, payload_id).await
    }
}

/// The time after which rows are not shared: an answer that was cut off can get more after a snapshot.
fn newest_row(share: &StoredShare) -> i64 {
    match share.snapshot {
        Some(_) => share.created_at.0,
        None => i64::MAX,
    }
}

/// Returns true if the model itself wrote a payload into an answer. Those of tools have their arguments and outputs.
fn has_written(message: &Message, payload_id: &str) -> bool {
    let nodes = message.assistant().map_or(&[][..], |answer| &answer.nodes);
    let mut parts = nodes.iter().flat_map(|node| &node.parts);
    parts.any(|part| matches!(part, Part::Payload { payload } if payload.payload_id == payload_id))
}

/// Returns the message of a row, if it is on the shared branch.
async fn shared_message(
    connection: &mut Connection,
    share: &StoredShare,
    row: Option<Row>,
) -> Result<Option<MessageId>, StorageError> {
    let message = match row {
        Some(row) => skip_damaged("shares", share.id, optional_id(&row, "message_id"))?.flatten(),
        None => None,
    };
    match message {
        Some(message) if is_on_branch(connection, share, message).await? => Ok(Some(message)),
        _ => Ok(None),
    }
}

async fn is_on_branch(
    connection: &mut Connection,
    share: &StoredShare,
    message: MessageId,
) -> Result<bool, StorageError> {
    let leaf = share.snapshot.as_ref().map(|snapshot| snapshot.leaf_id);
    let found = query_scalar(IS_ON_BRANCH)
        .bind_value(share.user_id)
        .bind_value(share.conversation_id)
        .bind_value(leaf)
        .bind_value(message);
    Ok(found.fetch_one(connection).await?)
}

async fn shared_transcript(
    connection: &mut Connection,
    share: &StoredShare,
    page: PageSize,
    before: Option<MessageId>,
) -> Result<Option<Transcript>, StorageError> {
    let ids = (share.user_id, share.conversation_id);
    let before = match before {
        Some(before) if is_on_branch(&mut *connection, share, before).await? => Some(before),
        _ => None,
    };
    let found = messages::transcript(&mut *connection, ids.0, ids.1, page, before).await?;
    let Some(mut transcript) = found else {
        return Ok(None);
    };
    if let Some(snapshot) = &share.snapshot {
        // A deleted last message would be replaced by another one.
        if !is_on_branch(&mut *connection, share, snapshot.leaf_id).await? {
            return Ok(None);
        }
        transcript.title.clone_from(&snapshot.title);
        transcript.messages = read_branch(&mut *connection, ids, snapshot.leaf_id, page, before).await?;
        transcript.active_leaf = Some(snapshot.leaf_id);
        transcript.earliest = messages::earliest_unless_root(&transcript.messages);
    }
    if let Some(before) = before.filter(|before| transcript.earliest == Some(*before)) {
        let older = messages::older_messages(&mut *connection, ids.0, ids.1, before, page).await?;
        if let Some(older) = older {
            transcript.prepend(older);
        }
    }
    Ok(Some(transcript))
}

fn read_optional_share(row: Option<Row>) -> Result<Option<StoredShare>, StorageError> {
    let Some(row) = row else { return Ok(None) };
    skip_damaged("shares", text(&row, "id")?, read_share(&row))
}

fn read_share(row: &Row) -> Result<StoredShare, StorageError> {
    let audience = if row.try_get::<bool>("is_link")? {
        Audience::Link
    } else {
        Audience::People(json_array(row, "readers", "accounts")?)
    };
    let count = |column: &str| -> Result<i64, StorageError> { Ok(row.try_get(column)?) };
    let snapshot = match (optional_id(row, "leaf_id")?, optional_text(row, "title")?) {
        (Some(leaf_id), title) => Some(Snapshot {
            title: title.unwrap_or_default(),
            leaf_id,
            leaf_nodes: usize::try_from(count("leaf_nodes")?).unwrap_or_default(),
            position: Position(count("position")?.cast_unsigned()),
        }),
        (None, None) => None,
        // It must not become a live one.
        (None, Some(_)) => return Err(sqlx::Error::Decode("a snapshot without a last message".into()).into()),
    };
    Ok(StoredShare {
        id: id(row, "id")?,
        user_id: id(row, "user_id")?,
        conversation_id: id(row, "conversation_id")?,
        audience,
        snapshot,
        created_at: Timestamp(count("created_at")?),
    })
}
