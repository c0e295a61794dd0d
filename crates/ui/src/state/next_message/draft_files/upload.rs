//! Uploads of a draft's files, and their limits. The code is loaded with the first file.

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{DraftFile, DraftFiles, FileSource};
use crate::{
    api::rpc,
    browser,
    runtime::lazy::{LoadError, when_loaded},
    state::{
        file_upload::{FileUpload, UploadState, exceeded_size},
        texts,
    },
};
use parlor_protocol::{ApiError, AttachmentId};

/// Loads the code of uploads, and starts one.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
fn upload(files: DraftFiles, file: DraftFile) -> Result<(), LoadError> {
    files.upload_now(&file);
    Ok(())
}

impl DraftFiles {
    /// Returns the reason why a file can't be attached, before any of it is sent.
    fn exceeded_limit(self, file: &DraftFile) -> Option<String> {
        if let Some(FileSource::Local(source)) = &file.source
            && let Some(reason) = exceeded_size(source)
        {
            return Some(reason);
        }
        let (max_count, _) = browser::file_limits();
        let others = untrack(|| self.for_route(file.route))
            .into_iter()
            .filter(|other| other.key != file.key);
        let is_kept = |other: &DraftFile| !matches!(other.state.get_untracked(), UploadState::Failed(_));
        (others.filter(is_kept).count() >= max_count).then(|| texts::too_many_files(max_count))
    }

    /// Uploads a file unless it exceeds a limit.
    pub(super) fn upload(self, file: &DraftFile) {
        if let Some(reason) = self.exceeded_limit(file) {
            return file.state.set(UploadState::Failed(reason));
        }
        let state = file.state.clone();
        when_loaded(Box::pin(upload(self, file.clone())), move |loaded| {
            if loaded.is_err() {
                state.set(UploadState::Failed(ApiError::unreachable().message));
            }
        });
    }

    fn upload_now(self, file: &DraftFile) {
        // It may have been removed while the code was loaded.
        if !self.contains(file) {
            return;
        }
        let source = match &file.source {
            Some(FileSource::Local(source)) => source.clone(),
            Some(FileSource::Message(id)) => return self.copy(file, *id),
            None => return,
        };
        let conversation = self.conversation_or_new(file.route).to_string();
        let upload = FileUpload {
            url: ["/rpc/files?conversation_id=", &conversation].concat(),
            source,
            state: file.state.clone(),
            slot: file.upload.clone(),
        };
        // Not the whole file, which has the request: neither would be freed.
        let (key, route) = (file.key, file.route);
        upload.start(
            self.connection,
            move || self.contains_key(key),
            move || self.store(route),
        );
    }

    /// Has the server make a file of a message one of the draft too.
    fn copy(self, file: &DraftFile, id: AttachmentId) {
        let file = file.clone();
        spawn_local(async move {
            let copied = self.connection.call(rpc::copy_file(id)).await;
            match copied {
                Ok(copied) if !self.contains(&file) => self.delete_upload(copied.id),
                Ok(copied) => {
                    file.state.set(UploadState::Uploaded(copied));
                    self.store(file.route);
                }
                Err(error) => file.state.set(UploadState::Failed(error.message)),
            }
        });
    }

    /// Returns true while a file belongs to its draft.
    fn contains(self, file: &DraftFile) -> bool {
        self.contains_key(file.key)
    }

    fn contains_key(self, key: usize) -> bool {
        self.files
            .with_untracked(|files| files.iter().any(|other| other.key == key))
    }

    /// Deletes an uploaded file on the server. If that fails, it is deleted there some days later.
    pub(super) fn delete_upload(self, id: AttachmentId) {
        spawn_local(async move {
            let _ = self.connection.call(rpc::delete_upload(id)).await;
        });
    }
}
