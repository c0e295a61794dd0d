//! Contents that the settings want elsewhere than they are: from the folder to where nodes share them, and out of the database into the
//! folder. At the start, before anything reads them; after a crash, the next start continues.

use std::{collections::HashSet, io};

use super::{SharedContent, SharedContents, SharedForm, database::DatabaseContents};
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
            None => self.move_out().await,
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
        for file in self.0.contents.local_files().await? {
            let Some(form) = file.form.and_then(SharedForm::of) else {
                continue;
            };
            let content = SharedContent {
                location: file.location,
                form,
            };
            if known.contains(&file.location.stored_name) && !there.contains(&content) {
                self.0.contents.share(shared, content).await?;
                count += 1;
            }
        }
        Ok(count)
    }

    /// Copies all contents of the database into the folder, then deletes them there.
    async fn move_out(&self) -> io::Result<usize> {
        let database = DatabaseContents(self.0.storage.clone());
        let there = database.list().await?;
        if there.is_empty() {
            return Ok(0);
        }
        let here = self.0.contents.local_files().await?;
        let here: HashSet<SharedContent> = here
            .iter()
            .filter_map(|file| {
                let form = SharedForm::of(file.form?)?;
                let location = file.location;
                Some(SharedContent { location, form })
            })
            .collect();
        for (content, _) in there.iter().filter(|(content, _)| !here.contains(content)) {
            self.0.contents.fetch(&database, *content).await?;
        }
        for (content, _) in &there {
            database.delete(content.location).await?;
        }
        Ok(there.len())
    }
}
