//! Looks into the earlier conversations of the person: never into those of others, nor into the present one.

use std::{collections::HashMap, sync::Arc};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Tool, ToolContext, ToolError, ToolKind, ToolResult};
use parlor_protocol::{
    ConversationId, MessageId, UserId,
    search::{HitKind, SearchHit},
    tool_kind,
};
use parlor_storage::{
    SearchRequest, Storage,
    search::{MAX_QUERY_BYTES, SearchQuery},
};

/// The most phrasings; further ones are ignored.
const MAX_PHRASINGS: usize = 6;

/// The hits of each phrasing that are compared, and of all together that are given.
const HITS_PER_PHRASING: usize = 12;
const MAX_HITS: usize = 8;

/// The length of the text around what was found, in bytes.
const TEXT_BYTES: usize = 700;

/// The rank from which on a hit counts half as much as the first: reciprocal rank fusion, for short lists.
const HALF_RANK: f64 = 10.0;

/// What a hit counts that has only some of the words.
const PARTIAL_WEIGHT: f64 = 0.4;

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
        (!input.phrasings.is_empty()).then(|| input.phrasings.join(" · "))
    }

    async fn run(&self, input: SearchConversationsInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let phrasings = input.phrasings.iter().map(|phrasing| phrasing.trim());
        let phrasings: Vec<&str> = phrasings.filter(|phrasing| !phrasing.is_empty()).collect();
        if phrasings.is_empty() {
            return Err(ToolError::new("Say in `phrasings` what is looked for."));
        }
        let hits = self
            .search(call.user_id, call.conversation_id, &phrasings)
            .await?;
        if hits.is_empty() {
            return Ok("Nothing was found with these words.".to_owned().into());
        }
        Ok(hits_json(&hits).into())
    }
}

/// A hit, and how much it counts.
type Counted = (f64, SearchHit);

impl SearchConversations {
    /// Searches each phrasing, first all of its words, then any of them, and joins the lists.
    async fn search(
        &self,
        user_id: UserId,
        present: ConversationId,
        phrasings: &[&str],
    ) -> Result<Vec<SearchHit>, ToolError> {
        let mut found: HashMap<(Option<MessageId>, Option<String>, &str), Counted> = HashMap::new();
        for phrasing in phrasings.iter().take(MAX_PHRASINGS) {
            let beginning = phrasing.get(..phrasing.floor_char_boundary(MAX_QUERY_BYTES));
            for (any_term, weight) in [(false, 1.0), (true, PARTIAL_WEIGHT)] {
                let request = SearchRequest {
                    query: SearchQuery::parse(beginning.unwrap_or_default()),
                    any_term,
                    limit: HITS_PER_PHRASING,
                    except: Some(present),
                    snippet_bytes: TEXT_BYTES,
                    ..SearchRequest::default()
                };
                let hits = self.0.search(user_id, &request).await.map_err(|error| {
                    tracing::error!(%error, "earlier conversations can't be searched");
                    ToolError::unavailable()
                })?;
                let texts = hits.hits.into_iter().filter(|hit| hit.kind != HitKind::Title);
                let mut rank = 0.0;
                for hit in texts {
                    let key = (hit.message_id, hit.pmid.clone(), hit.kind.as_str());
                    let counted = found.entry(key).or_insert((0.0, hit));
                    counted.0 += weight / (HALF_RANK + rank);
                    rank += 1.0;
                }
            }
        }
        let mut found: Vec<Counted> = found.into_values().collect();
        found.sort_by(|(one, hit), (other, other_hit)| {
            let newest_first = other_hit.created_at.cmp(&hit.created_at);
            other.total_cmp(one).then(newest_first)
        });
        found.truncate(MAX_HITS);
        Ok(found.into_iter().map(|(_, hit)| hit).collect())
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
