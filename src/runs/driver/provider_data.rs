//! Opaque data that only the provider of a run's model understands: its limits and its storage.

use super::Driver;
use crate::{
    agent::Input,
    model::{ModelEvent, UnreadableContent},
    protocol::{Opaque, PlacedOpaque},
    providers::endpoint_name,
};

impl Driver<'_> {
    /// Stores opaque data, before the run's next events.
    pub(super) async fn store_opaque(&mut self, node: usize, part: Option<usize>, data: Opaque) {
        let endpoint = endpoint_name(&self.agent.message().model).to_owned();
        let placed = PlacedOpaque {
            node,
            part,
            endpoint,
            data,
        };
        let of_answer = self.opaque.entry(self.run.message_id).or_default();
        of_answer.push(placed.clone());
        self.runs.journal.store_opaque(self.run, placed).await;
    }

    /// Returns the input unchanged, unless its opaque data exceed the limit for one call.
    pub(super) fn limit_opaque(&mut self, input: Input) -> Input {
        let Input::Model(ModelEvent::Opaque { data, .. }) = &input else {
            return input;
        };
        let (bytes, limit) = (data.value.as_str().len(), self.runs.limits.opaque_bytes);
        if bytes <= limit.saturating_sub(self.opaque_bytes) {
            self.opaque_bytes += bytes;
            return input;
        }
        let what = format!(
            "{}: {bytes} bytes, more than is kept (setting limits.opaque_bytes)",
            data.field
        );
        Input::Model(ModelEvent::Unreadable {
            what: UnreadableContent::TooLarge(what),
            raw: String::new(),
        })
    }
}
