//! The functions of files.

use async_trait::async_trait;

use super::Api;
use crate::app::{self, file_list::FileQuery};
use parlor_protocol::{ApiError, AttachmentId, FileList, FilePreview, FileSort, FilesDeleted};
use parlor_ui::api::files::FileFunctions;

#[async_trait]
impl FileFunctions for Api {
    async fn file_preview(&self, id: AttachmentId) -> Result<FilePreview, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::files::preview(&caller, id).await)
    }

    async fn my_files(
        &self,
        query: String,
        sort: FileSort,
        after: Option<String>,
    ) -> Result<FileList, ApiError> {
        let caller = app::current_caller()?;
        let query = FileQuery {
            query,
            sort,
            after,
            limit: None,
        };
        caller.set_error_status(app::file_list::list(&caller, query).await)
    }

    async fn delete_files(&self, ids: Vec<AttachmentId>) -> Result<FilesDeleted, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::file_list::delete(&caller, ids).await)
    }

    async fn check_upload(&self, bytes: u64) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::files::check_room(&caller, bytes).await)
    }
}
