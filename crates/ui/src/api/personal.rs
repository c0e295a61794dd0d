//! Server functions of the settings page, under `/rpc`.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{ApiError, Memory, MemoryId, NewToken, News, PersonalData, TokenId};

server_functions! {
    trait PersonalFunctions;

    /// Returns the user's personal data: instructions, memories and API tokens.
    GetUrl "personal" as LoadPersonal
    fn personal() -> PersonalData;

    /// Sets the instructions that the model gets in every conversation.
    Json "save_instructions"
    fn save_instructions(text: String) -> ();

    /// Sets the days after which the user's conversations are erased; 0 for the setting of the server.
    Json "set_retention"
    fn set_retention(days: u32) -> ();

    /// Lets the assistant search the user's earlier conversations, or not any more.
    Json "set_chat_search"
    fn set_chat_search(is_on: bool) -> ();

    /// Returns what is new for the user since they last closed the news.
    GetUrl "news" as LoadNews
    fn news() -> Option<News>;

    /// Records that the user has closed the news of a version and of all before it.
    Json "close_news"
    fn close_news(version: String) -> ();

    /// Deletes one memory.
    Json "forget_memory"
    fn forget_memory(memory_id: MemoryId) -> ();

    /// Deletes all memories.
    Json "forget_all_memories"
    fn forget_all_memories() -> ();

    /// Restores a memory that was deleted by mistake.
    Json "restore_memory"
    fn restore_memory(memory: Memory) -> ();

    /// Replaces the text of a memory, of the user or of one of their projects.
    Json "edit_memory"
    fn edit_memory(memory_id: MemoryId, text: String) -> ();

    /// Creates an API token. Its value is returned only here.
    Json "create_token"
    fn create_token(name: String, days: Option<u32>) -> NewToken;

    /// Revokes an API token.
    Json "revoke_token"
    fn revoke_token(token_id: TokenId) -> ();
}
