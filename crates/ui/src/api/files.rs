//! Server functions of files.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{ApiError, AttachmentId, FilePreview};

server_functions! {
    trait FileFunctions;

    /// Returns the text or the tables of a document, as models get them.
    GetUrl "file_preview" as LoadFilePreview
    fn file_preview(id: AttachmentId) -> FilePreview;

    /// Checks that there is room for a file of this size, before it is uploaded: browsers don't read the response to a request
    /// whose body is refused.
    Json "check_upload"
    fn check_upload(bytes: u64) -> ();
}
