//! The place of the contents of files, if not the data folder.

use serde::Deserialize;

use super::SettingPath;

/// A place for the contents of files that several nodes reach.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub enum FileStore {
    /// The database of all users' data.
    Database,
    /// A bucket of S3-compatible storage: `s3://bucket/prefix`.
    Objects(String),
    /// A folder, which all nodes have mounted.
    Folder(SettingPath),
}

/// A place that is none of these.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "files.store is “{0}”: it must be \"database\", s3://bucket/prefix, or the path of a folder with a slash"
)]
pub struct InvalidStore(String);

impl TryFrom<String> for FileStore {
    type Error = InvalidStore;

    fn try_from(text: String) -> Result<Self, InvalidStore> {
        match text.split_once("://") {
            Some(("s3", bucket)) if !bucket.trim_start_matches('/').is_empty() => Ok(Self::Objects(text)),
            None if text == "database" => Ok(Self::Database),
            None if text.contains('/') => Ok(Self::Folder(text.as_str().into())),
            _ => Err(InvalidStore(text)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_a_database_a_bucket_or_a_folder() {
        let read = |text: &str| FileStore::try_from(text.to_owned());
        assert_eq!(read("database"), Ok(FileStore::Database));
        assert_eq!(read("s3://b/p"), Ok(FileStore::Objects("s3://b/p".into())));
        assert_eq!(read("/srv/files"), Ok(FileStore::Folder("/srv/files".into())));
        for wrong in ["", "postgres", "s3://", "https://bucket.example/", "Database"] {
            read(wrong).unwrap_err();
        }
    }
}
