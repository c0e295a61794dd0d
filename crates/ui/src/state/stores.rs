//! The stores of the page: their creation, start and context.

use leptos::{prelude::*, wasm_split::wasm_split};

use super::{
    connection::Connection,
    conversation_list::{ConversationListStore, ListKind},
    conversations::OpenConversations,
    feeds::ChangeFeeds,
    follower::{EventFollower, resume_position, split_result},
    lifecycle::PageLifecycle,
    listed_pages::ListedPages,
    models::ModelStore,
    navigation::Navigation,
    next_message::NextMessage,
    notifications::RunEndNotifier,
    outbox::Outbox,
    projects::Projects,
    run_intents::RunIntents,
    shared_follower::SharedFollower,
    shares::Shares,
    snapshot::PageSnapshot,
    unseen_reports::UnseenReports,
};
use crate::{
    browser::{self, PresenceEvent},
    components::toast::Toasts,
    runtime::{
        clock::PageClock,
        effect::effect,
        lazy::{LoadError, retry_until_loaded},
        shared_view::SharedView,
    },
};
use parlor_protocol::{ConversationId, MessageId};

/// All stores of a page. They live as long as the page.
#[derive(Clone, Copy)]
pub struct Stores {
    clock: PageClock,
    lifecycle: PageLifecycle,
    navigation: Navigation,
    feeds: ChangeFeeds,
    connection: Connection,
    next_message: NextMessage,
    outbox: Outbox,
    list: ConversationListStore,
    archive: ConversationListStore,
    project_chats: ConversationListStore,
    projects: Projects,
    conversations: OpenConversations,
    models: ModelStore,
    run_intents: RunIntents,
    shares: Shares,
    listed_pages: ListedPages,
    unseen_reports: UnseenReports,
    pub(super) follower: EventFollower,
    toasts: Toasts,
}

impl Stores {
    /// Creates the stores from a page's snapshots.
    pub fn new(page: PageSnapshot, navigation: Navigation) -> Self {
        let (toasts, lifecycle, feeds) = (Toasts::new(), PageLifecycle::new(), ChangeFeeds::new());
        let connection = Connection::new();
        let next_message = NextMessage::new(connection);
        let outbox = Outbox::new(next_message, connection, toasts);
        let list_of = |kind| ConversationListStore::new(kind, connection, lifecycle, navigation, toasts);
        let (list, archive) = (list_of(ListKind::Chats), list_of(ListKind::Archive));
        let project_chats = list_of(ListKind::Project(None));
        let projects = Projects::new(page.projects.clone(), list, connection, navigation, toasts);
        let conversations = OpenConversations::new(outbox, connection, lifecycle, navigation, toasts);
        let run_intents = RunIntents {
            conversations,
            outbox,
            next_message,
            connection,
            navigation,
            toasts,
        };
        let notifier = RunEndNotifier {
            list,
            conversations,
            connection,
            lifecycle,
            navigation,
        };
        let models = ModelStore::new(&page, conversations, projects, navigation, connection);
        let listed_pages = ListedPages::new(page.listed_pages.clone(), connection);
        listed_pages.follow(navigation);
        let follower = EventFollower {
            connection,
            list,
            archive,
            project_chats,
            projects,
            conversations,
            outbox,
            run_intents,
            notifier,
            feeds,
            models,
            listed_pages,
            navigation,
            toasts,
        };
        let unseen_reports =
            UnseenReports::new(page.unseen_reports.clone(), connection, lifecycle, navigation);
        let stores = Self {
            clock: PageClock::new(page.now),
            lifecycle,
            navigation,
            feeds,
            connection,
            next_message,
            outbox,
            list,
            archive,
            project_chats,
            projects,
            conversations,
            models,
            run_intents,
            shares: Shares::new(page.shares.clone(), connection),
            listed_pages,
            unseen_reports,
            follower,
            toasts,
        };
        stores.start_from(page);
        stores
    }

    /// Fills the stores from the page's snapshots.
    fn start_from(self, page: PageSnapshot) {
        // A list that could not be read is requested again as soon as the stream is open.
        let list = page.list.unwrap_or_default();
        let (transcript, error) = split_result(page.transcript);
        let project_chats = page.project_chats.and_then(Result::ok);
        let resumed = resume_position(&list, transcript.as_ref());
        let resumed = project_chats
            .as_ref()
            .map_or(resumed, |chats| chats.as_of.min(resumed));
        // The snapshots are read one after the other: a change in between is in the log after the oldest.
        let projects = page.projects.as_ref();
        let resumed = projects.map_or(resumed, |projects| projects.as_of.min(resumed));
        self.connection.set_cursor(resumed);
        self.list.restart(list);
        let project = self.navigation.page_route().get_untracked().project_id();
        // What could not be read is requested when the page starts in the browser.
        if let (Some(project), Some(loaded)) = (project, project_chats) {
            self.project_chats.show_project(project, Some(loaded));
        }
        let id = self.navigation.page_route().get_untracked().conversation_id();
        self.conversations.start_from(id, transcript);
        if let (Some(id), Some(error)) = (id, error) {
            self.conversations.handle_load_error(id, &error);
        }
    }

    /// Provides the stores to the views.
    pub fn provide(self) {
        provide_context(self);
        provide_context(self.clock);
        provide_context(self.toasts);
    }

    /// Starts in the browser, after hydration. The changes are followed once the code for that is loaded; the page is shown before.
    pub fn start(self) {
        self.lifecycle.mark_hydrated();
        self.lifecycle.set_visible(!browser::is_page_hidden());
        self.clock.update();
        self.projects.start();
        self.models.start();
        effect(move || self.show_project_of_route());
        let owner = Owner::current().unwrap_or_default();
        retry_until_loaded(
            || Box::pin(follow()),
            || true,
            move || self.connection.mark_disconnected(),
            move |follow| owner.with(|| follow(self)),
        );
    }

    /// Follows the changes from now on.
    fn follow(self) {
        browser::on_presence(move |presence| self.on_presence(presence));
        match browser::is_page_hidden() {
            true => self.on_presence(PresenceEvent::Hidden),
            false => self.lifecycle.set_visible(true),
        }
        self.follower.start();
        self.shares.load_if_unread();
        self.unseen_reports.start(self.feeds);
        effect(move || self.open_archive_of_shown());
        // Another tab may share, too.
        Effect::new(move |before: Option<u32>| {
            let version = self.feeds.settings_version();
            if before.is_some_and(|before| before != version) {
                self.shares.reload();
            }
            version
        });
    }

    /// Loads the archive if the shown conversation may be in it, so that its place and its news are known. Tracks the route
    /// and the list.
    fn open_archive_of_shown(self) {
        let Some(id) = self.navigation.chat_route().get().conversation_id() else {
            return;
        };
        let is_listed = self.list.with_rows(|rows| rows.iter().any(|row| row.id == id));
        // A new conversation is in no list yet.
        if !is_listed && self.outbox.provisional_transcript(id).is_none() {
            self.archive.open();
        }
    }

    /// Loads the conversations of the project on the screen. Tracks the route.
    fn show_project_of_route(self) {
        if let Some(id) = self.navigation.page_route().get().project_id() {
            self.project_chats.show_project(id, None);
        }
    }

    /// The follower of a share, for a reader's page, which starts it in place of the stores.
    pub fn shared_follower(
        self,
        id: ConversationId,
        share: SharedView,
        before: Option<MessageId>,
    ) -> SharedFollower {
        let stores = (self.connection, self.conversations, self.lifecycle, self.clock);
        SharedFollower::new(stores, id, share, before)
    }

    fn on_presence(self, presence: PresenceEvent) {
        match presence {
            PresenceEvent::Visible => self.lifecycle.set_visible(true),
            PresenceEvent::Hidden => self.lifecycle.set_visible(false),
            PresenceEvent::Online | PresenceEvent::Offline => {}
        }
        self.connection.on_presence(presence);
        match presence {
            PresenceEvent::Visible => self.clock.update(),
            PresenceEvent::Online => {
                let route = self.navigation.chat_route().get_untracked();
                self.conversations.load_route(route);
            }
            PresenceEvent::Hidden | PresenceEvent::Offline => {}
        }
    }
}

/// Loads what follows the changes.
#[wasm_split(conversation, wasm_split_path = leptos::wasm_split, fallible)]
fn follow() -> Result<fn(Stores), LoadError> {
    Ok(Stores::follow)
}

fn use_stores() -> Stores {
    expect_context()
}

/// The page's connection.
pub fn use_connection() -> Connection {
    use_stores().connection
}

/// The page's list of conversations.
pub fn use_conversation_list() -> ConversationListStore {
    use_stores().list
}

/// The page's archived conversations.
pub fn use_archive() -> ConversationListStore {
    use_stores().archive
}

/// The conversations of the project on the screen.
pub fn use_project_chats() -> ConversationListStore {
    use_stores().project_chats
}

/// The user's projects.
pub fn use_projects() -> Projects {
    use_stores().projects
}

/// The page's open conversations.
pub fn use_conversations() -> OpenConversations {
    use_stores().conversations
}

/// The page's feeds of single features.
pub fn use_feeds() -> ChangeFeeds {
    use_stores().feeds
}

/// The page's lifecycle.
pub fn use_lifecycle() -> PageLifecycle {
    use_stores().lifecycle
}

/// The pages that the sidebar links to.
pub fn use_listed_pages() -> ListedPages {
    use_stores().listed_pages
}

/// The reports that the user has not seen yet.
pub fn use_unseen_reports() -> UnseenReports {
    use_stores().unseen_reports
}

/// The page's models.
pub fn use_models() -> ModelStore {
    use_stores().models
}

/// The page's navigation.
pub fn use_navigation() -> Navigation {
    use_stores().navigation
}

/// The page's drafts and options of the next message.
pub fn use_next_message() -> NextMessage {
    use_stores().next_message
}

/// The page's outbox.
pub fn use_outbox() -> Outbox {
    use_stores().outbox
}

/// The page's intents that start and stop runs.
pub fn use_run_intents() -> RunIntents {
    use_stores().run_intents
}

/// The user's shares of conversations.
pub fn use_shares() -> Shares {
    use_stores().shares
}
