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
use parlor_protocol::{Message, MessageId, RunStatus, Timestamp, Transcript, conversation_list::RunEnd};

/// A client that shows the conversation, in any tab or on any machine, marks it read within this time; then no
/// notification is shown.
const SEEN_REPORT_DELAY_MS: f64 = 2000.0;
/// Older ends get no notification, for example when a tab catches up after a sleep.
const MAX_END_AGE_MS: f64 = 60_000.0;

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
        let since = |at: Timestamp, until: Timestamp| (until.0 - at.0) as f64;
        let long = since(ended.started_at, ended.ended_at) >= browser::long_answer_threshold_ms();
        if long && since(ended.ended_at, browser::now()) < MAX_END_AGE_MS && super::is_enabled() {
            browser::set_timeout(SEEN_REPORT_DELAY_MS, move || self.notify_unless_seen(ended)).detach();
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
        // Of the tabs that received the event, one gets the lock. It keeps it for as long as other tabs may ask for it.
        let name = ["parlor-told-", &ended.run_id.to_string()].concat();
        let lock = browser::try_lock(&name, move || {
            spawn_local(async move {
                let line = self.load_ending_line(ended).await;
                let tag = ended.run_id.to_string();
                browser::notify(&title, &line, &tag, move || {
                    self.navigation.go_to(Route::Conversation(id))
                });
            });
        });
        browser::set_timeout(MAX_END_AGE_MS, move || {
            let _lock = lock;
        })
        .detach();
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
