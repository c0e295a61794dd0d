//! Recovery when the log can't be followed: new snapshots, from which the stream resumes.

use leptos::task::spawn_local;

use super::{EventFollower, resume_position, split_result};
use crate::{api::rpc, browser, runtime::backoff::backoff_ms};
use parlor_protocol::{ApiError, ConversationId, ConversationList, Transcript};

impl EventFollower {
    /// Loads the snapshots again and resumes from them.
    pub(super) fn resync(self) {
        if !self.connection.pause() {
            return;
        }
        spawn_local(async move {
            let mut tries = 0;
            while !self.try_resync().await {
                self.connection.mark_disconnected();
                tries += 1;
                browser::sleep(backoff_ms(tries)).await;
            }
            self.connection.resume();
        });
    }

    /// Loads the snapshots and replaces the old ones. Returns false if the server gave no definite result.
    async fn try_resync(self) -> bool {
        let shown = self.navigation.shown_conversation();
        let known = shown.map(|id| self.outbox.known_intents(id)).unwrap_or_default();
        let transcript = async {
            match shown {
                Some(id) => Some(self.conversations.request_conversation(id).await),
                None => None,
            }
        };
        let list = self.connection.call(rpc::conversations(None, false, None));
        let (list, transcript) = futures::join!(list, transcript);
        // Content on the screen is replaced only by a definite result of the server.
        let is_unanswered = matches!(&transcript, Some(Err(error))
            if error.code.is_temporary());
        let Ok(list) = list else { return false };
        if is_unanswered {
            return false;
        }
        self.outbox.forget_intents(&known);
        self.replace_snapshots(list, shown.zip(transcript));
        self.projects.reload();
        true
    }

    /// Replaces the old snapshots with new ones: the list, and the result of the request for a conversation.
    pub(super) fn replace_snapshots(
        self,
        list: ConversationList,
        loaded: Option<(ConversationId, Result<Transcript, ApiError>)>,
    ) {
        let head = list.as_of;
        let reloaded = loaded.as_ref().map(|(id, _)| *id);
        let adopted = loaded.map(|(id, loaded)| self.conversations.adopt_snapshot(id, head, loaded));
        let (transcript, error) = split_result(adopted);
        self.connection
            .set_cursor(resume_position(&list, transcript.as_ref()));
        self.list.restart(list);
        self.archive.reopen();
        self.project_chats.reopen();
        self.conversations.restart(reloaded, transcript);
        if let (Some(id), Some(error)) = (reloaded, &error) {
            self.conversations.handle_load_error(id, error);
        }
        // The changes in between are unknown.
        self.feeds.report_settings_change();
        self.feeds.report_page_reload();
        self.conversations.update_signals();
    }
}
