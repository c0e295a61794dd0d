//! Contents that several nodes share: in the database ([`database`]) or in S3-compatible storage ([`objects`]). The folder of files is
//! then a cache of them ([`cache`]), and a content is complete where it is shared before its row is committed.

mod cache;
mod database;
mod moving;
mod objects;
#[cfg(test)]
#[cfg(unix)]
mod tests;

use std::{
    fmt::Debug,
    fs::File,
    io::{self, Read},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use ring::digest::{Context, SHA256};
use tokio::task::spawn_blocking;

pub use self::objects::{check_bucket, copy_bucket};
use self::{database::DatabaseContents, objects::ObjectContents};
use super::{
    Contents,
    contents::ContentForm,
    copy::{FileDigest, digest, hexadecimal},
};
use parlor_base::settings::FileStore;
use parlor_storage::{
    FileLocation, Storage,
    contents::{CONTENT_PART_BYTES, ORIGINAL},
};

/// A content in one of the forms that are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SharedContent {
    pub location: FileLocation,
    pub form: SharedForm,
}

/// A form that is shared. Others are made anew on each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SharedForm {
    Original,
    Prepared,
    Picture,
}

impl SharedForm {
    const ALL: [Self; 3] = [Self::Original, Self::Prepared, Self::Picture];

    /// Returns the name in the database.
    fn as_str(self) -> &'static str {
        match self {
            Self::Original => ORIGINAL,
            Self::Prepared => "prepared",
            Self::Picture => "picture",
        }
    }
}

/// The form that is made anew on each node.
#[derive(Debug)]
pub struct NotShared;

impl TryFrom<ContentForm> for SharedForm {
    type Error = NotShared;

    fn try_from(form: ContentForm) -> Result<Self, NotShared> {
        match form {
            ContentForm::Original => Ok(Self::Original),
            ContentForm::Prepared => Ok(Self::Prepared),
            ContentForm::Picture => Ok(Self::Picture),
            ContentForm::Tables => Err(NotShared),
        }
    }
}

impl From<SharedForm> for ContentForm {
    fn from(form: SharedForm) -> Self {
        match form {
            SharedForm::Original => Self::Original,
            SharedForm::Prepared => Self::Prepared,
            SharedForm::Picture => Self::Picture,
        }
    }
}

/// A content that is being read, with the digest that it had when it was stored.
pub struct SharedReader<'a> {
    pub digest: FileDigest,
    pub chunks: BoxStream<'a, io::Result<Bytes>>,
}

/// A place that all nodes reach.
#[async_trait]
pub trait SharedContents: Debug + Send + Sync {
    /// Stores a content whole, or not at all: from chunks of 1 MiB, of which the last is shorter. Replaces an earlier one.
    async fn put(
        &self,
        content: SharedContent,
        digest: &FileDigest,
        chunks: BoxStream<'static, io::Result<Bytes>>,
    ) -> io::Result<()>;

    /// Begins to read a content. A missing one is [`io::ErrorKind::NotFound`].
    async fn get(&self, content: SharedContent) -> io::Result<SharedReader<'_>>;

    /// Deletes a content in all forms. Has no effect on a missing one.
    async fn delete(&self, location: FileLocation) -> io::Result<()>;

    /// Returns all contents. Damaged ones and those of other programs are left out.
    async fn list(&self) -> io::Result<Vec<SharedContent>>;
}

/// Opens the place that the settings name; `None` if it is a folder.
pub fn open(
    store: Option<&FileStore>,
    storage: &Arc<dyn Storage>,
) -> io::Result<Option<Arc<dyn SharedContents>>> {
    Ok(match store {
        None | Some(FileStore::Folder(_)) => None,
        Some(FileStore::Database) => Some(Arc::new(DatabaseContents(storage.clone()))),
        Some(FileStore::Objects(url)) => Some(Arc::new(ObjectContents::open(url).map_err(io::Error::other)?)),
    })
}

impl Contents {
    /// Stores a form that is complete in the folder where it is shared.
    pub(super) async fn share(&self, shared: &dyn SharedContents, content: SharedContent) -> io::Result<()> {
        let open = async || {
            let file = self.open_local(content.location, content.form.into()).await?;
            Ok::<_, io::Error>(file.into_std().await)
        };
        let digest = digest_of(open().await?).await?;
        shared.put(content, &digest, chunks(open().await?)).await
    }

    /// Copies a shared form into the folder, unless its bytes are not those that were stored.
    pub(super) async fn fetch(&self, shared: &dyn SharedContents, content: SharedContent) -> io::Result<()> {
        let SharedReader { digest, mut chunks } = shared.get(content).await?;
        let mut copy = self.create_copy(content.location, content.form.into()).await?;
        let mut context = Context::new(&SHA256);
        let mut bytes = 0_u64;
        while let Some(chunk) = chunks.try_next().await? {
            context.update(&chunk);
            bytes += chunk.len() as u64;
            copy.write(&chunk).await?;
        }
        let found = FileDigest {
            bytes,
            sha256: hexadecimal(context.finish().as_ref()),
        };
        if found != digest {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                match digest.sha256.is_empty() {
                    true => format!(
                        "the content {} was stored without its hash, not by Parlor",
                        content.location.stored_name
                    ),
                    false => format!(
                        "the stored content {} is damaged: it has other bytes than when it was stored",
                        content.location.stored_name
                    ),
                },
            ));
        }
        copy.keep_local().await
    }
}

async fn digest_of(mut file: File) -> io::Result<FileDigest> {
    spawn_blocking(move || digest(&mut file, |_| Ok(())))
        .await
        .map_err(io::Error::other)?
}

/// Returns the parts of a file, as [`SharedContents::put`] wants them.
fn chunks(file: File) -> BoxStream<'static, io::Result<Bytes>> {
    let parts = futures::stream::try_unfold(file, |mut file| async {
        let read = spawn_blocking(move || {
            let mut part = Vec::with_capacity(CONTENT_PART_BYTES);
            (&mut file)
                .take(CONTENT_PART_BYTES as u64)
                .read_to_end(&mut part)?;
            Ok::<_, io::Error>((part, file))
        });
        let (part, file) = read.await.map_err(io::Error::other)??;
        Ok((!part.is_empty()).then(|| (Bytes::from(part), file)))
    });
    parts.boxed()
}
