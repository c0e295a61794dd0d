//! The tool calls of one answer, assembled from their fragments.

use std::collections::VecDeque;

use super::{PROVIDER_KIND, wire::ToolCallFragment};
use crate::{
    model::{ModelEvent, ProviderDataTarget},
    protocol::ProviderData,
};

/// The calls that have begun. The position in the list is the call's index in the events.
#[derive(Debug, Default)]
pub struct CallAssembler(Vec<PartialCall>);

#[derive(Debug)]
struct PartialCall {
    wire_index: Option<u64>,
    wire_id: Option<String>,
    /// The fragments before the name.
    held: Option<HeldFragment>,
}

#[derive(Debug, Default)]
struct HeldFragment {
    arguments: String,
    provider_data: Vec<ProviderData>,
}

impl CallAssembler {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if any call has its name.
    pub fn have_begun(&self) -> bool {
        self.0.iter().any(|call| call.held.is_none())
    }

    /// Adds a fragment of a call and appends the completed events.
    pub fn push(&mut self, mut fragment: ToolCallFragment, events: &mut VecDeque<ModelEvent>) {
        let id = fragment.id.take().filter(|id| !id.is_empty());
        let name = fragment.function.name.take().filter(|name| !name.is_empty());
        let arguments = fragment.function.take_arguments();
        let provider_data = fragment.extra_content.take().map(|value| ProviderData {
            kind: PROVIDER_KIND.into(),
            field: "extra_content".into(),
            value,
        });

        let index = self.find_or_add_call(fragment.index, id.as_deref(), name.is_some());
        let Some(call) = self.0.get_mut(index) else { return };
        call.wire_id = call.wire_id.take().or(id);
        let mut ready = HeldFragment {
            arguments,
            provider_data: provider_data.into_iter().collect(),
        };
        if let Some(waiting) = &mut call.held {
            waiting.arguments.push_str(&ready.arguments);
            waiting.provider_data.append(&mut ready.provider_data);
            let Some(name) = name else { return };
            ready = std::mem::take(waiting);
            call.held = None;
            let id = call.wire_id.clone().unwrap_or_else(|| format!("call_{index}"));
            events.push_back(ModelEvent::ToolCall { index, id, name });
        }
        events.extend(
            ready
                .provider_data
                .into_iter()
                .map(|data| ModelEvent::ProviderData {
                    target: ProviderDataTarget::ToolCall(index),
                    data,
                }),
        );
        if !ready.arguments.is_empty() {
            let delta = ready.arguments;
            events.push_back(ModelEvent::ToolArguments { index, delta });
        }
    }

    /// Returns the call that a fragment belongs to. Some servers omit the index, some send 0 for each of
    /// several calls.
    fn find_or_add_call(&mut self, wire_index: Option<u64>, id: Option<&str>, has_name: bool) -> usize {
        let found = match wire_index {
            Some(_) => self.0.iter().rposition(|call| call.wire_index == wire_index),
            None if id.is_some() => self.0.iter().rposition(|call| call.wire_id.as_deref() == id),
            None if has_name => None,
            None => self.0.len().checked_sub(1),
        };
        let same = found.filter(|&index| match (id, &self.0[index].wire_id) {
            (Some(id), Some(known)) => id == known,
            _ => true,
        });
        same.unwrap_or_else(|| {
            self.0.push(PartialCall {
                wire_index,
                wire_id: None,
                held: Some(HeldFragment::default()),
            });
            self.0.len() - 1
        })
    }
}
