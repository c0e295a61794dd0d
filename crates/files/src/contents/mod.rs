//! The contents of files in a folder of their own, by user, conversation and random name. All paths are made of ids, and a
//! capability for the folder keeps them within it.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::{
    ambient_authority,
    fs::{Dir, DirBuilder, OpenOptions},
};
use tokio::{io::AsyncWriteExt, task::spawn_blocking};
use uuid::Uuid;

use parlor_protocol::UserId;
use parlor_storage::FileLocation;

/// The suffixes of a content's other forms.
const PREPARED_SUFFIX: &str = ".model";
const PICTURE_SUFFIX: &str = ".picture";
/// The suffix of the tables. It has the reader's version, so that a new version rebuilds them.
const TABLES_SUFFIX: &str = ".tables2";

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
}

impl Contents {
    /// Opens the folder. Creates it for its owner only, if it does not exist.
    pub fn open(folder: &Path) -> io::Result<Self> {
        if !folder.is_dir() {
            let mut builder = std::fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.create(folder)?;
        }
        Ok(Self {
            folder: Arc::new(Dir::open_ambient_dir(folder, ambient_authority())?),
            path: std::path::absolute(folder)?,
        })
    }

    /// Creates a content. It is deleted again unless it is kept.
    pub async fn create(&self, location: FileLocation, form: ContentForm) -> io::Result<NewContent> {
        let folder = self.folder.clone();
        let final_path = content_path(location, form);
        let path = match form {
            ContentForm::Original | ContentForm::Prepared => final_path.clone(),
            ContentForm::Tables | ContentForm::Picture => {
                final_path.with_extension(format!("new-{}", Uuid::new_v4()))
            }
        };
        in_background(move || {
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
                folder,
                location,
                path,
                final_path,
                is_kept: false,
            })
        })
        .await
    }

    /// Returns the path of a content, for readers that need one.
    pub fn path(&self, location: FileLocation, form: ContentForm) -> PathBuf {
        self.path.join(content_path(location, form))
    }

    /// Opens a content for reading.
    pub async fn read(&self, location: FileLocation, form: ContentForm) -> io::Result<tokio::fs::File> {
        let folder = self.folder.clone();
        let open = move || Ok(folder.open(content_path(location, form))?.into_std());
        Ok(in_background(open).await?.into())
    }

    /// Deletes a content in all its forms, and the folders that are empty then. Has no effect on a missing one.
    pub async fn delete(&self, location: FileLocation) -> io::Result<()> {
        let contents = self.clone();
        in_background(move || contents.delete_now(location)).await
    }

    /// Deletes a content as [`Contents::delete`] does, on this thread.
    pub fn delete_now(&self, location: FileLocation) -> io::Result<()> {
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

    /// Returns the locations of all contents. Names that Parlor does not give are left alone.
    pub async fn list(&self) -> io::Result<Vec<FileLocation>> {
        let folder = self.folder.clone();
        in_background(move || {
            let mut found = Vec::new();
            for_each_name(&folder, |location, _, _| {
                found.push(location);
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

    /// Deletes forms that a killed process has begun or that an earlier version made. Only for the start.
    pub async fn delete_leftovers(&self) -> io::Result<()> {
        let folder = self.folder.clone();
        in_background(move || {
            for_each_name(&folder, |_, of_conversation, name| {
                let suffix = name.find('.').map_or("", |at| &name[at..]);
                match ["", PREPARED_SUFFIX, PICTURE_SUFFIX, TABLES_SUFFIX].contains(&suffix) {
                    true => Ok(()),
                    false => remove_if_exists(of_conversation, Path::new(name)),
                }
            })
        })
        .await
    }
}

fn remove_if_exists(folder: &Dir, path: &Path) -> io::Result<()> {
    match folder.remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Calls the function for each file: with its content's location, its folder and its name.
fn for_each_name(
    root: &Dir,
    mut visit: impl FnMut(FileLocation, &Dir, &str) -> io::Result<()>,
) -> io::Result<()> {
    let subfolders = |folder: &Dir| -> io::Result<Vec<(Uuid, Dir)>> {
        let mut subfolders = Vec::new();
        for entry in folder.entries()? {
            let entry = entry?;
            let id = entry.file_name().to_str().and_then(|name| name.parse().ok());
            if let Some(id) = id.filter(|_| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
                subfolders.push((id, entry.open_dir()?));
            }
        }
        Ok(subfolders)
    };
    for (user, of_user) in subfolders(root)? {
        for (conversation, of_conversation) in subfolders(&of_user)? {
            for entry in of_conversation.entries()? {
                let name = entry?.file_name();
                let name = name.to_str().unwrap_or_default();
                let stored_name = name.split_once('.').map_or(name, |(stored_name, _)| stored_name);
                if let Ok(stored_name) = stored_name.parse() {
                    let location = FileLocation {
                        user_id: UserId(user),
                        conversation_id: parlor_protocol::ConversationId(conversation),
                        stored_name,
                    };
                    visit(location, &of_conversation, name)?;
                }
            }
        }
    }
    Ok(())
}

fn conversation_folder(location: FileLocation) -> PathBuf {
    PathBuf::from(location.user_id.to_string()).join(location.conversation_id.to_string())
}

fn content_path(location: FileLocation, form: ContentForm) -> PathBuf {
    let mut name = location.stored_name.to_string();
    name.push_str(match form {
        ContentForm::Original => "",
        ContentForm::Prepared => PREPARED_SUFFIX,
        ContentForm::Tables => TABLES_SUFFIX,
        ContentForm::Picture => PICTURE_SUFFIX,
    });
    conversation_folder(location).join(name)
}

async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    spawn_blocking(work).await.map_err(io::Error::other)?
}

/// A content that is being written. Dropping it deletes it, unless it was kept.
#[derive(Debug)]
pub struct NewContent {
    file: tokio::fs::File,
    folder: Arc<Dir>,
    location: FileLocation,
    path: PathBuf,
    /// The path once the content is kept.
    final_path: PathBuf,
    is_kept: bool,
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

    /// Keeps the content: it is on the disk when this returns.
    pub async fn keep(mut self) -> io::Result<()> {
        self.file.flush().await?;
        self.file.sync_all().await?;
        // The names of the content and of its folders.
        let (folder, location) = (self.folder.clone(), self.location);
        let (path, final_path) = (self.path.clone(), self.final_path.clone());
        in_background(move || {
            if path != final_path {
                folder.rename(&path, &folder, &final_path)?;
            }
            let user_folder = PathBuf::from(location.user_id.to_string());
            for path in [conversation_folder(location), user_folder, ".".into()] {
                // `open_dir` opens folders without the right to sync them.
                folder.open(path)?.sync_all()?;
            }
            Ok(())
        })
        .await?;
        self.is_kept = true;
        Ok(())
    }
}

impl Drop for NewContent {
    fn drop(&mut self) {
        if !self.is_kept
            && let Err(error) = self.folder.remove_file(&self.path)
        {
            tracing::warn!(%error, "a file that was not kept could not be deleted; the next start deletes it");
        }
    }
}
