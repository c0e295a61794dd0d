//! The contents of files in a folder of their own, by user, conversation and random name. All paths are made of ids, and a
//! capability for the folder keeps them within it. If nodes share the contents ([`shared`](super::shared)), the folder has copies.

mod names;
mod new_content;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, OpenOptions},
};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use self::names::{TABLES_SUFFIX, conversation_folder, for_each_name, form_of, remove_if_exists};
pub use self::{
    names::{content_path, location_of},
    new_content::NewContent,
};
use super::shared::{SharedContent, SharedContents, SharedForm};
use parlor_protocol::UserId;
use parlor_storage::FileLocation;

/// The number of attempts to create a content in its folder.
const CREATE_ATTEMPTS: usize = 5;

/// The form of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentForm {
    /// The uploaded bytes, unchanged. For the user alone.
    Original,
    /// The form for models: an image, or a document's preview as JSON.
    Prepared,
    /// The tables of a file as a database of SQLite. It may be made more than once at the same time.
    Tables,
    /// The picture of a chart. It may be made more than once, too.
    Picture,
}

/// The folder of all contents.
#[derive(Clone)]
pub struct Contents {
    folder: Arc<Dir>,
    path: PathBuf,
    /// The place of the contents that this folder has copies of; `None` if they are here.
    shared: Option<Arc<dyn SharedContents>>,
}

impl Contents {
    /// Opens the folder. Creates it for its owner only, if it does not exist.
    pub fn open(folder: &Path, shared: Option<Arc<dyn SharedContents>>) -> io::Result<Self> {
        if !folder.is_dir() {
            let mut builder = std::fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        Ok(Self {
            folder: Arc::new(Dir::open_ambient_dir(folder, ambient_authority())?),
            path: std::path::absolute(folder)?,
            shared,
        })
    }

    /// Returns where the contents are, if not in this folder.
    pub fn shared(&self) -> Option<&Arc<dyn SharedContents>> {
        self.shared.as_ref()
    }

    /// Creates a content. It is deleted again unless it is kept.
    pub async fn create(&self, location: FileLocation, form: ContentForm) -> io::Result<NewContent> {
        match form {
            ContentForm::Original | ContentForm::Prepared => {
                self.create_at(location, form, content_path(location, form)).await
            }
            ContentForm::Tables | ContentForm::Picture => self.create_copy(location, form).await,
        }
    }

    /// Creates a content under another name, which it has until it is kept. It replaces one that another request has kept meanwhile.
    pub(super) async fn create_copy(
        &self,
        location: FileLocation,
        form: ContentForm,
    ) -> io::Result<NewContent> {
        let begun = content_path(location, form).with_extension(format!("new-{}", Uuid::new_v4()));
        self.create_at(location, form, begun).await
    }

    async fn create_at(
        &self,
        location: FileLocation,
        form: ContentForm,
        path: PathBuf,
    ) -> io::Result<NewContent> {
        let contents = self.clone();
        in_background(move || {
            let folder = &contents.folder;
            let mut builder = DirBuilder::new();
            builder.recursive(true);
            #[cfg(unix)]
            cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let open = || {
                folder.create_dir_with(conversation_folder(location), &builder)?;
                folder.open_with(&path, &options)
            };
            // The deletion of the last content of a folder may remove the folder in between.
            let file = (1..CREATE_ATTEMPTS).find_map(|_| match open() {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                opened => Some(opened),
            });
            let file = file.unwrap_or_else(open)?;
            // A caller that has gone away meanwhile drops it.
            Ok(NewContent {
                file: file.into_std().into(),
                contents,
                location,
                form,
                path,
                is_kept: false,
            })
        })
        .await
    }

    /// Returns the path of a content, where it is or will be.
    pub fn path(&self, location: FileLocation, form: ContentForm) -> PathBuf {
        self.path.join(content_path(location, form))
    }

    /// Returns the path of a content for readers that need one, after it was fetched if it is shared.
    pub async fn local_path(&self, location: FileLocation, form: ContentForm) -> io::Result<PathBuf> {
        if self.shared.is_some() {
            self.read(location, form).await?;
        }
        Ok(self.path(location, form))
    }

    /// Notes that a copy is used now, by its path.
    pub async fn note_use(&self, location: FileLocation, form: ContentForm) -> io::Result<()> {
        if self.shared.is_some() {
            note_use(&self.open_local(location, form).await?.into_std().await);
        }
        Ok(())
    }

    /// Opens a content for reading.
    pub async fn read(&self, location: FileLocation, form: ContentForm) -> io::Result<tokio::fs::File> {
        let Some((shared, shared_form)) = self.shared_form(form) else {
            return self.open_local(location, form).await;
        };
        match self.open_local(location, form).await {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let form = shared_form;
                self.fetch(&**shared, SharedContent { location, form }).await?;
                self.open_local(location, form.into()).await
            }
            Ok(file) => {
                note_use(&file.try_clone().await?.into_std().await);
                Ok(file)
            }
            failed => failed,
        }
    }

    pub(super) async fn open_local(
        &self,
        location: FileLocation,
        form: ContentForm,
    ) -> io::Result<tokio::fs::File> {
        let folder = self.folder.clone();
        let open = move || Ok(folder.open(content_path(location, form))?.into_std());
        Ok(in_background(open).await?.into())
    }

    fn shared_form(&self, form: ContentForm) -> Option<(&Arc<dyn SharedContents>, SharedForm)> {
        self.shared.as_ref().zip(SharedForm::try_from(form).ok())
    }

    /// Deletes a content in all its forms, and the folders that are empty then. Has no effect on a missing one.
    pub async fn delete(&self, location: FileLocation) -> io::Result<()> {
        if let Some(shared) = &self.shared {
            shared.delete(location).await?;
        }
        self.delete_local(location).await
    }

    /// Deletes the copies of a content in this folder.
    pub(super) async fn delete_local(&self, location: FileLocation) -> io::Result<()> {
        let contents = self.clone();
        in_background(move || contents.delete_files(location)).await
    }

    /// Deletes a content as [`Contents::delete`] does, on this thread. What is shared is deleted in the background.
    pub fn delete_now(&self, location: FileLocation) -> io::Result<()> {
        if let (Some(shared), Ok(runtime)) = (self.shared.clone(), tokio::runtime::Handle::try_current()) {
            runtime.spawn(async move {
                if let Err(error) = shared.delete(location).await {
                    tracing::warn!(%error, "a file that was not kept could not be deleted; a later start deletes it");
                }
            });
        }
        self.delete_files(location)
    }

    fn delete_files(&self, location: FileLocation) -> io::Result<()> {
        let folder = &self.folder;
        for form in [
            ContentForm::Tables,
            ContentForm::Picture,
            ContentForm::Prepared,
            ContentForm::Original,
        ] {
            remove_if_exists(folder, &content_path(location, form))?;
        }
        // What a process that was killed has begun.
        let name = location.stored_name.to_string();
        if let Ok(entries) = folder.read_dir(conversation_folder(location)) {
            for entry in entries.flatten() {
                let begun = entry.file_name();
                if begun.to_str().is_some_and(|begun| begun.starts_with(&name)) {
                    remove_if_exists(folder, &conversation_folder(location).join(begun))?;
                }
            }
        }
        // Folders with other contents stay.
        let _ = folder.remove_dir(conversation_folder(location));
        let _ = folder.remove_dir(location.user_id.to_string());
        Ok(())
    }

    /// Returns the locations of all contents in the folder. Names that Parlor does not give are left alone.
    pub async fn list_local(&self) -> io::Result<Vec<FileLocation>> {
        let files = self.local_files().await?;
        Ok(files.into_iter().map(|file| file.location).collect())
    }

    /// Returns all files in the folder.
    pub(super) async fn local_files(&self) -> io::Result<Vec<LocalFile>> {
        let folder = self.folder.clone();
        in_background(move || {
            let mut found = Vec::new();
            for_each_name(&folder, |location, of_conversation, name| {
                // One that was deleted meanwhile is not listed.
                if let Ok(file) = of_conversation.metadata(name) {
                    let written_at = file
                        .modified()
                        .map_or(SystemTime::UNIX_EPOCH, |time| time.into_std());
                    let read_at = file.accessed().map_or(written_at, |time| time.into_std());
                    found.push(LocalFile {
                        location,
                        form: form_of(name),
                        bytes: file.len(),
                        used_at: read_at.max(written_at),
                    });
                }
                Ok(())
            })?;
            Ok(found)
        })
        .await
    }

    /// Returns the size of the tables made of a user's files.
    pub async fn table_bytes(&self, user_id: UserId) -> io::Result<u64> {
        let folder = self.folder.clone();
        in_background(move || {
            let conversations = match folder.read_dir(user_id.to_string()) {
                Ok(conversations) => conversations,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
                Err(error) => return Err(error),
            };
            let mut bytes = 0_u64;
            for conversation in conversations.flatten() {
                // A folder that is deleted meanwhile has no files.
                let Ok(files) = conversation.open_dir().and_then(|folder| folder.entries()) else {
                    continue;
                };
                let tables = files.flatten().filter(|file| {
                    file.file_name()
                        .to_str()
                        .is_some_and(|name| name.ends_with(TABLES_SUFFIX))
                });
                let sizes = tables.filter_map(|file| Some(file.metadata().ok()?.len()));
                bytes = sizes.fold(bytes, u64::saturating_add);
            }
            Ok(bytes)
        })
        .await
    }

    /// Deletes the tables made of a file. Has no effect if there are none.
    pub async fn delete_tables(&self, location: FileLocation) -> io::Result<()> {
        let folder = self.folder.clone();
        in_background(move || remove_if_exists(&folder, &content_path(location, ContentForm::Tables))).await
    }

    /// Deletes forms that a killed process has begun or that an earlier version made; those of a certain age, if other nodes use the
    /// folder. Only for the start.
    pub async fn delete_leftovers(&self, age: Option<Duration>) -> io::Result<()> {
        let folder = self.folder.clone();
        in_background(move || {
            for_each_name(&folder, |_, of_conversation, name| {
                let is_old = |age: Duration| {
                    let file = of_conversation.metadata(name).ok();
                    let written_at = file.and_then(|file| Some(file.modified().ok()?.into_std()));
                    written_at.is_some_and(|time| time.elapsed().is_ok_and(|now| now >= age))
                };
                match form_of(name) {
                    None if age.is_none_or(is_old) => remove_if_exists(of_conversation, Path::new(name)),
                    _ => Ok(()),
                }
            })
        })
        .await
    }
}

/// Notes that a copy is used now, whatever the file system keeps of that by itself: those that are used least are deleted.
fn note_use(file: &std::fs::File) {
    let times = std::fs::FileTimes::new().set_accessed(SystemTime::now());
    if let Err(error) = file.set_times(times) {
        tracing::debug!(%error, "the use of a file can't be noted");
    }
}

/// A file in the folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct LocalFile {
    pub location: FileLocation,
    /// `None` if it is not complete, or was made by an earlier version.
    pub form: Option<ContentForm>,
    pub bytes: u64,
    /// The time when it was last written or read, as exact as the file system keeps it.
    pub used_at: SystemTime,
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}
