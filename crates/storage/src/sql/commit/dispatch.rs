//! The mapping from each change to its implementation.

use crate::sql::database::Connection;

use super::{
    super::daily_usage::add_usage,
    Batch, ChangeError,
    audit::NewEntry,
    literature::store_abstract,
    page_context::store_context_description,
    project_readers::{concerns_readers, readers_of_conversation},
    queue_state::ConversationKey,
};
use crate::{
    Change, ConversationChange, FileChange, IntentChange, LibraryUpdate, Outcome, PersonalChange, RunChange,
    RunKey, RunOutput, audit::AuditAction,
};
use parlor_protocol::{ConversationEvent, UserId};

impl Batch<'_> {
    /// Applies a change that was not applied before.
    pub(super) async fn apply_new_change(
        &mut self,
        connection: &mut Connection,
        change: &Change,
    ) -> Result<Outcome, ChangeError> {
        match change {
            Change::Output { run, output } => self.apply_output(connection, run, output).await,
            Change::Intent { user_id, change } => self.apply_intent(connection, *user_id, change).await,
            Change::Run(change) => self.change_run(connection, change).await,
            Change::Conversation {
                user_id,
                conversation_id,
                change,
            } => {
                self.change_conversation_of_readers(connection, (*user_id, *conversation_id), change)
                    .await
            }
            Change::File(change) => self.change_files(connection, change).await,
            Change::Library { user_id, update } => self.update_library(connection, *user_id, update).await,
            Change::Personal { user_id, change } => self.change_personal(connection, *user_id, change).await,
            Change::Project { user_id, change } => self.change_projects(connection, *user_id, change).await,
            Change::Schedule { user_id, change } => self.change_schedules(connection, *user_id, change).await,
            Change::Column { user_id, change } => self.change_columns(connection, *user_id, change).await,
            Change::Job { user_id, change } => self.change_job(connection, *user_id, change).await,
            Change::Share(change) => self.change_shares(connection, change).await,
            Change::Account(change) => self.change_accounts(connection, change).await,
            Change::Endpoint { by, change } => self.change_endpoints(connection, *by, change).await,
        }
    }

    /// Stores the output of a run.
    async fn apply_output(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        output: &RunOutput,
    ) -> Result<Outcome, ChangeError> {
        match output {
            RunOutput::AppendEvents { .. } => Ok(Outcome::Done),
            RunOutput::StoreMessage { message } => self.store_message(connection, run, message).await,
            RunOutput::StorePayload { payload } => self.store_payload(connection, run, payload).await,
            RunOutput::StoreProviderData { placed } => {
                self.store_provider_data(connection, run, placed).await
            }
            RunOutput::RecordCall { call, keep_runs } => {
                self.record_call(connection, run, call, *keep_runs).await
            }
            RunOutput::StoreAttachment { attachment } => {
                self.store_attachment(connection, run, attachment).await
            }
            RunOutput::PauseRun { events, message } => self.pause_run(connection, run, events, message).await,
            RunOutput::EndRun { events, message } => self.end_run(connection, run, events, message).await,
            RunOutput::HandOverRun { events, message } => {
                self.hand_over_run(connection, run, events, message).await
            }
            RunOutput::AbandonRun {
                events,
                status,
                message,
            } => {
                self.require_not_foreign(&mut *connection, *run).await?;
                self.abandon_run(connection, run, events, *status, message.as_deref())
                    .await
            }
            RunOutput::TitleConversation {
                replaces,
                title,
                totals,
            } => {
                self.count_title(&mut *connection, run, *totals).await?;
                self.set_title(connection, run, replaces, title.as_deref()).await
            }
            RunOutput::CountCutCall { totals } => {
                add_usage(connection, run.user_id, totals, self.at).await?;
                Ok(Outcome::Done)
            }
            RunOutput::StoreSummary { summary } => self.store_summary(connection, run, summary).await,
        }
    }

    /// Applies an intent that was not applied before.
    async fn apply_intent(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &IntentChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            IntentChange::SendMessage { intent, start } => Ok(Outcome::Started {
                started: self
                    .send_message(connection, user_id, intent, start, None)
                    .await?,
                again: false,
            }),
            IntentChange::QueueMessage {
                intent,
                start,
                limits,
            } => {
                self.queue_message(connection, user_id, intent, start, *limits)
                    .await
            }
            IntentChange::RunSchedule {
                intent,
                start,
                scheduled,
            } => Ok(Outcome::Started {
                started: self
                    .run_schedule(connection, user_id, (intent, start), scheduled)
                    .await?,
                again: false,
            }),
            IntentChange::Regenerate { intent, start } => Ok(Outcome::Started {
                started: self.regenerate(connection, user_id, intent, start).await?,
                again: false,
            }),
            IntentChange::ContinueRun { intent, .. } => Ok(Outcome::Started {
                started: self.continue_run(connection, user_id, intent).await?,
                again: false,
            }),
            IntentChange::JudgePayload { intent, .. } => {
                self.judge_payload(connection, user_id, intent).await
            }
            IntentChange::TakeAction { intent, .. } => self.take_action(connection, user_id, intent).await,
            IntentChange::SetParameters {
                intent, parameters, ..
            } => {
                self.set_parameters(connection, user_id, intent.conversation_id, parameters)
                    .await
            }
            IntentChange::BranchConversation { intent, .. } => {
                self.branch_conversation(connection, user_id, intent).await
            }
        }
    }

    /// Changes a run.
    async fn change_run(
        &mut self,
        connection: &mut Connection,
        change: &RunChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            RunChange::SendQueued { run, user_message_id } => {
                self.send_queued(connection, *run, *user_message_id).await
            }
            RunChange::AnswerApproval { user_id, approval } => {
                self.answer_approval(connection, *user_id, *approval).await
            }
            RunChange::TakeOver { run } => self.take_run(connection, *run).await,
            RunChange::Recover { run } => self.recover_run(connection, *run).await,
            RunChange::LeaveAnswer { user_id, approval } => {
                self.leave_answer(connection, *user_id, *approval).await
            }
            RunChange::ForgetAnswers { run, stored } => self.forget_answers(connection, *run, stored).await,
            RunChange::Resume { run } => self.resume_abandoned_run(connection, *run).await,
            RunChange::StoreContextSnapshot {
                run,
                text,
                instructions,
            } => store_context_description(connection, run, text, instructions).await,
        }
    }

    /// Changes a conversation.
    async fn change_conversation(
        &mut self,
        connection: &mut Connection,
        key: ConversationKey,
        change: &ConversationChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            ConversationChange::Queue { change, limits } => {
                self.change_queue(connection, key, change, *limits).await
            }
            ConversationChange::AllowTool { tool } => self.allow_tool(connection, key.0, key.1, tool).await,
            ConversationChange::Rename { title } => {
                let event = ConversationEvent::ConversationRenamed { title: title.clone() };
                let sql = "UPDATE conversations SET title = $3 WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL";
                self.update_conversation(connection, key.0, key.1, sql, title, event)
                    .await
            }
            ConversationChange::ChooseModel { model } => {
                let event = ConversationEvent::ModelChosen { model: model.clone() };
                let sql = "UPDATE conversations SET model = $3 WHERE user_id = $1 AND id = $2 AND trashed_at IS NULL";
                self.update_conversation(connection, key.0, key.1, sql, model, event)
                    .await
            }
            ConversationChange::SelectBranch { through } => {
                self.select_branch(connection, key.0, key.1, *through).await
            }
            ConversationChange::DeleteMessage {
                message_id,
                hidden_at,
            } => {
                self.delete_message(connection, key, *message_id, *hidden_at)
                    .await
            }
            ConversationChange::RestoreMessage { message_id } => {
                self.restore_message(connection, key, *message_id).await
            }
            ConversationChange::EraseMessage {
                message_id,
                hidden_at,
            } => self.erase_message(connection, key, *message_id, *hidden_at).await,
            ConversationChange::MarkRead => self.mark_read(connection, key.0, key.1).await,
            ConversationChange::Pin { is_pinned, limit } => {
                self.set_pinned(connection, key, *is_pinned, *limit).await
            }
            ConversationChange::Archive { is_archived } => {
                self.set_archived(connection, key, *is_archived).await
            }
            ConversationChange::Move { project_id } => {
                self.move_conversation(connection, key, *project_id).await
            }
            ConversationChange::Keep => self.keep_conversation(connection, key).await,
            ConversationChange::Trash { trashed_at } => {
                self.trash_conversation(connection, key, *trashed_at).await
            }
            ConversationChange::Restore => self.restore_conversation(connection, key).await,
            ConversationChange::Erase { trashed_at } => {
                self.erase_conversation(connection, key, *trashed_at).await
            }
            ConversationChange::Expire { before, reason } => {
                self.expire_conversation(connection, key, *before, *reason).await
            }
            ConversationChange::Delete => self.delete_conversation(connection, key.0, key.1).await,
        }
    }

    /// Changes a conversation, and tells those who read its project, before or after the change, if it concerns them.
    async fn change_conversation_of_readers(
        &mut self,
        connection: &mut Connection,
        key: ConversationKey,
        change: &ConversationChange,
    ) -> Result<Outcome, ChangeError> {
        if !concerns_readers(change) {
            return self.change_conversation(connection, key, change).await;
        }
        let mut readers = readers_of_conversation(&mut *connection, key).await?;
        let outcome = self.change_conversation(&mut *connection, key, change).await?;
        if outcome != Outcome::Unchanged {
            readers.extend(readers_of_conversation(&mut *connection, key).await?);
            self.tell(connection, readers, false).await?;
        }
        Ok(outcome)
    }

    /// Changes files.
    async fn change_files(
        &mut self,
        connection: &mut Connection,
        change: &FileChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            FileChange::StoreUpload { file } => self.store_upload(connection, file).await,
            FileChange::CopyFile { user_id, id, copy } => {
                self.copy_file(connection, *user_id, *id, *copy).await
            }
            FileChange::IndexText {
                id,
                first,
                texts,
                is_last,
            } => {
                self.index_file_text(connection, *id, *first, texts, *is_last)
                    .await
            }
            FileChange::DeleteUpload { user_id, id } => self.delete_upload(connection, *user_id, *id).await,
            FileChange::DeleteContent { user_id, id } => self.delete_content(connection, *user_id, *id).await,
            FileChange::ExpireUploads { before } => self.expire_uploads(connection, *before).await,
            FileChange::ForgetDeletedFiles { locations } => {
                self.forget_deleted_files(connection, locations).await
            }
            FileChange::ReplaceAttachmentRow { file, message_id } => {
                self.replace_attachment_row(connection, file, *message_id).await
            }
        }
    }

    /// Changes a user's library.
    async fn update_library(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        update: &LibraryUpdate,
    ) -> Result<Outcome, ChangeError> {
        match update {
            LibraryUpdate::SaveArticle {
                article,
                abstract_text,
                limit,
            } => {
                let abstract_text = abstract_text.as_deref();
                self.save_article(connection, user_id, article, abstract_text, *limit)
                    .await
            }
            LibraryUpdate::StoreAbstract { pmid, abstract_text } => {
                store_abstract(connection, user_id, pmid, abstract_text).await
            }
            LibraryUpdate::SetArticleNote { pmid, note, replaces } => {
                self.set_article_note(connection, user_id, pmid, note, replaces)
                    .await
            }
            LibraryUpdate::RemoveArticle { pmid } => self.remove_article(connection, user_id, pmid).await,
            LibraryUpdate::SaveResearchStream { stream, limit } => {
                self.save_stream(connection, user_id, stream, *limit).await
            }
            LibraryUpdate::DeleteResearchStream { stream_id } => {
                self.delete_stream(connection, user_id, *stream_id).await
            }
        }
    }

    /// Changes what a user has set for all conversations.
    async fn change_personal(
        &mut self,
        connection: &mut Connection,
        user_id: UserId,
        change: &PersonalChange,
    ) -> Result<Outcome, ChangeError> {
        match change {
            PersonalChange::AddMemory {
                memory,
                project_id,
                limit,
            } => {
                self.add_memory(connection, (user_id, *project_id), memory, *limit)
                    .await
            }
            PersonalChange::EditMemory { memory_id, text } => {
                self.edit_memory(connection, (user_id, *memory_id), text).await
            }
            PersonalChange::DeleteMemory { memory_id } => {
                self.delete_memory(connection, (user_id, *memory_id)).await
            }
            PersonalChange::DeleteAllMemories { project_id } => {
                self.delete_all_memories(connection, (user_id, *project_id)).await
            }
            PersonalChange::SetRetention { days } => self.set_retention(connection, user_id, *days).await,
            PersonalChange::SetChatSearch { is_on } => {
                self.set_chat_search(connection, user_id, *is_on).await
            }
            PersonalChange::SetSeenVersion { version } => {
                self.set_seen_version(connection, user_id, version).await
            }
            PersonalChange::SetInstructions { text } => {
                self.set_instructions(connection, user_id, text).await
            }
            PersonalChange::AddToken { token, hash, limit } => {
                let added = self.add_token(connection, user_id, token, hash, *limit).await?;
                let entry = NewEntry::by_user(user_id, AuditAction::TokenMade);
                entry.store(connection, self.at).await?;
                Ok(added)
            }
            PersonalChange::RevokeToken { token_id } => {
                let revoked = self.revoke_token(connection, user_id, *token_id).await?;
                let entry = NewEntry::by_user(user_id, AuditAction::TokenRevoked);
                entry.store(connection, self.at).await?;
                Ok(revoked)
            }
            PersonalChange::RecordTokenUse { token_id } => {
                self.record_token_use(connection, user_id, *token_id).await
            }
        }
    }
}
