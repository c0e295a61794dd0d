//! The tool calls of one answer, assembled from their fragments.

use std::collections::VecDeque;

use super::{PROVIDER_KIND, wire::ToolCallFragment};
use parlor_model::{ModelEvent, ProviderDataTarget};
use parlor_protocol::ProviderData;

/// The calls that have begun. The position in the list is the call's index in the events.
#[derive(Debug, Default)]
pub struct CallAssembler(Vec<PartialCall>);

#[derive(Debug)]
struct PartialCall {
    wire_index: Option<u64>,
    wire_id: Option<String>,
    name: String,
    /// The nesting at the end of the arguments so far.
    arguments: JsonNesting,
    /// The fragments before the name.
    held: Option<HeldFragment>,
}

/// The nesting at the end of a JSON text that arrives in fragments.
#[derive(Debug, Default)]
struct JsonNesting {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    has_begun: bool,
    /// True if an object, a list or a string has begun, so that its end is known.
    has_delimiter: bool,
}

impl JsonNesting {
    fn push(&mut self, text: &str) {
        self.has_begun |= !text.is_empty();
        for byte in text.bytes() {
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' => self.is_escaped = self.is_string,
                b'"' => {
                    self.is_string = !self.is_string;
                    self.has_delimiter = true;
                }
                b'{' | b'[' if !self.is_string => {
                    self.depth += 1;
                    self.has_delimiter = true;
                }
                b'}' | b']' if !self.is_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Returns true if all that has begun has ended.
    fn is_complete(&self) -> bool {
        self.has_delimiter && self.depth == 0 && !self.is_string
    }
}

#[derive(Debug, Default)]
struct HeldFragment {
    arguments: String,
    provider_data: Vec<ProviderData>,
}

impl CallAssembler {
    /// Returns the number of calls, with those that have no name yet.
    pub fn len(&self) -> usize {
        self.0.len()
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
        call.arguments.push(&arguments);
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
                arguments: JsonNesting::default(),
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
        let is_open = self.arguments.has_begun && !self.arguments.is_complete();
        let repeats_name = |name: &str| self.name == name && is_open && !arguments.starts_with('{');
        wire_index.is_some() && name.is_none_or(repeats_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_end_of_arguments_in_fragments() {
        for (fragments, is_complete) in [
            (vec![""], false),
            (vec![" ", "\n"], false),
            (vec!["{"], false),
            (vec!["{", "}"], true),
            (vec!["{\"a\":[1", ",2]", "}"], true),
            (vec!["{\"a\":\"}", "\""], false),
            (vec!["{\"a\":\"\\", "\"}"], false),
            (vec!["{\"a\":\"\\", "\\\"}"], true),
            (vec!["\"{}"], false),
            (vec!["\"{}", "\""], true),
            (vec!["{}", "{"], false),
        ] {
            let mut nesting = JsonNesting::default();
            fragments.iter().for_each(|fragment| nesting.push(fragment));
            assert_eq!(nesting.is_complete(), is_complete, "{fragments:?}");
        }
    }

    #[test]
    fn many_fragments_with_new_ids_are_one_call() {
        const FRAGMENTS: usize = 20_000;
        let (mut calls, mut events) = (CallAssembler::default(), VecDeque::new());
        let mut push = |id: usize, arguments: &str| {
            let mut fragment = ToolCallFragment {
                index: Some(0),
                id: Some(format!("id{id}")),
                ..ToolCallFragment::default()
            };
            fragment.function.name = Some("one".into());
            fragment.function.arguments = Some(arguments.into());
            calls.push(fragment, &mut events);
        };
        push(0, "{\"a\":\"");
        for at in 0..FRAGMENTS {
            push(at + 1, "some text ");
        }
        push(FRAGMENTS + 1, "\"}");
        // The first call is complete, so this is another one.
        push(FRAGMENTS + 2, " {}");
        let mut texts = [String::new(), String::new()];
        let mut begun = Vec::new();
        for event in events {
            match event {
                ModelEvent::ToolCall { index, id, .. } => begun.push((index, id)),
                ModelEvent::ToolArguments { index, delta } => texts[index].push_str(&delta),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(
            begun,
            [(0, "id0".to_owned()), (1, format!("id{}", FRAGMENTS + 2))]
        );
        let whole = format!("{{\"a\":\"{}\"}}", "some text ".repeat(FRAGMENTS));
        assert_eq!(texts, [whole, " {}".to_owned()]);
    }
}
