//! The checks of a message's files before it is sent: their number, and that its model takes them.

use super::{Runs, StartError, journal_error};
use parlor_files as files;
use parlor_files::PDF;
use parlor_protocol::{AttachmentId, FileProblem, ModelCapabilities, UserId};
use parlor_storage::StoredFile;

/// A file that the model of a message can't take.
#[derive(Debug)]
pub struct FileNotTaken {
    pub name: String,
    /// True for an image, false for a PDF file.
    pub is_image: bool,
    /// The reason why the text of a PDF file is not sent instead.
    pub problem: Option<FileProblem>,
    pub model: String,
    /// Models that take it.
    pub others: Vec<String>,
}

impl Runs {
    /// Checks the number of files, and that the model takes each of them. Files that do not exist are found later.
    pub(super) async fn check_files(
        &self,
        user_id: UserId,
        ids: &[AttachmentId],
        model: &str,
    ) -> Result<(), StartError> {
        let (count, limit) = (ids.len(), self.0.files.settings().max_count);
        if count > limit {
            return Err(StartError::TooManyFiles { count, limit });
        }
        let models = self.0.models.of_user(user_id);
        let mut capabilities = models.capabilities(model);
        for id in ids {
            let stored = self.0.storage.file(user_id, *id).await;
            let Some(StoredFile { attachment, .. }) = stored.map_err(journal_error)? else {
                continue;
            };
            let is_image = files::is_image(&attachment);
            // An image is tried if nothing is known; a PDF file is not. What no model can read is only named: the page has
            // said so next to the file.
            let is_unreadable = matches!(
                attachment.problem,
                Some(FileProblem::Encrypted | FileProblem::Damaged)
            );
            let is_taken = |capabilities: &ModelCapabilities| match is_image {
                true => capabilities.image_input != Some(false),
                false => {
                    attachment.media_type != PDF
                        || attachment.text_bytes.is_some()
                        || is_unreadable
                        || capabilities.pdf_input == Some(true)
                }
            };
            if !is_taken(&capabilities) {
                let permissions = self.permissions(user_id).await.map_err(journal_error)?;
                let list = self.allowed_models(&permissions).await;
                // A newer list, or the first one, may know more of the model.
                capabilities = models.capabilities(model);
                if is_taken(&capabilities) {
                    continue;
                }
                let taking = list.models.into_iter().filter(|listed| match is_image {
                    true => listed.capabilities.image_input == Some(true),
                    false => listed.capabilities.pdf_input == Some(true),
                });
                return Err(StartError::FileNotTaken(FileNotTaken {
                    name: attachment.name,
                    is_image,
                    problem: attachment.problem,
                    model: model.to_owned(),
                    others: taking.map(|listed| listed.id).collect(),
                }));
            }
        }
        Ok(())
    }
}
