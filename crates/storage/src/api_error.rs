//! Errors of the storage as [`ApiError`]s: a stable code, and a message that says what happened and what to do.

use super::{ChangeRejection, StorageError, StorageErrorKind, damage::DamagedRow};
use parlor_protocol::{ApiError, ErrorCode};

/// Returns the error for data that does not exist or belongs to another user. Both have the same text, so that nobody learns
/// which ids exist.
pub fn not_found() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "There is no such conversation, message or tool call. It may have been deleted.",
    )
}

/// Returns the error for a row that can't be read. It is no `unavailable`: clients retry that, and the row stays unreadable.
fn damaged(row: Option<DamagedRow>) -> ApiError {
    let name = row.map_or_else(String::new, |row| format!(" ({row})"));
    let message = format!(
        "What is stored here is damaged and can't be read{name}. Nothing was changed. Parlor's log says more."
    );
    ApiError::new(ErrorCode::Internal, message)
}

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        // The log has a damaged row with a name already.
        if error.damaged_row().is_none() {
            tracing::error!(%error, "storage");
        }
        if error.is_row_damage() {
            return damaged(error.damaged_row());
        }
        error.kind().into()
    }
}

impl From<StorageErrorKind> for ApiError {
    fn from(kind: StorageErrorKind) -> Self {
        let message = match kind {
            StorageErrorKind::Damaged => {
                // Not `unavailable`: clients retry that.
                return Self::new(
                    ErrorCode::Internal,
                    "Parlor's database is damaged. Nothing was changed. Stop Parlor, copy its data folder, then restore a backup, or \
                     recover the data with `sqlite3 parlor.db .recover`. Parlor's log says more.",
                );
            }
            StorageErrorKind::DiskFull => {
                "The disk is full. Nothing was changed; make room on the disk that holds Parlor's data, then try again."
            }
            StorageErrorKind::NotWritable => {
                "Parlor can't write its data. Nothing was changed; give it write access to its data folder, then try again. \
                 Its log says more."
            }
            StorageErrorKind::Other => {
                "Parlor's database does not respond just now. Nothing was changed; try again in a moment. Parlor's log says \
                 more."
            }
        };
        Self::new(ErrorCode::Unavailable, message)
    }
}

impl From<ChangeRejection> for ApiError {
    fn from(rejection: ChangeRejection) -> Self {
        match rejection {
            ChangeRejection::NotFound => not_found(),
            ChangeRejection::Internal => Self::new(
                ErrorCode::Internal,
                "This could not be stored. Nothing was changed; try again. Parlor's log says more.",
            ),
            ChangeRejection::Damaged(row) => damaged(row),
            ChangeRejection::RunActive => Self::new(
                ErrorCode::RunActive,
                "This conversation is being answered. Nothing was changed: wait for the end, or stop it.",
            ),
            ChangeRejection::NotContinuable => Self::new(
                ErrorCode::NotContinuable,
                "Only the last answer of a conversation can be continued, and only if it is incomplete. Nothing was \
                 changed.",
            ),
            ChangeRejection::IntentReused => Self::new(
                ErrorCode::IntentReused,
                "This request's id was used before for another request. Nothing was changed; send it with a new id.",
            ),
            ChangeRejection::ActionAlreadyTaken => Self::new(
                ErrorCode::ActionSpent,
                "This was done already or is no longer offered. Nothing was changed.",
            ),
            ChangeRejection::NoteChanged => Self::new(
                ErrorCode::NoteChanged,
                "This note was changed elsewhere meanwhile, so it was not replaced. What you wrote is still in its box.",
            ),
            ChangeRejection::FileNotFound => Self::new(
                ErrorCode::FileNotFound,
                "A file of your message does not exist any more, or belongs to another message. Nothing was sent; attach it again.",
            ),
            ChangeRejection::FileInUse => Self::new(
                ErrorCode::RunActive,
                "An answer that is being written, or a message that waits to be sent, has this file, or may read it. It was kept: wait for the end, or stop it.",
            ),
            ChangeRejection::EmptyMessage => Self::new(
                ErrorCode::BadRequest,
                "Your message is empty. Write something, or attach a file.",
            ),
            ChangeRejection::QueueFull => Self::new(
                ErrorCode::TooLarge,
                "The queue of this conversation is full (settings limits.queued_messages and limits.queued_bytes). \
                 Nothing was changed; wait until a message is sent, or remove one.",
            ),
            ChangeRejection::MemoryFull => Self::new(
                ErrorCode::TooLarge,
                "You have reached the limit of memories (setting limits.memories). Nothing was changed; delete one first.",
            ),
            ChangeRejection::LibraryFull => Self::new(
                ErrorCode::TooLarge,
                "You have reached the limit of saved articles or streams (settings literature.articles and literature.streams). \
                 Nothing was changed; remove one first.",
            ),
            ChangeRejection::TokensFull => Self::new(
                ErrorCode::TooLarge,
                "You have reached the limit of API tokens (setting limits.api_tokens). No token was created; revoke one first.",
            ),
            ChangeRejection::SchedulesFull => Self::new(
                ErrorCode::TooLarge,
                "You have reached the limit of schedules (setting schedules.per_user). Nothing was saved; delete one first.",
            ),
            ChangeRejection::ProjectsFull => Self::new(
                ErrorCode::TooLarge,
                "You have reached the limit of projects (setting projects.per_user). Nothing was saved; delete one first.",
            ),
            ChangeRejection::ProjectChanged => Self::new(
                ErrorCode::NoteChanged,
                "The project was changed elsewhere meanwhile. Nothing was saved, and what you wrote is still here: save again to \
                 replace that version, or cancel to see it.",
            ),
            ChangeRejection::ProjectNotFound => Self::new(
                ErrorCode::NotFound,
                "This project does not exist any more. Nothing was changed; choose another one, or none.",
            ),
            ChangeRejection::ProjectFilesFull => Self::new(
                ErrorCode::TooLarge,
                "The project has as many files as it can have (setting projects.files). This file was not kept; delete one first.",
            ),
            ChangeRejection::ProjectReadersFull => Self::new(
                ErrorCode::TooLarge,
                "The project has as many readers as it can have (setting projects.readers). Nobody was added; remove one first.",
            ),
            ChangeRejection::SharedProjectsFull => Self::new(
                ErrorCode::TooLarge,
                "One of these people has as many projects of others as they can have (setting projects.shared_with_user). Nobody was \
                 added; they can leave one first.",
            ),
            ChangeRejection::ColumnsFull => Self::new(
                ErrorCode::TooLarge,
                "There are as many columns as there can be (setting jobs.columns). Nothing was saved; delete one first.",
            ),
            ChangeRejection::ColumnSourcesFull => Self::new(
                ErrorCode::TooLarge,
                "As many tables have columns as can have them. Nothing was saved; delete the columns of one first.",
            ),
            ChangeRejection::CorrectionsFull => Self::new(
                ErrorCode::TooLarge,
                "This column has as many corrections as it can have (setting jobs.corrections). Nothing was saved; take one back first.",
            ),
            ChangeRejection::PinsFull => Self::new(
                ErrorCode::TooLarge,
                "You have pinned as many conversations as you can (setting limits.pinned_conversations). Nothing was changed; unpin one \
                 first.",
            ),
            ChangeRejection::SharesFull => Self::new(
                ErrorCode::TooLarge,
                "The limit of shares (setting sharing.shares) is reached. Nothing was shared; end a share first.",
            ),
            ChangeRejection::FenceLost => Self::new(
                ErrorCode::Unavailable,
                "Another process of Parlor has taken over this work. Nothing was changed here; load it again.",
            ),
            ChangeRejection::JobActive => Self::new(
                ErrorCode::RunActive,
                "This job is running. Nothing was changed: wait for its end, or stop it.",
            ),
            ChangeRejection::JobEnded => Self::new(
                ErrorCode::NotContinuable,
                "This job has ended. Nothing was changed; start it again as a new one.",
            ),
            ChangeRejection::AccountDisabled => Self::new(
                ErrorCode::Forbidden,
                "The account is disabled. Nothing was done; ask an administrator.",
            ),
            ChangeRejection::JobsFull => Self::new(
                ErrorCode::TooLarge,
                "You have reached the limit of jobs (setting jobs.stored). Nothing was started; delete one first.",
            ),
            ChangeRejection::TooManyRuns => Self::new(
                ErrorCode::LimitReached,
                "You have reached the limit of answers at the same time (setting accounts.runs). Nothing was sent; wait for the end of one, \
                 or stop one.",
            ),
            ChangeRejection::TooManyJobs => Self::new(
                ErrorCode::LimitReached,
                "You have reached the limit of jobs at the same time (setting jobs.running). Nothing was started; wait for the end of one, \
                 or stop one.",
            ),
            ChangeRejection::EndpointNameTaken => Self::new(
                ErrorCode::BadRequest,
                "Another model server has this name. Nothing was added; choose another name.",
            ),
            ChangeRejection::EndpointsFull => Self::new(
                ErrorCode::TooLarge,
                "The limit of model servers is reached. Nothing was added; remove one first.",
            ),
            ChangeRejection::NameTaken => Self::new(
                ErrorCode::BadRequest,
                "Another account has this name. No account was made; choose another name.",
            ),
            ChangeRejection::SetupDone => Self::new(
                ErrorCode::Forbidden,
                "Parlor is set up already. No account was made; sign in, or ask an administrator for an invitation.",
            ),
            ChangeRejection::SetupNeeded => Self::new(
                ErrorCode::Forbidden,
                "Parlor has no administrator yet. No account was made; whoever runs Parlor makes the first one at /setup.",
            ),
            ChangeRejection::NoHeir => Self::new(
                ErrorCode::BadRequest,
                "There is no such other account that could get the conversations. Nothing was deleted; choose another account.",
            ),
            ChangeRejection::DeletionGivenUp => Self::new(
                ErrorCode::NotFound,
                "This deletion was given up meanwhile, or another one took its place. The list of users shows the account as it is now.",
            ),
            ChangeRejection::LastAdministrator => Self::new(
                ErrorCode::BadRequest,
                "This is the last administrator who can sign in. Nothing was changed; make another administrator first.",
            ),
        }
    }
}
