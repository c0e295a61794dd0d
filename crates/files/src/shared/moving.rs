//! Contents that the settings want elsewhere than they are: from the folder to where nodes share them, and out of the database into the
//! folder. At the start, before anything reads them; after a crash, the next start continues.

use std::{collections::HashSet, io};

use super::{Contents, SharedContent, SharedContents, SharedForm, database::DatabaseContents};
use crate::Files;

impl Files {
    /// Moves the contents to where the settings want them.
    ///
    /// # Errors
    ///
    /// If one can't be read or written. It stays where it is.
    pub async fn move_contents(&self) -> io::Result<()> {
        let moved = match self.0.contents.shared() {
            Some(shared) => self.move_in(&**shared).await,
            None => match self.move_out().await {
                Ok(count) => self.move_into_folder().await.map(|more| count + more),
                failed => failed,
            },
        };
        match moved {
            Ok(0) => Ok(()),
            Ok(count) => {
                tracing::info!(
                    count,
                    "moved the contents of files to where the setting files.store wants them"
                );
                Ok(())
            }
            Err(error) => Err(io::Error::new(
                error.kind(),
                format!(
                    "the contents of files can't be moved to where the setting files.store wants them ({error}). Nothing is lost: start \
                     again when that works, or take the setting back"
                ),
            )),
        }
    }

    /// Copies what only this folder has to where nodes share it. The copies here stay, as those of a cache.
    async fn move_in(&self, shared: &dyn SharedContents) -> io::Result<usize> {
        let known = self.0.stored_names().await?;
        let there = shared.list().await?;
        let there: HashSet<SharedContent> = there.into_iter().map(|(content, _)| content).collect();
        let mut count = 0;
        for content in shareable(&self.0.contents).await?.difference(&there) {
            if known.contains(&content.location.stored_name) {
                self.0.contents.share(shared, *content).await?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Copies what only the data folder has into the folder that the settings name. The originals stay.
    async fn move_into_folder(&self) -> io::Result<usize> {
        if self.0.settings.store.is_none() || !self.0.in_data.is_dir() {
            return Ok(0);
        }
        let known = self.0.stored_names().await?;
        let from = Contents::open(&self.0.in_data, None)?;
        let here = shareable(&self.0.contents).await?;
        let mut count = 0;
        for content in shareable(&from).await?.difference(&here) {
            if known.contains(&content.location.stored_name) {
                let mut original = from.read(content.location, content.form.into()).await?;
                let mut copy = self
                    .0
                    .contents
                    .create_copy(content.location, content.form.into())
                    .await?;
                copy.copy_from(&mut original).await?;
                copy.keep().await?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Copies all contents of the database into the folder, then deletes them there. A damaged one stays there and is left out.
    async fn move_out(&self) -> io::Result<usize> {
        let database = DatabaseContents(self.0.storage.clone());
        let there = database.list().await?;
        if there.is_empty() {
            return Ok(0);
        }
        let here = shareable(&self.0.contents).await?;
        let mut damaged = HashSet::new();
        for (content, _) in there.iter().filter(|(content, _)| !here.contains(content)) {
            match self.0.contents.fetch(&database, *content).await {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    tracing::error!(%error, "a file stays in the database");
                    damaged.insert(content.location);
                }
                fetched => fetched?,
            }
        }
        let moved: HashSet<_> = there.iter().map(|(content, _)| content.location).collect();
        for location in moved.difference(&damaged) {
            database.delete(*location).await?;
        }
        Ok(there.len())
    }
}

/// Returns the contents of a folder in all forms that nodes share.
async fn shareable(contents: &Contents) -> io::Result<HashSet<SharedContent>> {
    let files = contents.local_files().await?;
    let contents = files.iter().filter_map(|file| {
        let form = SharedForm::of(file.form?)?;
        let location = file.location;
        Some(SharedContent { location, form })
    });
    Ok(contents.collect())
}
