//! The token counts of a model call, and its cost.

use parlor_protocol::{Dollars, Prices, TokenTotals, usage::MAX_TOKENS};

/// The tokens of a price.
const PRICED_TOKENS: u128 = 1_000_000;

/// Token counts as reported by the model server. The servers count differently: Anthropic's input leaves out
/// what the cache has, Gemini's output leaves out the thinking. Here, each part is within its whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedUsage {
    /// The whole input, cached or not.
    pub input_tokens: u64,
    /// The whole output, thinking included.
    pub output_tokens: u64,
    /// The part of the input that was read from the server's cache.
    pub cached_input_tokens: u64,
    /// The part of the input that was written to the server's cache.
    pub cache_write_tokens: u64,
    /// The part of the output that is thinking.
    pub thinking_tokens: u64,
    /// The part of the input that is images.
    pub image_input_tokens: u64,
    /// The part of the output that is images.
    pub image_output_tokens: u64,
    /// The cost, if the server reports it.
    pub cost: Option<Dollars>,
}

impl ReportedUsage {
    /// Returns the cost: the server's figure, or by these prices, or `None` if neither is known.
    pub fn cost_at(&self, prices: Option<&Prices>) -> Option<Dollars> {
        if self.cost.is_some() {
            return self.cost;
        }
        let Prices {
            input,
            output,
            cached_input,
            cache_write,
            image_output,
        } = *prices?;
        // A part that is larger than its whole is not charged twice.
        let cached = self.cached_input_tokens.min(self.input_tokens);
        let written = self.cache_write_tokens.min(self.input_tokens - cached);
        let images = self.image_output_tokens.min(self.output_tokens);
        let charges = [
            (self.input_tokens - cached - written, input),
            (cached, cached_input.unwrap_or(input)),
            (written, cache_write.unwrap_or(input)),
            (self.output_tokens - images, output),
            (images, image_output.unwrap_or(output)),
        ];
        let charge = |(tokens, price): (u64, Dollars)| u128::from(tokens) * u128::from(price.0);
        let nanos = charges.into_iter().map(charge).sum::<u128>() / PRICED_TOKENS;
        u64::try_from(nanos).ok().map(Dollars)
    }
}

impl ReportedUsage {
    /// Returns the totals of one call with these counts.
    pub fn to_totals(self, cost: Option<Dollars>, is_estimated: bool) -> TokenTotals {
        TokenTotals {
            calls: 1,
            input_tokens: token_count(self.input_tokens),
            output_tokens: token_count(self.output_tokens),
            cached_input_tokens: token_count(self.cached_input_tokens),
            cache_write_tokens: token_count(self.cache_write_tokens),
            thinking_tokens: token_count(self.thinking_tokens),
            image_input_tokens: token_count(self.image_input_tokens),
            image_output_tokens: token_count(self.image_output_tokens),
            estimated_calls: usize::from(is_estimated),
            unpriced_calls: usize::from(cost.is_none()),
            cost: cost.unwrap_or_default(),
        }
    }
}

/// Converts to the protocol's token count.
fn token_count(tokens: u64) -> usize {
    usize::try_from(tokens).map_or(MAX_TOKENS, |tokens| tokens.min(MAX_TOKENS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns dollars for a million tokens, of cents.
    fn cents(cents: u64) -> Dollars {
        Dollars(cents * 10_000_000)
    }

    #[test]
    fn charges_each_part_once() {
        let plain = Prices {
            input: cents(300),
            output: cents(1500),
            ..Prices::default()
        };
        let apart = Prices {
            cached_input: Some(cents(30)),
            cache_write: Some(cents(375)),
            image_output: Some(cents(3000)),
            ..plain
        };
        let usage = ReportedUsage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cached_input_tokens: 600_000,
            cache_write_tokens: 200_000,
            thinking_tokens: 50_000,
            image_output_tokens: 10_000,
            ..ReportedUsage::default()
        };
        // 3.00 + 1.50
        assert_eq!(usage.cost_at(Some(&plain)), Some(cents(450)));
        // 0.60 + 0.18 + 0.75 + 1.35 + 0.30
        assert_eq!(usage.cost_at(Some(&apart)), Some(cents(318)));
        let odd = ReportedUsage {
            input_tokens: 100_000,
            cached_input_tokens: 600_000,
            ..ReportedUsage::default()
        };
        assert_eq!(odd.cost_at(Some(&apart)), Some(cents(3)));
    }

    #[test]
    fn prefers_the_servers_figure_and_knows_no_price() {
        let mut usage = ReportedUsage {
            input_tokens: 10,
            ..ReportedUsage::default()
        };
        assert_eq!(usage.cost_at(None), None);
        assert_eq!(usage.cost_at(Some(&Prices::default())), Some(Dollars(0)), "free");
        usage.cost = Some(cents(25));
        assert_eq!(usage.cost_at(Some(&Prices::default())), Some(cents(25)));
    }
}
