//! The pictures of charts, which the page makes when it has drawn them: one for each chart, next to its JSON.

use std::io;

use bytes::Bytes;
use tokio::io::AsyncReadExt;

use super::{ContentForm, Files, PrepareError};
use parlor_protocol::{Attachment, attachment::PLOTLY_CHART};
use parlor_storage::StoredFile;

/// The maximum size of a picture, in bytes. It does not count as one of the user's files.
pub const MAX_CHART_PICTURE_BYTES: usize = 4 << 20;

/// The type of all pictures.
const PNG: &str = "image/png";

/// Returns true if a file is a chart.
pub fn is_chart(file: &Attachment) -> bool {
    file.media_type == PLOTLY_CHART
}

impl Files {
    /// Reads the picture of a chart, a PNG. `None` if there is none yet.
    ///
    /// # Errors
    ///
    /// If it can't be read.
    pub async fn read_chart_picture(&self, file: &StoredFile) -> io::Result<Option<Bytes>> {
        match self.0.contents.read(file.location, ContentForm::Picture).await {
            Ok(mut picture) => {
                let mut data = Vec::new();
                picture.read_to_end(&mut data).await?;
                Ok(Some(data.into()))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores the picture of a chart, unless there is one. It is decoded and written again, in a process of its own.
    ///
    /// # Errors
    ///
    /// If the data is not a PNG, or can't be written.
    pub async fn store_chart_picture(&self, file: &StoredFile, data: Bytes) -> Result<(), PrepareError> {
        let (contents, location) = (&self.0.contents, file.location);
        if contents.read(location, ContentForm::Picture).await.is_ok() {
            return Ok(());
        }
        let clean = self.clean_image(data, MAX_CHART_PICTURE_BYTES).await?;
        if clean.media_type != PNG {
            return Err(PrepareError::Unreadable);
        }
        let mut picture = contents.create(location, ContentForm::Picture).await?;
        picture.write(&clean.data).await?;
        picture.keep().await?;
        // The chart may have been deleted meanwhile.
        let found = self.find(location.user_id, file.attachment.id).await;
        if let Ok(None) = found {
            contents.delete(location).await?;
        }
        Ok(())
    }
}
