//! The query about the tokens and the cost of a conversation.

use crate::sql::database::{Connection, Row, query};

use super::optional_text;
use crate::{StorageError, damage::skip_damaged};
use parlor_protocol::{ConversationId, TokenTotals, UserId};

/// Only the totals are read from the answers, which may be long.
const SELECT_TOTALS: &str = "SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.usage.totals') END AS totals \
     FROM messages WHERE user_id = $1 AND conversation_id = $2";

pub(super) async fn token_totals(
    connection: &mut Connection,
    user_id: UserId,
    conversation_id: ConversationId,
) -> Result<TokenTotals, StorageError> {
    let rows = query(SELECT_TOTALS)
        .bind_value(user_id)
        .bind_value(conversation_id)
        .fetch_all(connection)
        .await?;
    let read = |row: &Row| {
        let totals = optional_text(row, "totals")?;
        let totals = totals.map(|totals| serde_json::from_str::<TokenTotals>(&totals));
        totals.transpose().map_err(StorageError::from)
    };
    let mut sum = TokenTotals::default();
    for row in &rows {
        if let Some(Some(totals)) = skip_damaged("messages", conversation_id, read(row))? {
            sum = sum.plus(totals);
        }
    }
    Ok(sum)
}
