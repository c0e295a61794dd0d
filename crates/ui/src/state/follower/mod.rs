//! Following of the user's log: applies the events of the stream to the stores, and loads snapshots again when the log
//! can't be followed ([`resync`]).
//!
//! Events are interpreted by the protocol's reducers; the follower only distributes them.

mod resync;
#[cfg(test)]
mod tests;

use leptos::prelude::*;

use super::{
    connection::{Connection, StreamInput},
    conversation_list::ConversationListStore,
    conversations::{CacheOutcome, OpenConversations},
    feeds::ChangeFeeds,
    listed_pages::ListedPages,
    models::ModelStore,
    navigation::Navigation,
    notifications::RunEndNotifier,
    outbox::Outbox,
    projects::Projects,
    run_intents::RunIntents,
};
use crate::{components::toast::Toasts, state::texts};
use parlor_protocol::{
    ClientUpdate, ConversationId, ConversationList, Event, Position, StreamNotice, Transcript,
    conversation_list::{ListUpdate, RunEnd},
    data::PAGE as DATA_PAGE,
    json,
    report::REPORTS_PAGE,
    sse::SseFrame,
};

/// The follower. One per page.
#[derive(Clone, Copy)]
pub struct EventFollower {
    pub(super) connection: Connection,
    pub(super) list: ConversationListStore,
    pub(super) archive: ConversationListStore,
    pub(super) project_chats: ConversationListStore,
    pub(super) projects: Projects,
    pub(super) conversations: OpenConversations,
    pub(super) outbox: Outbox,
    pub(super) run_intents: RunIntents,
    pub(super) notifier: RunEndNotifier,
    pub(super) feeds: ChangeFeeds,
    pub(super) models: ModelStore,
    pub(super) listed_pages: ListedPages,
    pub(super) navigation: Navigation,
    pub(super) toasts: Toasts,
}

/// An effect of an event in addition to the changes of the stores. Performed after all events that arrived with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventEffect {
    /// An event in a conversation outside the loaded part of the list: load the newest page.
    LoadList,
    /// The rest of a transcript's change.
    FollowUp(ConversationId, CacheOutcome),
    /// An event in a conversation that may be one of the project on the screen: load its newest page.
    LoadProjectChats,
    /// A conversation exists now.
    Created(ConversationId),
    /// A run ended; a notification may be due.
    RunEnded(RunEnd),
    /// The data of a page changed, or a file was attached: the page may have become useful.
    PageChanged,
    /// The models to choose from may have changed.
    ModelsChanged,
    /// A project was created, changed or deleted.
    ProjectsChanged,
    /// An event is unreadable and was skipped.
    Damaged(Position),
    /// Positions are missing from the stream, or an event is unreadable: load everything again.
    Resync,
}

impl EventFollower {
    /// Starts in the browser, after hydration.
    pub fn start(self) {
        self.connection.start(Callback::new(move |input| match input {
            StreamInput::Connected => {
                let route = self.navigation.chat_route().get_untracked();
                self.conversations.load_route(route);
                self.run_intents.retry_held();
            }
            StreamInput::Frames(frames) => self.apply_frames(&frames, true),
            StreamInput::Incomplete(frames) => self.apply_frames(&frames, false),
            // The reconnect policy tries again.
            StreamInput::TooMany => {}
        }));
        self.run_intents.resume_stored();
    }

    /// Applies frames of the stream. Loads the snapshots again if a frame can't be read, or if bytes after the frames could
    /// not be decoded (`is_complete` is false).
    fn apply_frames(self, frames: &[SseFrame], is_complete: bool) {
        let mut effects = Vec::new();
        for frame in frames {
            match json::parse::<Event>(frame.data.as_bytes()) {
                Ok(event) => self.apply(&event, &mut effects),
                Err(_) => match json::parse(frame.data.as_bytes()) {
                    // The server cannot read its log at the moment; the stream ends, and the reconnect policy tries again.
                    Ok(StreamNotice::Unavailable) => {}
                    Ok(StreamNotice::LogDamaged) if self.connection.was_resynced() => {
                        self.connection.report_damaged_log();
                    }
                    // New snapshots may be past the damage.
                    Ok(StreamNotice::LogDamaged | StreamNotice::Reset) | Err(_) => {
                        effects.push(EventEffect::Resync);
                    }
                },
            }
            if effects.contains(&EventEffect::Resync) {
                return self.perform(&effects);
            }
        }
        if !is_complete {
            effects.push(EventEffect::Resync);
        }
        self.perform(&effects);
    }

    /// Applies an event to the stores.
    fn apply(self, event: &Event, effects: &mut Vec<EventEffect>) {
        let (cursor, id) = (self.connection.cursor(), event.conversation_id);
        if event.position <= cursor {
            return;
        }
        if event.position != cursor.next() {
            return effects.push(EventEffect::Resync);
        }
        self.connection.advance(event.position);
        match event.client_update() {
            ClientUpdate::Unchanged => {}
            ClientUpdate::ConversationCreated => effects.push(EventEffect::Created(id)),
            ClientUpdate::Payload(payload) => self.feeds.report_payload(id, payload.clone()),
            ClientUpdate::PageChanged { page, change } => {
                self.feeds
                    .report_page_change(page, (event.position, change.clone()));
                // Each step of a job changes the page Reports; its link stays once it is there.
                let is_known_job =
                    page == REPORTS_PAGE.name && untrack(|| self.listed_pages.has(&REPORTS_PAGE));
                if !is_known_job && !effects.contains(&EventEffect::PageChanged) {
                    effects.push(EventEffect::PageChanged);
                }
            }
            ClientUpdate::DocumentsAttached => {
                self.feeds.report_page_reload_of(DATA_PAGE.name);
                let is_listed = untrack(|| self.listed_pages.has(&DATA_PAGE));
                if !is_listed && !effects.contains(&EventEffect::PageChanged) {
                    effects.push(EventEffect::PageChanged);
                }
            }
            ClientUpdate::SettingsChanged => self.feeds.report_settings_change(),
            ClientUpdate::ProjectChanged => {
                if !effects.contains(&EventEffect::ProjectsChanged) {
                    effects.push(EventEffect::ProjectsChanged);
                }
            }
            ClientUpdate::ModelsChanged => effects.push(EventEffect::ModelsChanged),
            ClientUpdate::Damaged => {
                // Snapshots include its result and continue after it.
                return effects.extend([EventEffect::Damaged(event.position), EventEffect::Resync]);
            }
        }
        self.archive.apply(event);
        if matches!(
            self.project_chats.apply(event),
            ListUpdate::UnknownConversation(_)
        ) {
            effects.push(EventEffect::LoadProjectChats);
        }
        match self.list.apply(event) {
            ListUpdate::Unchanged | ListUpdate::Changed => {}
            ListUpdate::RunEnded(ended) => effects.push(EventEffect::RunEnded(ended)),
            ListUpdate::UnknownConversation(_) => effects.push(EventEffect::LoadList),
        }
        let outcome = self.conversations.apply(event);
        if matches!(outcome, CacheOutcome::NeedsSnapshot | CacheOutcome::Broken) {
            effects.push(EventEffect::FollowUp(id, outcome));
        }
    }

    fn perform(self, effects: &[EventEffect]) {
        for effect in effects {
            match *effect {
                EventEffect::LoadList => self.list.reload(),
                EventEffect::LoadProjectChats => self.project_chats.reload(),
                EventEffect::FollowUp(id, outcome) => self.conversations.follow_up(id, outcome),
                EventEffect::Created(id) => self.conversations.retry_missing(id),
                EventEffect::ProjectsChanged => self.projects.reload(),
                EventEffect::PageChanged => self.listed_pages.reload(),
                EventEffect::ModelsChanged => {
                    self.models.reload();
                    self.feeds.report_settings_change();
                }
                EventEffect::RunEnded(ended) => self.notifier.on_run_end(ended),
                EventEffect::Damaged(position) => {
                    let id = position.0.to_string();
                    self.toasts.show(texts::damaged_change(&id));
                }
                EventEffect::Resync => self.resync(),
            }
        }
    }
}

/// Splits the result of a request for a conversation, if there was one.
pub fn split_result<T, E>(result: Option<Result<T, E>>) -> (Option<T>, Option<E>) {
    match result.transpose() {
        Ok(found) => (found, None),
        Err(error) => (None, Some(error)),
    }
}

/// The position after which the stream starts. The snapshots' positions may differ: it is the older one, and each skips
/// the events that it includes already.
pub fn resume_position(list: &ConversationList, transcript: Option<&Transcript>) -> Position {
    transcript.map_or(list.as_of, |transcript| transcript.as_of.min(list.as_of))
}
