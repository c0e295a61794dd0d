//! Server functions of files.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{ApiError, AttachmentId, FileList, FilePreview, FileSort, FilesDeleted};

server_functions! {
    trait FileFunctions;

    /// Returns the text or the tables of a document, as models get them.
    GetUrl "file_preview" as LoadFilePreview
    fn file_preview(id: AttachmentId) -> FilePreview;

    /// Returns a page of all files of the user, with the places where each is used. `after` is `next` of the previous page.
    GetUrl "my_files" as LoadMyFiles
    fn my_files(#[server(default)] query: String, #[server(default)] sort: FileSort, after: Option<String>) -> FileList;

    /// Deletes files of the user wherever they are used. Messages then say that they are gone.
    Json "delete_files"
    fn delete_files(ids: Vec<AttachmentId>) -> FilesDeleted;

    /// Checks that there is room for a file of this size, before it is uploaded: browsers don't read the response to a request
    /// whose body is refused.
    Json "check_upload"
    fn check_upload(bytes: u64) -> ();
}
