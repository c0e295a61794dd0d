//! Telling a person who looks elsewhere that a long answer has come to its end.

use leptos::{prelude::GetUntracked, task::spawn_local};

use super::{Live, thought::first_line};
use crate::{
    api::rpc,
    protocol::{ConversationId, Message, MessageId, RunStatus, Timestamp, Transcript},
    ui::{browser, notify, place::Place},
};

/// Whoever has the conversation on the screen, in whichever tab or on whichever machine, tells the server so within this
/// time; then it is no news.
const SETTLES_MS: f64 = 2000.0;
/// What ended longer ago is found by looking, as a tab does that catches up after a sleep.
const RECENT_MS: f64 = 60_000.0;

/// A run's end, as the list saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    pub conversation_id: ConversationId,
    pub run: MessageId,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

impl Live {
    /// A run has come to its end.
    pub(super) fn ended(self, ended: Ended) {
        let since = |at: Timestamp, until: Timestamp| (until.0 - at.0) as f64;
        let long = since(ended.began_at, ended.ended_at) >= browser::long_answer_ms();
        if long && since(ended.ended_at, browser::now()) < RECENT_MS && notify::is_wanted() {
            browser::after(SETTLES_MS, move || self.tell_of(ended)).forget();
        }
    }

    fn tell_of(self, ended: Ended) {
        let id = ended.conversation_id;
        let title = self.with(|state| {
            let mut listed = state.session.listing.conversations().iter();
            let listed = listed.find(|conversation| conversation.id == id && conversation.unseen);
            listed.map(|conversation| conversation.title.clone())
        });
        let seen = self.visible.get_untracked() && self.place.get_untracked() == Place::Conversation(id);
        let Some(title) = title.filter(|_| !seen) else {
            return;
        };
        // Of the tabs that have heard of it, one gets the lock; it keeps it for as long as others may come to ask.
        let name = ["parlor-told-", &ended.run.to_string()].concat();
        let told = browser::lock_if_free(&name, move || {
            spawn_local(async move {
                let line = self.line_of(ended).await;
                let tag = ended.run.to_string();
                browser::notify(&title, &line, &tag, move || self.go(Place::Conversation(id)));
            });
        });
        browser::after(RECENT_MS, move || {
            let _given_back = told;
        })
        .forget();
    }

    /// A line that says how it ended.
    async fn line_of(self, ended: Ended) -> String {
        let line = |transcript: &Transcript| line(transcript, ended.run);
        let known = self.with_transcript(ended.conversation_id, line).flatten();
        match known {
            Some(line) => line,
            None => match self.ask(rpc::conversation(ended.conversation_id, None)).await {
                Ok(transcript) => line(&transcript).unwrap_or_default(),
                Err(_) => String::new(),
            },
        }
    }
}

fn line(transcript: &Transcript, run: MessageId) -> Option<String> {
    let answer = transcript.message(run).and_then(Message::assistant)?;
    match answer.status {
        RunStatus::Running | RunStatus::Waiting => None,
        RunStatus::Failed => Some("The model could not answer.".into()),
        RunStatus::Interrupted => Some("The answer was interrupted.".into()),
        RunStatus::Complete | RunStatus::Stopped => Some(first_line(&answer.text())),
    }
}
