//! Notifications for the end of long answers while the user looks elsewhere.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::rpc,
    browser,
    state::texts,
    state::{
        connection::Connection, conversation_list::ConversationListStore, conversations::OpenConversations,
        lifecycle::PageLifecycle, navigation::Navigation, preview_line::first_line, route::Route,
    },
};
use parlor_protocol::{Message, MessageId, RunStatus, Transcript, conversation_list::RunEnd};

/// Notifies the user of ended runs.
#[derive(Clone, Copy)]
pub struct RunEndNotifier {
    pub list: ConversationListStore,
    pub conversations: OpenConversations,
    pub connection: Connection,
    pub lifecycle: PageLifecycle,
    pub navigation: Navigation,
}

impl RunEndNotifier {
    /// Handles the end of a run.
    pub fn on_run_end(self, ended: RunEnd) {
        let duration = (ended.ended_at.0 - ended.started_at.0) as f64;
        let is_long = duration >= browser::long_answer_threshold_ms();
        if is_long && super::is_recent(ended.ended_at) && super::is_enabled() {
            browser::set_timeout(super::SEEN_DELAY_MS, move || self.notify_unless_seen(ended)).detach();
        }
    }

    fn notify_unless_seen(self, ended: RunEnd) {
        let id = ended.conversation_id;
        let title = self.list.unseen_title(id);
        let is_on_screen = self.navigation.shown_conversation() == Some(id);
        let seen = is_on_screen && untrack(|| self.lifecycle.is_visible());
        let Some(title) = title.filter(|_| !seen) else {
            return;
        };
        let tag = ended.run_id.to_string();
        super::show_in_one_tab(&tag.clone(), move || {
            spawn_local(async move {
                let line = self.load_ending_line(ended).await;
                browser::notify(&title, &line, &tag, move || {
                    self.navigation.go_to(Route::Conversation(id))
                });
            });
        });
    }

    /// A line about the result.
    async fn load_ending_line(self, ended: RunEnd) -> String {
        let line = |transcript: &Transcript| ending_line(transcript, ended.run_id);
        let id = ended.conversation_id;
        match self.conversations.with_transcript(id, line).flatten() {
            Some(line) => line,
            None => match self.connection.call(rpc::conversation(id, None)).await {
                Ok(transcript) => line(&transcript).unwrap_or_default(),
                Err(_) => String::new(),
            },
        }
    }
}

fn ending_line(transcript: &Transcript, run: MessageId) -> Option<String> {
    let answer = transcript.message(run).and_then(Message::assistant)?;
    match answer.status {
        RunStatus::Running | RunStatus::Waiting => None,
        RunStatus::Failed => Some(texts::RUN_FAILED.into()),
        RunStatus::Interrupted => Some(texts::RUN_INTERRUPTED.into()),
        RunStatus::Complete | RunStatus::Stopped => Some(first_line(&answer.text())),
    }
}
