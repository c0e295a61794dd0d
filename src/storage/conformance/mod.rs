//! The conformance suite of storage: cases that every backend must pass. The last lines of this file name the
//! backends.

mod accounts;
mod branching;
mod conversation_lists;
mod deletion;
mod files;
mod literature;
mod log;
mod memories;
mod model_calls;
mod opaque;
mod output;
mod pages;
mod parameters;
mod personal;
mod queue;
mod run_contexts;
mod suggestions;
mod token_totals;
mod turns;

use std::{collections::HashMap, path::Path, sync::Arc};

use tempfile::TempDir;

use super::*;
use crate::protocol::{
    AssistantMessage, Attachment, EventBody, IntentId, MemoryId, MessageBody, Part, PayloadRef, RawJson,
    RequestedCall, TokenId, ToolStatus,
    intent::{self, StartedRun},
    transcript,
};

/// A backend under test.
#[async_trait(?Send)]
trait Backend: Sync {
    /// Opens the storage that belongs to a folder, and creates it the first time.
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Storage>, StorageError>;
}

/// Returns a storage of a temporary folder, which is deleted with it.
async fn temp_storage(backend: &dyn Backend) -> (TempDir, Arc<dyn Storage>) {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let storage = open_storage(backend, &folder).await;
    (folder, storage)
}

async fn open_storage(backend: &dyn Backend, folder: &TempDir) -> Arc<dyn Storage> {
    backend.open(folder.path()).await.expect("storage works")
}

const TEST_USER: UserId = UserId::LOCAL;
const NOON: Timestamp = Timestamp(1_795_262_400_000);

fn other_user() -> UserId {
    UserId(uuid::Uuid::from_u128(2))
}

/// Returns a change that answers a run's question again.
fn regenerate(run: RunKey, again: RunKey) -> Change {
    Change::Regenerate {
        user_id: run.user_id,
        intent: intent::Regenerate {
            intent_id: IntentId::new(),
            conversation_id: run.conversation_id,
            message_id: run.message_id,
            model: None,
        },
        start: RunStart {
            context_snapshot: None,
            run: again.message_id,
            default_model: "x/default".into(),
            parameters: None,
            fingerprint: String::new(),
        },
    }
}

struct TestTurn {
    change: Change,
    run: RunKey,
    user_message_id: MessageId,
}

fn new_turn(user_id: UserId, conversation_id: ConversationId, text: &str) -> TestTurn {
    let intent = intent::SendMessage {
        intent_id: IntentId::new(),
        conversation_id,
        user_message_id: MessageId::new(),
        text: text.into(),
        files: Vec::new(),
        model: Some("x/m".into()),
        replaces: None,
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    };
    let run = RunKey {
        user_id,
        conversation_id,
        message_id: MessageId::new(),
    };
    let start = RunStart {
        context_snapshot: None,
        run: run.message_id,
        default_model: "x/default".into(),
        parameters: None,
        fingerprint: text.into(),
    };
    TestTurn {
        user_message_id: intent.user_message_id,
        change: Change::SendMessage {
            user_id,
            intent,
            start,
        },
        run,
    }
}

/// Returns a turn whose message is another version of a message.
fn new_version(conversation_id: ConversationId, replaced: MessageId, text: &str) -> TestTurn {
    let mut turn = new_turn(TEST_USER, conversation_id, text);
    if let Change::SendMessage { intent, .. } = &mut turn.change {
        intent.replaces = Some(replaced);
    }
    turn
}

/// Returns the events of a tool call that has a payload and a file.
fn draw_events(payload: Option<PayloadRef>, file: &StoredFile) -> [EventBody; 2] {
    let call = RequestedCall {
        node: 0,
        part: 0,
        index: 0,
        tool_use_id: "1".into(),
        tool: "draw".into(),
        input: RawJson::parse_or_quote("{}"),
        label: "Drawing".into(),
        detail: None,
    };
    [
        EventBody::ToolStart {
            call,
            started_at: NOON,
        },
        EventBody::ToolComplete {
            index: 0,
            tool_use_id: "1".into(),
            tool: "draw".into(),
            label: "Drew".into(),
            status: ToolStatus::Complete,
            output: String::new(),
            payload,
            attachments: vec![file.attachment.clone()],
            ended_at: NOON,
        },
    ]
}

fn text(offset: usize, text: &str) -> EventBody {
    EventBody::TextDelta {
        node: 0,
        part: 0,
        offset,
        text: text.into(),
    }
}

/// Returns the message of a run with this answer.
fn answer_message(answer: &str) -> AssistantMessage {
    let mut message = AssistantMessage::new("x/m");
    transcript::apply_to_run(&mut message, &text(0, answer));
    message
}

fn end_run(run: RunKey, answer: &str) -> Change {
    let event = EventBody::run_ended(RunStatus::Complete, None, NOON, 0);
    let mut message = answer_message(answer);
    transcript::apply_to_run(&mut message, &event);
    Change::EndRun {
        run,
        events: vec![event],
        message,
    }
}

/// As [`end_run`], with the answer in the log and another status.
fn answer_run(run: RunKey, answer: &str, status: RunStatus) -> Change {
    let end = EventBody::run_ended(status, None, NOON, 0);
    let mut message = answer_message(answer);
    transcript::apply_to_run(&mut message, &end);
    Change::EndRun {
        run,
        events: vec![text(0, answer), end],
        message,
    }
}

/// Commits a change and compares the folded log with the stored conversation. Returns that.
async fn commit_and_fold(storage: &dyn Storage, id: ConversationId, change: &Change) -> Transcript {
    commit_one(storage, change).await.expect("the change is accepted");
    let stored = full_transcript(storage, id).await.expect("it is there");
    let mut folded = folded_transcript(storage, id).await;
    folded.truncate_to_newest(usize::MAX);
    assert_eq!(stored, folded, "after {change:?}");
    stored
}

async fn commit_one(storage: &dyn Storage, change: &Change) -> Result<Outcome, ChangeRejection> {
    storage
        .commit(NOON, std::slice::from_ref(change))
        .await
        .expect("storage works")
        .outcomes[0]
}

async fn read_log(storage: &dyn Storage, user_id: UserId) -> Vec<Event> {
    match storage
        .events_after(user_id, Position(0), None, 1000)
        .await
        .expect("storage works")
    {
        LogPage::Events { events, .. } => events.into_iter().map(|logged| logged.event).collect(),
        LogPage::Reset => panic!("the log was trimmed"),
    }
}

/// Returns the test user's conversation with all of its shown branch; `None` if there is none.
async fn full_transcript(storage: &dyn Storage, conversation_id: ConversationId) -> Option<Transcript> {
    let transcript = storage
        .transcript(TEST_USER, conversation_id, PageSize::UNLIMITED, None)
        .await;
    transcript.expect("storage works")
}

/// Folds the whole log into a conversation's transcript.
async fn folded_transcript(storage: &dyn Storage, conversation_id: ConversationId) -> Transcript {
    let mut state = Transcript::new(conversation_id);
    for event in read_log(storage, TEST_USER).await {
        transcript::apply(&mut state, &event).expect("no gap");
        state.as_of = event.position;
    }
    state
}

/// Declares the tests of a backend: all cases, in a module per file. A case that is missing here is dead code,
/// which the compiler reports.
macro_rules! conformance_tests {
    ($suite:ident, $backend:expr) => {
        conformance_tests! { $suite, $backend,
            branching {
                a_branch_is_a_copy_of_its_own,
                a_file_shown_again_is_the_copied_one,
                a_question_is_where_its_branch_ends,
                only_ended_shown_messages_are_copied,
            }
            accounts {
                only_the_first_account_is_set_up,
                a_session_lives_until_it_is_ended,
                signing_in_replaces_the_earlier_session,
                an_invitation_is_used_up_once,
                a_new_password_ends_sessions_and_links,
                deleting_a_user_leaves_the_others,
                a_disabled_account_has_no_sessions,
            }
            conversation_lists {
                pages_the_list_by_newest_activity,
                an_ended_run_is_unseen_until_read,
            }
            deletion {
                deleting_a_conversation_leaves_only_positions,
                deleted_data_does_not_come_back,
                hidden_message_is_restored_or_erased,
                deleting_a_version_shows_the_other,
            }
            literature {
                stored_library_equals_the_replayed_one,
                saving_again_keeps_the_note,
                a_note_replaces_only_a_known_note,
                stores_an_abstract_when_it_becomes_known,
                removed_or_replaced_data_leaves_the_log,
                libraries_are_separate_per_user,
                context_snapshot_lives_with_its_message,
            }
            log {
                folded_log_equals_stored_state_at_every_step,
                trimming_keeps_events_of_running_runs,
                everything_survives_a_restart,
            }
            memories {
                a_memory_exists_until_deleted,
                deleting_a_memory_makes_room_for_another,
                memories_are_separate_per_user,
                deletes_all_memories_and_restores_one_in_place,
            }
            model_calls {
                records_a_call_and_later_its_response,
                keeps_calls_of_newest_undeleted_runs,
            }
            opaque {
                run_context_has_opaque_data_of_its_branch,
            }
            files {
                files_belong_to_one_message,
                an_erased_file_leaves_the_title,
                versions_share_contents_until_the_last_is_deleted,
                queued_files_stay_until_removed,
                unsent_uploads_expire,
            }
            output {
                stored_output_is_not_folded_again,
                ending_a_run_deletes_unshown_artifacts,
            }
            pages {
                first_page_is_the_newest_part,
                older_pages_reach_the_first_message,
                any_message_selects_its_branch,
                a_page_reaches_the_requested_message,
                long_messages_shorten_a_page,
                older_messages_are_private,
            }
            parameters {
                an_intent_sets_parameters_once_everywhere,
                forced_tools_and_summaries_keep_their_scope,
            }
            personal {
                the_last_instructions_count,
                finds_a_token_until_it_is_revoked,
                token_use_is_recorded_without_an_event,
                tokens_are_separate_per_user,
            }
            queue {
                queued_message_becomes_one_user_message,
                folded_queue_equals_the_stored_one,
                only_a_complete_run_releases_the_queue,
                queues_are_limited_and_private,
            }
            run_contexts {
                run_context_has_all_of_its_user,
                payloads_are_limited_by_total_bytes,
            }
            suggestions {
                the_first_verdict_counts,
                button_message_stores_the_suggested_action,
                an_action_is_taken_once,
                suggestions_belong_to_their_user_and_conversation,
            }
            token_totals {
                every_answer_of_a_conversation_counts,
                a_title_adds_to_the_present_usage,
            }
            turns {
                a_repeated_intent_is_applied_once,
                a_second_active_run_is_rejected_alone,
                regenerating_shows_a_new_sibling,
                other_users_data_is_not_found,
                only_a_cut_off_last_answer_continues,
                another_version_of_a_message_is_a_sibling,
            }
        }
    };
    ($suite:ident, $backend:expr, $($group:ident { $($case:ident,)+ })+) => {
        mod $suite {
            $(mod $group {
                $(#[tokio::test]
                async fn $case() {
                    crate::storage::conformance::$group::$case(&$backend).await;
                })+
            })+
        }
    };
}

/// The backend that stores in a database file of SQLite.
struct Sqlite;

#[async_trait(?Send)]
impl Backend for Sqlite {
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Storage>, StorageError> {
        Ok(Arc::new(sqlite::SqliteStorage::open(folder).await?))
    }
}

conformance_tests!(on_sqlite, crate::storage::conformance::Sqlite);
