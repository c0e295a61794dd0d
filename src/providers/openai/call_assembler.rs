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
    name: String,
    /// The arguments so far.
    arguments: String,
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

        let index = self.find_or_add_call(fragment.index, id.as_deref(), name.as_deref(), &arguments);
        let Some(call) = self.0.get_mut(index) else { return };
        call.arguments.push_str(&arguments);
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
            call.name.clone_from(&name);
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
    fn find_or_add_call(
        &mut self,
        wire_index: Option<u64>,
        id: Option<&str>,
        name: Option<&str>,
        arguments: &str,
    ) -> usize {
        let found = match wire_index {
            Some(_) => self.0.iter().rposition(|call| call.wire_index == wire_index),
            None if id.is_some() => self.0.iter().rposition(|call| call.wire_id.as_deref() == id),
            None if name.is_some() => None,
            None => self.0.len().checked_sub(1),
        };
        let same = found.filter(|&index| match (id, &self.0[index].wire_id) {
            (Some(id), Some(known)) => id == known || self.0[index].goes_on(wire_index, name, arguments),
            _ => true,
        });
        same.unwrap_or_else(|| {
            self.0.push(PartialCall {
                wire_index,
                wire_id: None,
                name: String::new(),
                arguments: String::new(),
                held: Some(HeldFragment::default()),
            });
            self.0.len() - 1
        })
    }
}

impl PartialCall {
    /// Returns true if a fragment with another id belongs to this call of the same index: some servers make a new id for
    /// each fragment. Another call has a name, and begins when this one is complete.
    fn goes_on(&self, wire_index: Option<u64>, name: Option<&str>, arguments: &str) -> bool {
        let is_complete = || serde_json::from_str::<serde::de::IgnoredAny>(&self.arguments).is_ok();
        let repeats_name = |name: &str| {
            self.name == name && !self.arguments.is_empty() && !arguments.starts_with('{') && !is_complete()
        };
        wire_index.is_some() && name.is_none_or(repeats_name)
    }
}
