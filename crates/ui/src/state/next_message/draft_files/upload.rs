//! Uploads of a draft's files: their limits, the request and its end. The code is loaded with the first file.

use leptos::{prelude::*, task::spawn_local, wasm_split::wasm_split};

use super::{DraftFile, DraftFiles, FileSource, UploadState};
use crate::{
    api::{files::check_upload, rpc},
    browser,
    runtime::lazy::{LoadError, when_loaded},
    state::connection::{check_user, report_signed_out},
    state::texts,
};
use parlor_protocol::{ApiError, Attachment, AttachmentId, ErrorCode, json, number_format::format_size};

/// The size in bytes from which the server is asked for room before a file is sent to it.
const MIN_CHECKED_BYTES: f64 = 1e6;

/// Loads the code of uploads, and starts one.
#[wasm_split(composer, wasm_split_path = leptos::wasm_split, fallible)]
fn upload(files: DraftFiles, file: DraftFile) -> Result<(), LoadError> {
    files.upload_now(&file);
    Ok(())
}

impl DraftFiles {
    /// Returns the reason why a file can't be attached, before any of it is sent.
    fn exceeded_limit(self, file: &DraftFile) -> Option<String> {
        let (max_count, max_bytes) = browser::file_limits();
        if let Some(FileSource::Local(source)) = &file.source
            && source.size() > max_bytes as f64
        {
            let (size, limit) = (format_size(source.size() as usize), format_size(max_bytes));
            return Some(texts::file_too_large(&size, &limit));
        }
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
            Some(FileSource::Local(source)) => source,
            Some(FileSource::Message(id)) => return self.copy(file, *id),
            None => return,
        };
        let bytes = source.size();
        if bytes < MIN_CHECKED_BYTES {
            return self.send(file);
        }
        let file = file.clone();
        spawn_local(async move {
            let checked = self.connection.call(check_upload(bytes as u64)).await;
            match checked {
                Err(error) if !error.code.is_temporary() => {
                    file.state.set(UploadState::Failed(error.message))
                }
                _ if self.contains(&file) => self.send(&file),
                _ => {}
            }
        });
    }

    /// Sends a file of this machine.
    fn send(self, file: &DraftFile) {
        let Some(FileSource::Local(source)) = &file.source else {
            return;
        };
        if let Err(error) = check_user() {
            return file.state.set(UploadState::Failed(error.message));
        }
        let conversation = self.conversation_or_new(file.route).to_string();
        let url = ["/rpc/files?conversation_id=", &conversation].concat();
        // The request keeps its progress listener. With the whole file, which has the request, neither would be freed.
        let (progress, ended) = (file.state.clone(), file.clone());
        let upload = browser::upload(
            &url,
            source,
            move |part| {
                let percent = (part * 100.0) as u32;
                progress.set(UploadState::Uploading { percent });
            },
            move |status, body| {
                let response = read_response(status, &body);
                report_signed_out(&response);
                ended.state.set(match response {
                    Ok(uploaded) => UploadState::Uploaded(uploaded),
                    Err(error) => UploadState::Failed(error.message),
                });
                self.store(ended.route);
            },
        );
        if upload.is_none() {
            file.state
                .set(UploadState::Failed(ApiError::unreachable().message));
        }
        file.upload.set_value(upload);
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
        self.files
            .with_untracked(|files| files.iter().any(|other| other.key == file.key))
    }

    /// Deletes an uploaded file on the server. If that fails, it is deleted there some days later.
    pub(super) fn delete_upload(self, id: AttachmentId) {
        spawn_local(async move {
            let _ = self.connection.call(rpc::delete_upload(id)).await;
        });
    }
}

fn read_response(status: u16, body: &str) -> Result<Attachment, ApiError> {
    let body = body.as_bytes();
    match status {
        201 => json::parse(body).map_err(ApiError::unreadable),
        0 => Err(ApiError::new(ErrorCode::Unreachable, texts::UPLOAD_CUT_OFF)),
        _ => {
            let error = json::parse(body);
            Err(error.unwrap_or_else(|_| ApiError::new(ErrorCode::Internal, texts::UPLOAD_FAILED)))
        }
    }
}
