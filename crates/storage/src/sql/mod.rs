//! Storage in a database: one connection for writing and a few for reading.
//!
//! The reads and the changes are here, the same for SQLite and Postgres. [`database`] is the layer over the two drivers. How a
//! database is opened, and what only one of them needs, is in [`sqlite`](crate::sqlite) and [`postgres`](crate::postgres).

use std::sync::Arc;

use async_trait::async_trait;
use tokio::sync::{Mutex, watch};
use tokio_util::sync::CancellationToken;

use self::{
    database::{Connector, Readers},
    row::{
        id, json, json_array, number_or_zero, optional_id, optional_position, optional_text, position,
        read_undamaged_rows, text,
    },
    writer::WriteConnection,
};
use crate::{
    AttachedFile, AttachmentRow, Change, CommitResult, CompletedIntent, FileKinds, FileLocation, LogPage,
    MessageKey, PageContextSnapshot, PageSize, Queues, ReadyMessage, RecordedModelCall, RunContext, RunKey,
    SearchRequest, Storage, StorageError, StoredConversation, StoredFile, StoredRun, TokenHash,
    postgres::nodes::SharedNodes, sqlite::damage_check,
};
use parlor_protocol::{
    ApiToken, AttachmentId, ConversationId, IntentId, Memory, Message, MessageId, OlderMessages, Parameters,
    Payload, PayloadVerdict, Position, ResearchStreamId, Timestamp, TokenTotals, Transcript, UserId,
    literature::{Library, ResearchStream, SavedArticle},
    search::SearchHits,
};

pub(crate) mod accounts;
pub(crate) mod branch;
mod columns;
pub(crate) mod commit;
mod contents;
mod conversation_lists;
pub(crate) mod daily_usage;
pub(crate) mod database;
pub(crate) mod endpoints;
mod expired;
pub(crate) mod file_list;
mod files;
pub(crate) mod jobs;
pub(crate) mod literature;
pub(crate) mod log_page;
pub(crate) mod log_range;
pub(crate) mod messages;
pub(crate) mod model_calls;
mod open;
mod operations;
pub(crate) mod page_context;
pub(crate) mod parameters;
pub(crate) mod payloads;
pub(crate) mod personal;
mod project_readers;
mod projects;
pub(crate) mod provider_data;
pub(crate) mod queries;
pub(crate) mod queue;
pub(crate) mod row;
pub(crate) mod run_context;
pub(crate) mod schedules;
pub(crate) mod search;
pub(crate) mod shares;
pub(crate) mod token_totals;
pub(crate) mod trim;
pub(crate) mod writer;

/// A database that is open.
#[derive(Clone, Debug)]
pub struct SqlStorage {
    /// The only connection of this process that writes. Only the journal uses it, except for migrations and trimming, so the
    /// lock is nearly always free.
    pub(crate) writer: Arc<Mutex<WriteConnection>>,
    pub(crate) readers: Readers,
    /// True if the database existed and was empty although other files show that it once had data.
    pub(crate) lacks_earlier_data: bool,
    /// True if this process has made the database.
    pub(crate) is_new: bool,
    /// This process as one of several nodes; `None` if it is the only one.
    pub(crate) nodes: SharedNodes,
}

impl SqlStorage {
    /// Returns true if earlier data is gone: the database was empty or missing, and other files of it existed.
    pub fn lacks_earlier_data(&self) -> bool {
        self.lacks_earlier_data
    }

    /// Makes all reads fail from now on, for tests.
    pub async fn close_readers(&self) {
        self.readers.close().await;
    }
}

#[async_trait]
impl Storage for SqlStorage {
    async fn commit(&self, at: Timestamp, changes: &[Change]) -> Result<CommitResult, StorageError> {
        self.writer.lock().await.commit(at, changes).await
    }

    async fn last_position(&self, user_id: UserId) -> Result<Position, StorageError> {
        let mut connection = self.readers.acquire().await?;
        log_page::last_log_position(&mut connection, user_id).await
    }

    async fn events_after(
        &self,
        user_id: UserId,
        after: Position,
        run: Option<MessageId>,
        limit: usize,
    ) -> Result<LogPage, StorageError> {
        let mut connection = self.readers.acquire().await?;
        log_page::events_after(&mut connection, user_id, after, run, limit).await
    }

    async fn conversation(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<StoredConversation>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::conversation(&mut connection, user_id, conversation_id).await
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
        messages::older_messages(&mut tx, user_id, conversation_id, before, page).await
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

    async fn token_totals(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<TokenTotals, StorageError> {
        let mut tx = self.readers.begin().await?;
        token_totals::token_totals(&mut tx, user_id, conversation_id).await
    }

    async fn payload_verdicts(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Vec<PayloadVerdict>, StorageError> {
        let mut tx = self.readers.begin().await?;
        payloads::payload_verdicts(&mut tx, user_id, conversation_id).await
    }

    async fn file(&self, user_id: UserId, id: AttachmentId) -> Result<Option<StoredFile>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::file(&mut connection, user_id, id).await
    }

    async fn attached_files(
        &self,
        user_id: UserId,
        kinds: FileKinds<'_>,
        limit: usize,
    ) -> Result<Vec<AttachedFile>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::attached_files(&mut connection, user_id, kinds, limit).await
    }

    async fn stored_bytes(&self, user_id: UserId) -> Result<u64, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::stored_bytes(&mut connection, user_id).await
    }

    async fn file_locations(&self) -> Result<Vec<FileLocation>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::file_locations(&mut connection).await
    }

    async fn deleted_files(&self) -> Result<Vec<FileLocation>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::deleted_files(&mut connection).await
    }

    async fn watch_deletions(&self) -> watch::Receiver<u64> {
        self.writer.lock().await.deletion_count.subscribe()
    }

    async fn next_attachment_row(&self) -> Result<Option<AttachmentRow>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        files::next_attachment_row(&mut connection).await
    }

    async fn run_context(&self, run: RunKey) -> Result<Option<RunContext>, StorageError> {
        let mut tx = self.readers.begin().await?;
        run_context::run_context(&mut tx, run).await
    }

    async fn parameters(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<Parameters>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        parameters::parameters(&mut connection, user_id, conversation_id).await
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
    ) -> Result<Vec<RecordedModelCall>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        model_calls::calls_of_run(&mut connection, user_id, message_id).await
    }

    async fn completed_intent(
        &self,
        user_id: UserId,
        intent_id: IntentId,
    ) -> Result<Option<CompletedIntent>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        commit::intents::completed_intent(&mut connection, user_id, intent_id).await
    }

    async fn conversation_model(
        &self,
        user_id: UserId,
        conversation_id: ConversationId,
    ) -> Result<Option<String>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::conversation_model(&mut connection, user_id, conversation_id).await
    }

    async fn memories(&self, user_id: UserId) -> Result<Vec<Memory>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::memories(&mut connection, user_id).await
    }

    async fn instructions(&self, user_id: UserId) -> Result<String, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::instructions(&mut connection, user_id).await
    }

    async fn may_search_chats(&self, user_id: UserId) -> Result<bool, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::may_search_chats(&mut connection, user_id).await
    }

    async fn seen_version(&self, user_id: UserId) -> Result<Option<String>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::seen_version(&mut connection, user_id).await
    }

    async fn api_tokens(&self, user_id: UserId) -> Result<Vec<ApiToken>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::tokens(&mut connection, user_id).await
    }

    async fn api_token(&self, hash: &TokenHash) -> Result<Option<(UserId, ApiToken)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        personal::token_by_hash(&mut connection, hash).await
    }

    async fn context_snapshot(
        &self,
        user_id: UserId,
        message_id: MessageId,
    ) -> Result<Option<PageContextSnapshot>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        page_context::context_snapshot(&mut connection, user_id, message_id).await
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

    async fn research_stream(
        &self,
        user_id: UserId,
        stream_id: ResearchStreamId,
    ) -> Result<Option<ResearchStream>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        literature::research_stream(&mut connection, user_id, stream_id).await
    }

    async fn run(&self, user_id: UserId, message_id: MessageId) -> Result<Option<StoredRun>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::run(&mut connection, user_id, message_id).await
    }

    async fn ready_messages(&self, queues: Queues) -> Result<Vec<ReadyMessage>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queue::ready_messages(&mut connection, queues).await
    }

    async fn hidden_messages(&self) -> Result<Vec<(MessageKey, Timestamp)>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::hidden_messages(&mut connection).await
    }

    async fn running_runs(&self) -> Result<Vec<StoredRun>, StorageError> {
        let mut connection = self.readers.acquire().await?;
        queries::running_runs(&mut connection).await
    }

    async fn search(&self, user_id: UserId, request: &SearchRequest) -> Result<SearchHits, StorageError> {
        let mut tx = self.readers.begin().await?;
        search::search(&mut tx, user_id, request).await
    }

    async fn index_old_data(&self) -> Result<bool, StorageError> {
        self.writer.lock().await.index_old_data().await
    }

    async fn next_unindexed_file(&self) -> Result<Option<(UserId, StoredFile)>, StorageError> {
        let mut tx = self.readers.begin().await?;
        search::next_unindexed_file(&mut tx).await
    }

    async fn watch_commits(&self) -> watch::Receiver<()> {
        self.writer.lock().await.commits.subscribe()
    }

    async fn trim_log(&self, before: Timestamp, keep: u64) -> Result<u64, StorageError> {
        let mut removed = 0;
        loop {
            // The lock is released between batches, so that commits do not wait.
            let some = self.writer.lock().await.trim_log(before, keep).await?;
            removed += some;
            if some < trim::MAX_EVENTS_PER_TRIM {
                return Ok(removed);
            }
        }
    }

    async fn find_damage(&self, stop: CancellationToken) -> Result<Vec<String>, StorageError> {
        if self.is_new {
            return Ok(Vec::new());
        }
        let connector = self.writer.lock().await.connector.clone();
        match connector {
            Connector::Sqlite(options) => damage_check::find_damage(&options, stop).await,
            // Postgres checks its own pages, where that is switched on.
            Connector::Postgres(..) => Ok(Vec::new()),
        }
    }

    async fn close(&self) -> Result<(), StorageError> {
        self.readers.close().await;
        self.writer.lock().await.close().await
    }
}
