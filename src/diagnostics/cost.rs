//! The cost of a call.

use std::collections::BTreeMap;

use crate::{
    model::{Cost, Usage},
    settings::Price,
};

/// Returns the cost of a call of a model: the server's figure, or the price in the settings, or `None`.
/// `is_named` returns true for a name in the settings that means this model.
pub fn call_cost(
    usage: &Usage,
    model: &str,
    prices: &BTreeMap<String, Price>,
    is_named: impl Fn(&str) -> bool,
) -> Option<Cost> {
    usage.cost.or_else(|| {
        let price = prices.get(model).or_else(|| {
            let mut others = prices.iter();
            others.find(|(name, _)| is_named(name)).map(|(_, price)| price)
        })?;
        let millions = |tokens: u64| tokens as f64 / 1e6;
        Cost::from_dollars(
            millions(usage.input_tokens) * price.input + millions(usage.output_tokens) * price.output,
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefers_server_cost_over_settings() {
        let price = Price {
            input: 2.5,
            output: 10.0,
        };
        let bare = Price {
            input: 1000.0,
            output: 1000.0,
        };
        let prices = BTreeMap::from([("x/priced".to_owned(), price), ("bare".to_owned(), bare)]);
        let mut usage = Usage {
            input_tokens: 1000,
            output_tokens: 100,
            ..Usage::default()
        };
        let cost = |usage: &Usage, model: &str| {
            call_cost(usage, model, &prices, |name| name == "bare" && model == "x/bare")
        };
        assert_eq!(cost(&usage, "x/priced"), Some(Cost(3_500_000)));
        assert_eq!(cost(&usage, "x/other"), None);
        assert_eq!(cost(&usage, "x/bare"), Some(Cost(1_100_000_000)));
        usage.cost = Cost::from_dollars(0.25);
        assert_eq!(cost(&usage, "x/priced"), Some(Cost(250_000_000)));
    }

    #[test]
    fn rejects_invalid_prices() {
        for dollars in [f64::NAN, f64::INFINITY, -0.1, 1e300] {
            assert_eq!(Cost::from_dollars(dollars), None, "{dollars}");
        }
        assert_eq!(Cost::from_dollars(0.0), Some(Cost(0)));
    }
}
