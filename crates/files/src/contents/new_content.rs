//! Contents from their creation until they are kept.

use std::{
    io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use tokio::io::AsyncWriteExt;

use super::{
    ContentForm, Contents, in_background,
    names::{content_path, conversation_folder},
};
use crate::shared::{SharedContent, SharedForm};
use parlor_storage::FileLocation;

/// A content that is being written. Dropping it deletes it, unless it was kept.
pub struct NewContent {
    pub(super) file: tokio::fs::File,
    pub(super) contents: Contents,
    pub(super) location: FileLocation,
    pub(super) form: ContentForm,
    /// Its path; under another name until it is kept, if it may be made more than once.
    pub(super) path: PathBuf,
    pub(super) is_kept: bool,
}

impl NewContent {
    /// Appends data.
    pub async fn write(&mut self, data: &[u8]) -> io::Result<()> {
        self.file.write_all(data).await
    }

    /// Returns the open file for another process, which writes it instead.
    pub async fn as_output(&self) -> io::Result<std::fs::File> {
        Ok(self.file.try_clone().await?.into_std().await)
    }

    /// Keeps the content: it is on the disk, and where it is shared, when this returns.
    pub async fn keep(mut self) -> io::Result<()> {
        self.place().await?;
        if let Some((shared, form)) = self.contents.shared_form(self.form) {
            let (contents, shared, location) = (self.contents.clone(), shared.clone(), self.location);
            let caller = CallerGone::default();
            let is_gone = caller.0.clone();
            // What was begun goes on without the caller: its deletion would come before its end. A picture is made of a file that is
            // kept, and stays with it.
            let is_picture = form == SharedForm::Picture;
            let sharing = tokio::spawn(async move {
                contents.share(&*shared, SharedContent { location, form }).await?;
                match is_gone.load(Relaxed) && !is_picture {
                    true => shared.delete(location).await,
                    false => Ok(()),
                }
            });
            sharing.await.map_err(io::Error::other)??;
        }
        self.is_kept = true;
        Ok(())
    }

    /// Keeps the copy of a content that is shared already.
    pub async fn keep_local(mut self) -> io::Result<()> {
        self.place().await?;
        self.is_kept = true;
        Ok(())
    }

    /// Brings the content to the disk, under its name.
    async fn place(&mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        // The names of the content and of its folders.
        let (folder, location) = (self.contents.folder.clone(), self.location);
        let final_path = content_path(location, self.form);
        let (path, to) = (self.path.clone(), final_path.clone());
        in_background(move || {
            if path != to {
                folder.rename(&path, &folder, &to)?;
            }
            let user_folder = PathBuf::from(location.user_id.to_string());
            for path in [conversation_folder(location), user_folder, ".".into()] {
                // `open_dir` opens folders without the right to sync them.
                folder.open(path)?.sync_all()?;
            }
            Ok(())
        })
        .await?;
        self.path = final_path;
        Ok(())
    }
}

impl Drop for NewContent {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = self.contents.folder.remove_file(&self.path)
        {
            tracing::warn!(%error, "a file that was not kept could not be deleted; the next start deletes it");
        }
    }
}

/// Tells a task whether its caller has gone away.
#[derive(Default)]
struct CallerGone(Arc<AtomicBool>);

impl Drop for CallerGone {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
