//! Stores the data that a provider wants back unchanged in later requests.

use crate::sql::database::{Connection, query};

use super::{Batch, ChangeError};
use crate::{Outcome, RunKey};
use parlor_protocol::PlacedProviderData;

const INSERT_PROVIDER_DATA: &str = "INSERT INTO opaque \
         (message_id, number, user_id, conversation_id, node, part, endpoint, kind, field, value) \
     VALUES ($1, (SELECT coalesce(max(number) + 1, 0) FROM opaque WHERE message_id = $1), $2, $3, $4, $5, $6, $7, $8, $9)";

impl Batch<'_> {
    /// Stores data after what the run has already.
    pub(super) async fn store_provider_data(
        &mut self,
        connection: &mut Connection,
        run: &RunKey,
        placed: &PlacedProviderData,
    ) -> Result<Outcome, ChangeError> {
        let index = |index: usize| i64::try_from(index).unwrap_or(i64::MAX);
        query(INSERT_PROVIDER_DATA)
            .bind_value(run.message_id)
            .bind_value(run.user_id)
            .bind_value(run.conversation_id)
            .bind(index(placed.node))
            .bind(placed.part.map(index))
            .bind(&placed.endpoint)
            .bind(&placed.data.kind)
            .bind(&placed.data.field)
            .bind(placed.data.value.as_str())
            .execute(connection)
            .await?;
        Ok(Outcome::Done)
    }
}
