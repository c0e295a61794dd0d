//! A branch of a conversation as a new conversation: copies of its messages, with all that belongs to them.
//!
//! The copies keep their times and their order. Recorded model calls and permissions for tools are not copied.

use std::collections::BTreeMap;

use crate::sql::database::{Connection, query, query_scalar};

use super::{
    super::{branch::read_branch, id, messages, number_or_zero, optional_id, optional_text},
    Batch, ChangeError,
    deletion::require_shown,
    turns::conflict_as_rejection,
};
use crate::{ChangeRejection, Outcome, PageSize, damage::skip_damaged};
use parlor_protocol::{
    AttachmentId, ConversationEvent, ConversationId, Message, MessageId, UserId, intent::BranchConversation,
};

/// The addition to the title of a branch.
const TITLE_SUFFIX: &str = " (branch)";

/// Copies the messages of a branch (`$3`: JSON arrays of the ids of the message, of its copy and of the copy's parent)
/// into a conversation (`$2`).
const COPY_MESSAGES: &str = "INSERT INTO messages (id, user_id, conversation_id, parent_id, position, created_at, body) \
     SELECT c.value ->> 1, $1, $2, c.value ->> 2, m.position, m.created_at, m.body \
     FROM json_each($3) c JOIN messages m ON m.id = c.value ->> 0 WHERE m.user_id = $1 ORDER BY m.position";

/// Copies all that belongs to the messages, apart from files. The log has no events of the copied runs: each ends before
/// it begins, so that no client waits for more.
const COPY_BELONGINGS: [&str; 6] = [
    "INSERT INTO runs (id, user_id, conversation_id, status, first_position, last_position, force_tools) \
     SELECT c.value ->> 1, $1, b.id, r.status, b.activity, b.activity - 1, r.force_tools \
     FROM json_each($3) c JOIN runs r ON r.id = c.value ->> 0 JOIN conversations b ON b.id = $2 WHERE r.user_id = $1",
    "INSERT INTO payloads (user_id, conversation_id, id, message_id, kind, summary, data, created_at) \
     SELECT $1, $2, p.id, c.value ->> 1, p.kind, p.summary, p.data, p.created_at \
     FROM json_each($3) c JOIN payloads p ON p.message_id = c.value ->> 0 WHERE p.user_id = $1",
    "INSERT INTO payload_verdicts (user_id, conversation_id, payload_id, verdict, fields, position) \
     SELECT $1, $2, v.payload_id, v.verdict, v.fields, v.position FROM json_each($3) c JOIN payloads p ON p.message_id = c.value ->> 0 \
     JOIN payload_verdicts v ON v.conversation_id = p.conversation_id AND v.payload_id = p.id WHERE p.user_id = $1",
    "INSERT INTO summaries (user_id, conversation_id, message_id, text, created_at) \
     SELECT $1, $2, c.value ->> 1, s.text, s.created_at \
     FROM json_each($3) c JOIN summaries s ON s.message_id = c.value ->> 0 WHERE s.user_id = $1",
    "INSERT INTO contexts (message_id, user_id, context, text, instructions) \
     SELECT m.id, $1, x.context, x.text, x.instructions FROM json_each($3) c JOIN contexts x ON x.message_id = c.value ->> 0 \
     JOIN messages m ON m.id = c.value ->> 1 AND m.conversation_id = $2 WHERE x.user_id = $1",
    "INSERT INTO opaque (message_id, number, user_id, conversation_id, node, part, endpoint, kind, field, value) \
     SELECT c.value ->> 1, o.number, $1, $2, o.node, o.part, o.endpoint, o.kind, o.field, o.value \
     FROM json_each($3) c JOIN opaque o ON o.message_id = c.value ->> 0 WHERE o.user_id = $1",
];

/// Copies a file (`$1`) under another id (`$2`) to a copied message (`$3`), and names it there, in its payloads and in the
/// answers that show it again. Both share the content.
const COPY_FILE: [&str; 3] = [
    "INSERT INTO files (id, user_id, conversation_id, message_id, place, stored_name, stored_in, name, media_type, bytes, \
         width, height, text_bytes, problem, created_at, stored_by) \
     SELECT $2, f.user_id, m.conversation_id, m.id, f.place, f.stored_name, f.stored_in, f.name, f.media_type, f.bytes, \
         f.width, f.height, f.text_bytes, f.problem, f.created_at, f.stored_by FROM files f JOIN messages m ON m.id = $3 WHERE f.id = $1",
    "UPDATE messages SET body = replace(body, $1, $2) WHERE instr(body, $1) > 0 \
         AND (user_id, conversation_id) = (SELECT user_id, conversation_id FROM messages WHERE id = $3)",
    "UPDATE payloads SET data = replace(data, $1, $2) WHERE message_id = $3 AND instr(data, $1) > 0",
];

/// The ids of a message's copy and of the copy's parent, by the id of the message.
type Copies = BTreeMap<MessageId, (MessageId, Option<MessageId>)>;

impl Batch<'_> {
    /// Copies a branch into a new conversation: up to an answer, or up to what a message of the user follows.
    pub(super) async fn branch_conversation(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        intent: &BranchConversation,
    ) -> Result<Outcome, ChangeError> {
        let found = messages::message(&mut *connection, user_id, intent.message_id).await?;
        let (source, message) = found.ok_or(ChangeRejection::NotFound)?;
        require_shown(&mut *connection, (user_id, source), intent.message_id).await?;
        let leaf = match message.assistant() {
            Some(_) => Some(message.id),
            None => message.parent_id,
        };
        let copied = match leaf {
            Some(leaf) => {
                let key = (user_id, source);
                read_branch(&mut *connection, key, leaf, PageSize::UNLIMITED, None).await?
            }
            None => Vec::new(),
        };
        let mut answers = copied.iter().filter_map(Message::assistant);
        if answers.any(|answer| !answer.status.is_terminal()) {
            Err(ChangeRejection::RunActive)?;
        }
        let mut copies = Copies::new();
        for message in &copied {
            let parent = message.parent_id.and_then(|parent| copies.get(&parent));
            let parent = parent.map(|(copy, _)| *copy);
            copies.insert(message.id, (MessageId::new(), parent));
        }
        let leaf = copied
            .last()
            .and_then(|leaf| copies.get(&leaf.id))
            .map(|(copy, _)| *copy);
        self.create_branch(&mut *connection, user_id, source, intent.conversation_id, leaf)
            .await?;
        copy_messages(&mut *connection, user_id, intent.conversation_id, &copies).await?;
        if let Some(leaf_id) = leaf {
            // No log has the messages: this asks for a snapshot.
            let event = ConversationEvent::LeafSelected { leaf_id };
            self.log_event(connection, user_id, intent.conversation_id, None, event)
                .await?;
        }
        Ok(Outcome::Done)
    }

    /// Creates the conversation, with the model and the parameters of the other one.
    async fn create_branch(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        source: ConversationId,
        branch: ConversationId,
        leaf: Option<MessageId>,
    ) -> Result<(), ChangeError> {
        let of_source = query("SELECT title, temporary, project_id FROM conversations WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL")
            .bind_value(user_id)
            .bind_value(source)
            .fetch_optional(&mut *connection)
            .await?
            .ok_or(ChangeRejection::NotFound)?;
        let was_deleted: bool =
            query_scalar("SELECT EXISTS (SELECT 1 FROM deleted_conversations WHERE id = $1)")
                .bind_value(branch)
                .fetch_one(&mut *connection)
                .await?;
        if was_deleted {
            Err(ChangeRejection::NotFound)?;
        }
        let title = branch_title(optional_text(&of_source, "title")?.unwrap_or_default());
        let created = ConversationEvent::ConversationCreated {
            title: title.clone(),
            created_at: self.at,
            temporary: number_or_zero("conversations", source, &of_source, "temporary")? != 0,
            project_id: skip_damaged("conversations", source, optional_id(&of_source, "project_id"))?
                .flatten(),
        };
        let position = self
            .log_event(&mut *connection, user_id, branch, None, created)
            .await?;
        query(
            "INSERT INTO conversations (id, user_id, title, model, parameters, active_leaf, created_at, updated_at, activity, temporary, project_id) \
             SELECT $3, user_id, $4, model, parameters, $5, $6, $6, $7, temporary, project_id FROM conversations WHERE user_id = $1 AND id = $2",
        )
        .bind_value(user_id)
        .bind_value(source)
        .bind_value(branch)
        .bind(title)
        .bind_value(leaf)
        .bind_value(self.at)
        .bind_value(position)
        .execute(&mut *connection)
        .await
        .map_err(|error| conflict_as_rejection(error, ChangeRejection::IntentReused))?;
        self.tell_readers_of_conversation(connection, (user_id, branch))
            .await
    }
}

async fn copy_messages(
    connection: &mut Connection,
    user_id: UserId,
    branch: ConversationId,
    copies: &Copies,
) -> Result<(), ChangeError> {
    let ids = copies
        .iter()
        .map(|(message, (copy, parent))| serde_json::to_string(&(message, copy, parent)));
    let ids = ids.collect::<Result<Vec<_>, _>>()?;
    for copy in [COPY_MESSAGES].into_iter().chain(COPY_BELONGINGS) {
        query(copy)
            .bind_value(user_id)
            .bind_value(branch)
            .bind_list(&ids)
            .execute(&mut *connection)
            .await?;
    }
    let files = query(
        "SELECT a.id, c.value ->> 1 AS copy FROM json_each($2) c JOIN files a ON a.message_id = c.value ->> 0 WHERE a.user_id = $1",
    )
    .bind_value(user_id)
    .bind_list(&ids)
    .fetch_all(&mut *connection)
    .await?;
    for file in &files {
        let file_id: AttachmentId = id(file, "id")?;
        let copy = AttachmentId::new().to_string();
        for statement in COPY_FILE {
            query(statement)
                .bind_value(file_id)
                .bind(&copy)
                .bind(file.try_get::<String>("copy")?)
                .execute(&mut *connection)
                .await?;
        }
    }
    Ok(())
}

/// Returns the title of a branch. A branch of a branch has the same one.
fn branch_title(title: String) -> String {
    if title.ends_with(TITLE_SUFFIX) {
        return title;
    }
    title + TITLE_SUFFIX
}
