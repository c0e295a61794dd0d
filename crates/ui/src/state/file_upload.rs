//! The upload of a file of this machine: its size, the request and its end. For code that is loaded with the first file.

use leptos::{prelude::*, task::spawn_local};

use super::{
    connection::{Connection, check_user, report_signed_out},
    texts,
};
use crate::{api::files::check_upload, browser};
use parlor_protocol::{ApiError, Attachment, ErrorCode, json, number_format::format_size};

/// The size in bytes from which the server is asked for room before a file is sent to it.
const MIN_CHECKED_BYTES: f64 = 1e6;

/// The state of a file that is uploaded.
#[derive(Clone, Debug, PartialEq)]
pub enum UploadState {
    Uploading {
        /// The progress, from 0 to 100.
        percent: u32,
    },
    Uploaded(Attachment),
    /// The reason, for the user.
    Failed(String),
}

/// The place of an upload. Dropping what it has aborts the request.
pub type UploadSlot = ArcStoredValue<Option<browser::Upload>>;

/// An upload that is to begin.
pub struct FileUpload {
    pub url: String,
    pub source: browser::LocalFile,
    pub state: ArcRwSignal<UploadState>,
    pub slot: UploadSlot,
}

/// Returns the reason why a file is too large to be sent.
pub fn exceeded_size(source: &browser::LocalFile) -> Option<String> {
    let (_, max_bytes) = browser::file_limits();
    let is_too_large = source.size() > max_bytes as f64;
    let size = || format_size(source.size() as usize);
    is_too_large.then(|| texts::file_too_large(&size(), &format_size(max_bytes)))
}

impl FileUpload {
    /// Sends the file, if there is room and it is still wanted then. `on_end` is called once the server has answered, or
    /// has said that there is none.
    pub fn start(
        self,
        connection: Connection,
        is_wanted: impl Fn() -> bool + 'static,
        on_end: impl FnOnce() + 'static,
    ) {
        let bytes = self.source.size();
        if bytes < MIN_CHECKED_BYTES {
            return self.send(on_end);
        }
        spawn_local(async move {
            match connection.call(check_upload(bytes as u64)).await {
                Err(error) if !error.code.is_temporary() => self.fail(error.message, on_end),
                _ if is_wanted() => self.send(on_end),
                _ => {}
            }
        });
    }

    fn fail(self, reason: String, on_end: impl FnOnce()) {
        self.state.set(UploadState::Failed(reason));
        on_end();
    }

    fn send(self, on_end: impl FnOnce() + 'static) {
        if let Err(error) = check_user() {
            return self.fail(error.message, on_end);
        }
        let (progress, ended) = (self.state.clone(), self.state.clone());
        let upload = browser::upload(
            &self.url,
            &self.source,
            move |part| {
                let percent = (part * 100.0) as u32;
                progress.set(UploadState::Uploading { percent });
            },
            move |status, body| {
                let response = read_response(status, &body);
                report_signed_out(&response);
                ended.set(match response {
                    Ok(uploaded) => UploadState::Uploaded(uploaded),
                    Err(error) => UploadState::Failed(error.message),
                });
                on_end();
            },
        );
        if upload.is_none() {
            self.state
                .set(UploadState::Failed(ApiError::unreachable().message));
        }
        self.slot.set_value(upload);
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
