//! The parts that only Postgres needs: the opening of a database, and its schema.

use std::{path::Path, str::FromStr, sync::Arc, time::Duration};

use sqlx::{
    AssertSqlSafe, ConnectOptions, Connection, Executor, PgConnection, Row,
    postgres::{PgConnectOptions, PgPoolOptions, PgSslMode},
};
use tokio::sync::Mutex;

use self::{nodes::Nodes, process_lock::ProcessLock};

use crate::{
    StorageError, data_folder,
    jobs::Owner,
    sql::{
        SqlStorage,
        database::{Connection as AnyConnection, Connector, Preparation, Readers},
        writer::{Lease, WriteConnection},
    },
};
use parlor_base::{
    ca_roots,
    settings::{NodeSettings, Secret, Settings},
};

pub(crate) mod at_work;
pub(crate) mod commit_end;
mod commit_hint;
mod in_time;
mod limits;
pub(crate) mod migrations;
pub(crate) mod nodes;
pub(crate) mod process_lock;
mod setup;

#[cfg(test)]
pub(crate) mod tests;

/// The oldest version that is supported, as Postgres numbers versions.
const MIN_VERSION: i32 = 140_000;

/// The statements that a connection keeps prepared.
const PREPARED_STATEMENTS: usize = 200;

/// The longest wait of a read for a connection: a request fails after it while Postgres is away.
const READ_TIMEOUT: Duration = Duration::from_secs(10);

/// A database of Postgres.
#[derive(Clone, Debug)]
pub struct PostgresDatabase {
    /// `postgres://user:password@host/database`, with the parameters that libpq knows.
    pub url: String,
    /// True behind a pooler that gives a connection for each transaction: no statement stays prepared.
    pub has_pooler: bool,
    /// The number of connections for reading. One more writes.
    pub readers: u32,
    /// The nodes of the database.
    pub nodes: NodeSettings,
    /// The maximum number of active runs of a user at all nodes.
    pub max_runs: Option<usize>,
}

impl PostgresDatabase {
    /// Returns the database that the settings name; `None` if it is the file of SQLite.
    pub fn of_settings(settings: &Settings) -> Option<Self> {
        let Secret(url) = settings.database.url.as_ref()?;
        Some(Self {
            url: url.clone(),
            has_pooler: settings.database.pooler,
            readers: settings.database.connections,
            nodes: settings.nodes.clone(),
            max_runs: settings.accounts.runs,
        })
    }

    pub(crate) fn preparation(&self) -> Preparation {
        match self.has_pooler {
            true => Preparation::Once,
            false => Preparation::Kept,
        }
    }

    pub(crate) fn options(&self) -> Result<PgConnectOptions, StorageError> {
        let options = PgConnectOptions::from_str(&self.url).map_err(unreachable)?;
        let is_local = options.get_socket().is_some()
            || matches!(options.get_host(), "localhost" | "127.0.0.1" | "::1" | "[::1]");
        let names_mode = self.url.contains("sslmode=") || self.url.contains("ssl-mode=");
        let options = match names_mode || is_local {
            true => options,
            // The certificate and the name in it are checked, unless the URL says otherwise.
            false => options.ssl_mode(PgSslMode::VerifyFull),
        };
        let options = match ca_roots::pem_for_postgres(&self.url) {
            Some(roots) => options.ssl_root_cert_from_pem(roots),
            None => options,
        };
        Ok(options
            .application_name("parlor")
            .statement_cache_capacity(PREPARED_STATEMENTS)
            // Poolers refuse parameters of a connection that they do not know.
            .extra_float_digits(None)
            // Slow statements are no news: the driver's own log would have their texts.
            .disable_statement_logging())
    }
}

impl PostgresDatabase {
    /// Connects once, and returns the version of the server. Changes nothing.
    ///
    /// # Errors
    ///
    /// If the server can't be reached, or its version is too old.
    pub async fn check(&self) -> Result<String, StorageError> {
        let mut connection = self.options()?.connect().await.map_err(unreachable)?;
        check_version(&mut connection).await?;
        let row = connection
            .fetch_one(sqlx::raw_sql("SELECT current_setting('server_version')"))
            .await?;
        let version = row.try_get(0)?;
        // The finding counts, whatever the goodbye does.
        let _ = connection.close().await;
        Ok(version)
    }
}

impl SqlStorage {
    /// Opens a database of Postgres, and makes or updates its tables. The folder is locked: the contents of files lie there.
    ///
    /// # Errors
    ///
    /// If the folder can't be written, the server can't be reached, or the database is not one of this version.
    pub async fn open_postgres(folder: &Path, database: &PostgresDatabase) -> Result<Self, StorageError> {
        data_folder::create_folder(folder)?;
        let has_nodes = database.nodes.enabled;
        let lock = data_folder::lock_folder(folder, has_nodes)?;
        data_folder::make_private(folder);
        let options = database.options()?;
        let preparation = database.preparation();
        let mut connection = options.connect().await.map_err(unreachable)?;
        check_version(&mut connection).await?;
        let process_lock = match preparation {
            Preparation::Kept => Some(ProcessLock::take(&options, has_nodes).await?),
            // A pooler gives the lock's connection to others.
            Preparation::Once => None,
        };
        if !has_nodes {
            // Behind a pooler, and after a restart of the server, a lease says more than the lock.
            at_work::wait_for_no_lease(&mut connection).await?;
        }
        let is_new = migrations::run(&mut connection).await?;
        let lacks_earlier_data = is_new && data_folder::keep_files_of_others(folder)?;
        let readers = PgPoolOptions::new()
            .min_connections(1)
            .max_connections(database.readers.max(1))
            .acquire_timeout(READ_TIMEOUT)
            .connect_with(options.clone())
            .await
            .map_err(unreachable)?;
        let nodes = Nodes::new(database, &options);
        let owner = Owner::of_new_process();
        // Whoever has worked on the database until now can store nothing more.
        let begin = match has_nodes {
            true => "DELETE FROM process_commits".to_owned(),
            false => format!(
                "DELETE FROM nodes; DELETE FROM process_commits; INSERT INTO process_commits (process, number) VALUES ('{owner}', 0)"
            ),
        };
        let begun = connection.execute(sqlx::raw_sql(AssertSqlSafe(begin))).await;
        begun.map_err(StorageError::from)?;
        let mut writer = WriteConnection::new(
            Connector::Postgres(options, preparation),
            AnyConnection::of_postgres(connection, preparation),
            lock,
        );
        writer.process_lock = process_lock;
        writer.owner = owner;
        writer.lease = Some(match &nodes {
            Some(nodes) => nodes.new_lease(),
            None => Lease::of_only_process(),
        });
        Ok(Self {
            writer: Arc::new(Mutex::new(writer)),
            readers: Readers::of_postgres(readers, preparation),
            lacks_earlier_data,
            is_new,
            nodes: nodes.map(Arc::new),
        })
    }
}

pub(crate) fn unreachable(error: sqlx::Error) -> StorageError {
    StorageError::Unreachable(Box::new(error))
}

async fn check_version(connection: &mut PgConnection) -> Result<(), StorageError> {
    connection.ping().await?;
    let row = connection
        .fetch_one(sqlx::raw_sql("SELECT current_setting('server_version_num')"))
        .await?;
    let version: String = row.try_get(0)?;
    match version.parse::<i32>() {
        Ok(number) if number >= MIN_VERSION => Ok(()),
        _ => Err(StorageError::OldPostgres(version)),
    }
}
