//! The label of a call: what it does, did, or failed to do.

use crate::transcript::texts;
use parlor_protocol::{ToolCall, ToolStatus};

/// The first word of the label of an external tool's call.
const CALLING: &str = "Calling ";

/// Returns the status of a call as it is shown. One that was allowed when its run ended has not begun, and never will.
pub fn shown_status(call: &ToolCall, has_run_ended: bool) -> ToolStatus {
    match call.status {
        ToolStatus::Running | ToolStatus::Allowed | ToolStatus::Waiting if has_run_ended => {
            ToolStatus::Unknown
        }
        status => status,
    }
}

/// Returns the label of a call. The server's label of a call without a result is still that of a running one.
pub fn call_label(call: &ToolCall, status: ToolStatus) -> String {
    let end = match status {
        ToolStatus::Waiting if call.label.starts_with(CALLING) => texts::call_waits,
        ToolStatus::Running | ToolStatus::Allowed | ToolStatus::Waiting | ToolStatus::Complete => {
            return call.label.clone();
        }
        ToolStatus::Failed => texts::call_failed,
        ToolStatus::Denied => texts::call_denied,
        ToolStatus::Stopped => texts::call_stopped,
        ToolStatus::Unknown => texts::call_interrupted,
    };
    let label = call.label.trim_end_matches(['.', '…', ' ']);
    let label = label.strip_prefix(CALLING).unwrap_or(label);
    let subject = call.kind().and_then(|kind| kind.noun).unwrap_or(label);
    end(subject)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn label(tool: &str, label: &str, status: ToolStatus) -> String {
        let call = ToolCall {
            label: label.into(),
            ..ToolCall::for_test(tool, status)
        };
        assert_eq!(shown_status(&call, false), status);
        call_label(&call, shown_status(&call, true))
    }

    #[test]
    fn ended_call_is_not_shown_as_running() {
        let query = |status| label("sql_query", "Running SQL query...", status);
        for (status, words) in [
            (ToolStatus::Running, "SQL query interrupted"),
            (ToolStatus::Allowed, "SQL query interrupted"),
            (ToolStatus::Failed, "SQL query failed"),
            (ToolStatus::Stopped, "SQL query stopped"),
            (ToolStatus::Denied, "SQL query not allowed"),
            (ToolStatus::Unknown, "SQL query interrupted"),
        ] {
            assert_eq!(query(status), words);
        }
    }

    #[test]
    fn active_call_has_its_label() {
        let call = ToolCall::for_test("look", ToolStatus::Running);
        assert_eq!(call_label(&call, shown_status(&call, false)), "look");
        let mut waiting = ToolCall::for_test("desk_echo", ToolStatus::Waiting);
        waiting.label = "Calling echo".into();
        assert_eq!(call_label(&waiting, ToolStatus::Waiting), "Wants to use echo");
    }

    #[test]
    fn tools_without_a_noun_are_named_too() {
        assert_eq!(
            label("desk_echo", "Calling echo", ToolStatus::Failed),
            "echo failed"
        );
        let clock = "Looking at the clock";
        assert_eq!(
            label("current_time", clock, ToolStatus::Failed),
            "Looking at the clock failed"
        );
        assert_eq!(
            label("current_time", "Looked at the clock", ToolStatus::Complete),
            "Looked at the clock"
        );
    }
}
