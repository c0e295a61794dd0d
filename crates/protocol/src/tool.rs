//! Tool calls: the model's requests and their results.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    Attachment, PayloadRef, Timestamp,
    flat_json::Fields,
    json::{self, RawJson},
    tool_kind::ToolKind,
};

/// The words with which the traceback of Python code begins that has run. That of a syntax error has none.
pub const TRACEBACK: &str = "Traceback (most recent call last)";

/// The words with which the result of a call of Python begins that has ended its session, or found it ended.
pub const SESSION_ENDED: &str = "The Python session has ended";

/// A tool call, as a part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ToolCall {
    /// The id that the model knows the call by, unique in the run.
    pub tool_use_id: String,
    /// The call's number in the run, in the order in which the model made them: 0, 1, 2 …
    pub index: usize,
    /// The tool's name.
    pub tool: String,
    /// The arguments; a string if the model's output was not JSON.
    pub input: RawJson,
    /// A description of the call for the user: "Searching the web", then "Searched" if it succeeds.
    pub label: String,
    /// The object of the call: the query, the URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub status: ToolStatus,
    /// The latest progress report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<ToolProgress>,
    /// The output for the model, once the call has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// The payload that the tool made for the panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadRef>,
    /// The files that the tool returned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl ToolCall {
    /// Returns the properties of one of Parlor's tools; `None` for plain and for external tools.
    pub fn kind(&self) -> Option<&'static ToolKind> {
        ToolKind::find(&self.tool)
    }

    /// Returns the arguments with their names, in order; none if they are not an object.
    pub fn arguments(&self) -> Vec<(String, RawJson)> {
        object_entries(&self.input).unwrap_or_default()
    }
}

/// Returns the fields of an object with their names, in order; `None` if it is something else.
pub fn object_entries(json: &RawJson) -> Option<Vec<(String, RawJson)>> {
    let fields = json::parse::<Fields>(json.as_str().as_bytes());
    fields.map(Fields::into_entries).ok()
}

#[cfg(any(test, feature = "testing"))]
impl ToolCall {
    /// Creates the first call of a run, without arguments and with this status.
    pub fn for_test(tool: &str, status: ToolStatus) -> Self {
        Self {
            tool_use_id: "1".into(),
            index: 0,
            tool: tool.into(),
            input: RawJson::parse_or_quote("{}"),
            label: tool.into(),
            detail: None,
            status,
            progress: None,
            output: None,
            payload: None,
            attachments: Vec::new(),
            started_at: None,
            ended_at: None,
        }
    }
}

/// A requested call, with its place in the answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RequestedCall {
    /// The index of the node: the model call of the answer.
    pub node: usize,
    /// The index of the part in its node.
    pub part: usize,
    /// The call's number in the run, in the order in which the model made them.
    pub index: usize,
    pub tool_use_id: String,
    pub tool: String,
    /// The arguments; a string if the model's output was not JSON.
    pub input: RawJson,
    /// A description of the running call: "Searching the web".
    pub label: String,
    /// The object of the call: the query, the URL.
    pub detail: Option<String>,
}

impl RequestedCall {
    /// Creates the part of the answer for the call, with this status.
    pub fn to_tool_call(&self, status: ToolStatus, started_at: Option<Timestamp>) -> ToolCall {
        ToolCall {
            tool_use_id: self.tool_use_id.clone(),
            index: self.index,
            tool: self.tool.clone(),
            input: self.input.clone(),
            label: self.label.clone(),
            detail: self.detail.clone(),
            status,
            progress: None,
            output: None,
            payload: None,
            attachments: Vec::new(),
            started_at,
            ended_at: None,
        }
    }
}

/// The state of a tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// The call waits for the user's approval.
    Waiting,
    /// The user has allowed the call, and it has not begun.
    Allowed,
    /// The call has begun.
    Running,
    /// The call returned its output, which is sent to the model.
    Complete,
    /// The call returned an error, which is sent to the model.
    Failed,
    /// The user denied the call.
    Denied,
    /// The run was stopped before the call had ended.
    Stopped,
    /// The run was cut off after the call had begun: it is not known whether the call took effect.
    Unknown,
}

impl ToolStatus {
    /// Returns the status of the call after its run has ended, by a stop or otherwise.
    pub fn at_run_end(self, stopped: bool) -> Self {
        match self {
            Self::Waiting | Self::Allowed | Self::Running if stopped => Self::Stopped,
            Self::Running => Self::Unknown,
            other => other,
        }
    }
}

/// A progress report of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ToolProgress {
    /// The current stage, for programs: `searching`.
    pub stage: String,
    /// The current stage, for the user: "Found 15 articles".
    pub message: String,
    /// The completed fraction, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Fraction>,
    /// The results so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

/// A fraction from 0 to 1, in thousandths. On the wire it is a number such as 0.25.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u16);

impl Fraction {
    /// The fraction `done` of `all`, at most 1; 0 of 0 counts as 1.
    pub fn from_ratio(done: u64, all: u64) -> Self {
        match (done.min(all) * 1000).checked_div(all) {
            // At most 1000.
            Some(thousandths) => Self(thousandths as u16),
            None => Self(1000),
        }
    }

    /// The nearest fraction to a number.
    pub fn from_f64(number: f64) -> Self {
        // The value is clamped to the range before the cast; NaN becomes 0.
        Self((number * 1000.0).round().clamp(0.0, 1000.0) as u16)
    }

    pub fn percent(self) -> u16 {
        self.0 / 10
    }
}

impl JsonSchema for Fraction {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Fraction".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "A fraction from 0 to 1.", "type": "number", "minimum": 0, "maximum": 1 })
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

/// Parsed digit by digit, since the page's JSON reader has no fractions.
impl<'de> Deserialize<'de> for Fraction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        let (whole, decimals) = json.as_str().split_once('.').unwrap_or((json.as_str(), ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || whole.is_empty() {
            return Err(de::Error::custom("not a fraction"));
        }
        let mut thousandths = u16::from(whole != "0") * 1000;
        let mut worth = 100;
        for digit in decimals.bytes() {
            thousandths += u16::from(digit - b'0') * worth;
            worth /= 10;
        }
        Ok(Self(thousandths.min(1000)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fraction_round_trips() {
        for thousandths in 0..=1000 {
            let written = serde_json::to_vec(&Fraction(thousandths)).unwrap();
            assert_eq!(
                serde_json::from_slice::<Fraction>(&written).unwrap(),
                Fraction(thousandths)
            );
            assert_eq!(json::parse(&written), Ok(Fraction(thousandths)));
        }
        for odd in ["-0.5", "1e3", "\"0.5\"", "null", ".5"] {
            assert!(serde_json::from_str::<Fraction>(odd).is_err(), "{odd}");
        }
        assert_eq!(serde_json::from_str::<Fraction>("7").unwrap(), Fraction(1000));
    }

    #[test]
    fn fraction_is_at_most_one() {
        assert_eq!(Fraction::from_ratio(1, 3).percent(), 33);
        assert_eq!(Fraction::from_ratio(4, 3).percent(), 100);
        assert_eq!(Fraction::from_ratio(0, 0).percent(), 100);
        assert_eq!(Fraction::from_f64(f64::NAN), Fraction(0));
        assert_eq!(Fraction::from_f64(f64::INFINITY), Fraction(1000));
        assert_eq!(Fraction::from_f64(0.2549), Fraction(255));
    }
}
