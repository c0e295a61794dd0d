//! Images in the answer itself: each is checked, and stored as a file of the message.

use uuid::Uuid;

use super::Driver;
use crate::agent::Input;
use parlor_files::Files;
use parlor_model::{EncodedImage, ModelEvent, UnreadableContent};
use parlor_protocol::{Attachment, AttachmentId};
use parlor_storage::{FileLocation, RunKey, StoredFile};
use parlor_tools::made_images;

impl Driver<'_> {
    /// Stores an image of the answer. Returns the input about it: one that can't be kept is noted at its place.
    pub(super) async fn store_image(&mut self, image: EncodedImage) -> Input {
        let limits = &self.runs.images;
        // Rejected ones count too: each is read.
        let count = made_images(self.agent.message()) + self.rejected_images;
        let bytes = image.max_bytes();
        let stored = match count < limits.max_count {
            true => write_image(&self.runs.files, self.run, count + 1, image, limits.max_bytes).await,
            false => Err("the answer has images.max_count images".into()),
        };
        match stored {
            Ok(image) => Input::ImageStored(image),
            Err(why) => {
                self.rejected_images += 1;
                tracing::warn!(run = %self.run.message_id, bytes, "an image of an answer is not kept: {why}");
                Input::Model(ModelEvent::Unreadable {
                    what: UnreadableContent::Image,
                    raw: format!("An image of about {bytes} bytes was not kept: {why}."),
                })
            }
        }
    }
}

/// Stores a clean copy of the image with this number in its answer.
async fn write_image(
    files: &Files,
    run: RunKey,
    number: usize,
    image: EncodedImage,
    max_bytes: usize,
) -> Result<Attachment, String> {
    let decoded = image.decode(max_bytes).await;
    let data = decoded.map_err(|error| error.to_string())?;
    let clean = files.clean_image(data, max_bytes).await;
    let clean = clean.map_err(|error| error.to_string())?;
    let extension = match clean.media_type {
        "image/png" => "png",
        _ => "jpg",
    };
    let file = StoredFile {
        attachment: Attachment {
            id: AttachmentId::new(),
            name: format!("image-{number}.{extension}"),
            media_type: clean.media_type.into(),
            bytes: clean.data.len(),
            width: Some(clean.width),
            height: Some(clean.height),
            text_bytes: None,
            problem: None,
        },
        location: FileLocation {
            user_id: run.user_id,
            conversation_id: run.conversation_id,
            stored_name: Uuid::new_v4(),
        },
    };
    let written = files.write_tool_file(file, &clean.data).await;
    let written = written.map_err(|error| error.to_string())?;
    let committed = written.commit_for_run(run).await;
    committed.map_err(|error| error.to_string())
}
