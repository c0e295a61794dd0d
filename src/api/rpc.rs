//! The page's own intents and queries.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, Attachment, AttachmentId, ConversationId, ConversationList, ListChange, ListChanged, MessageId,
    OlderMessages, PanelView, PayloadVerdict, ProjectId, RawJson as Raw, RunStatus, TokenTotals, Transcript,
    conversation_list::ListCursor,
    diagnostics::DiagnosticsView,
    intent::{self, StartedRun},
    model_list::ModelList,
    panel::TablePage,
    search::SearchHits,
};
use parlor_ui::api::rpc::RpcFunctions;

use parlor_storage::{ApprovalDecision, Change, ConversationChange, IntentChange};

#[async_trait]
impl RpcFunctions for Api {
    async fn send_message(&self, intent: intent::SendMessage) -> Result<StartedRun, ApiError> {
        let caller = app::current_caller()?;
        let context = caller.set_error_status(caller.app.pages.normalize(intent.context))?;
        let intent = intent::SendMessage { context, ..intent };
        let fingerprint = app::fingerprint(&intent)?;
        caller.set_error_status(app::turns::send_or_queue(&caller, intent, fingerprint).await)
    }

    async fn copy_file(&self, id: AttachmentId) -> Result<Attachment, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::files::copy(&caller, id).await)
    }

    async fn delete_upload(&self, id: AttachmentId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::files::delete(&caller, id).await)
    }

    async fn change_queue(
        &self,
        conversation_id: ConversationId,
        change: intent::QueueChange,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let runs = &caller.app.runs;
        caller.set_error_status(runs.change_queue(caller.user_id, conversation_id, change).await)
    }

    async fn regenerate(&self, intent: intent::Regenerate) -> Result<StartedRun, ApiError> {
        let caller = app::current_caller()?;
        let fingerprint = app::fingerprint(&intent)?;
        caller.set_error_status(app::turns::regenerate(&caller, intent, fingerprint).await)
    }

    async fn continue_run(&self, intent: intent::ContinueRun) -> Result<StartedRun, ApiError> {
        let caller = app::current_caller()?;
        let fingerprint = app::fingerprint(&intent)?;
        caller.set_error_status(
            caller
                .app
                .runs
                .continue_run(caller.user_id, intent, fingerprint)
                .await,
        )
    }

    async fn stop_run(&self, message_id: MessageId) -> Result<RunStatus, ApiError> {
        let caller = app::current_caller()?;
        caller.require_found(caller.app.runs.stop(caller.user_id, message_id).await)
    }

    async fn answer_approval(
        &self,
        message_id: MessageId,
        index: usize,
        answer: intent::ApprovalAnswer,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let approval = ApprovalDecision {
            run: message_id,
            index,
            answer,
        };
        caller.set_error_status(caller.app.runs.answer_approval(caller.user_id, approval).await)
    }

    async fn rename_conversation(
        &self,
        conversation_id: ConversationId,
        title: String,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let title = caller.parse_title(&title)?;
        let user_id = caller.user_id;
        caller
            .commit(Change::Conversation {
                user_id,
                conversation_id,
                change: ConversationChange::Rename { title },
            })
            .await
    }

    async fn mark_read(&self, conversation_id: ConversationId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let user_id = caller.user_id;
        caller
            .commit(Change::Conversation {
                user_id,
                conversation_id,
                change: ConversationChange::MarkRead,
            })
            .await
    }

    async fn change_conversations(
        &self,
        conversation_ids: Vec<ConversationId>,
        change: ListChange,
    ) -> Result<ListChanged, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::conversation_list::change(&caller, &conversation_ids, change).await)
    }

    async fn mark_all_read(&self) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::conversation_list::mark_all_read(&caller).await)
    }

    async fn delete_conversation(&self, conversation_id: ConversationId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(caller.app.runs.delete(caller.user_id, conversation_id).await)
    }

    async fn set_message_deleted(
        &self,
        conversation_id: ConversationId,
        message_id: MessageId,
        is_deleted: bool,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(match is_deleted {
            true => app::deletion::delete_message(&caller, conversation_id, message_id).await,
            false => app::deletion::restore_message(&caller, conversation_id, message_id).await,
        })
    }

    async fn choose_model(&self, conversation_id: ConversationId, model: String) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::turns::choose_model(&caller, conversation_id, &model).await)
    }

    async fn set_parameters(&self, intent: intent::SetParameters) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let fingerprint = app::fingerprint(&intent)?;
        caller.set_error_status(app::parameters::set(&caller, intent, fingerprint).await)
    }

    async fn select_branch(
        &self,
        conversation_id: ConversationId,
        through: MessageId,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let user_id = caller.user_id;
        caller
            .commit(Change::Conversation {
                user_id,
                conversation_id,
                change: ConversationChange::SelectBranch { through },
            })
            .await
    }

    async fn branch_conversation(&self, intent: intent::BranchConversation) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let fingerprint = app::fingerprint(&intent)?;
        let user_id = caller.user_id;
        caller
            .commit(Change::Intent {
                user_id,
                change: IntentChange::BranchConversation { intent, fingerprint },
            })
            .await
    }

    async fn conversation(
        &self,
        conversation_id: ConversationId,
        reach: Option<MessageId>,
    ) -> Result<Transcript, ApiError> {
        let caller = app::current_caller()?;
        let page = caller.message_page_size();
        let storage = &caller.app.storage;
        caller.require_found(
            storage
                .transcript(caller.user_id, conversation_id, page, reach)
                .await,
        )
    }

    async fn older_messages(
        &self,
        conversation_id: ConversationId,
        before: MessageId,
    ) -> Result<OlderMessages, ApiError> {
        let caller = app::current_caller()?;
        let page = caller.message_page_size();
        caller.set_error_status(caller.require_not_deleted(conversation_id).await)?;
        let storage = &caller.app.storage;
        caller.require_found(
            storage
                .older_messages(caller.user_id, conversation_id, before, page)
                .await,
        )
    }

    async fn payload(
        &self,
        conversation_id: ConversationId,
        payload_id: String,
        is_preview: bool,
    ) -> Result<PanelView, ApiError> {
        let caller = app::current_caller()?;
        let view = app::payloads::view(&caller, conversation_id, &payload_id, is_preview).await;
        caller.set_error_status(view)
    }

    async fn table_rows(
        &self,
        conversation_id: ConversationId,
        payload_id: String,
        offset: u64,
        column: Option<usize>,
        is_descending: bool,
        filter: String,
    ) -> Result<TablePage, ApiError> {
        let caller = app::current_caller()?;
        let query = app::stored_tables::TableQuery {
            offset,
            column,
            is_descending,
            filter,
        };
        let page = app::stored_tables::page(&caller, conversation_id, &payload_id, query).await;
        caller.set_error_status(page)
    }

    async fn judge_payload(&self, intent: intent::JudgePayload) -> Result<PayloadVerdict, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::payloads::judge(&caller, intent).await)
    }

    async fn take_action(&self, intent: intent::TakeAction) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let fingerprint = app::fingerprint(&intent)?;
        let user_id = caller.user_id;
        caller
            .commit(Change::Intent {
                user_id,
                change: IntentChange::TakeAction { intent, fingerprint },
            })
            .await
    }

    async fn diagnostics(&self, message_id: MessageId) -> Result<DiagnosticsView, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::diagnostics::view(&caller, message_id).await)
    }

    async fn search(
        &self,
        query: String,
        conversation_id: Option<ConversationId>,
        cursor: Option<String>,
        limit: Option<usize>,
    ) -> Result<SearchHits, ApiError> {
        let caller = app::current_caller()?;
        let searched = app::search::Searched {
            query,
            conversation_id,
            cursor,
            limit,
            is_typed: true,
            ..Default::default()
        };
        caller.set_error_status(app::search::search(&caller, searched).await)
    }

    async fn conversations(
        &self,
        before: Option<ListCursor>,
        is_archived: bool,
        project_id: Option<ProjectId>,
    ) -> Result<ConversationList, ApiError> {
        let caller = app::current_caller()?;
        let limit = caller.app.settings.limits.conversations_page;
        let (storage, user_id) = (&caller.app.storage, caller.user_id);
        caller.set_error_status(match (project_id, is_archived) {
            (Some(id), _) => {
                caller.set_error_status(app::projects::get(&caller, id).await)?;
                storage.project_conversations(user_id, id, before, limit).await
            }
            (None, false) => storage.conversations(user_id, before, limit).await,
            (None, true) => storage.archived_conversations(user_id, before, limit).await,
        })
    }

    async fn models(&self) -> Result<ModelList, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::models::list(&caller.app, caller.user_id).await)
    }

    async fn listed_pages(&self) -> Result<Vec<String>, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::listed_pages::of_user(&caller).await)
    }

    async fn open_page(&self, address: String) -> Result<Raw, ApiError> {
        let caller = app::current_caller()?;
        caller.require_page(&address).await?;
        caller.set_error_status(caller.app.pages.load(caller.user_id, &address).await)
    }

    async fn token_totals(&self, conversation_id: ConversationId) -> Result<TokenTotals, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::token_totals::of_conversation(&caller, conversation_id).await)
    }
}
