//! Looks into the earlier conversations of the person: never into those of others, nor into the present one.

use std::{cmp::Reverse, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{
    Tool, ToolContext, ToolError, ToolKind, ToolResult,
    phrasings::{self, JoinedHits, searches},
};
use parlor_protocol::{
    ConversationId, UserId,
    search::{HitKind, SearchHit},
    tool_kind,
};
use parlor_storage::{SearchRequest, Storage};

/// The most hits that are given.
const MAX_HITS: usize = 8;

/// The length of the text around what was found, in bytes.
const TEXT_BYTES: usize = 700;

/// The tool, which is offered to those who have switched it on.
pub struct SearchConversations(pub Arc<dyn Storage>);

#[derive(Deserialize, JsonSchema)]
pub struct SearchConversationsInput {
    /// What is looked for, in three to six phrasings of a few words each. All words of a phrasing are looked for in one text, so use
    /// other words in each, and the languages that the person writes. Conditions: from:me, before:2026-11-01, after:2026-10.
    phrasings: Vec<String>,
}

impl Tool for SearchConversations {
    type Input = SearchConversationsInput;

    const KIND: ToolKind = tool_kind::SEARCH_CONVERSATIONS;
    const DESCRIPTION: &'static str = "Searches the person's earlier conversations with you, with the tool results and files in them. Use it when they refer to \
         something that was said or found before. Give it several phrasings; if nothing fits, try once more with other words.";
    const LABEL: &'static str = "Searching earlier chats";
    const DONE: &'static str = "Searched earlier chats";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &SearchConversationsInput) -> Option<String> {
        phrasings::detail(&input.phrasings)
    }

    async fn run(&self, input: SearchConversationsInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let hits = self
            .search(call.user_id, call.conversation_id, &input.phrasings)
            .await?;
        if hits.is_empty() {
            return Ok("Nothing was found with these words.".to_owned().into());
        }
        Ok(hits_json(&hits).into())
    }
}

impl SearchConversations {
    /// Searches each phrasing, and joins the lists.
    async fn search(
        &self,
        user_id: UserId,
        present: ConversationId,
        phrasings: &[String],
    ) -> Result<Vec<SearchHit>, ToolError> {
        let mut found = JoinedHits::default();
        for (search, weight) in searches(phrasings)? {
            let request = SearchRequest {
                except: Some(present),
                in_conversations: true,
                snippet_bytes: TEXT_BYTES,
                keeps_markup: true,
                ..search
            };
            let hits = self.0.search(user_id, &request).await.map_err(|error| {
                tracing::error!(%error, "earlier conversations can't be searched");
                ToolError::unavailable()
            })?;
            let texts = hits.hits.into_iter().filter(|hit| hit.kind != HitKind::Title);
            let texts = texts.map(|hit| {
                (
                    (hit.message_id, hit.file_id, hit.pmid.clone(), hit.kind.as_str()),
                    hit,
                )
            });
            found.add(texts, weight);
        }
        Ok(found.best(MAX_HITS, |hit| Reverse(hit.created_at)))
    }
}

/// Formats hits as JSON, so that no text can look like another one.
fn hits_json(hits: &[SearchHit]) -> String {
    let hits = hits.iter().map(|hit| {
        let (year, month, day) = hit.created_at.utc_date();
        json!({
            "conversation": hit.title,
            "date": format!("{year:04}-{month:02}-{day:02}"),
            "what": match hit.kind {
                HitKind::Title => "title",
                HitKind::Question => "message of the person",
                HitKind::Answer => "your answer",
                HitKind::Tool => "tool result",
                HitKind::File => "file",
                HitKind::Article => "saved article",
            },
            "file": hit.file_name,
            "text": hit.snippet.text,
        })
    });
    serde_json::Value::from_iter(hits).to_string()
}

#[cfg(test)]
mod tests;
