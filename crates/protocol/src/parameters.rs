//! The parameters with which a conversation's model is called, as far as a user can set them. Unset ones
//! are left to the model server.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{ThinkingChoice, ThinkingLevel, flat_json::Fields, json::RawJson};

/// The highest temperature that model servers accept.
const MAX_TEMPERATURE_HUNDREDTHS: u16 = 200;

/// A limit above what any model can generate, in tokens.
pub const MAX_TOKENS: usize = 10_000_000;

/// The model parameters of a conversation. Missing ones are not sent, so the model server's defaults apply.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct Parameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<ThinkingLevel>,
    /// The maximum of thinking in tokens, for models that take a budget in place of a level.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub thinking_budget: Option<usize>,
    /// The maximum length of an answer in tokens, thinking included.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub max_completion_tokens: Option<usize>,
}

/// The parameters as the user typed them. An empty text means unset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ParameterInput {
    #[serde(default)]
    pub temperature: String,
    #[serde(default)]
    pub thinking_level: String,
    #[serde(default)]
    pub thinking_budget: String,
    #[serde(default)]
    pub max_completion_tokens: String,
}

/// The sampling temperature, in hundredths. On the wire it is a number such as 0.7.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Temperature(u16);

impl Parameters {
    /// Parses the user's input.
    ///
    /// # Errors
    ///
    /// A message for the user that names the invalid input.
    pub fn parse(input: &ParameterInput) -> Result<Self, String> {
        let set = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let temperature = set(&input.temperature)
            .map(|text| {
                Temperature::parse(&text)
                    .ok_or_else(|| format!("The temperature is a number from 0 to 2, not “{text}”."))
            })
            .transpose()?;
        let thinking_level = set(&input.thinking_level)
            .map(|text| {
                ThinkingLevel::parse(&text).ok_or_else(|| {
                    let names = ThinkingLevel::ALL.map(ThinkingLevel::as_str).join(", ");
                    format!("The thinking level is one of {names}, not “{text}”.")
                })
            })
            .transpose()?;
        let thinking_budget = set(&input.thinking_budget)
            .map(|text| parse_tokens(&text, "The thinking budget"))
            .transpose()?;
        if thinking_level.is_some() && thinking_budget.is_some() {
            return Err("Set a thinking level or a thinking budget, not both.".into());
        }
        let max_completion_tokens = set(&input.max_completion_tokens)
            .map(|text| parse_tokens(&text, "The longest answer"))
            .transpose()?;
        Ok(Self {
            temperature,
            thinking_level,
            thinking_budget,
            max_completion_tokens,
        })
    }

    /// Returns the choice of the amount of thinking.
    pub fn thinking(&self) -> Option<ThinkingChoice> {
        let budget = self.thinking_budget.map(ThinkingChoice::Budget);
        budget.or(self.thinking_level.map(ThinkingChoice::Level))
    }

    /// Sets the amount of thinking.
    pub fn set_thinking(&mut self, choice: Option<ThinkingChoice>) {
        (self.thinking_level, self.thinking_budget) = match choice {
            None => (None, None),
            Some(ThinkingChoice::Level(level)) => (Some(level), None),
            Some(ThinkingChoice::Budget(tokens)) => (None, Some(tokens)),
        };
    }

    /// The parameters as a user would type them.
    pub fn to_input(&self) -> ParameterInput {
        let level = self.thinking_level.map(ThinkingLevel::as_str);
        let tokens = |tokens: Option<usize>| tokens.map(|tokens| tokens.to_string()).unwrap_or_default();
        ParameterInput {
            temperature: self.temperature.map(Temperature::to_text).unwrap_or_default(),
            thinking_level: level.unwrap_or_default().into(),
            thinking_budget: tokens(self.thinking_budget),
            max_completion_tokens: tokens(self.max_completion_tokens),
        }
    }

    /// Returns true if nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Parses a count of tokens. `what` begins the error.
fn parse_tokens(text: &str, what: &str) -> Result<usize, String> {
    let tokens = text.parse().ok();
    tokens
        .filter(|tokens| (1..=MAX_TOKENS).contains(tokens))
        .ok_or_else(|| format!("{what} is a whole number of tokens from 1 to {MAX_TOKENS}, not “{text}”."))
}

impl Temperature {
    /// Parses a decimal number, digit by digit, since the page's JSON reader has no fractions. A decimal
    /// comma is accepted as well.
    fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once(['.', ',']).unwrap_or((text, ""));
        let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(decimals) || (whole.is_empty() && decimals.is_empty()) {
            return None;
        }
        let mut hundredths = match whole.trim_start_matches('0') {
            "" => 0,
            "1" => 100,
            "2" => 200,
            _ => return None,
        };
        // Further digits are ignored: they make no noticeable difference.
        for (digit, worth) in decimals.bytes().zip([10, 1]) {
            hundredths += u16::from(digit - b'0') * worth;
        }
        (hundredths <= MAX_TEMPERATURE_HUNDREDTHS).then_some(Self(hundredths))
    }

    /// Formats the temperature: "0.7".
    pub fn to_text(self) -> String {
        let mut text = (self.0 / 100).to_string();
        let (tenths, rest) = (self.0 / 10 % 10, self.0 % 10);
        if tenths + rest > 0 {
            text.push('.');
            text.push_str(&tenths.to_string());
        }
        if rest > 0 {
            text.push_str(&rest.to_string());
        }
        text
    }
}

impl JsonSchema for Temperature {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Temperature".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "The sampling temperature, from 0 to 2.", "type": "number", "minimum": 0, "maximum": 2 })
    }
}

impl Serialize for Temperature {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 100.0)
    }
}

impl<'de> Deserialize<'de> for Temperature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Self::parse(json.as_str()).ok_or_else(|| de::Error::custom("not a temperature"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter_input(temperature: &str, thinking_level: &str, longest: &str) -> ParameterInput {
        ParameterInput {
            thinking_budget: String::new(),
            temperature: temperature.into(),
            thinking_level: thinking_level.into(),
            max_completion_tokens: longest.into(),
        }
    }

    #[test]
    fn every_temperature_round_trips() {
        for hundredths in 0..=MAX_TEMPERATURE_HUNDREDTHS {
            let temperature = Temperature(hundredths);
            let written = serde_json::to_vec(&temperature).unwrap();
            assert_eq!(
                serde_json::from_slice::<Temperature>(&written).unwrap(),
                temperature
            );
            assert_eq!(super::super::json::parse(&written), Ok(temperature));
            assert_eq!(Temperature::parse(&temperature.to_text()), Some(temperature));
        }
        assert_eq!(Temperature(70).to_text(), "0.7");
        assert_eq!(Temperature(105).to_text(), "1.05");
        assert_eq!(Temperature(200).to_text(), "2");
    }

    #[test]
    fn accepts_typed_variants_and_names_invalid_input() {
        assert_eq!(
            Parameters::parse(&parameter_input("", " ", "")),
            Ok(Parameters::default())
        );
        let set = Parameters::parse(&parameter_input(" 0,7", "low", "1000 ")).unwrap();
        assert_eq!(set.to_input(), parameter_input("0.7", "low", "1000"));
        for (wrong, what) in [
            (parameter_input("2.01", "", ""), "temperature"),
            (parameter_input("-1", "", ""), "temperature"),
            (parameter_input(".", "", ""), "temperature"),
            (parameter_input("1e0", "", ""), "temperature"),
            (parameter_input("", "huge", ""), "thinking level"),
            (parameter_input("", "", "0"), "longest answer"),
            (parameter_input("", "", "1.5"), "longest answer"),
            (parameter_input("", "", "99999999999999999999"), "longest answer"),
        ] {
            let error = Parameters::parse(&wrong).unwrap_err();
            assert!(error.contains(what), "{error}");
        }
    }

    #[test]
    fn thinking_is_a_level_or_a_budget() {
        let with_budget = |level: &str, budget: &str| ParameterInput {
            thinking_budget: budget.into(),
            ..parameter_input("", level, "")
        };
        let set = Parameters::parse(&with_budget("", "8000")).unwrap();
        assert_eq!(set.thinking(), Some(ThinkingChoice::Budget(8000)));
        assert_eq!(set.to_input(), with_budget("", "8000"));
        let set = Parameters::parse(&with_budget("xhigh", "")).unwrap();
        assert_eq!(set.thinking(), Some(ThinkingChoice::Level(ThinkingLevel::XHigh)));
        let both = Parameters::parse(&with_budget("high", "8000")).unwrap_err();
        assert!(both.contains("not both"), "{both}");
        let none = Parameters::parse(&with_budget("", "0")).unwrap_err();
        assert!(none.contains("thinking budget"), "{none}");
    }
}
