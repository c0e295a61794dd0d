//! The files of drafts: those being uploaded, and the uploaded ones, which stay across a reload.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::drafts;
use crate::{
    protocol::{ApiError, Attachment, AttachmentId, ConversationId, json},
    ui::{browser, state::route::Route},
};

/// The uploaded files of a draft, as they are stored in this browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredFiles {
    /// The conversation for which they were uploaded. A new chat has its id before its first message.
    pub conversation_id: ConversationId,
    pub files: Vec<Attachment>,
}

/// The state of a file of a draft.
#[derive(Clone, Debug, PartialEq)]
pub enum UploadState {
    Uploading {
        /// From 0 to 100.
        percent: u32,
    },
    Uploaded(Attachment),
    /// The reason, for the user.
    Failed(String),
}

/// A file of a draft.
#[derive(Clone, Debug)]
pub struct DraftFile {
    pub key: usize,
    pub route: Route,
    pub name: String,
    pub state: ArcRwSignal<UploadState>,
    /// `None` for one that an earlier page has uploaded.
    source: Option<browser::LocalFile>,
    upload: ArcStoredValue<Option<browser::Upload>>,
}

/// The files of all drafts. One per page.
#[derive(Clone, Copy)]
pub struct DraftFiles {
    files: RwSignal<Vec<DraftFile>>,
    /// The conversation that the new chat will become.
    new_conversation: StoredValue<ConversationId>,
    next_key: StoredValue<usize>,
}

impl DraftFiles {
    pub(super) fn new() -> Self {
        Self {
            files: RwSignal::default(),
            new_conversation: StoredValue::new(ConversationId::NONE),
            next_key: StoredValue::new(0),
        }
    }

    /// Returns the files of a route's draft. Tracked.
    pub fn of(self, route: Route) -> Vec<DraftFile> {
        self.files
            .with(|files| files.iter().filter(|file| file.route == route).cloned().collect())
    }

    /// Returns true if the draft of a route has files. Tracked.
    pub fn has_files(self, route: Route) -> bool {
        self.files
            .with(|files| files.iter().any(|file| file.route == route))
    }

    /// Returns true if a file of the route's draft is being uploaded. Tracked.
    pub fn is_uploading(self, route: Route) -> bool {
        let files = self.of(route).into_iter();
        let mut states = files.map(|file| file.state.get());
        states.any(|state| matches!(state, UploadState::Uploading { .. }))
    }

    /// Returns true if a file of the route's draft could not be uploaded. Tracked.
    pub fn has_failed(self, route: Route) -> bool {
        let files = self.of(route).into_iter();
        let mut states = files.map(|file| file.state.get());
        states.any(|state| matches!(state, UploadState::Failed(_)))
    }

    /// Shows the stored files of a route's draft, unless it has files already.
    pub fn load(self, route: Route) {
        let known = untrack(|| self.has_files(route));
        let Some(stored) = load_stored(route).filter(|_| !known) else {
            return;
        };
        if route == Route::New {
            self.new_conversation.set_value(stored.conversation_id);
        }
        for file in stored.files {
            let name = file.name.clone();
            self.push(route, name, UploadState::Uploaded(file), None);
        }
    }

    /// Adds a file of this machine, and uploads it.
    pub fn add(self, route: Route, source: browser::LocalFile) {
        let state = UploadState::Uploading { percent: 0 };
        let file = self.push(route, source.name(), state, Some(source));
        self.upload(&file);
    }

    fn push(
        self,
        route: Route,
        name: String,
        state: UploadState,
        source: Option<browser::LocalFile>,
    ) -> DraftFile {
        let key = self.next_key.get_value();
        self.next_key.set_value(key + 1);
        let file = DraftFile {
            key,
            route,
            name,
            state: ArcRwSignal::new(state),
            source,
            upload: ArcStoredValue::new(None),
        };
        self.files.update(|files| files.push(file.clone()));
        file
    }

    /// Uploads a file again.
    pub fn retry(self, file: &DraftFile) {
        file.state.set(UploadState::Uploading { percent: 0 });
        self.upload(file);
    }

    fn upload(self, file: &DraftFile) {
        let Some(source) = &file.source else { return };
        let conversation = self.conversation_of(file.route).to_string();
        let url = ["/rpc/files?conversation_id=", &conversation].concat();
        let (progress, ended) = (file.clone(), file.clone());
        let upload = browser::upload(
            &url,
            source,
            move |part| {
                let percent = (part * 100.0) as u32;
                progress.state.set(UploadState::Uploading { percent });
            },
            move |status, body| {
                ended.state.set(read_response(status, &body));
                self.store(ended.route);
            },
        );
        if upload.is_none() {
            file.state
                .set(UploadState::Failed(ApiError::unreachable().message));
        }
        file.upload.set_value(upload);
    }

    /// Removes a file. One that is being uploaded is aborted, an uploaded one is deleted on the server.
    pub fn remove(self, file: &DraftFile) {
        self.files
            .update(|files| files.retain(|other| other.key != file.key));
        file.upload.set_value(None);
        if let UploadState::Uploaded(uploaded) = file.state.get_untracked() {
            delete_upload(uploaded.id);
        }
        self.store(file.route);
    }

    /// Takes the uploaded files of a route's draft for a message, and the conversation of a new chat with files.
    pub(in crate::ui::state) fn take(self, route: Route) -> (Vec<Attachment>, Option<ConversationId>) {
        let files = untrack(|| uploaded(&self.of(route)));
        let conversation = (route == Route::New && !files.is_empty()).then(|| self.conversation_of(route));
        self.files
            .update(|files| files.retain(|file| file.route != route));
        if route == Route::New {
            self.new_conversation.set_value(ConversationId::NONE);
        }
        drafts::remove_files(route);
        (files, conversation)
    }

    /// Makes the files of a message that was not sent those of a draft again.
    pub(in crate::ui::state) fn restore(
        self,
        route: Route,
        conversation_id: ConversationId,
        files: &[Attachment],
    ) {
        if files.is_empty() || untrack(|| self.has_files(route)) {
            return;
        }
        drafts::save_files(
            route,
            &StoredFiles {
                conversation_id,
                files: files.to_vec(),
            },
        );
        self.load(route);
    }

    fn conversation_of(self, route: Route) -> ConversationId {
        if let Some(id) = route.conversation_id() {
            return id;
        }
        if self.new_conversation.get_value().is_none() {
            self.new_conversation.set_value(ConversationId::new());
        }
        self.new_conversation.get_value()
    }

    fn store(self, route: Route) {
        let files = untrack(|| uploaded(&self.of(route)));
        if files.is_empty() {
            return drafts::remove_files(route);
        }
        let conversation_id = self.conversation_of(route);
        drafts::save_files(
            route,
            &StoredFiles {
                conversation_id,
                files,
            },
        );
    }
}

fn load_stored(route: Route) -> Option<StoredFiles> {
    drafts::load_files(route).and_then(|stored| json::parse(stored.as_bytes()).ok())
}

fn uploaded(files: &[DraftFile]) -> Vec<Attachment> {
    let states = files.iter().map(|file| file.state.get());
    let uploaded = states.filter_map(|state| match state {
        UploadState::Uploaded(file) => Some(file),
        UploadState::Uploading { .. } | UploadState::Failed(_) => None,
    });
    uploaded.collect()
}

fn read_response(status: u16, body: &str) -> UploadState {
    let body = body.as_bytes();
    match status {
        201 => match json::parse(body) {
            Ok(file) => UploadState::Uploaded(file),
            Err(error) => UploadState::Failed(ApiError::unreadable(error).message),
        },
        0 => UploadState::Failed("The upload was cut off.".into()),
        _ => {
            let error: Result<ApiError, _> = json::parse(body);
            UploadState::Failed(error.map_or_else(|_| "The upload failed.".into(), |error| error.message))
        }
    }
}

/// Deletes an uploaded file on the server. If that fails, it is deleted there some days later.
fn delete_upload(id: AttachmentId) {
    leptos::task::spawn_local(async move {
        let _ = crate::api::rpc::delete_upload(id).await;
    });
}
