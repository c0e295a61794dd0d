//! Conversations for clients without the page: listing, reading, messages, renaming, pinning, moving, archiving, deleting.

use axum::{
    Json,
    extract::{Path, rejection::PathRejection},
    http::{HeaderMap, StatusCode},
};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use super::{
    problem::{self, Problem, bad_request},
    request::{JsonBody, QueryParameters, parse_intent_id},
};
use crate::app::{Caller, fingerprint, not_found, projects};
use parlor_protocol::{
    ConversationId, ConversationList, Message, MessageId, Position, ProjectId, Timestamp,
    conversation_list::ListCursor, intent::BranchConversation,
};
use parlor_storage::{Change, ConversationChange, IntentChange, PageSize, StoredConversation};

/// The requested part of the list.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct ListQuery {
    /// The `activity` of the last conversation on the previous page.
    before: Option<Position>,
    /// The maximum number of items, up to the limit in the settings.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
    /// True for the archived conversations instead of the others.
    #[serde(default)]
    archived: bool,
    /// Only the conversations of this project. Not together with `archived`.
    project_id: Option<ProjectId>,
}

/// `GET /api/conversations`: pinned ones, then newest activity first.
pub async fn list(
    caller: Caller,
    page: Result<QueryParameters<ListQuery>, Problem>,
) -> Result<Json<ConversationList>, Problem> {
    let QueryParameters(ListQuery {
        before,
        limit,
        archived,
        project_id,
    }) = page?;
    let limit = clamp_limit(limit, caller.app.settings.limits.conversations_page)?;
    let before = before.map(|activity| ListCursor { activity });
    let storage = &caller.app.storage;
    Ok(Json(match (archived, project_id) {
        (true, Some(_)) => {
            return Err(bad_request(
                "The archive is not listed by projects. Name archived or project_id.",
            ));
        }
        (false, Some(id)) => {
            projects::get(&caller, id).await?;
            storage
                .project_conversations(caller.user_id, id, before, limit)
                .await?
        }
        (false, None) => storage.conversations(caller.user_id, before, limit).await?,
        (true, None) => {
            storage
                .archived_conversations(caller.user_id, before, limit)
                .await?
        }
    }))
}

/// A conversation.
#[derive(Serialize, JsonSchema)]
pub struct Conversation {
    id: ConversationId,
    title: String,
    /// The model of the next answer, as `endpoint/model`; null for the default model.
    model: Option<String>,
    created_at: Timestamp,
    updated_at: Timestamp,
    /// The log position of its last activity.
    activity: Position,
    /// The active run; null if there is none.
    active_run: Option<MessageId>,
    /// True if the active run waits for an approval.
    waiting: bool,
    /// True if it has an unseen change.
    unseen: bool,
    /// True if it is at the top of the list.
    pinned: bool,
    /// True if it is not in the list, but in the archive.
    archived: bool,
    /// True if it is erased some time after its last activity.
    temporary: bool,
    /// Its project; null if it is in none.
    project_id: Option<ProjectId>,
}

/// `GET /api/conversations/{id}`
pub async fn get(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<Json<Conversation>, Problem> {
    Ok(Json(
        load_conversation(&caller, problem::parse_conversation_id(path)?).await?,
    ))
}

/// The requested part of a conversation.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct MessagesQuery {
    /// `next_before` of the previous page.
    before: Option<MessageId>,
    /// The maximum number of items, up to the limit in the settings.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// A page of a conversation's messages.
#[derive(Serialize, JsonSchema)]
pub struct Messages {
    conversation_id: ConversationId,
    /// Oldest first; a tree through `parent_id`.
    messages: Vec<Message>,
    /// The `before` of the next page; null if there are no older messages.
    next_before: Option<MessageId>,
}

/// `GET /api/conversations/{id}/messages`: the newest part of the shown branch; further requests return the
/// older pages.
pub async fn messages(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    page: Result<QueryParameters<MessagesQuery>, Problem>,
) -> Result<Json<Messages>, Problem> {
    let conversation_id = problem::parse_conversation_id(path)?;
    let QueryParameters(MessagesQuery { before, limit }) = page?;
    let page = caller.message_page_size();
    let page = PageSize {
        messages: clamp_limit(limit, page.messages)?,
        ..page
    };
    let (user_id, storage) = (caller.user_id, &caller.app.storage);
    let (messages, next_before) = match before {
        None => {
            let found = storage.transcript(user_id, conversation_id, page, None).await?;
            let newest = found.ok_or_else(not_found)?;
            (newest.messages, newest.earliest)
        }
        Some(before) => {
            caller.require_not_deleted(conversation_id).await?;
            let found = storage
                .older_messages(user_id, conversation_id, before, page)
                .await?;
            let older = found.ok_or_else(not_found)?;
            (older.messages, older.earliest)
        }
    };
    Ok(Json(Messages {
        conversation_id,
        messages,
        next_before,
    }))
}

/// The changes of a conversation. What is missing or null stays, except `project_id`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConversationPatch {
    title: Option<String>,
    /// True to put it at the top of the list, which takes it out of the archive.
    pinned: Option<bool>,
    /// True to take it out of the list, which unpins it. Not together with `pinned`.
    archived: Option<bool>,
    /// The project to which it is moved; null takes it out of its project.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<ProjectId>")]
    project_id: Option<Option<ProjectId>>,
}

/// Reads a field that is given, which may be null.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<ProjectId>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// `PATCH /api/conversations/{id}`: renames, pins, archives or moves it.
pub async fn update(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    changes: Result<JsonBody<ConversationPatch>, Problem>,
) -> Result<Json<Conversation>, Problem> {
    let conversation_id = problem::parse_conversation_id(path)?;
    let JsonBody(ConversationPatch {
        title,
        pinned,
        archived,
        project_id,
    }) = changes?;
    if title.is_none() && pinned.is_none() && archived.is_none() && project_id.is_none() {
        return Err(bad_request(
            "Nothing is to be changed. Name title, pinned, archived or project_id.",
        ));
    }
    if (pinned, archived) == (Some(true), Some(true)) {
        return Err(bad_request(
            "A conversation is either pinned or archived. Nothing was changed; set one of them.",
        ));
    }
    let (user_id, limit) = (caller.user_id, caller.app.settings.limits.pinned_conversations);
    let title = title.map(|title| caller.parse_title(&title)).transpose()?;
    if let Some(Some(project_id)) = project_id {
        projects::get(&caller, project_id).await?;
    }
    // The pin is first: the limit of pins can reject it.
    let changes = [
        pinned.map(|is_pinned| ConversationChange::Pin { is_pinned, limit }),
        project_id.map(|project_id| ConversationChange::Move { project_id }),
        archived.map(|is_archived| ConversationChange::Archive { is_archived }),
        title.map(|title| ConversationChange::Rename { title }),
    ];
    for change in changes.into_iter().flatten() {
        caller
            .commit(Change::Conversation {
                user_id,
                conversation_id,
                change,
            })
            .await?;
    }
    Ok(Json(load_conversation(&caller, conversation_id).await?))
}

/// `POST /api/messages/{id}/branch`: copies the branch up to a message into a new conversation.
pub async fn branch(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
) -> Result<Json<Conversation>, Problem> {
    let intent_id = parse_intent_id(&headers)?;
    let intent = BranchConversation {
        intent_id,
        message_id: problem::parse_message_id(path)?,
        conversation_id: ConversationId(intent_id.0),
    };
    let (user_id, fingerprint) = (caller.user_id, fingerprint(&intent)?);
    caller
        .commit(Change::Intent {
            user_id,
            change: IntentChange::BranchConversation { intent, fingerprint },
        })
        .await?;
    Ok(Json(load_conversation(&caller, intent.conversation_id).await?))
}

/// `DELETE /api/conversations/{id}`: deletes it with all its contents, and stops its run. Deleting it again
/// is not an error.
pub async fn delete(
    caller: Caller,
    path: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, Problem> {
    caller
        .app
        .runs
        .delete(caller.user_id, problem::parse_conversation_id(path)?)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn load_conversation(caller: &Caller, id: ConversationId) -> Result<Conversation, Problem> {
    let found = caller.app.storage.conversation(caller.user_id, id).await?;
    let StoredConversation {
        listed,
        model,
        created_at,
    } = found.ok_or_else(not_found)?;
    Ok(Conversation {
        id: listed.id,
        title: listed.title,
        model,
        created_at,
        updated_at: listed.updated_at,
        activity: listed.activity,
        active_run: listed.active_run,
        waiting: listed.waiting,
        unseen: listed.unseen,
        pinned: listed.pinned,
        archived: listed.archived,
        temporary: listed.temporary,
        project_id: listed.project_id,
    })
}

/// Returns the page size: the requested one, at most the setting.
fn clamp_limit(requested: Option<usize>, setting: usize) -> Result<usize, Problem> {
    match requested {
        Some(0) => Err(bad_request("A limit is a whole number of at least 1.")),
        requested => Ok(requested.unwrap_or(setting).min(setting)),
    }
}
