//! Contents that the settings want elsewhere than they are: from the folder to where nodes share them, and out of the database into the
//! folder. At the start, before anything reads them; after a crash, the next start continues.

use std::{collections::HashSet, io};

use parlor_storage::FileLocation;

use super::{Contents, SharedContent, SharedContents, SharedForm, database::DatabaseContents, digest_of};
use crate::Files;

impl Files {
    /// Moves the contents to where the settings want them, and says in the log how many are missing there.
    ///
    /// # Errors
    ///
    /// If one can't be read or written. It stays where it is.
    pub async fn move_contents(&self) -> io::Result<()> {
        let moved = match self.0.contents.shared() {
            Some(shared) => self.move_in(&**shared).await.map(Some),
            None => self.move_out().await,
        };
        let present = moved.map_err(|error| {
            let text = format!(
                "the contents of files can't be moved to where the setting files.store wants them ({error}). Nothing is lost: start \
                 again when that works, or take the setting back"
            );
            io::Error::new(error.kind(), text)
        })?;
        let Some(present) = present else {
            return Ok(());
        };
        // The row of a file that can't be read is told elsewhere.
        let named = self.0.storage.file_locations().await.unwrap_or_default();
        let missing = named.iter().filter(|location| !present.contains(location));
        match missing.count() {
            0 => {}
            count => tracing::error!(
                count,
                "the contents of files are missing where the setting files.store says; if it was changed, they may be where it was before"
            ),
        }
        Ok(())
    }

    /// Copies what only this folder has to where nodes share it. The copies here stay, as those of a cache. Returns the locations of all
    /// originals.
    async fn move_in(&self, shared: &dyn SharedContents) -> io::Result<HashSet<FileLocation>> {
        let there: HashSet<SharedContent> = shared.list().await?.into_iter().collect();
        let here = shareable(&self.0.contents).await?;
        let mut new: Vec<SharedContent> = here.difference(&there).copied().collect();
        match self.0.stored_names().await {
            Ok(known) => new.retain(|content| known.contains(&content.location.stored_name)),
            // Those without a row are among them.
            Err(error) => tracing::error!(%error, "which files have a row can't be read"),
        }
        if !new.is_empty() {
            tracing::info!(count = new.len(), "moving the contents of files");
        }
        for content in &new {
            match self.0.contents.share(shared, *content).await {
                // It was deleted meanwhile.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                moved => moved?,
            }
        }
        Ok(originals(there.iter().chain(&new)))
    }

    /// Copies all contents of the database into the folder, then deletes them there. A damaged one stays there and is left out. Returns
    /// the locations of all originals in the folder; `None` if they were always there, and need not be looked at.
    async fn move_out(&self) -> io::Result<Option<HashSet<FileLocation>>> {
        let database = DatabaseContents(self.0.storage.clone());
        let there = match database.list().await {
            Ok(there) => there,
            Err(error) => {
                tracing::error!(%error, "the contents of files in the database can't be read");
                Vec::new()
            }
        };
        if there.is_empty() && self.0.settings.store.is_none() {
            return Ok(None);
        }
        if !there.is_empty() {
            tracing::info!(
                count = there.len(),
                "moving the contents of files out of the database"
            );
        }
        let mut damaged = HashSet::new();
        for content in &there {
            match self.take_out(&database, *content).await {
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                    tracing::error!(%error, "a file stays in the database");
                    damaged.insert(content.location);
                }
                taken => taken?,
            }
        }
        let moved: HashSet<_> = there.iter().map(|content| content.location).collect();
        for location in moved.difference(&damaged) {
            database.delete(*location).await?;
        }
        Ok(Some(originals(&shareable(&self.0.contents).await?)))
    }

    /// Copies a content of the database into the folder, unless it is there.
    async fn take_out(&self, database: &DatabaseContents, content: SharedContent) -> io::Result<()> {
        let contents = &self.0.contents;
        if let Ok(copy) = contents.open_local(content.location, content.form.into()).await {
            let stored = database.get(content).await?.digest;
            if digest_of(copy.into_std().await).await? == stored {
                return Ok(());
            }
        }
        contents.fetch(database, content).await
    }
}

/// Returns the contents of a folder in all forms that nodes share.
async fn shareable(contents: &Contents) -> io::Result<HashSet<SharedContent>> {
    let files = contents.local_files().await?;
    let contents = files.iter().filter_map(|file| {
        let form = SharedForm::try_from(file.form?).ok()?;
        let location = file.location;
        Some(SharedContent { location, form })
    });
    Ok(contents.collect())
}

fn originals<'a>(contents: impl IntoIterator<Item = &'a SharedContent>) -> HashSet<FileLocation> {
    let originals = contents
        .into_iter()
        .filter(|content| content.form == SharedForm::Original);
    originals.map(|content| content.location).collect()
}
