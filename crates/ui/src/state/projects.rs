//! The user's projects, and which of them are unfolded in the list.

use leptos::{prelude::*, task::spawn_local};

use super::{
    connection::Connection,
    file_upload::{UploadSlot, UploadState},
    navigation::Navigation,
    route::Route,
    texts,
};
use crate::{
    api::projects, browser, components::toast::Toasts, runtime::requests::LastRequest,
    state::conversation_list::ConversationListStore,
};
use parlor_protocol::{
    ApiError, AttachmentId, ListedProject, Project, ProjectConversations, ProjectDeleted, ProjectId,
    ProjectList, SharedProject, json,
};

/// The storage key of the unfolded projects.
const STORAGE_KEY: &str = "parlor-projects";

/// The projects. One store per page.
#[derive(Clone, Copy)]
pub struct Projects {
    list: RwSignal<ProjectList>,
    /// False until the list could be read.
    is_known: RwSignal<bool>,
    /// The unfolded ones. Known after hydration.
    unfolded: RwSignal<Vec<ProjectId>>,
    /// Grows each time the list is loaded, after a change of a project or of its files.
    version: RwSignal<u32>,
    /// The files that are being uploaded, of all projects: they go on when another page is shown.
    uploads: RwSignal<Vec<ProjectUpload>>,
    next_upload: StoredValue<usize>,
    requests: LastRequest,
    conversations: ConversationListStore,
    connection: Connection,
    navigation: Navigation,
    toasts: Toasts,
}

/// A file that is being uploaded to a project, or could not be.
#[derive(Clone, Debug)]
pub struct ProjectUpload {
    pub key: usize,
    /// The id of the file to be: the same upload again stores nothing twice.
    pub file_id: AttachmentId,
    pub project_id: ProjectId,
    pub source: browser::LocalFile,
    pub state: ArcRwSignal<UploadState>,
    /// False while it waits for others.
    pub has_begun: ArcStoredValue<bool>,
    pub slot: UploadSlot,
}

impl Projects {
    /// Starts from the page's snapshot.
    pub(super) fn new(
        list: Result<ProjectList, ApiError>,
        conversations: ConversationListStore,
        connection: Connection,
        navigation: Navigation,
        toasts: Toasts,
    ) -> Self {
        Self {
            is_known: RwSignal::new(list.is_ok()),
            list: RwSignal::new(list.unwrap_or_default()),
            unfolded: RwSignal::default(),
            version: RwSignal::new(0),
            uploads: RwSignal::default(),
            next_upload: StoredValue::new(0),
            requests: LastRequest::new(),
            conversations,
            connection,
            navigation,
            toasts,
        }
    }

    /// Restores what this browser stores. Called once, after hydration.
    pub(super) fn start(self) {
        let stored = browser::storage_get(STORAGE_KEY);
        let stored = stored.and_then(|stored| json::parse(stored.as_bytes()).ok());
        self.unfolded.set(stored.unwrap_or_default());
        if !self.is_known.get_untracked() {
            self.reload();
        }
    }

    /// Reads the list, oldest first. Tracked.
    pub fn with<T>(self, read: impl FnOnce(&ProjectList) -> T) -> T {
        self.list.with(|list| read(list))
    }

    /// Returns the ids, oldest first. Tracked.
    pub fn ids(self) -> Vec<ProjectId> {
        self.with(|list| list.projects.iter().map(|listed| listed.id).collect())
    }

    /// Returns a project. Tracked.
    pub fn get(self, id: ProjectId) -> Option<ListedProject> {
        self.with(|list| list.get(id).cloned())
    }

    /// Returns a project of another that the user may read. Tracked.
    pub fn get_shared(self, id: ProjectId) -> Option<SharedProject> {
        self.with(|list| list.shared.iter().find(|shared| shared.id == id).cloned())
    }

    /// Leaves a project of another.
    pub async fn leave(self, id: ProjectId) -> Result<(), ApiError> {
        self.connection.call(projects::leave_shared_project(id)).await?;
        self.list
            .try_update(|list| list.shared.retain(|shared| shared.id != id));
        if self.navigation.page_route().get_untracked() == Route::SharedProject(id) {
            self.navigation.replace(Route::New);
        }
        Ok(())
    }

    /// Returns true if there is no such project. Tracked.
    pub fn is_missing(self, id: ProjectId) -> bool {
        self.is_known.get() && self.with(|list| list.get(id).is_none())
    }

    /// Returns true if a project shows its conversations in the list. Tracked.
    pub fn is_unfolded(self, id: ProjectId) -> bool {
        self.unfolded.with(|unfolded| unfolded.contains(&id))
    }

    /// Shows or hides the conversations of a project in the list. This browser remembers it.
    pub fn unfold(self, id: ProjectId, is_unfolded: bool) {
        self.unfolded.update(|unfolded| {
            unfolded.retain(|other| *other != id);
            if is_unfolded {
                unfolded.push(id);
            }
        });
        let stored = self.unfolded.with_untracked(serde_json::to_string).ok();
        browser::storage_set(STORAGE_KEY, stored.as_deref());
    }

    /// Returns a number that grows each time the list is loaded, after a change of a project or of its files. Tracked.
    pub fn version(self) -> u32 {
        self.version.get()
    }

    /// The connection, for code that runs outside of views.
    pub fn connection(self) -> Connection {
        self.connection
    }

    /// The files that are being uploaded, of all projects.
    pub fn uploads(self) -> RwSignal<Vec<ProjectUpload>> {
        self.uploads
    }

    /// Adds a file that is to be uploaded, for code that is loaded then.
    pub fn add_upload(self, project_id: ProjectId, source: browser::LocalFile) -> ProjectUpload {
        let key = self.next_upload.get_value();
        self.next_upload.set_value(key + 1);
        let upload = ProjectUpload {
            key,
            file_id: AttachmentId::new(),
            project_id,
            source,
            state: ArcRwSignal::new(UploadState::Uploading { percent: 0 }),
            has_begun: ArcStoredValue::new(false),
            slot: ArcStoredValue::new(None),
        };
        self.uploads.update(|uploads| uploads.push(upload.clone()));
        upload
    }

    /// Loads the list again.
    pub fn reload(self) {
        spawn_local(self.refresh());
    }

    /// Loads the list again, and returns when it is there, or could not be loaded.
    pub async fn refresh(self) {
        let number = self.requests.begin();
        if let Ok(list) = self.connection.call(projects::projects()).await
            && self.requests.is_last(number)
        {
            self.list.set(list);
            self.is_known.set(true);
            self.version.update(|version| *version = version.wrapping_add(1));
        }
    }

    /// Saves a project: a new one, or another version of the one that it replaces.
    pub async fn save(
        self,
        id: ProjectId,
        project: Project,
        replaces: Option<Project>,
    ) -> Result<(), ApiError> {
        let request = projects::save_project(id, project, replaces.is_none(), replaces);
        let saved = self.connection.call(request).await?;
        self.list.try_update(
            |list| match list.projects.iter_mut().find(|listed| listed.id == id) {
                Some(listed) => *listed = saved,
                None => list.projects.push(saved),
            },
        );
        Ok(())
    }

    /// Deletes a project. If its conversations go with it, their deletion can be undone.
    pub async fn delete(self, id: ProjectId, conversations: ProjectConversations) -> Result<(), ApiError> {
        let ProjectDeleted { conversations } = self
            .connection
            .call(projects::delete_project(id, conversations))
            .await?;
        self.list
            .try_update(|list| list.projects.retain(|listed| listed.id != id));
        if self.navigation.page_route().get_untracked() == Route::Project(id) {
            self.navigation.replace(Route::New);
        }
        match conversations.is_empty() {
            true => self.toasts.show(texts::PROJECT_DELETED),
            false => self.conversations.leave_and_report_deleted(conversations),
        }
        Ok(())
    }
}
