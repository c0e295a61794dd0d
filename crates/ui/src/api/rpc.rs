//! The page's own intents and queries, as typed server functions under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, Attachment, AttachmentId, ConversationId, ConversationList, ListChange, ListChanged, MessageId,
    OlderMessages, PanelView, PayloadVerdict, ProjectId, RawJson as Raw, RunStatus, TokenTotals, Transcript,
    conversation_list::ListCursor,
    diagnostics::DiagnosticsView,
    intent::{self, StartedRun},
    model_list::ModelList,
    panel::TablePage,
    search::SearchHits,
};

server_functions! {
    trait RpcFunctions;

    /// Sends a message and starts the run that answers it. While a run is active, the message waits in the queue.
    Json "send_message"
    fn send_message(intent: intent::SendMessage) -> StartedRun;

    /// Attaches a file of a message to the next message of its conversation.
    Json "copy_file"
    fn copy_file(id: AttachmentId) -> Attachment;

    /// Deletes an uploaded file that no message has.
    Json "delete_upload"
    fn delete_upload(id: AttachmentId) -> ();

    /// Changes the messages that wait for the end of a run.
    Json "change_queue"
    fn change_queue(conversation_id: ConversationId, change: intent::QueueChange) -> ();

    /// Generates another answer to a message.
    Json "regenerate"
    fn regenerate(intent: intent::Regenerate) -> StartedRun;

    /// Continues an answer that was stopped, failed, was interrupted or was cut short.
    Json "continue_run"
    fn continue_run(intent: intent::ContinueRun) -> StartedRun;

    /// Stops a run and returns its status. Stopping a run that has ended changes nothing.
    Json "stop_run"
    fn stop_run(message_id: MessageId) -> RunStatus;

    /// Allows or denies a tool call that waits for approval. The first answer counts.
    Json "answer_approval"
    fn answer_approval(message_id: MessageId, index: usize, answer: intent::ApprovalAnswer) -> ();

    /// Renames a conversation.
    Json "rename_conversation"
    fn rename_conversation(conversation_id: ConversationId, title: String) -> ();

    /// Marks a conversation as read, so that its news is not shown as unseen.
    Json "mark_read"
    fn mark_read(conversation_id: ConversationId) -> ();

    /// Pins, archives, deletes or otherwise changes conversations in the list. Fails if none of them could be changed.
    Json "change_conversations"
    fn change_conversations(conversation_ids: Vec<ConversationId>, change: ListChange) -> ListChanged;

    /// Marks all conversations as read.
    Json "mark_all_read"
    fn mark_all_read() -> ();

    /// Erases a conversation with everything in it and stops its run. It can't be restored.
    Json "delete_conversation"
    fn delete_conversation(conversation_id: ConversationId) -> ();

    /// Deletes a message with all that follow it, or shows it again while that is possible.
    Json "set_message_deleted"
    fn set_message_deleted(conversation_id: ConversationId, message_id: MessageId, is_deleted: bool) -> ();

    /// Sets the model that answers a conversation from now on.
    Json "choose_model"
    fn choose_model(conversation_id: ConversationId, model: String) -> ();

    /// Sets the parameters of a conversation's model from now on.
    Json "set_parameters"
    fn set_parameters(intent: intent::SetParameters) -> ();

    /// Shows another branch of a conversation: of those through a message, the one that grew last.
    Json "select_branch"
    fn select_branch(conversation_id: ConversationId, through: MessageId) -> ();

    /// Copies a branch of a conversation into a new one.
    Json "branch_conversation"
    fn branch_conversation(intent: intent::BranchConversation) -> ();

    /// Returns a conversation as it stands now: its newest messages, back at least to `reach` if that is given.
    GetUrl "conversation"
    fn conversation(conversation_id: ConversationId, reach: Option<MessageId>) -> Transcript;

    /// Returns a page of the messages that lead up to `before`.
    GetUrl "older_messages" as LoadOlderMessages
    fn older_messages(conversation_id: ConversationId, before: MessageId) -> OlderMessages;

    /// Returns the panel's view of a payload, or the part of it that an answer shows.
    GetUrl "payload"
    fn payload(
        conversation_id: ConversationId,
        payload_id: String,
        #[server(default)] is_preview: bool,
    ) -> PanelView;

    /// Returns a page of a table whose rows are in a file: those that have the words of the filter, sorted by a column.
    GetUrl "table_rows"
    fn table_rows(
        conversation_id: ConversationId,
        payload_id: String,
        offset: u64,
        column: Option<usize>,
        #[server(default)] is_descending: bool,
        #[server(default)] filter: String,
    ) -> TablePage;

    /// Accepts or rejects a proposed payload. Returns the verdict that counts, which is the first one.
    Json "judge_payload"
    fn judge_payload(intent: intent::JudgePayload) -> PayloadVerdict;

    /// Records that a suggested action was performed in the page.
    Json "take_action"
    fn take_action(intent: intent::TakeAction) -> ();

    /// Returns the diagnostics of an answer.
    GetUrl "diagnostics"
    fn diagnostics(message_id: MessageId) -> DiagnosticsView;

    /// Searches everything that the user has, or one conversation: the first hits, or those after a cursor.
    Json "search"
    fn search(query: String, conversation_id: Option<ConversationId>, cursor: Option<String>, #[server(default)] limit: Option<usize>) -> SearchHits;

    /// Returns a page of the conversation list, of the archive or of a project: the first one, or that after `before`.
    Json "conversations"
    fn conversations(
        before: Option<ListCursor>,
        #[server(default)] is_archived: bool,
        #[server(default)] project_id: Option<ProjectId>,
    ) -> ConversationList;

    /// Returns the models that can be chosen now.
    GetUrl "models"
    fn models() -> ModelList;

    /// Returns the names of the pages that can do something for the user.
    GetUrl "listed_pages" as LoadListedPages
    fn listed_pages() -> Vec<String>;

    /// Returns the initial data of the page at a URL as JSON, which only the page's own code parses.
    GetUrl "open_page"
    fn open_page(address: String) -> Raw;

    /// Returns the tokens and the cost of all answers of a conversation.
    GetUrl "token_totals" as LoadTokenTotals
    fn token_totals(conversation_id: ConversationId) -> TokenTotals;
}
