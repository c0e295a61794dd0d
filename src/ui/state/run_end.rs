//! Notifications for the end of long answers while the person looks elsewhere.

use leptos::{prelude::GetUntracked, task::spawn_local};

use super::{Live, preview_line::first_line};
use crate::{
    api::rpc,
    protocol::Message,
    protocol::MessageId,
    protocol::RunStatus,
    protocol::Timestamp,
    protocol::Transcript,
    protocol::conversation_list::RunEnd,
    ui::{browser, state::notifications, state::route::Route},
};

/// A client that shows the conversation, in any tab or on any machine, marks it read within this time; then no
/// notification is shown.
const SEEN_REPORT_DELAY_MS: f64 = 2000.0;
/// Older ends get no notification, for example when a tab catches up after a sleep.
const MAX_END_AGE_MS: f64 = 60_000.0;

impl Live {
    /// Handles the end of a run.
    pub(super) fn notify_run_end(self, ended: RunEnd) {
        let since = |at: Timestamp, until: Timestamp| (until.0 - at.0) as f64;
        let long = since(ended.started_at, ended.ended_at) >= browser::long_answer_threshold_ms();
        if long && since(ended.ended_at, browser::now()) < MAX_END_AGE_MS && notifications::is_enabled() {
            browser::set_timeout(SEEN_REPORT_DELAY_MS, move || self.notify_unless_seen(ended)).detach();
        }
    }

    fn notify_unless_seen(self, ended: RunEnd) {
        let id = ended.conversation_id;
        let title = self.with_state(|state| {
            let mut listed = state.replica.list_cache.conversations().iter();
            let listed = listed.find(|conversation| conversation.id == id && conversation.unseen);
            listed.map(|conversation| conversation.title.clone())
        });
        let seen =
            self.is_visible.get_untracked() && self.chat_route.get_untracked() == Route::Conversation(id);
        let Some(title) = title.filter(|_| !seen) else {
            return;
        };
        // Of the tabs that received the event, one gets the lock. It keeps it for as long as other tabs may ask for it.
        let name = ["parlor-told-", &ended.run_id.to_string()].concat();
        let lock = browser::try_lock(&name, move || {
            spawn_local(async move {
                let line = self.load_ending_line(ended).await;
                let tag = ended.run_id.to_string();
                browser::notify(&title, &line, &tag, move || self.go_to(Route::Conversation(id)));
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
        let known = self.with_transcript(ended.conversation_id, line).flatten();
        match known {
            Some(line) => line,
            None => match self.call(rpc::conversation(ended.conversation_id, None)).await {
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
        RunStatus::Failed => Some("The model could not answer.".into()),
        RunStatus::Interrupted => Some("The answer was interrupted.".into()),
        RunStatus::Complete | RunStatus::Stopped => Some(first_line(&answer.text())),
    }
}
