//! The database that everything is stored in.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{self, MapAccess, Visitor, value::MapAccessDeserializer},
};

use super::{Secret, SettingsError};

/// The database of all users' data. If no URL is set, it is a file of SQLite in the data folder.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StorageSettings {
    /// The URL of a Postgres database (14 or newer) that belongs to Parlor alone, such as `postgres://parlor@host/parlor`; or
    /// `PARLOR_DATABASE`, where its password is kept from others. The server's certificate is checked unless the URL has
    /// sslmode, or the host is this machine. Files stay in the data folder, unless files.store names another place.
    pub url: Option<Secret>,
    /// True behind a pooler that gives a connection for each transaction, as PgBouncer can.
    pub pooler: bool,
    /// The number of connections of Postgres that read. One more writes.
    pub connections: u32,
}

impl Default for StorageSettings {
    fn default() -> Self {
        Self {
            url: None,
            pooler: false,
            connections: 4,
        }
    }
}

impl StorageSettings {
    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let is_postgres = |url: &str| url.starts_with("postgres://") || url.starts_with("postgresql://");
        match &self.url {
            Some(Secret(url)) if !is_postgres(url) => Err(SettingsError::NoPostgresUrl),
            _ => Ok(()),
        }
    }
}

/// Reads the section, or the URL alone (`database = "postgres://…"`).
pub(super) fn section_or_url<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<StorageSettings, D::Error> {
    struct SectionOrUrl;

    impl<'de> Visitor<'de> for SectionOrUrl {
        type Value = StorageSettings;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a section, or the URL of a Postgres database")
        }

        fn visit_str<E: de::Error>(self, url: &str) -> Result<StorageSettings, E> {
            Ok(StorageSettings {
                url: Some(Secret(url.into())),
                ..StorageSettings::default()
            })
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StorageSettings, A::Error> {
            StorageSettings::deserialize(MapAccessDeserializer::new(map))
        }
    }

    deserializer.deserialize_any(SectionOrUrl)
}
