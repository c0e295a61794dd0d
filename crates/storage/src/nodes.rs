//! Nodes: several processes that work on one database of Postgres at the same time (`docs/nodes.md`).

use async_trait::async_trait;
use tokio::sync::mpsc;

use super::{RunKey, StorageError, TokenHash, jobs::JobKey};
use parlor_protocol::{MessageId, Position, UserId, intent::ApprovalAnswer};

/// A commit of another node. It may be lost, and says only where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitHint {
    /// The last positions of the logs that have grown.
    pub positions: Vec<(UserId, Position)>,
    /// True if something has changed that other nodes have in memory.
    pub has_shared_changes: bool,
    /// True if a run or a job may have another owner, or an answer.
    pub has_work_changes: bool,
    /// True if it is not known what has changed: hints were lost.
    pub is_unknown: bool,
}

/// The numbers of changes that nodes have in memory, each of which grows with each change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SharedChanges {
    /// Changes that may have ended an access: sessions, tokens, accounts, shares.
    pub access: i64,
    /// Changes of model servers.
    pub endpoints: i64,
}

/// A user's answer to an approval, by the index of the call.
pub type LeftAnswer = (usize, ApprovalAnswer);

/// An active run with answers that another node has stored: of this node, or paused and of a node that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredRun {
    pub run: RunKey,
    pub answers: Vec<LeftAnswer>,
    /// The answers as they are stored, to delete exactly these.
    pub stored: String,
}

/// The operations of a node. With SQLite, and on Postgres without the setting, there is one process, and they have no effect.
#[async_trait]
pub trait NodeStorage {
    /// Returns true if other processes may use the database at the same time.
    fn has_nodes(&self) -> bool;

    /// Begins a lease under a new id, which owns what this process starts or takes from now on. A former lease ends.
    async fn join(&self) -> Result<(), StorageError>;

    /// Extends the lease. Returns false if it has ended.
    async fn renew(&self) -> Result<bool, StorageError>;

    /// Ends the lease, so that others take over at once.
    async fn leave(&self) -> Result<(), StorageError>;

    /// Ends the leases that have expired by the clock of the database. Returns their number.
    async fn end_expired(&self) -> Result<u64, StorageError>;

    /// Returns those of these runs that do not belong to this node any more: another one has taken or ended them, or they were deleted.
    async fn lost_runs(&self, runs: &[MessageId]) -> Result<Vec<MessageId>, StorageError>;

    /// Returns those of these jobs that were taken, stopped or deleted since they were taken under this number.
    async fn lost_jobs(&self, jobs: &[JobKey]) -> Result<Vec<JobKey>, StorageError>;

    /// Returns the active runs that have answers of other nodes and that this node has, or nobody: an owner may have ended between the
    /// pause of its run and its look for answers.
    async fn answered_runs(&self) -> Result<Vec<AnsweredRun>, StorageError>;

    /// Returns true if this node works on a run, as far as is stored.
    async fn is_own_active_run(&self, run: MessageId) -> Result<bool, StorageError>;

    /// Returns the last positions of some logs.
    async fn log_heads(&self, users: &[UserId]) -> Result<Vec<(UserId, Position)>, StorageError>;

    /// Returns the numbers of changes that nodes have in memory.
    async fn shared_changes(&self) -> Result<SharedChanges, StorageError>;

    /// Sends the commits of other nodes, until the receiver is dropped. Returns at once where there are no notifications.
    ///
    /// # Errors
    ///
    /// If the connection is lost.
    async fn follow_commits(&self, hints: mpsc::Sender<CommitHint>) -> Result<(), StorageError>;
}

/// The first account and the host name under which it was made, at whatever node that was. With one process, the operations have no effect.
#[async_trait]
pub trait SetupStorage {
    /// Stores a host name under which Parlor was set up, for all nodes.
    async fn add_host(&self, name: &str) -> Result<(), StorageError>;

    /// Returns the host names that nodes have stored.
    async fn hosts(&self) -> Result<Vec<String>, StorageError>;

    /// Lets every node accept a token with which the first account is made, as long as this node is at work.
    async fn add_setup_token(&self, token: TokenHash) -> Result<(), StorageError>;

    /// Deletes these tokens, because the account is made.
    async fn delete_setup_tokens(&self) -> Result<(), StorageError>;

    /// Returns true if a node at work has this token.
    async fn is_setup_token(&self, token: TokenHash) -> Result<bool, StorageError>;
}
