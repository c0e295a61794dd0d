//! Provider data, which only the provider of a run's model understands: its limits and its storage.

use super::Driver;
use crate::agent::Input;
use parlor_model::{ModelEvent, UnreadableContent};
use parlor_protocol::{PlacedProviderData, ProviderData};
use parlor_providers::endpoint_name;

impl Driver<'_> {
    /// Stores provider data, before the run's next events.
    pub(super) async fn store_provider_data(&mut self, node: usize, part: Option<usize>, data: ProviderData) {
        let endpoint = endpoint_name(&self.agent.message().model).to_owned();
        let placed = PlacedProviderData {
            node,
            part,
            endpoint,
            data,
        };
        let of_answer = self.provider_data.entry(self.run.message_id).or_default();
        of_answer.push(placed.clone());
        self.runs.journal.store_provider_data(self.run, placed).await;
    }

    /// Returns the input unchanged, unless its provider data exceeds the limit for one call.
    pub(super) fn limit_provider_data(&mut self, input: Input) -> Input {
        let Input::Model(ModelEvent::ProviderData { data, .. }) = &input else {
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
