//! Server functions of files.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use super::codec::PageProtocol;
use crate::protocol::{ApiError, AttachmentId, FilePreview};

/// Returns the text or the tables of a document, as models get them.
#[server(name = LoadFilePreview, prefix = "/rpc", endpoint = "file_preview", protocol = PageProtocol<GetUrl>)]
pub async fn file_preview(id: AttachmentId) -> Result<FilePreview, ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::files::preview(&caller, id).await)
}

/// Checks that there is room for a file of this size, before it is uploaded: browsers don't read the response to a request
/// whose body is refused.
#[server(prefix = "/rpc", endpoint = "check_upload", protocol = PageProtocol<Json>)]
pub async fn check_upload(bytes: u64) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    caller.set_error_status(crate::app::files::check_room(&caller, bytes).await)
}
