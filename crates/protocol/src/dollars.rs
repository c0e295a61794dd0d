//! Amounts of money.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::json::RawJson;

/// The decimals of a dollar in billionths.
const DECIMALS: usize = 9;

/// The maximum amount. It keeps sums from overflowing.
const MAX_NANOS: u64 = 1_000_000_000_000_000_000;

/// Money in billionths of a US dollar. A token costs millionths, and integer sums do not depend on their
/// order. On the wire it is a number of dollars.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dollars(pub u64);

impl Dollars {
    /// Converts a price. Returns `None` for negative, non-finite and absurdly high values.
    pub fn from_f64(dollars: f64) -> Option<Self> {
        let nanos = (dollars * 1e9).round();
        (0.0..MAX_NANOS as f64)
            .contains(&nanos)
            .then_some(Self(nanos as u64))
    }

    pub fn to_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    pub fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0).min(MAX_NANOS))
    }

    /// Parses the digits of a number without an exponent. Digits below a billionth are dropped.
    fn parse(text: &str) -> Option<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        if ![whole, decimals]
            .concat()
            .bytes()
            .all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        let decimals = &decimals[..decimals.len().min(DECIMALS)];
        let mut digits = [whole, decimals].concat();
        while digits.len() < whole.len() + DECIMALS {
            digits.push('0');
        }
        let nanos = digits.parse().ok().filter(|nanos| *nanos <= MAX_NANOS)?;
        Some(Self(nanos))
    }

    /// Formats all digits: "0.0042".
    pub fn to_text(self) -> String {
        let mut digits = self.0.to_string();
        while digits.len() <= DECIMALS {
            digits.insert(0, '0');
        }
        let (whole, decimals) = digits.split_at(digits.len() - DECIMALS);
        match decimals.trim_end_matches('0') {
            "" => whole.into(),
            decimals => [whole, ".", decimals].concat(),
        }
    }

    /// Formats an amount for people: "$0.0042", "$1.25", "less than $0.000001".
    pub fn to_label(self) -> String {
        // A single answer often costs less than a cent.
        let unit = match self.0 {
            1_000_000_000.. => 10_000_000,
            10_000_000.. => 100_000,
            _ => 1000,
        };
        match (self.0, self.0.saturating_add(unit / 2) / unit * unit) {
            (0, _) => "$0".into(),
            (_, 0) => "less than $0.000001".into(),
            (_, rounded) => ["$", &Self(rounded).to_text()].concat(),
        }
    }
}

impl Dollars {
    /// Formats an amount with the two digits that matter: "$0.0012", "$0.13", "$12".
    pub fn to_short_label(self) -> String {
        const NANOS: u64 = 1_000_000_000;
        let mut unit = 1;
        while unit < NANOS && self.0 / unit >= 100 {
            unit *= 10;
        }
        let rounded = Self(self.0.saturating_add(unit / 2) / unit * unit);
        if rounded.0 < 1000 {
            return self.to_label();
        }
        let mut text = rounded.to_text();
        // Cents are two digits, also when the second one is 0.
        if rounded.0 < NANOS
            && let Some((_, decimals)) = text.split_once('.')
        {
            let leading = decimals.len() - decimals.trim_start_matches('0').len();
            for _ in decimals.len()..leading + 2 {
                text.push('0');
            }
        }
        ["$", &text].concat()
    }
}

impl JsonSchema for Dollars {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Dollars".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "description": "US dollars.", "type": "number", "minimum": 0 })
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // An f64 may be written with an exponent.
        RawJson::from_number(self.to_text()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        Self::parse(json.as_str()).ok_or_else(|| de::Error::custom("not an amount of dollars"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_invalid_amounts() {
        for dollars in [f64::NAN, f64::INFINITY, -0.1, 1e300] {
            assert_eq!(Dollars::from_f64(dollars), None, "{dollars}");
        }
        assert_eq!(Dollars::from_f64(0.0), Some(Dollars(0)));
        for text in [
            "",
            "-1",
            "1e-3",
            "\"1\"",
            "99999999999999999999",
            "null",
            "1.x",
            "1.\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
            "1.2345678912e-7",
        ] {
            assert!(serde_json::from_str::<Dollars>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn round_trips_as_decimal_number() {
        for (nanos, text) in [
            (0, "0"),
            (1, "0.000000001"),
            (4_200_000, "0.0042"),
            (1_250_000_000, "1.25"),
            (3_000_000_000_000, "3000"),
            (MAX_NANOS, "1000000000"),
        ] {
            let written = serde_json::to_string(&Dollars(nanos)).unwrap();
            assert_eq!(written, text);
            assert_eq!(serde_json::from_str::<Dollars>(&written).unwrap(), Dollars(nanos));
            assert_eq!(super::super::json::parse(written.as_bytes()), Ok(Dollars(nanos)));
        }
    }

    #[test]
    fn short_labels_have_two_digits() {
        for (nanos, label) in [
            (0, "$0"),
            (400, "less than $0.000001"),
            (1_500, "$0.0000015"),
            (1_234_567, "$0.0012"),
            (9_999_999, "$0.010"),
            (12_345_678, "$0.012"),
            (100_000_000, "$0.10"),
            (126_000_000, "$0.13"),
            (999_999_999, "$1"),
            (1_256_000_000, "$1.3"),
            (12_340_000_000, "$12"),
            (123_456_000_000, "$123"),
            (MAX_NANOS, "$1000000000"),
        ] {
            assert_eq!(Dollars(nanos).to_short_label(), label);
        }
    }

    #[test]
    fn labels_keep_the_digits_that_matter() {
        for (nanos, label) in [
            (0, "$0"),
            (400, "less than $0.000001"),
            (1_500, "$0.000002"),
            (4_234_567, "$0.004235"),
            (12_345_678, "$0.0123"),
            (1_256_000_000, "$1.26"),
        ] {
            assert_eq!(Dollars(nanos).to_label(), label);
        }
    }
}
