//! The conformance suite of storage: cases that every backend must pass. The last lines of this file name the
//! backends.

mod accounts;
mod administrators;
mod answer_deletion;
mod attached_files;
mod audit;
mod branching;
mod columns;
mod contents;
mod conversation_lists;
mod deletion;
mod earlier_jobs;
mod endpoints;
mod file_list;
mod files;
mod fixtures;
mod hand_over;
mod job_owners;
mod jobs;
mod limits;
mod literature;
mod log;
mod memories;
mod model_calls;
mod nodes;
mod output;
mod pages;
mod parameters;
mod personal;
mod project_files;
mod project_readers;
mod projects;
mod provider_data;
mod queue;
mod resumption;
mod run_contexts;
mod schedules;
mod search;
mod shares;
mod suggestions;
mod texts;
mod token_totals;
mod trash;
mod turns;
mod usage;
mod versions;

pub(crate) use self::search::test_file;
use std::{collections::HashMap, path::Path, sync::Arc};

use tempfile::TempDir;

use self::fixtures::*;
use super::*;
use parlor_protocol::{
    AssistantMessage, Attachment, ConversationEvent, ConversationList, EventBody, FileProblem, IntentId,
    ListedConversation, MemoryId, MessageBody, Part, PayloadRef, Placeholder, RawJson, RequestedCall,
    RunEvent, TokenId, ToolStatus, UserEvent,
    intent::{self, StartedRun},
    transcript,
};

/// A backend under test.
#[async_trait(?Send)]
trait Backend: Sync {
    /// Opens the storage that belongs to a folder, and creates it the first time.
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Storage>, StorageError>;
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
                a_new_password_ends_sessions_tokens_and_links,
                links_end_with_the_role_of_their_maker,
                deleting_a_user_leaves_the_others,
                a_disabled_account_has_no_sessions,
                an_identity_has_one_account,
            }
            administrators {
                administrators_count_who_can_sign_in,
            }
            columns {
                changed_columns_are_read_again,
                columns_and_corrections_are_their_owners_alone,
                deleted_tables_leave_no_columns,
                an_heir_gets_no_columns_of_lost_tables,
                one_job_at_a_time_fills_columns,
                a_deleted_column_leaves_no_cells,
            }
            schedules {
                a_schedule_is_its_owners_alone,
                a_planned_time_starts_one_run,
                a_paused_or_deleted_schedule_starts_nothing,
                a_quiet_end_is_not_unread,
                the_last_answer_is_the_last_started,
                a_client_gives_no_title_as_a_schedule,
                an_erased_prompt_leaves_the_title,
                schedules_of_disabled_accounts_wait,
            }
            hand_over {
                a_hand_over_interrupts_running_jobs,
                an_heir_gets_conversations_files_and_library,
                nothing_is_handed_over_to_nobody,
                a_handed_over_conversation_keeps_its_beginning,
                long_hidden_branches_are_not_handed_over,
                temporary_and_deleted_conversations_are_not_handed_over,
                a_deletion_that_began_is_remembered,
            }
            answer_deletion {
                an_answer_is_deleted_without_its_question,
                deleting_an_answer_shows_the_other,
                an_answer_restored_after_the_next_message_hides_nothing,
            }
            audit {
                the_audit_log_is_bounded,
                an_administrator_is_named_with_the_account,
            }
            conversation_lists {
                pages_the_list_by_newest_activity,
                pinned_and_archived_conversations_have_their_place,
                activity_takes_out_of_the_archive,
                a_temporary_conversation_is_not_searched,
                conversations_end_by_their_age,
                pinned_running_and_deleted_conversations_have_no_age,
                what_changed_after_the_selection_stays,
                an_ended_run_is_unseen_until_read,
            }
            deletion {
                deleting_a_conversation_leaves_only_positions,
                deleted_data_does_not_come_back,
                hidden_message_is_restored_or_erased,
                deleting_a_version_shows_the_other,
            }
            job_owners {
                output_under_an_older_fence_is_refused,
                a_process_recovers_only_jobs_of_others,
                jobs_of_disabled_accounts_begin_no_step,
            }
            jobs {
                a_step_has_one_result,
                a_job_waits_stops_and_goes_on,
                an_ended_job_is_unseen_until_looked_at,
                jobs_are_limited_private_and_deleted,
                jobs_are_listed_newest_first,
            }
            earlier_jobs {
                a_job_knows_the_complete_one_before_it,
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
                one_commit_logs_many_events,
                trimming_keeps_events_of_running_runs,
                everything_survives_a_restart,
            }
            memories {
                a_memory_exists_until_deleted,
                deleting_a_memory_makes_room_for_another,
                memories_are_separate_per_user,
                deletes_all_memories_and_restores_one_in_place,
                memories_of_a_project_are_its_conversations_alone,
                an_heir_gets_memories_of_projects_only,
            }
            model_calls {
                records_a_call_and_later_its_response,
                keeps_calls_of_newest_undeleted_runs,
            }
            project_files {
                files_of_a_project_are_its_owners_alone,
                a_repeated_upload_is_stored_once,
                files_of_a_project_stay_until_they_are_deleted,
                files_of_a_project_are_found,
                an_heir_gets_the_files_of_projects,
            }
            projects {
                a_project_is_its_owners_alone,
                an_edit_of_another_version_is_refused,
                a_conversation_is_in_one_project_or_none,
                a_conversation_begins_in_a_project,
                a_deleted_project_leaves_its_conversations,
                a_project_is_deleted_with_its_conversations,
                conversations_of_a_project_are_found,
                an_heir_gets_the_projects,
            }
            project_readers {
                a_reader_sees_the_project_until_removed,
                readers_see_what_is_in_the_project,
                sharing_ends_with_project_and_accounts,
                readers_are_limited,
                readers_are_told_of_changes,
                readers_are_not_told_of_what_they_do_not_see,
            }
            provider_data {
                run_context_has_provider_data_of_its_branch,
            }
            endpoints {
                an_endpoint_exists_until_it_is_removed,
                an_endpoint_is_added_once,
                an_own_endpoint_is_its_owners_alone,
                only_given_values_change,
                own_keys_are_forbidden_until_they_are_allowed,
            }
            attached_files {
                attached_files_are_those_of_shown_messages,
                attached_files_are_of_the_asked_kinds,
            }
            contents {
                a_content_is_stored_whole_or_not_at_all,
                a_content_belongs_to_its_user_and_is_deleted_in_all_forms,
            }
            files {
                files_belong_to_one_message,
                an_erased_file_leaves_the_title,
                versions_share_contents_until_the_last_is_deleted,
                copied_files_share_content_until_last_deletion,
                ended_run_gets_no_file,
                queued_files_stay_until_removed,
                unsent_uploads_expire,
            }
            file_list {
                files_are_listed_by_page_name_and_size,
                a_file_is_listed_once_with_its_uses,
                a_deleted_file_is_marked_wherever_it_is_used,
                texts_of_a_deleted_file_leave_records_and_summaries,
                a_file_in_use_is_not_deleted,
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
                a_new_user_has_seen_the_running_version,
            }
            queue {
                queued_message_becomes_one_user_message,
                folded_queue_equals_the_stored_one,
                only_a_complete_run_releases_the_queue,
                queues_are_limited_and_private,
                queues_of_disabled_accounts_wait,
            }
            resumption {
                a_resumed_run_keeps_its_place,
                only_a_running_run_is_resumed,
            }
            run_contexts {
                run_context_has_all_of_its_user,
                payloads_are_limited_by_total_bytes,
            }
            search {
                texts_are_found_by_their_words,
                conditions_narrow_a_search,
                search_finds_nothing_of_others,
                indexing_nothing_wakes_nobody,
                only_the_present_state_is_found,
                files_and_articles_are_found,
                long_lists_of_hits_have_pages,
                a_long_text_is_one_of_the_newest_hits,
            }
            shares {
                a_share_exists_until_it_is_ended,
                shares_end_with_their_conversation_and_their_users,
                a_share_shows_one_branch_only,
                erasing_its_last_message_ends_a_snapshot,
                share_has_files_and_payloads_of_its_branch,
                a_snapshot_has_nothing_made_later,
            }
            suggestions {
                the_first_verdict_counts,
                button_message_stores_the_suggested_action,
                fresh_session_follows_a_failed_restoration,
                an_action_is_taken_once,
                suggestions_belong_to_their_user_and_conversation,
            }
            texts {
                any_text_comes_back_unchanged,
            }
            token_totals {
                every_answer_of_a_conversation_counts,
                a_title_adds_to_the_present_usage,
            }
            trash {
                a_deleted_conversation_is_restored_or_erased,
                a_deleted_conversation_takes_no_change,
                a_deleted_conversation_queues_and_approves_nothing,
            }
            turns {
                a_repeated_intent_is_applied_once,
                a_second_active_run_is_rejected_alone,
                regenerating_shows_a_new_sibling,
                other_users_data_is_not_found,
                only_a_cut_off_last_answer_continues,
                another_version_of_a_message_is_a_sibling,
            }
            usage {
                usage_counts_once_on_its_day,
                a_continued_copy_counts_from_there,
            }
        }
    };
    ($suite:ident, $backend:expr, $($group:ident { $($case:ident,)+ })+) => {
        mod $suite {
            $(mod $group {
                $(#[tokio::test]
                async fn $case() {
                    crate::conformance::$group::$case(&$backend).await;
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

/// The backend that stores in a database of Postgres: each folder has one of its own.
struct Postgres;

#[async_trait(?Send)]
impl Backend for Postgres {
    async fn open(&self, folder: &Path) -> Result<Arc<dyn Storage>, StorageError> {
        let database = postgres::tests::database_of(folder).await;
        Ok(Arc::new(SqlStorage::open_postgres(folder, &database).await?))
    }
}

conformance_tests!(on_sqlite, crate::conformance::Sqlite);
conformance_tests!(on_postgres, crate::conformance::Postgres);
// A folder of SQLite has one process.
conformance_tests! { only_on_postgres, crate::conformance::Postgres,
    resumption {
        output_for_a_run_of_another_process_is_refused,
    }
}
