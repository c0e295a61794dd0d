//! The query about provider-specific data.

use std::collections::HashMap;

use crate::sql::database::{Connection, query};

use super::id;
use crate::{RunKey, StorageError, damage::skip_damaged};
use parlor_protocol::{Message, MessageId, PlacedProviderData, ProviderData, RawJson};

pub(crate) const SELECT_PROVIDER_DATA: &str = "SELECT o.message_id, o.node, o.part, o.endpoint, o.kind, o.field, o.value \
     FROM json_each($3) w CROSS JOIN opaque o ON o.message_id = w.value \
     WHERE o.user_id = $1 AND o.conversation_id = $2 ORDER BY w.key, o.number";

/// Returns the data of a run's answer and of the answers before it on the branch.
pub(super) async fn provider_data_of_branch(
    connection: &mut Connection,
    run: RunKey,
    history: &[Message],
) -> Result<HashMap<MessageId, Vec<PlacedProviderData>>, StorageError> {
    let answers = history.iter().filter(|message| message.assistant().is_some());
    let ids: Vec<MessageId> = answers.map(|answer| answer.id).chain([run.message_id]).collect();
    let rows = query(SELECT_PROVIDER_DATA)
        .bind_value(run.user_id)
        .bind_value(run.conversation_id)
        .bind_list(&ids)
        .fetch_all(connection)
        .await?;
    let mut found: HashMap<MessageId, Vec<PlacedProviderData>> = HashMap::new();
    for row in rows {
        let index = |number: i64| usize::try_from(number).unwrap_or(usize::MAX);
        let read = || {
            let placed = PlacedProviderData {
                node: index(row.try_get("node")?),
                part: row.try_get::<Option<i64>>("part")?.map(index),
                endpoint: row.try_get("endpoint")?,
                data: ProviderData {
                    kind: row.try_get("kind")?,
                    field: row.try_get("field")?,
                    value: RawJson::parse_or_quote(&row.try_get::<String>("value")?),
                },
            };
            Ok((id(&row, "message_id")?, placed))
        };
        if let Some((message, placed)) = skip_damaged("opaque", run.message_id, read())? {
            found.entry(message).or_default().push(placed);
        }
    }
    Ok(found)
}
