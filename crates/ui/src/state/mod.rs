//! The client state: this browser's copy of the server's state, kept up to date by one event stream, and the intents
//! that change it.
//!
//! Each store has one meaning, owns its fields and is a handle that can be copied. It has the stores that it calls,
//! which are above it here; none calls one below it:
//!
//! - [`lifecycle`]: the page is hydrated, visible; [`person`]: the signed-in user
//! - [`navigation`]: the URL and its [`route`]s, one of them the settings with a [`settings_tab`]; [`tray`]: the chat next to a page
//! - [`remote`]: a server value and its loading state; [`replica`]: one that follows the log
//! - [`feeds`]: change notifications for single features
//! - [`connection`]: requests, and the stream with its reconnects; it knows no events
//! - [`next_message`]: drafts and options
//! - [`outbox`]: what was sent and the server has not begun
//! - [`conversation_list`]: the list
//! - [`projects`]: the user's projects
//! - [`conversations`]: the open conversations, shown with what the outbox has for them
//! - [`shares`]: the user's shares of conversations
//! - [`listed_pages`]: the pages that the sidebar links to
//! - [`models`]: the available models and the selected one; [`model_shortlist`]: the favourites and the last used ones
//! - [`run_intents`]: sends messages, starts and stops runs
//! - [`notifications`]: reports the ends of long answers
//! - [`unseen_reports`]: the reports that the user has not seen yet
//! - [`follower`]: applies the stream's events to all of them, and reloads them when the log can't be followed
//! - [`shared_follower`]: replaces `follower` on a shared page, which has one conversation and nothing else
//!
//! The copies of the server's state, the reconnect policy and the queues are pure and tested without a browser. The
//! stores perform their effects (requests, timers, storage) and, once a frame, update the signals that the views read.
//! A view takes the stores that it needs by `use_…`. [`Stores`] creates and connects them.

mod connection;
mod conversation_list;
mod conversations;
pub mod draft_on_screen;
mod feeds;
pub mod file_upload;
mod follower;
mod lifecycle;
mod listed_pages;
pub mod model_shortlist;
pub mod models;
mod navigation;
mod next_message;
pub mod notifications;
mod outbox;
pub mod page_registry;
pub mod person;
mod preview_line;
mod projects;
pub mod remote;
pub mod replica;
pub mod route;
mod run_intents;
pub mod settings_tab;
mod shared_follower;
mod shares;
pub mod snapshot;
mod stores;
#[cfg(test)]
mod test_events;
mod texts;
pub mod tray;
mod unseen_reports;

pub use self::{
    connection::{Connection, ConnectionStatus},
    conversation_list::{ConversationListStore, ListError, ListRow},
    conversations::{
        AnswerExtras, AnswerRow, ConversationPhase, ConversationView, FoundPlace, FoundPlaces, OlderState,
        OpenConversations, PartKind, PartRow, QueueRow, QueueView, Row, RunView, Siblings, UnrecordedRow,
        UserRow, call_interval, union_ms,
    },
    feeds::PageUpdate,
    navigation::Navigation,
    next_message::{DraftFile, DraftFiles, drafts},
    outbox::PendingSend,
    projects::{ProjectUpload, Projects},
    run_intents::RunIntents,
    shared_follower::SharedFollower,
    shares::Shares,
    stores::{
        Stores, use_archive, use_connection, use_conversation_list, use_conversations, use_feeds,
        use_lifecycle, use_listed_pages, use_models, use_navigation, use_next_message, use_outbox,
        use_project_chats, use_projects, use_run_intents, use_shares, use_unseen_reports,
    },
};
