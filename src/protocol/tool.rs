//! Tool calls: what the model asked a tool for, and what came of it.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{
    Attachment, PayloadRef, Timestamp,
    flat_json::Fields,
    json::{self, RawJson},
};

/// A call of a tool, as a part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolCall {
    /// Names the call towards the model; no other call of the run has it.
    pub tool_use_id: String,
    /// Which call of the run it is, in the order in which the model asked: 0, 1, 2 …
    pub index: usize,
    /// The tool's name.
    pub tool: String,
    /// The arguments; a string if the model gave something that is not JSON.
    pub input: RawJson,
    /// What the tool does or has done, for the person: "Searching the web", then "Searched".
    pub label: String,
    /// What it does that with: the query, the address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    pub status: ToolStatus,
    /// The latest that it has said of how far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<ToolProgress>,
    /// What the model is told, once the call has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
    /// What it has made for the panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<PayloadRef>,
    /// The files that it has given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

impl ToolCall {
    /// The arguments by their names, in their order. None if they are no object.
    pub fn arguments(&self) -> Vec<(String, RawJson)> {
        let fields = json::parse::<Fields>(self.input.as_str().as_bytes());
        fields.map(Fields::into_entries).unwrap_or_default()
    }
}

#[cfg(test)]
impl ToolCall {
    /// The first call of a run, without arguments, as it stands.
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

/// A call that the model asks for, and where it stands in its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RequestedCall {
    pub node: usize,
    pub part: usize,
    /// Which call of the run it is, in the order in which the model asked.
    pub index: usize,
    pub tool_use_id: String,
    pub tool: String,
    pub input: RawJson,
    /// What the tool is doing: "Searching the web".
    pub label: String,
    /// What it does that with: the query, the address.
    pub detail: Option<String>,
}

impl RequestedCall {
    /// The call as a part of the answer, now that it stands like this.
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

/// Where a tool call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    /// It waits for a person's approval.
    Waiting,
    /// A person has allowed it, and it has not begun.
    Allowed,
    /// It has begun.
    Running,
    Complete,
    /// It gave an error, which the model is told.
    Failed,
    /// A person did not allow it.
    Denied,
    /// Its run was stopped before it had ended.
    Stopped,
    /// Its run broke off when it had begun: whether it did what it should is not known.
    Unknown,
}

impl ToolStatus {
    /// What becomes of the call when its run ends, by a stop or otherwise.
    pub fn at_run_end(self, stopped: bool) -> Self {
        match self {
            Self::Waiting | Self::Allowed | Self::Running if stopped => Self::Stopped,
            Self::Running => Self::Unknown,
            other => other,
        }
    }
}

/// How far a tool is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Fields")]
pub struct ToolProgress {
    /// What it is doing, for programs: `searching`.
    pub stage: String,
    /// What it is doing, for the person: "Found 15 articles".
    pub message: String,
    /// How much of it is done, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Fraction>,
    /// What it has found so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<RawJson>,
}

/// From 0 to 1, in thousandths. On the wire it is a number such as 0.25.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction(u16);

impl Fraction {
    /// `done` of `all`, at most all of it; nothing of nothing is all.
    pub fn from_ratio(done: u64, all: u64) -> Self {
        match (done.min(all) * 1000).checked_div(all) {
            // At most 1000.
            Some(thousandths) => Self(thousandths as u16),
            None => Self(1000),
        }
    }

    /// The nearest one to a number.
    pub fn from_f64(number: f64) -> Self {
        // Casts stay within the range, and what is no number is 0.
        Self((number * 1000.0).round().clamp(0.0, 1000.0) as u16)
    }

    pub fn percent(self) -> u16 {
        self.0 / 10
    }
}

impl Serialize for Fraction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

/// Read digit by digit: the page knows no fractions otherwise.
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
            assert_eq!(super::super::json::parse(&written), Ok(Fraction(thousandths)));
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
