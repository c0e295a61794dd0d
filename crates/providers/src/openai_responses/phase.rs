//! The phases of messages, which the server wants back: what a model says before its calls, and its answer.

use serde::{Deserialize, Serialize};

use parlor_protocol::RawJson;

/// The mark behind the text of a message, as data of the provider.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "type", rename = "phase")]
struct PhaseMark {
    phase: String,
}

/// Returns the mark of a phase.
pub fn phase_mark(phase: &str) -> RawJson {
    let mark = PhaseMark {
        phase: phase.to_owned(),
    };
    RawJson::parse_or_quote(&serde_json::to_string(&mark).unwrap_or_default())
}

/// Returns the phase of a mark; `None` for other data.
pub fn read_phase(raw: &RawJson) -> Option<String> {
    let mark: PhaseMark = serde_json::from_str(raw.as_str()).ok()?;
    Some(mark.phase)
}
