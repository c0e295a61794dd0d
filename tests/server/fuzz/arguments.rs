//! Valid arguments of each server function. In them, `"$name"` stands for an id.

use serde_json::{Map, Value, json};

use crate::schedules::daily;

/// A key that opens no share, in the form of a link's secret.
pub const NO_SHARE: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Returns valid arguments of each server function.
pub fn function_arguments() -> Map<String, Value> {
    let answer = json!({ "intent_id": "$new", "conversation_id": "$conversation", "message_id": "$answer" });
    let with = |name: &str, value: Value| {
        let mut intent = answer.clone();
        intent[name] = value;
        json!({ "intent": intent })
    };
    let message = json!({
        "intent_id": "$new", "conversation_id": "$conversation", "user_message_id": "$new", "text": "Hello", "model": "test/any",
        "interaction": { "interaction_type": "text_input" },
        "context": { "current_page": "literature", "active_tab": "search", "query": "tides", "results": ["11"], "article_id": "11" },
    });
    let asked = json!({ "temperature": "0.5", "thinking_level": "low", "max_completion_tokens": "100" });
    let set = json!({ "intent_id": "$new", "conversation_id": "$conversation", "parameters": asked });
    let judged = json!({
        "intent_id": "$new", "conversation_id": "$conversation", "payload_id": "$payload", "verdict": "accepted",
    });
    let stream = json!({ "id": "$new", "name": "Tides", "query": "tides", "instructions": "" });
    let memory = json!({ "id": "$new", "text": "Likes tides.", "created_at": 1_700_000_000_000_u64 });
    let all = json!({
        "answer_approval": { "message_id": "$answer", "index": 0, "answer": "allow" },
        "article": { "pmid": "11", "quote": "" },
        "branch_conversation": { "intent": { "intent_id": "$new", "message_id": "$answer", "conversation_id": "$new" } },
        "change_queue": { "conversation_id": "$conversation", "change": { "change": "edit", "message_id": "$question", "text": "Other" } },
        "choose_model": { "conversation_id": "$conversation", "model": "test/other" },
        "continue_run": { "intent": answer },
        "conversation": { "conversation_id": "$conversation", "reach": "$question" },
        "conversations": { "before": { "activity": 5 }, "is_archived": false, "project_id": "$project" },
        "search": { "query": "word \"a phrase\" from:me", "conversation_id": "$conversation", "cursor": "5", "limit": 5 },
        "delete_conversation": { "conversation_id": "$conversation" },
        "delete_stream": { "stream_id": "$new" },
        "copy_file": { "id": "$file_id" },
        "delete_upload": { "id": "$file_id" },
        "file_preview": { "id": "$file_id" },
        "check_upload": { "bytes": 5 },
        "diagnostics": { "message_id": "$answer" },
        "set_retention": { "days": 30 },
        "set_chat_search": { "is_on": true },
        "forget_all_memories": {},
        "forget_memory": { "memory_id": "$new" },
        "judge_payload": { "intent": judged },
        "reports": {},
        "report": { "report_id": "$job_id" },
        "report_article": { "report_id": "$job_id", "pmid": "11" },
        "start_report": { "report_id": "$new", "stream_id": "$stream", "model": "test/any", "cost_limit": 5 },
        "stop_job": { "job_id": "$job_id" },
        "continue_job": { "job_id": "$job_id", "cost_limit": 5 },
        "unseen_reports": {},
        "mark_report_seen": { "report_id": "$job_id" },
        "delete_report": { "report_id": "$job_id" },
        "save_stream": { "stream": stream },
        "data_catalogue": {},
        "data_table": { "database": "town", "table": "jobs" },
        "library": {},
        "listed_pages": {},
        "create_share": { "conversation_id": "$conversation", "readers": null, "is_live": true },
        "end_share": { "share_id": "$new" },
        "shared_conversation": { "key": NO_SHARE, "before": "$question" },
        "shared_payload": { "key": NO_SHARE, "payload_id": "p1", "is_preview": true },
        "shares": {},
        "create_token": { "name": "A program", "days": 30 },
        "change_conversations": { "conversation_ids": ["$conversation"], "change": "pin" },
        "mark_all_read": {},
        "mark_read": { "conversation_id": "$conversation" },
        "models": {},
        "endpoints": {},
        "local_servers": {},
        "allow_own_keys": { "is_allowed": true },
        "own_keys": {},
        "add_own_key": { "new": { "id": "$new", "service": "openai", "key": "k" } },
        "change_own_key": { "id": "$new", "update": { "hidden_models": ["any"] } },
        "remove_own_key": { "id": "$new" },
        "test_own_key": { "test": { "service": "openai", "key": "k" } },
        "add_endpoint": { "endpoint": { "id": "$new", "name": "More", "kind": "openai", "base_url": "http://127.0.0.1:9/v1", "key": "k" } },
        "change_endpoint": { "id": "$new", "update": { "hidden_models": ["any"] } },
        "remove_endpoint": { "id": "$new" },
        "test_endpoint": { "test": { "kind": "anthropic", "base_url": "http://127.0.0.1:9" } },
        "set_article_note": { "pmid": "11", "note": "Read it.", "replaces": [""] },
        "older_messages": { "conversation_id": "$conversation", "before": "$answer" },
        "open_page": { "address": "/literature?q=tides" },
        "payload": { "conversation_id": "$conversation", "payload_id": "$payload" },
        "table_rows": { "conversation_id": "$conversation", "payload_id": "$payload", "offset": 0, "column": 0, "filter": "map" },
        "personal": {},
        "news": {},
        "close_news": { "version": "0.0.1" },
        "regenerate": with("model", json!("test/any")),
        "remove_article": { "pmid": "11" },
        "rename_conversation": { "conversation_id": "$conversation", "title": "Another" },
        "restore_memory": { "memory": memory },
        "revoke_token": { "token_id": "$new" },
        "save_article": { "pmid": "11", "note": "", "saved_at": null },
        "save_instructions": { "text": "Be brief." },
        "search_articles": { "query": "tides", "sort": "date", "page": 1 },
        "select_branch": { "conversation_id": "$conversation", "through": "$question" },
        "token_totals": { "conversation_id": "$conversation" },
        "send_message": { "intent": message },
        "set_message_deleted": { "conversation_id": "$conversation", "message_id": "$question", "is_deleted": true },
        "set_parameters": { "intent": set },
        "stop_run": { "message_id": "$answer" },
        "take_action": with("index", json!(1)),
    });
    // Apart, since one macro takes only so many.
    let more = json!({
        "columns": { "source": "articles" },
        "column_cell": { "source": "articles", "column_id": "$column", "row": "11" },
        "save_column": { "source": "articles", "column": {
            "id": "$column", "name": "Kind", "question": "Which?", "type": "choice", "choices": ["Trial", "Cohort"], "revision": 1,
        } },
        "delete_column": { "column_id": "$column" },
        "correct_cell": { "column_id": "$column", "row": "11", "value": "5" },
        "fill_columns": { "job_id": "$new", "source": "articles", "model": "test/any", "cost_limit": 5 },
        "column_rows": { "source": "file:$file" },
        "fill_estimate": { "source": "articles", "model": "test/any" },
        "my_files": { "query": "map", "sort": "largest" },
        "delete_files": { "ids": ["$file"] },
        "projects": {},
        "save_project": { "id": "$project", "project": { "name": "Orchard", "colour": "red" }, "is_new": true },
        "project_tools": {},
        "project_memories": { "id": "$project" },
        "restore_project_memory": { "id": "$project", "memory": memory },
        "forget_project_memories": { "id": "$project" },
        "edit_memory": { "memory_id": "$new", "text": "Prefers tea." },
        "project_files": { "id": "$project" },
        "delete_project_file": { "project_id": "$project", "id": "$new" },
        "project_readers": { "id": "$project" },
        "add_project_readers": { "id": "$project", "names": ["ben"] },
        "remove_project_reader": { "id": "$project", "name": "ben" },
        "shared_project": { "id": "$project", "cursor": "5" },
        "leave_shared_project": { "id": "$project" },
        "delete_project": { "id": "$project", "conversations": "delete" },
        "schedules": {},
        "save_schedule": { "id": "$schedule", "schedule": daily("Morning", "09:00", "UTC") },
        "delete_schedule": { "id": "$schedule" },
        "run_schedule": { "intent": { "intent_id": "$new", "schedule_id": "$schedule" } },
    });
    let mut arguments = Map::new();
    for map in [all, more] {
        if let Value::Object(map) = map {
            arguments.extend(map);
        }
    }
    arguments
}
