//! Who does which change.

use sqlx::SqliteConnection;

use super::{
    Batch, Failure,
    literature::{keep_seen, keep_summary},
};
use crate::{
    protocol::EventBody,
    storage::{Change, Outcome},
};

impl Batch {
    /// Does a change that was not done before.
    pub(super) async fn do_new(
        &mut self,
        connection: &mut SqliteConnection,
        change: &Change,
    ) -> Result<Outcome, Failure> {
        match change {
            Change::Send {
                user_id,
                intent,
                start,
            } => Ok(Outcome::Started {
                started: self.send(connection, *user_id, intent, start).await?,
                again: false,
            }),
            Change::Regenerate {
                user_id,
                intent,
                start,
            } => Ok(Outcome::Started {
                started: self.regenerate(connection, *user_id, intent, start).await?,
                again: false,
            }),
            Change::Continue { user_id, intent, .. } => Ok(Outcome::Started {
                started: self.go_on(connection, *user_id, intent).await?,
                again: false,
            }),
            Change::Append { .. } => Ok(Outcome::Done),
            Change::Store { run, message } => self.store_output(connection, run, message).await,
            Change::Keep { run, payload } => self.keep(connection, run, payload).await,
            Change::KeepOpaque { run, placed } => self.keep_opaque(connection, run, placed).await,
            Change::Record { run, call, keep_runs } => self.record(connection, run, call, *keep_runs).await,
            Change::Attach { run, attachment } => self.attach(connection, run, attachment).await,
            Change::Pause { run, events, message } => self.pause(connection, run, events, message).await,
            Change::Answer { user_id, approval } => self.answer(connection, *user_id, *approval).await,
            Change::Judge { user_id, intent, .. } => self.judge(connection, *user_id, intent).await,
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
            Change::End { run, events, message } => self.end(connection, run, events, message).await,
            Change::GiveUp {
                run,
                events,
                status,
                message,
            } => {
                self.give_up(connection, run, events, *status, message.as_deref())
                    .await
            }
            Change::Rename {
                user_id,
                conversation_id,
                title,
            } => {
                let event = EventBody::ConversationRenamed { title: title.clone() };
                let sql = "UPDATE conversations SET title = ?3 WHERE user_id = ?1 AND id = ?2";
                self.update(connection, *user_id, *conversation_id, sql, title, event)
                    .await
            }
            Change::ChooseModel {
                user_id,
                conversation_id,
                model,
            } => {
                let event = EventBody::ModelChosen { model: model.clone() };
                let sql = "UPDATE conversations SET model = ?3 WHERE user_id = ?1 AND id = ?2";
                self.update(connection, *user_id, *conversation_id, sql, model, event)
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
            Change::Summarise { run, summary } => self.summarise(connection, run, summary).await,
            Change::SelectBranch {
                user_id,
                conversation_id,
                through,
            } => {
                self.select_branch(connection, *user_id, *conversation_id, *through)
                    .await
            }
            Change::MarkRead {
                user_id,
                conversation_id,
            } => self.mark_read(connection, *user_id, *conversation_id).await,
            Change::Delete {
                user_id,
                conversation_id,
            } => self.delete(connection, *user_id, *conversation_id).await,
            Change::Remember {
                user_id,
                memory,
                limit,
            } => self.remember_text(connection, *user_id, memory, *limit).await,
            Change::Forget { user_id, memory_id } => {
                self.forget(connection, *user_id, Some(*memory_id)).await
            }
            Change::SaveArticle {
                user_id,
                article,
                summary,
                limit,
            } => {
                let summary = summary.as_deref();
                self.save_article(connection, *user_id, article, summary, *limit)
                    .await
            }
            Change::KeepSummary {
                user_id,
                pmid,
                summary,
            } => keep_summary(connection, *user_id, pmid, summary).await,
            Change::KeepLooking {
                run,
                text,
                instructions,
            } => keep_seen(connection, run, text, instructions).await,
            Change::NoteArticle {
                user_id,
                pmid,
                note,
                replaces,
            } => {
                self.note_article(connection, *user_id, pmid, note, replaces)
                    .await
            }
            Change::RemoveArticle { user_id, pmid } => self.remove_article(connection, *user_id, pmid).await,
            Change::KeepStream {
                user_id,
                stream,
                limit,
            } => self.keep_stream(connection, *user_id, stream, *limit).await,
            Change::DeleteStream { user_id, stream_id } => {
                self.delete_stream(connection, *user_id, *stream_id).await
            }
            Change::ForgetAll { user_id } => self.forget(connection, *user_id, None).await,
            Change::SetInstructions { user_id, text } => {
                self.set_instructions(connection, *user_id, text).await
            }
            Change::AddToken {
                user_id,
                token,
                hash,
                limit,
            } => self.add_token(connection, *user_id, token, hash, *limit).await,
            Change::RevokeToken { user_id, token_id } => {
                self.revoke_token(connection, *user_id, *token_id).await
            }
            Change::UseToken { user_id, token_id } => self.use_token(connection, *user_id, *token_id).await,
        }
    }
}
