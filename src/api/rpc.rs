//! The page's own intents and queries, as typed server functions under `/rpc`.
//!
//! The bodies are compiled for the server only, so they name the server's modules by full paths.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use super::codec::PageProtocol;
use crate::protocol::{
    ApiError, Attachment, AttachmentId, ConversationId, ConversationList, MessageId, OlderMessages,
    PanelView, RawJson as Raw, RunStatus, TokenTotals, Transcript, Verdict,
    conversation_list::ListCursor,
    diagnostics::DiagnosticsView,
    intent::{self, StartedRun},
    model_list::ModelList,
    panel::TablePage,
};

/// Sends a message and starts the run that answers it. While a run is active, the message waits in the queue.
#[server(prefix = "/rpc", endpoint = "send_message", protocol = PageProtocol<Json>)]
pub async fn send_message(intent: intent::SendMessage) -> Result<StartedRun, ApiError> {
    let caller = crate::app::current_caller()?;
    let context = caller.set_error_status(caller.app.pages.normalize(intent.context))?;
    let intent = intent::SendMessage { context, ..intent };
    let fingerprint = crate::app::fingerprint(&intent)?;
    caller.set_error_status(crate::app::turns::send_or_queue(&caller, intent, fingerprint).await)
}

/// Attaches a file of a message to the next message of its conversation.
#[server(prefix = "/rpc", endpoint = "copy_file", protocol = PageProtocol<Json>)]
pub async fn copy_file(id: AttachmentId) -> Result<Attachment, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::files::copy(&caller, id).await)
}

/// Deletes an uploaded file that no message has.
#[server(prefix = "/rpc", endpoint = "delete_upload", protocol = PageProtocol<Json>)]
pub async fn delete_upload(id: AttachmentId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::files::delete(&caller, id).await)
}

/// Changes the messages that wait for the end of a run.
#[server(prefix = "/rpc", endpoint = "change_queue", protocol = PageProtocol<Json>)]
pub async fn change_queue(
    conversation_id: ConversationId,
    change: intent::QueueChange,
) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let runs = &caller.app.runs;
    caller.set_error_status(runs.change_queue(caller.user_id, conversation_id, change).await)
}

/// Generates another answer to a message.
#[server(prefix = "/rpc", endpoint = "regenerate", protocol = PageProtocol<Json>)]
pub async fn regenerate(intent: intent::Regenerate) -> Result<StartedRun, ApiError> {
    let caller = crate::app::current_caller()?;
    let fingerprint = crate::app::fingerprint(&intent)?;
    caller.set_error_status(crate::app::turns::regenerate(&caller, intent, fingerprint).await)
}

/// Continues an answer that was stopped, failed, was interrupted or was cut short.
#[server(prefix = "/rpc", endpoint = "continue_run", protocol = PageProtocol<Json>)]
pub async fn continue_run(intent: intent::ContinueRun) -> Result<StartedRun, ApiError> {
    let caller = crate::app::current_caller()?;
    let fingerprint = crate::app::fingerprint(&intent)?;
    caller.set_error_status(
        caller
            .app
            .runs
            .continue_run(caller.user_id, intent, fingerprint)
            .await,
    )
}

/// Stops a run and returns its status. Stopping a run that has ended changes nothing.
#[server(prefix = "/rpc", endpoint = "stop_run", protocol = PageProtocol<Json>)]
pub async fn stop_run(message_id: MessageId) -> Result<RunStatus, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.require_found(caller.app.runs.stop(caller.user_id, message_id).await)
}

/// Allows or denies a tool call that waits for approval. The first answer counts.
#[server(prefix = "/rpc", endpoint = "answer_approval", protocol = PageProtocol<Json>)]
pub async fn answer_approval(
    message_id: MessageId,
    index: usize,
    answer: intent::ApprovalAnswer,
) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let approval = crate::storage::ApprovalDecision {
        run: message_id,
        index,
        answer,
    };
    caller.set_error_status(caller.app.runs.answer_approval(caller.user_id, approval).await)
}

/// Renames a conversation.
#[server(prefix = "/rpc", endpoint = "rename_conversation", protocol = PageProtocol<Json>)]
pub async fn rename_conversation(conversation_id: ConversationId, title: String) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let title = caller.parse_title(&title)?;
    let user_id = caller.user_id;
    caller
        .commit(crate::storage::Change::RenameConversation {
            user_id,
            conversation_id,
            title,
        })
        .await
}

/// Marks a conversation as read, so that its news is not shown as unseen.
#[server(prefix = "/rpc", endpoint = "mark_read", protocol = PageProtocol<Json>)]
pub async fn mark_read(conversation_id: ConversationId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let user_id = caller.user_id;
    caller
        .commit(crate::storage::Change::MarkRead {
            user_id,
            conversation_id,
        })
        .await
}

/// Deletes a conversation with everything in it and stops its run.
#[server(prefix = "/rpc", endpoint = "delete_conversation", protocol = PageProtocol<Json>)]
pub async fn delete_conversation(conversation_id: ConversationId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(caller.app.runs.delete(caller.user_id, conversation_id).await)
}

/// Deletes a message of the user with all that follow it, or shows it again while that is possible.
#[server(prefix = "/rpc", endpoint = "set_message_deleted", protocol = PageProtocol<Json>)]
pub async fn set_message_deleted(
    conversation_id: ConversationId,
    message_id: MessageId,
    is_deleted: bool,
) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(match is_deleted {
        true => crate::app::deletion::delete_message(&caller, conversation_id, message_id).await,
        false => crate::app::deletion::restore_message(&caller, conversation_id, message_id).await,
    })
}

/// Sets the model that answers a conversation from now on.
#[server(prefix = "/rpc", endpoint = "choose_model", protocol = PageProtocol<Json>)]
pub async fn choose_model(conversation_id: ConversationId, model: String) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::turns::choose_model(&caller, conversation_id, &model).await)
}

/// Sets the parameters of a conversation's model from now on.
#[server(prefix = "/rpc", endpoint = "set_parameters", protocol = PageProtocol<Json>)]
pub async fn set_parameters(intent: intent::SetParameters) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let fingerprint = crate::app::fingerprint(&intent)?;
    caller.set_error_status(crate::app::parameters::set(&caller, intent, fingerprint).await)
}

/// Shows another branch of a conversation: of those through a message, the one that grew last.
#[server(prefix = "/rpc", endpoint = "select_branch", protocol = PageProtocol<Json>)]
pub async fn select_branch(conversation_id: ConversationId, through: MessageId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let user_id = caller.user_id;
    caller
        .commit(crate::storage::Change::SelectBranch {
            user_id,
            conversation_id,
            through,
        })
        .await
}

/// Copies a branch of a conversation into a new one.
#[server(prefix = "/rpc", endpoint = "branch_conversation", protocol = PageProtocol<Json>)]
pub async fn branch_conversation(intent: intent::BranchConversation) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let fingerprint = crate::app::fingerprint(&intent)?;
    let user_id = caller.user_id;
    caller
        .commit(crate::storage::Change::BranchConversation {
            user_id,
            intent,
            fingerprint,
        })
        .await
}

/// Returns a conversation as it stands now: its newest messages, back at least to `reach` if that is given.
#[server(prefix = "/rpc", endpoint = "conversation", protocol = PageProtocol<GetUrl>)]
pub async fn conversation(
    conversation_id: ConversationId,
    reach: Option<MessageId>,
) -> Result<Transcript, ApiError> {
    let caller = crate::app::current_caller()?;
    let page = caller.message_page_size();
    let storage = &caller.app.storage;
    caller.require_found(
        storage
            .transcript(caller.user_id, conversation_id, page, reach)
            .await,
    )
}

/// Returns a page of the messages that lead up to `before`.
#[server(name = LoadOlderMessages, prefix = "/rpc", endpoint = "older_messages", protocol = PageProtocol<GetUrl>)]
pub async fn older_messages(
    conversation_id: ConversationId,
    before: MessageId,
) -> Result<OlderMessages, ApiError> {
    let caller = crate::app::current_caller()?;
    let page = caller.message_page_size();
    let storage = &caller.app.storage;
    caller.require_found(
        storage
            .older_messages(caller.user_id, conversation_id, before, page)
            .await,
    )
}

/// Returns the panel's view of a payload, or the part of it that an answer shows.
#[server(prefix = "/rpc", endpoint = "payload", protocol = PageProtocol<GetUrl>)]
pub async fn payload(
    conversation_id: ConversationId,
    payload_id: String,
    #[server(default)] is_preview: bool,
) -> Result<PanelView, ApiError> {
    let caller = crate::app::current_caller()?;
    let view = crate::app::payloads::view(&caller, conversation_id, &payload_id, is_preview).await;
    caller.set_error_status(view)
}

/// Returns a page of a table whose rows are in a file: those that have the words of the filter, sorted by a column.
#[server(prefix = "/rpc", endpoint = "table_rows", protocol = PageProtocol<GetUrl>)]
pub async fn table_rows(
    conversation_id: ConversationId,
    payload_id: String,
    offset: u64,
    column: Option<usize>,
    #[server(default)] is_descending: bool,
    #[server(default)] filter: String,
) -> Result<TablePage, ApiError> {
    let caller = crate::app::current_caller()?;
    let query = crate::app::stored_tables::TableQuery {
        offset,
        column,
        is_descending,
        filter,
    };
    let page = crate::app::stored_tables::page(&caller, conversation_id, &payload_id, query).await;
    caller.set_error_status(page)
}

/// Accepts or rejects a proposed payload. Returns the verdict that counts, which is the first one.
#[server(prefix = "/rpc", endpoint = "judge_payload", protocol = PageProtocol<Json>)]
pub async fn judge_payload(intent: intent::JudgePayload) -> Result<Verdict, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::payloads::judge(&caller, intent).await)
}

/// Records that a suggested action was performed in the page.
#[server(prefix = "/rpc", endpoint = "take_action", protocol = PageProtocol<Json>)]
pub async fn take_action(intent: intent::TakeAction) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let fingerprint = crate::app::fingerprint(&intent)?;
    let user_id = caller.user_id;
    caller
        .commit(crate::storage::Change::TakeAction {
            user_id,
            intent,
            fingerprint,
        })
        .await
}

/// Returns the diagnostics of an answer.
#[server(prefix = "/rpc", endpoint = "diagnostics", protocol = PageProtocol<GetUrl>)]
pub async fn diagnostics(message_id: MessageId) -> Result<DiagnosticsView, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::diagnostics::view(&caller, message_id).await)
}

/// Returns a page of the conversation list: the newest conversations, or those after `before`.
#[server(prefix = "/rpc", endpoint = "conversations", protocol = PageProtocol<Json>)]
pub async fn conversations(before: Option<ListCursor>) -> Result<ConversationList, ApiError> {
    let caller = crate::app::current_caller()?;
    let limit = caller.app.settings.limits.conversations_page;
    caller.set_error_status(
        caller
            .app
            .storage
            .conversations(caller.user_id, before, limit)
            .await,
    )
}

/// Returns the models that can be chosen now.
#[server(prefix = "/rpc", endpoint = "models", protocol = PageProtocol<GetUrl>)]
pub async fn models() -> Result<ModelList, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::models::list(&caller.app, caller.user_id).await)
}

/// Returns the initial data of the page at a URL as JSON, which only the page's own code parses.
#[server(prefix = "/rpc", endpoint = "open_page", protocol = PageProtocol<GetUrl>)]
pub async fn open_page(address: String) -> Result<Raw, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.require_page(&address).await?;
    caller.set_error_status(caller.app.pages.load(caller.user_id, &address).await)
}

/// Returns the tokens and the cost of all answers of a conversation.
#[server(name = LoadTokenTotals, prefix = "/rpc", endpoint = "token_totals", protocol = PageProtocol<GetUrl>)]
pub async fn token_totals(conversation_id: ConversationId) -> Result<TokenTotals, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::token_totals::of_conversation(&caller, conversation_id).await)
}
