//! Full-text search for clients without the page.

use axum::Json;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    problem::{Problem, bad_request},
    request::QueryParameters,
};
use crate::app::{
    Caller,
    search::{Searched, search},
};
use parlor_protocol::{
    ConversationId,
    search::{SearchHits, SearchOrder},
};

/// What is searched.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct SearchParameters {
    /// Words that must all be found, `"phrases"`, `beginnings*` of words (the last word is one), and conditions: `from:me`,
    /// `from:assistant`, `file:name`, `before:2026-11-28`, `after:2026-11`, `in:project` by its name.
    q: String,
    /// Only this conversation.
    conversation_id: Option<ConversationId>,
    /// The order of the hits; `best` if missing.
    order: Option<SearchOrder>,
    /// `next` of the previous hits, with the same query and order.
    cursor: Option<String>,
    /// The maximum number of hits, at most 100; 20 if missing.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
}

/// `GET /api/search`
pub async fn get(
    caller: Caller,
    parameters: Result<QueryParameters<SearchParameters>, Problem>,
) -> Result<Json<SearchHits>, Problem> {
    let QueryParameters(SearchParameters {
        q,
        conversation_id,
        order,
        cursor,
        limit,
    }) = parameters?;
    if limit == Some(0) {
        return Err(bad_request("A limit is a whole number of at least 1."));
    }
    let searched = Searched {
        query: q,
        conversation_id,
        order: order.unwrap_or_default(),
        cursor,
        limit,
        is_typed: false,
    };
    Ok(Json(search(&caller, searched).await?))
}
