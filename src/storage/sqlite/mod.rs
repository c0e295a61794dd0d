//! Storage in an embedded SQLite file: one connection that writes, a few that read.

use std::{
    fs::{File, TryLockError},
    path::Path,
    str::FromStr,
    sync::Arc,
};

use async_trait::async_trait;
use sqlx::{
    ConnectOptions, Connection, Row, SqliteConnection, SqlitePool,
    migrate::MigrateError,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::sync::{Mutex, watch};

use super::{
    Beginning, Change, Committed, DoneIntent, LogPage, Looking, PageSize, RecordedCall, RunKey, Storage,
    StorageError, StoredAttachment, StoredConversation, StoredRun, TokenHash, Trouble,
};
use crate::protocol::{
    ApiToken, AttachmentId, ConversationId, ConversationList, IntentId, Judged, Memory, Message, MessageId,
    OlderMessages, Parameters, Payload, Position, StreamId, Timestamp, Transcript, UserId,
    conversation_list::ListCursor,
    literature::{Library, ResearchStream, SavedArticle},
};

mod attachments;
mod beginning;
mod calls;
mod checkpoint;
mod commit;
mod literature;
mod messages;
mod payloads;
mod personal;
mod read;
mod terms;
mod trim;

#[cfg(test)]
mod tests;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("migrations/sqlite");

/// The first SQLite without the WAL-reset bug, as SQLite counts versions.
const FIRST_SAFE_VERSION: i32 = 3_051_003;

/// The name of the database in the data folder.
pub const FILE_NAME: &str = "parlor.db";

/// How long to wait for another program that holds the database, a backup for instance, before it counts as trouble.
const BUSY: std::time::Duration = std::time::Duration::from_secs(5);

/// The name of the file in the data folder that is locked while a Parlor uses it.
const LOCK_NAME: &str = "parlor.lock";

/// A SQLite database in WAL mode.
#[derive(Clone, Debug)]
pub struct Sqlite {
    /// The only connection that writes. The journal is its only user but for migrations and trimming, so the
    /// lock is nearly always free.
    writer: Arc<Mutex<Writer>>,
    readers: SqlitePool,
    /// Held as long as the data is in use. A process that dies lets go of it.
    _lock: Arc<File>,
}

#[derive(Debug)]
struct Writer {
    options: SqliteConnectOptions,
    /// Nothing after a transaction has failed: then nobody knows in which state the connection is, and the next one
    /// begins with a new one.
    connection: Option<SqliteConnection>,
    /// Runs whose conversation was deleted while they were at work: what they still send is dropped.
    orphans: std::collections::HashSet<MessageId>,
    /// How many conversations and memories were deleted. Told with each commit.
    deletions: watch::Sender<u64>,
}

impl Sqlite {
    /// Opens the database in a folder, making both if they are not there.
    ///
    /// # Errors
    ///
    /// If the folder or the file can't be written, or the file is not a database of this version.
    pub async fn open(folder: &Path) -> Result<Self, StorageError> {
        Self::open_in(folder)
            .await
            .map_err(|error| match error.trouble() {
                Trouble::NotWritable => StorageError::NotWritable(Box::new(error)),
                _ => error,
            })
    }

    async fn open_in(folder: &Path) -> Result<Self, StorageError> {
        // SAFETY: the function has no preconditions; it reads a constant of the library.
        let version = unsafe { libsqlite3_sys::sqlite3_libversion_number() };
        if version < FIRST_SAFE_VERSION {
            let (major, minor, patch) = (version / 1_000_000, version / 1000 % 1000, version % 1000);
            return Err(StorageError::OldSqlite(format!("{major}.{minor}.{patch}")));
        }
        make_private_folder(folder)?;
        let lock = lock(folder)?;
        let options = SqliteConnectOptions::new()
            .filename(folder.join(FILE_NAME))
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A commit that was published must survive a power cut. Group commit makes that cheap.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(BUSY)
            .pragma("temp_store", "memory")
            // What is deleted is gone from the file too, not only out of sight.
            .pragma("secure_delete", "on")
            // Ours are in `checkpoint`.
            .pragma("wal_autocheckpoint", "0")
            .statement_cache_capacity(100);
        let mut connection = options.connect().await.map_err(at_start)?;
        MIGRATIONS
            .run(&mut connection)
            .await
            .map_err(|error| match error {
                MigrateError::VersionMissing(step) => StorageError::Newer(step),
                MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => at_start(error),
                error => error.into(),
            })?;
        let checkpoints = options.clone().busy_timeout(checkpoint::BUSY).connect().await?;
        let readers = SqlitePoolOptions::new()
            .min_connections(1)
            .max_connections(4)
            // There is nothing between them and the file that could have broken meanwhile.
            .test_before_acquire(false)
            .connect_with(options.clone().read_only(true))
            .await?;
        let (deletions, committed) = watch::channel(0);
        let writer = Arc::new(Mutex::new(Writer {
            options,
            connection: Some(connection),
            orphans: std::collections::HashSet::new(),
            deletions,
        }));
        tokio::spawn(checkpoint::run(checkpoints, Arc::downgrade(&writer), committed));
        Ok(Self {
            writer,
            readers,
            _lock: Arc::new(lock),
        })
    }
}

impl Writer {
    /// The connection to work with. Who took it gives it back with [`keep_if`](Self::keep_if).
    async fn connection(&mut self) -> Result<SqliteConnection, StorageError> {
        match self.connection.take() {
            Some(connection) => Ok(connection),
            None => Ok(self.options.connect().await?),
        }
    }

    /// Keeps the connection for the next one, if what was done with it went well.
    async fn keep_if(&mut self, went_well: bool, connection: SqliteConnection) {
        if went_well {
            self.connection = Some(connection);
        } else {
            // Whatever that may lose was not committed.
            let _ = connection.close().await;
        }
    }

    async fn trim(&mut self, before: Timestamp, keep: u64) -> Result<u64, StorageError> {
        let mut connection = self.connection().await?;
        let trimmed = trim::trim(&mut connection, before, keep).await;
        self.keep_if(trimmed.is_ok(), connection).await;
        trimmed
    }

    /// Copies all of the write-ahead log into the database file and empties it.
    async fn truncate(&mut self) -> Result<(), StorageError> {
        let mut connection = self.connection().await?;
        let copied = checkpoint::checkpoint(&mut connection, checkpoint::TRUNCATE).await;
        self.keep_if(copied.is_ok(), connection).await;
        copied?;
        Ok(())
    }
}

/// What people talk about with a model is nobody else's business on this machine.
fn make_private_folder(folder: &Path) -> std::io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// What an error means when the database is opened.
fn at_start(error: sqlx::Error) -> StorageError {
    // https://sqlite.org/rescode.html: SQLITE_CORRUPT and SQLITE_NOTADB
    const DAMAGED: [&str; 2] = ["11", "26"];
    match error {
        sqlx::Error::Database(error) if error.code().is_some_and(|code| DAMAGED.contains(&&*code)) => {
            StorageError::Damaged(error)
        }
        error => error.into(),
    }
}

/// Makes sure that no other process uses the folder: two would each take what the other runs for what a crash
/// has left, and number the log's events twice.
fn lock(folder: &Path) -> Result<File, StorageError> {
    let path = folder.join(LOCK_NAME);
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(StorageError::InUse),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

#[async_trait]
impl Storage for Sqlite {
    async fn commit(&self, at: Timestamp, changes: &[Change]) -> Result<Committed, StorageError> {
        self.writer.lock().await.commit(at, changes).await
    }

    async fn head(&self, user_id: UserId) -> Result<Position, StorageError> {
        let mut connection = self.readers.acquire().await?;
        read::head(&mut connection, user_id).await
    }

    async fn log_after(
        &self,
        user_id: UserId,
        after: Position,
        run: Option<MessageId>,
        limit: usize,
    ) -> Result<LogPage, StorageError> {
        let mut connection = self.readers.acquire().await?;
        read::log_after(&mut connection, user_id, after, run, limit).await
    }

    async fn conversations(
        &self,
        user_id: UserId,
        before: Option<ListCursor>,
        limit: usize,
    ) -> Result<ConversationList, StorageError> {
        let mut tx = self.readers.begin().await?;
        read::conversations(&mut tx, user_id, before, limit).await
    }

    async fn conversation(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<StoredConversation>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        read::conversation(&mut connection, user_id, conversation_id).await
    }

    async fn transcript(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        page: PageSize,
        reach: Option<MessageId>,
    ) -> Result<Option<Transcript>, StorageError> {
        let mut tx = self.readers.begin().await?;
        messages::transcript(&mut tx, user_id, conversation_id, page, reach).await
    }

    async fn older_messages(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        before: MessageId,
        page: PageSize,
    ) -> Result<Option<OlderMessages>, StorageError> {
        let mut tx = self.readers.begin().await?;
        messages::older(&mut tx, user_id, conversation_id, before, page).await
    }

    async fn payload(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        payload_id: &str,
    ) -> Result<Option<Payload>, StorageError> {
        let mut tx = self.readers.begin().await?;
        payloads::payload(&mut tx, user_id, conversation_id, payload_id).await
    }

    async fn payloads(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
        ids: &[&str],
        bytes: usize,
    ) -> Result<Vec<Payload>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        payloads::payloads(&mut connection, user_id, conversation_id, ids, bytes).await
    }

    async fn verdicts(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<Judged>, StorageError> {
        let mut tx = self.readers.begin().await?;
        payloads::verdicts(&mut tx, user_id, conversation_id).await
    }

    async fn attachment(
        &self,
        user_id: UserId,
        id: AttachmentId,
    ) -> Result<Option<StoredAttachment>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        attachments::attachment(&mut connection, user_id, id).await
    }

    async fn beginning(&self, run: RunKey) -> Result<Option<Beginning>, StorageError> {
        let mut tx = self.readers.begin().await?;
        beginning::beginning(&mut tx, run).await
    }

    async fn parameters(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<Parameters>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        terms::parameters(&mut connection, user_id, conversation_id).await
    }

    async fn message(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Option<(ConversationId, Message)>, StorageError> {
        let mut tx = self.readers.begin().await?;
        messages::message(&mut tx, user_id, message_id).await
    }

    async fn model_calls(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Vec<RecordedCall>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        calls::of_run(&mut connection, user_id, message_id).await
    }

    async fn intent(&self, user_id: UserId, intent_id: IntentId) -> Result<Option<DoneIntent>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        commit::intents::done(&mut connection, user_id, intent_id).await
    }

    async fn model(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<String>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        read::model(&mut connection, user_id, conversation_id).await
    }

    async fn memories(&self, user_id: UserId) -> Result<Vec<Memory>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::memories(&mut connection, user_id).await
    }

    async fn instructions(&self, user_id: UserId) -> Result<String, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::instructions(&mut connection, user_id).await
    }

    async fn api_tokens(&self, user_id: UserId) -> Result<Vec<ApiToken>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::tokens(&mut connection, user_id).await
    }

    async fn api_token(&self, hash: &TokenHash) -> Result<Option<(UserId, ApiToken)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::token_by_hash(&mut connection, hash).await
    }

    async fn looking(&self, user_id: UserId, message_id: MessageId) -> Result<Option<Looking>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        literature::looking(&mut connection, user_id, message_id).await
    }

    async fn library(&self, user_id: UserId) -> Result<Library, StorageError> {
        let mut tx = self.readers.begin().await?;
        literature::library(&mut tx, user_id).await
    }

    async fn saved_article(
        &self,
        user_id: UserId,
        pmid: &str,
    ) -> Result<Option<(SavedArticle, Option<Vec<String>>)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        literature::saved_article(&mut connection, user_id, pmid).await
    }

    async fn saved_articles(
        &self,
        user_id: UserId,
        pmids: &[String],
    ) -> Result<Vec<SavedArticle>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        literature::saved_articles(&mut connection, user_id, pmids).await
    }

    async fn stream(
        &self,
        user_id: UserId,
        stream_id: StreamId,
    ) -> Result<Option<ResearchStream>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        literature::stream(&mut connection, user_id, stream_id).await
    }

    async fn run(&self, user_id: UserId, message_id: MessageId) -> Result<Option<StoredRun>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let row = sqlx::query(
            "SELECT user_id, conversation_id, id, status, first_position, last_position FROM runs \
             WHERE user_id = ? AND id = ?",
        )
        .bind(user_id.to_string())
        .bind(message_id.to_string())
        .fetch_optional(&mut *connection)
        .await?;
        row.as_ref().map(read::stored_run).transpose()
    }

    async fn runs_at_work(&self) -> Result<Vec<StoredRun>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        let rows = sqlx::query(read::RUNS_AT_WORK)
            .fetch_all(&mut *connection)
            .await?;
        rows.iter().map(read::stored_run).collect()
    }

    async fn trim(&self, before: Timestamp, keep: u64) -> Result<u64, StorageError> {
        let mut removed = 0;
        loop {
            // Commits get their turn in between.
            let some = self.writer.lock().await.trim(before, keep).await?;
            removed += some;
            if some < trim::AT_ONCE {
                return Ok(removed);
            }
        }
    }

    async fn close(&self) -> Result<(), StorageError> {
        self.readers.close().await;
        self.writer.lock().await.truncate().await
    }
}

/// An id column of a row.
fn id<T: FromStr<Err = uuid::Error>>(row: &sqlx::sqlite::SqliteRow, column: &str) -> Result<T, StorageError> {
    Ok(row.try_get::<&str, _>(column)?.parse()?)
}

/// An id column that may be null.
fn optional_id<T: FromStr<Err = uuid::Error>>(
    row: &sqlx::sqlite::SqliteRow,
    column: &str,
) -> Result<Option<T>, StorageError> {
    Ok(row
        .try_get::<Option<&str>, _>(column)?
        .map(str::parse)
        .transpose()?)
}

/// A position column of a row.
fn position(row: &sqlx::sqlite::SqliteRow, column: &str) -> Result<Position, StorageError> {
    Ok(Position(row.try_get::<i64, _>(column)?.unsigned_abs()))
}
