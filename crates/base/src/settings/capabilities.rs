//! The capabilities and prices of models, for what their servers do not say.

use serde::{Deserialize, Deserializer, de::Error};

use parlor_protocol::{Dollars, ThinkingLevel};

/// The capabilities of a model. What is unset is taken from its server, or from a table of known models.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CapabilitySettings {
    /// True if it sees images.
    pub images: Option<bool>,
    /// True if it reads PDF files.
    pub pdf: Option<bool>,
    /// True if it uses tools.
    pub tools: Option<bool>,
    /// Its thinking: true, false, or the levels that it takes, of "off", "on", "minimal", "low", "medium", "high",
    /// "xhigh" and "max".
    pub thinking: Option<ThinkingSetting>,
    /// The smallest and the largest budget of its thinking in tokens, if it takes one.
    #[serde(deserialize_with = "read_budget")]
    pub thinking_budget: Option<[usize; 2]>,
    /// The context window in tokens.
    pub context_window: Option<usize>,
    /// The maximum length of an answer in tokens.
    pub max_output_tokens: Option<usize>,
}

/// The thinking of a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ThinkingSetting {
    /// The model can think or not. It decides alone how much.
    Supported(bool),
    /// The levels that it takes.
    Levels(Vec<ThinkingLevel>),
}

/// The price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    #[serde(deserialize_with = "read_dollars")]
    pub input: Dollars,
    #[serde(deserialize_with = "read_dollars")]
    pub output: Dollars,
    /// Input from the server's cache. Default: as other input.
    #[serde(default, deserialize_with = "read_optional_dollars")]
    pub cached_input: Option<Dollars>,
    /// Input that is written to the server's cache. Default: as other input.
    #[serde(default, deserialize_with = "read_optional_dollars")]
    pub cache_write: Option<Dollars>,
    /// Images in the output. Default: as other output.
    #[serde(default, deserialize_with = "read_optional_dollars")]
    pub image_output: Option<Dollars>,
}

fn read_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Dollars, D::Error> {
    let dollars = f64::deserialize(deserializer)?;
    let error = || {
        D::Error::custom(format!(
            "{dollars} is no price: use dollars per million tokens, such as 2.5"
        ))
    };
    Dollars::from_f64(dollars).ok_or_else(error)
}

fn read_optional_dollars<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dollars>, D::Error> {
    read_dollars(deserializer).map(Some)
}

fn read_budget<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[usize; 2]>, D::Error> {
    let [min, max] = <[usize; 2]>::deserialize(deserializer)?;
    match min <= max {
        true => Ok(Some([min, max])),
        false => Err(D::Error::custom(
            "the smallest budget is larger than the largest one",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_impossible_prices_and_budgets() {
        let price = |toml: &str| toml::from_str::<Price>(toml);
        assert_eq!(
            price("input = 3\noutput = 2.5").unwrap().output,
            Dollars(2_500_000_000)
        );
        for invalid in [
            "input = -3\noutput = 1",
            "input = 1\noutput = 1\ncache_write = nan",
        ] {
            assert!(
                price(invalid).unwrap_err().to_string().contains("is no price"),
                "{invalid}"
            );
        }
        let budget = |toml: &str| toml::from_str::<CapabilitySettings>(toml);
        assert!(budget("thinking_budget = [1, 2]").is_ok());
        assert!(budget("thinking_budget = [3, 2]").is_err());
    }
}
