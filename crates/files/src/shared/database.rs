//! Contents in the database of all nodes.

use std::{io, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream::BoxStream};

use super::{FileDigest, SharedContent, SharedContents, SharedForm, SharedReader};
use parlor_base::clock;
use parlor_storage::{FileLocation, Storage, StorageError, contents::StoredContent};

pub(super) struct DatabaseContents(pub Arc<dyn Storage>);

impl std::fmt::Debug for DatabaseContents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DatabaseContents")
    }
}

#[async_trait]
impl SharedContents for DatabaseContents {
    async fn put(
        &self,
        content: SharedContent,
        digest: &FileDigest,
        chunks: BoxStream<'static, io::Result<Bytes>>,
    ) -> io::Result<()> {
        let stored = StoredContent {
            location: content.location,
            form: content.form.as_str().into(),
            bytes: digest.bytes,
            sha256: digest.sha256.clone(),
            created_at: clock::now(),
        };
        let parts = chunks.map_ok(Vec::from).boxed();
        self.0
            .store_content(&stored, parts)
            .await
            .map_err(io::Error::other)
    }

    async fn get(&self, content: SharedContent) -> io::Result<SharedReader<'_>> {
        let SharedContent { location, form } = content;
        let stored = self.0.content(location, form.as_str()).await;
        let stored = stored.map_err(read_error)?.ok_or(io::ErrorKind::NotFound)?;
        let chunks = futures::stream::try_unfold(0, move |part| async move {
            let data = self.0.content_part(location, form.as_str(), part).await;
            let data = data.map_err(read_error)?;
            Ok(data.map(|data| (Bytes::from(data), part + 1)))
        });
        Ok(SharedReader {
            digest: FileDigest {
                bytes: stored.bytes,
                sha256: stored.sha256,
            },
            chunks: chunks.boxed(),
        })
    }

    async fn delete(&self, location: FileLocation) -> io::Result<()> {
        self.0.delete_content(location).await.map_err(io::Error::other)
    }

    async fn list(&self) -> io::Result<Vec<SharedContent>> {
        let stored = self.0.contents().await.map_err(io::Error::other)?;
        let known = stored.into_iter().filter_map(|stored| {
            let form = SharedForm::ALL
                .into_iter()
                .find(|form| form.as_str() == stored.form)?;
            let location = stored.location;
            Some(SharedContent { location, form })
        });
        Ok(known.collect())
    }
}

fn read_error(error: StorageError) -> io::Error {
    match error.is_row_damage() {
        true => io::Error::new(io::ErrorKind::InvalidData, error),
        false => io::Error::other(error),
    }
}
