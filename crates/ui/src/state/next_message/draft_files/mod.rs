//! The files of drafts: those being uploaded, and the uploaded ones, which stay across a reload.

mod upload;

use std::collections::HashMap;

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use super::drafts;
use crate::{
    browser,
    state::{
        connection::Connection,
        file_upload::{UploadSlot, UploadState},
        route::Route,
    },
};
use parlor_protocol::{Attachment, AttachmentId, ConversationId};

/// The uploaded files of a draft, as they are stored in this browser.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedDraftFiles {
    /// The conversation for which they were uploaded. A new chat has its id before its first message.
    pub conversation_id: ConversationId,
    pub files: Vec<Attachment>,
}

/// The origin of a file of a draft.
#[derive(Clone, Debug)]
enum FileSource {
    /// A file of this machine.
    Local(browser::LocalFile),
    /// A file of a message of the conversation.
    Message(AttachmentId),
}

/// A file of a draft.
#[derive(Clone, Debug)]
pub struct DraftFile {
    pub key: usize,
    pub route: Route,
    pub name: String,
    pub state: ArcRwSignal<UploadState>,
    /// `None` for one that an earlier page has uploaded.
    source: Option<FileSource>,
    upload: UploadSlot,
}

/// The files of all drafts. One per page.
#[derive(Clone, Copy)]
pub struct DraftFiles {
    files: RwSignal<Vec<DraftFile>>,
    /// The conversations that new chats will become, by the routes where files were uploaded for them.
    new_conversations: StoredValue<HashMap<Route, ConversationId>>,
    next_key: StoredValue<usize>,
    connection: Connection,
}

impl DraftFiles {
    pub(super) fn new(connection: Connection) -> Self {
        Self {
            files: RwSignal::default(),
            new_conversations: StoredValue::default(),
            next_key: StoredValue::new(0),
            connection,
        }
    }

    /// Returns the files of a route's draft. Tracked.
    pub fn for_route(self, route: Route) -> Vec<DraftFile> {
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
        let files = self.for_route(route).into_iter();
        let mut states = files.map(|file| file.state.get());
        states.any(|state| matches!(state, UploadState::Uploading { .. }))
    }

    /// Returns true if a file of the route's draft could not be uploaded. Tracked.
    pub fn has_failed(self, route: Route) -> bool {
        let files = self.for_route(route).into_iter();
        let mut states = files.map(|file| file.state.get());
        states.any(|state| matches!(state, UploadState::Failed(_)))
    }

    /// Shows the stored files of a route's draft, unless it has files already.
    pub fn load(self, route: Route) {
        let known = untrack(|| self.has_files(route));
        let Some(stored) = drafts::load_files(route).filter(|_| !known) else {
            return;
        };
        if route.begins_chat() {
            self.set_new_conversation(route, Some(stored.conversation_id));
        }
        for file in stored.files {
            let name = file.name.clone();
            self.push(route, name, UploadState::Uploaded(file), None);
        }
    }

    /// Adds a file of this machine, and uploads it unless it exceeds a limit.
    pub fn add(self, route: Route, source: browser::LocalFile) {
        let state = UploadState::Uploading { percent: 0 };
        let file = self.push(route, source.name(), state, Some(FileSource::Local(source)));
        self.upload(&file);
    }

    /// Adds a file of a message of the route's conversation. Returns false if the draft has it already.
    pub fn reuse(self, route: Route, id: AttachmentId, name: String) -> bool {
        let is_it = |file: &DraftFile| {
            let is_same = |source: &FileSource| matches!(source, FileSource::Message(other) if *other == id);
            file.route == route && file.source.as_ref().is_some_and(is_same)
        };
        if self.files.with_untracked(|files| files.iter().any(is_it)) {
            return false;
        }
        let state = UploadState::Uploading { percent: 0 };
        let file = self.push(route, name, state, Some(FileSource::Message(id)));
        self.upload(&file);
        true
    }

    fn push(self, route: Route, name: String, state: UploadState, source: Option<FileSource>) -> DraftFile {
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

    /// Removes a file. One that is being uploaded is aborted, an uploaded one is deleted on the server.
    pub fn remove(self, file: &DraftFile) {
        self.files
            .update(|files| files.retain(|other| other.key != file.key));
        file.upload.set_value(None);
        if let UploadState::Uploaded(uploaded) = file.state.get_untracked() {
            self.delete_upload(uploaded.id);
        }
        self.store(file.route);
    }

    /// Takes the uploaded files of a route's draft for a message, and the conversation of a new chat with files.
    pub(in crate::state) fn take(self, route: Route) -> (Vec<Attachment>, Option<ConversationId>) {
        let files = untrack(|| uploaded(&self.for_route(route)));
        let conversation =
            (route.begins_chat() && !files.is_empty()).then(|| self.conversation_or_new(route));
        self.files
            .update(|files| files.retain(|file| file.route != route));
        self.set_new_conversation(route, None);
        drafts::remove_files(route);
        (files, conversation)
    }

    /// Makes the files of a message that was not sent those of a draft again.
    pub(in crate::state) fn restore(
        self,
        route: Route,
        conversation_id: ConversationId,
        files: &[Attachment],
    ) {
        if files.is_empty() {
            return;
        }
        // Files may have been attached since, and the draft may not be on the screen.
        self.load(route);
        if route.begins_chat() && self.new_conversation(route).is_none() {
            self.set_new_conversation(route, Some(conversation_id));
        }
        let present = untrack(|| uploaded(&self.for_route(route)));
        for file in files.iter().filter(|file| !present.contains(file)) {
            self.push(
                route,
                file.name.clone(),
                UploadState::Uploaded(file.clone()),
                None,
            );
        }
        self.store(route);
    }

    /// Removes the files of a message that was sent after all from a draft. Those attached since stay.
    pub(in crate::state) fn remove_sent(self, route: Route, sent: &[AttachmentId]) {
        if sent.is_empty() {
            return;
        }
        self.load(route);
        let is_sent = |file: &DraftFile| {
            let uploaded = uploaded(std::slice::from_ref(file));
            uploaded.iter().any(|file| sent.contains(&file.id))
        };
        self.files.update(|files| {
            files.retain(|file| file.route != route || !untrack(|| is_sent(file)));
        });
        if !untrack(|| self.has_files(route)) {
            self.set_new_conversation(route, None);
        }
        self.store(route);
    }

    /// Returns the route's conversation. That of a new chat is created on first use.
    fn conversation_or_new(self, route: Route) -> ConversationId {
        if let Some(id) = route.conversation_id() {
            return id;
        }
        let new = self.new_conversation(route).unwrap_or_default();
        self.set_new_conversation(route, Some(new));
        new
    }

    fn new_conversation(self, route: Route) -> Option<ConversationId> {
        self.new_conversations.with_value(|new| new.get(&route).copied())
    }

    fn set_new_conversation(self, route: Route, id: Option<ConversationId>) {
        self.new_conversations.update_value(|new| {
            match id {
                Some(id) => new.insert(route, id),
                None => new.remove(&route),
            };
        });
    }

    fn store(self, route: Route) {
        let files = untrack(|| uploaded(&self.for_route(route)));
        if files.is_empty() {
            return drafts::remove_files(route);
        }
        let conversation_id = self.conversation_or_new(route);
        drafts::save_files(
            route,
            &SavedDraftFiles {
                conversation_id,
                files,
            },
        );
    }
}

fn uploaded(files: &[DraftFile]) -> Vec<Attachment> {
    let states = files.iter().map(|file| file.state.get());
    let uploaded = states.filter_map(|state| match state {
        UploadState::Uploaded(file) => Some(file),
        UploadState::Uploading { .. } | UploadState::Failed(_) => None,
    });
    uploaded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attachment(name: &str) -> Attachment {
        Attachment {
            id: AttachmentId::new(),
            name: name.into(),
            media_type: "text/plain".into(),
            bytes: 1,
            width: None,
            height: None,
            text_bytes: None,
            problem: None,
        }
    }

    #[test]
    fn returned_files_join_and_leave_those_attached_since() {
        let owner = Owner::new();
        owner.set();
        let files = DraftFiles::new(Connection::new());
        let (sent, since) = (attachment("sent.txt"), attachment("since.txt"));
        let conversation = ConversationId::new();
        let draft = || untrack(|| uploaded(&files.for_route(Route::New)));

        files.push(
            Route::New,
            since.name.clone(),
            UploadState::Uploaded(since.clone()),
            None,
        );
        for _ in 0..2 {
            files.restore(Route::New, conversation, std::slice::from_ref(&sent));
            assert_eq!(draft(), [since.clone(), sent.clone()]);
        }
        files.remove_sent(Route::New, &[sent.id]);
        assert_eq!(draft(), [since]);
        assert_eq!(files.take(Route::New).1, Some(conversation));
    }
}
