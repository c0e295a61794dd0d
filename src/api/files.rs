//! The functions of files.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{ApiError, AttachmentId, FilePreview};
use parlor_ui::api::files::FileFunctions;

#[async_trait]
impl FileFunctions for Api {
    async fn file_preview(&self, id: AttachmentId) -> Result<FilePreview, ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::files::preview(&caller, id).await)
    }

    async fn check_upload(&self, bytes: u64) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        caller.set_error_status(app::files::check_room(&caller, bytes).await)
    }
}
