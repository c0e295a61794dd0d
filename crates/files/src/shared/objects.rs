//! Contents in S3-compatible storage: an object each, named as in the folder of files. Its address and credentials come from the
//! environment variables that the tools of AWS use, or from the machine's role there.

use std::{borrow::Cow, error::Error, io, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, TryStreamExt, stream::BoxStream};
use object_store::{
    Attribute, AttributeValue, Attributes, ClientConfigKey, ClientOptions, ObjectStore, ObjectStoreExt,
    PutMultipartOptions, PutPayload, RetryConfig, WriteMultipart,
    aws::{AmazonS3Builder, AmazonS3ConfigKey},
    client::{HttpClient, HttpConnector},
    path::Path,
};

use super::{FileDigest, SharedContent, SharedContents, SharedForm, SharedReader};
use crate::{
    FOLDER_NAME, FileDigests,
    contents::{Contents, content_path, location_of},
    digest_file,
};
use parlor_storage::FileLocation;
use parlor_web::http_client::{client_for, is_loopback};
use reqwest::Url;

/// The name of the hash among an object's metadata.
const HASH: Attribute = Attribute::Metadata(Cow::Borrowed("sha256"));

/// The size up to which a content is sent in one request, in bytes. The parts of larger ones have as many.
const SMALL_BYTES: u64 = 5 << 20;

/// The parts of one content that are sent at the same time.
const PARTS_AT_ONCE: usize = 2;

/// The time for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The time in which a server has to send something.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// The repetitions of a request that failed, each after a longer wait.
const MAX_RETRIES: usize = 4;

/// The reason why a bucket can't be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreUrlError {
    #[error("the bucket of the setting files.store can't be used: {0}")]
    Bucket(#[from] object_store::Error),
    #[error("the prefix of the setting files.store can't be used: {0}")]
    Prefix(#[from] object_store::path::Error),
}

#[derive(Debug)]
pub(super) struct ObjectContents {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
}

/// Requests by the HTTP client of the other services: their TLS, certificates and proxies.
#[derive(Debug)]
struct Connector;

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let failed =
            |source: Box<dyn Error + Send + Sync>| object_store::Error::Generic { store: "S3", source };
        let named = AmazonS3Builder::from_env();
        let endpoint = [AmazonS3ConfigKey::S3Endpoint, AmazonS3ConfigKey::Endpoint]
            .iter()
            .find_map(|key| named.get_config_value(key));
        // The machine's role and identity providers are asked by the same client.
        let public = Url::parse("https://s3.amazonaws.com").map_err(|error| failed(error.into()))?;
        let mut client = client_for(&public)
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT);
        if let Some(endpoint) = endpoint {
            let url = Url::parse(&endpoint).map_err(|error| failed(error.into()))?;
            let may_be_plain =
                options.get_config_value(&ClientConfigKey::AllowHttp).as_deref() == Some("true");
            if url.scheme() == "http" && !may_be_plain {
                return Err(failed(
                    "the endpoint has no TLS: set AWS_ALLOW_HTTP=true to use it".into(),
                ));
            }
            if is_loopback(&url) {
                client = client.no_proxy();
            }
        }
        let client = client.build().map_err(|error| failed(error.into()))?;
        Ok(HttpClient::new(client))
    }
}

impl ObjectContents {
    /// Opens a bucket, `s3://bucket/prefix`.
    pub fn open(url: &str) -> Result<Self, StoreUrlError> {
        let place = url.strip_prefix("s3://").unwrap_or(url);
        let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
        let objects = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_http_connector(Connector)
            .with_retry(RetryConfig {
                max_retries: MAX_RETRIES,
                ..RetryConfig::default()
            })
            .build()?;
        Ok(Self {
            objects: Arc::new(objects),
            prefix: Path::parse(prefix)?,
        })
    }

    /// Keeps contents in memory.
    #[cfg(test)]
    pub fn in_memory() -> Self {
        Self {
            objects: Arc::new(object_store::memory::InMemory::new()),
            prefix: Path::from("parlor"),
        }
    }

    /// Asks the server for what the bucket has, as far as the first object.
    async fn check(&self) -> Result<(), object_store::Error> {
        let mut objects = self.objects.list(Some(&self.prefix));
        objects.try_next().await.map(drop)
    }

    fn path(&self, content: SharedContent) -> Path {
        let below = content_path(content.location, content.form.into());
        let parts = below.iter().filter_map(|part| part.to_str());
        parts.fold(self.prefix.clone(), |path, part| path.join(part))
    }
}

/// Returns without an error if a bucket, `s3://bucket/prefix`, can be reached and listed.
pub async fn check_bucket(url: &str) -> Result<(), StoreUrlError> {
    Ok(ObjectContents::open(url)?.check().await?)
}

#[async_trait]
impl SharedContents for ObjectContents {
    async fn put(
        &self,
        content: SharedContent,
        digest: &FileDigest,
        mut chunks: BoxStream<'static, io::Result<Bytes>>,
    ) -> io::Result<()> {
        let path = self.path(content);
        let mut attributes = Attributes::new();
        attributes.insert(HASH, AttributeValue::from(digest.sha256.clone()));
        if digest.bytes <= SMALL_BYTES {
            let all: Vec<Bytes> = chunks.try_collect().await?;
            let payload = PutPayload::from_iter(all);
            self.objects.put_opts(&path, payload, attributes.into()).await?;
            return Ok(());
        }
        let options = PutMultipartOptions::from(attributes);
        let mut parts = WriteMultipart::new(self.objects.put_multipart_opts(&path, options).await?);
        let sent = async {
            while let Some(chunk) = chunks.try_next().await? {
                parts.wait_for_capacity(PARTS_AT_ONCE).await?;
                parts.put(chunk);
            }
            Ok::<_, io::Error>(())
        };
        match sent.await {
            Ok(()) => parts.finish().await?,
            Err(error) => {
                parts.abort().await?;
                return Err(error);
            }
        };
        Ok(())
    }

    async fn get(&self, content: SharedContent) -> io::Result<SharedReader<'_>> {
        let found = self.objects.get(&self.path(content)).await?;
        let sha256 = found.attributes.get(&HASH).map(|hash| hash.to_string());
        Ok(SharedReader {
            digest: FileDigest {
                bytes: found.meta.size,
                sha256: sha256.unwrap_or_default(),
            },
            chunks: found.into_stream().map_err(io::Error::from).boxed(),
        })
    }

    async fn delete(&self, location: FileLocation) -> io::Result<()> {
        for form in SharedForm::ALL {
            match self
                .objects
                .delete(&self.path(SharedContent { location, form }))
                .await
            {
                Err(object_store::Error::NotFound { .. }) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn list(&self) -> io::Result<Vec<SharedContent>> {
        let mut objects = self.objects.list(Some(&self.prefix));
        let mut found = Vec::new();
        while let Some(object) = objects.try_next().await? {
            let below: Vec<_> = object
                .location
                .prefix_match(&self.prefix)
                .into_iter()
                .flatten()
                .collect();
            let names: Vec<&str> = below.iter().map(AsRef::as_ref).collect();
            if let [user, conversation, name] = names[..]
                && let Some((location, form)) = location_of(user, conversation, name)
                && let Ok(form) = SharedForm::try_from(form)
            {
                found.push(SharedContent { location, form });
            }
        }
        Ok(found)
    }
}

/// Copies the contents of a bucket that `digests` does not have into a data folder, and adds theirs. One that disappears meanwhile is
/// left out: its row is gone, too. So is a damaged one, which the log names.
///
/// # Errors
///
/// If one can't be read or written.
pub async fn copy_bucket(url: &str, to: &std::path::Path, digests: &mut FileDigests) -> io::Result<()> {
    let bucket = ObjectContents::open(url).map_err(io::Error::other)?;
    let folder = to.join(FOLDER_NAME);
    let copies = Contents::open(&folder, None)?;
    for content in bucket.list().await? {
        let path = content_path(content.location, content.form.into());
        let name =
            Path::from_iter(std::iter::once(FOLDER_NAME).chain(path.iter().filter_map(|part| part.to_str())));
        if digests.contains_key(name.as_ref()) {
            continue;
        }
        match copies.fetch(&bucket, content).await {
            Ok(()) => digests.insert(name.to_string(), digest_file(&folder.join(path))?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                tracing::error!(%error, "a file is left out");
                None
            }
            Err(error) => return Err(error),
        };
    }
    Ok(())
}
