//! Tools that can only be called as tasks, which Parlor can't do: they are removed from the raw lists.

use std::borrow::Cow;

use serde_json::Value;

/// Removes tools that can only be called as tasks from a message that lists tools. rmcp's type for tools lacks
/// this property.
pub fn remove_task_only_tools(message: &str) -> Cow<'_, str> {
    if !message.contains("taskSupport") {
        return message.into();
    }
    let Ok(mut json) = serde_json::from_str::<Value>(message) else {
        return message.into();
    };
    let Some(tools) = json.pointer_mut("/result/tools").and_then(Value::as_array_mut) else {
        return message.into();
    };
    tools.retain(|tool| tool.pointer("/execution/taskSupport").and_then(Value::as_str) != Some("required"));
    json.to_string().into()
}
