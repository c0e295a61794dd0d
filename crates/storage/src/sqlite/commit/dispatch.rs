//! The mapping from each change to its implementation.

use sqlx::SqliteConnection;

use super::{
    super::daily_usage::add_usage, Batch, ChangeError, audit::NewEntry, literature::store_abstract,
    page_context::store_context_description,
};
use crate::{Change, Outcome, audit::AuditAction};
use parlor_protocol::EventBody;

impl Batch<'_> {
    /// Applies a change that was not applied before.
    pub(super) async fn apply_new_change(
        &mut self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Outcome, ChangeError> {
        match change {
            Change::SendMessage {
                user_id,
                intent,
                start,
            } => Ok(Outcome::Started {
                started: self
                    .send_message(connection, *user_id, intent, start, None)
                    .await?,
                again: false,
            }),
            Change::QueueMessage {
                user_id,
                intent,
                start,
                limits,
            } => {
                self.queue_message(connection, *user_id, intent, start, *limits)
                    .await
            }
            Change::SendQueued { run, user_message_id } => {
                self.send_queued(connection, *run, *user_message_id).await
            }
            Change::ChangeQueue {
                user_id,
                conversation_id,
                change,
                limits,
            } => {
                let key = (*user_id, *conversation_id);
                self.change_queue(connection, key, change, *limits).await
            }
            Change::Regenerate {
                user_id,
                intent,
                start,
            } => Ok(Outcome::Started {
                started: self.regenerate(connection, *user_id, intent, start).await?,
                again: false,
            }),
            Change::ContinueRun { user_id, intent, .. } => Ok(Outcome::Started {
                started: self.continue_run(connection, *user_id, intent).await?,
                again: false,
            }),
            Change::AppendEvents { .. } => Ok(Outcome::Done),
            Change::StoreMessage { run, message } => self.store_message(connection, run, message).await,
            Change::StorePayload { run, payload } => self.store_payload(connection, run, payload).await,
            Change::StoreProviderData { run, placed } => {
                self.store_provider_data(connection, run, placed).await
            }
            Change::RecordCall { run, call, keep_runs } => {
                self.record_call(connection, run, call, *keep_runs).await
            }
            Change::StoreAttachment { run, attachment } => {
                self.store_attachment(connection, run, attachment).await
            }
            Change::StoreUpload { file } => self.store_upload(connection, file).await,
            Change::CopyFile { user_id, id, copy } => self.copy_file(connection, *user_id, *id, *copy).await,
            Change::DeleteUpload { user_id, id } => self.delete_upload(connection, *user_id, *id).await,
            Change::ExpireUploads { before } => self.expire_uploads(connection, *before).await,
            Change::ForgetDeletedFiles { locations } => {
                self.forget_deleted_files(connection, locations).await
            }
            Change::ReplaceAttachmentRow { file, message_id } => {
                self.replace_attachment_row(connection, file, *message_id).await
            }
            Change::PauseRun { run, events, message } => {
                self.pause_run(connection, run, events, message).await
            }
            Change::AnswerApproval { user_id, approval } => {
                self.answer_approval(connection, *user_id, *approval).await
            }
            Change::JudgePayload { user_id, intent, .. } => {
                self.judge_payload(connection, *user_id, intent).await
            }
            Change::TakeAction { user_id, intent, .. } => {
                self.take_action(connection, *user_id, intent).await
            }
            Change::AllowTool {
                user_id,
                conversation_id,
                tool,
            } => {
                self.allow_tool(connection, *user_id, *conversation_id, tool)
                    .await
            }
            Change::EndRun { run, events, message } => self.end_run(connection, run, events, message).await,
            Change::HandOverRun { run, events, message } => {
                self.hand_over_run(connection, run, events, message).await
            }
            Change::AbandonRun {
                run,
                events,
                status,
                message,
            } => {
                self.abandon_run(connection, run, events, *status, message.as_deref())
                    .await
            }
            Change::TitleConversation {
                run,
                replaces,
                title,
                totals,
            } => {
                self.count_title(&mut *connection, run, *totals).await?;
                self.set_title(connection, run, replaces, title.as_deref()).await
            }
            Change::RenameConversation {
                user_id,
                conversation_id,
                title,
            } => {
                let event = EventBody::ConversationRenamed { title: title.clone() };
                let sql = "UPDATE conversations SET title = $3 WHERE user_id = $1 AND id = $2";
                self.update_conversation(connection, *user_id, *conversation_id, sql, title, event)
                    .await
            }
            Change::ChooseModel {
                user_id,
                conversation_id,
                model,
            } => {
                let event = EventBody::ModelChosen { model: model.clone() };
                let sql = "UPDATE conversations SET model = $3 WHERE user_id = $1 AND id = $2";
                self.update_conversation(connection, *user_id, *conversation_id, sql, model, event)
                    .await
            }
            Change::SetParameters {
                user_id,
                intent,
                parameters,
                ..
            } => {
                self.set_parameters(connection, *user_id, intent.conversation_id, parameters)
                    .await
            }
            Change::CountCutCall { run, totals } => {
                add_usage(connection, run.user_id, totals, self.at).await?;
                Ok(Outcome::Done)
            }
            Change::StoreSummary { run, summary } => self.store_summary(connection, run, summary).await,
            Change::SelectBranch {
                user_id,
                conversation_id,
                through,
            } => {
                self.select_branch(connection, *user_id, *conversation_id, *through)
                    .await
            }
            Change::BranchConversation { user_id, intent, .. } => {
                self.branch_conversation(connection, *user_id, intent).await
            }
            Change::DeleteMessage {
                user_id,
                conversation_id,
                message_id,
                hidden_at,
            } => {
                let key = (*user_id, *conversation_id);
                self.delete_message(connection, key, *message_id, *hidden_at)
                    .await
            }
            Change::RestoreMessage {
                user_id,
                conversation_id,
                message_id,
            } => {
                let key = (*user_id, *conversation_id);
                self.restore_message(connection, key, *message_id).await
            }
            Change::EraseMessage {
                user_id,
                conversation_id,
                message_id,
                hidden_at,
            } => {
                let key = (*user_id, *conversation_id);
                self.erase_message(connection, key, *message_id, *hidden_at).await
            }
            Change::MarkRead {
                user_id,
                conversation_id,
            } => self.mark_read(connection, *user_id, *conversation_id).await,
            Change::DeleteConversation {
                user_id,
                conversation_id,
            } => {
                self.delete_conversation(connection, *user_id, *conversation_id)
                    .await
            }
            Change::AddMemory {
                user_id,
                memory,
                limit,
            } => self.add_memory(connection, *user_id, memory, *limit).await,
            Change::DeleteMemory { user_id, memory_id } => {
                self.delete_memories(connection, *user_id, Some(*memory_id)).await
            }
            Change::SaveArticle {
                user_id,
                article,
                abstract_text,
                limit,
            } => {
                let abstract_text = abstract_text.as_deref();
                self.save_article(connection, *user_id, article, abstract_text, *limit)
                    .await
            }
            Change::StoreAbstract {
                user_id,
                pmid,
                abstract_text,
            } => store_abstract(connection, *user_id, pmid, abstract_text).await,
            Change::StoreContextSnapshot {
                run,
                text,
                instructions,
            } => store_context_description(connection, run, text, instructions).await,
            Change::SetArticleNote {
                user_id,
                pmid,
                note,
                replaces,
            } => {
                self.set_article_note(connection, *user_id, pmid, note, replaces)
                    .await
            }
            Change::RemoveArticle { user_id, pmid } => self.remove_article(connection, *user_id, pmid).await,
            Change::SaveResearchStream {
                user_id,
                stream,
                limit,
            } => self.save_stream(connection, *user_id, stream, *limit).await,
            Change::DeleteResearchStream { user_id, stream_id } => {
                self.delete_stream(connection, *user_id, *stream_id).await
            }
            Change::DeleteAllMemories { user_id } => self.delete_memories(connection, *user_id, None).await,
            Change::SetInstructions { user_id, text } => {
                self.set_instructions(connection, *user_id, text).await
            }
            Change::AddToken {
                user_id,
                token,
                hash,
                limit,
            } => {
                let added = self.add_token(connection, *user_id, token, hash, *limit).await?;
                let entry = NewEntry::by_user(*user_id, AuditAction::TokenMade);
                entry.store(connection, self.at).await?;
                Ok(added)
            }
            Change::RevokeToken { user_id, token_id } => {
                let revoked = self.revoke_token(connection, *user_id, *token_id).await?;
                let entry = NewEntry::by_user(*user_id, AuditAction::TokenRevoked);
                entry.store(connection, self.at).await?;
                Ok(revoked)
            }
            Change::RecordTokenUse { user_id, token_id } => {
                self.record_token_use(connection, *user_id, *token_id).await
            }
            Change::Share(change) => self.change_shares(connection, change).await,
            Change::Account(change) => self.change_accounts(connection, change).await,
        }
    }
}
