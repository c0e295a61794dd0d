//! The tokens of a model call: the use of the context window, and the answer's totals with their cost.

use super::history::tokens::{self, TokenScale};
use crate::{
    agent::Input,
    model::{ModelError, ModelEvent, Usage},
    protocol::{self, Prices, TokenTotals, usage::MAX_TOKENS},
};

/// Counts the tokens of one call. The server's count has priority; without one, the tokens are
/// estimated.
#[derive(Debug)]
pub(super) struct TokenMeter {
    /// The estimated tokens of the request.
    estimate: usize,
    scale: TokenScale,
    window: Option<usize>,
    /// Bytes of the model's output, from which its tokens are estimated.
    output_bytes: usize,
    /// The server has counted.
    is_counted: bool,
    /// The tokens and the cost of the answer's calls before.
    before: TokenTotals,
    prices: Option<Prices>,
}

impl TokenMeter {
    pub fn new(estimate: usize, scale: TokenScale, window: Option<usize>) -> Self {
        Self {
            estimate,
            scale,
            window: window.map(|window| window.min(MAX_TOKENS)),
            output_bytes: 0,
            is_counted: false,
            before: TokenTotals::default(),
            prices: None,
        }
    }

    /// Adds the totals of the answer's calls before, and the prices of the model.
    pub fn with_totals(self, before: TokenTotals, prices: Option<Prices>) -> Self {
        Self {
            before,
            prices,
            ..self
        }
    }

    /// Returns the prices of the model.
    pub fn prices(&self) -> Option<Prices> {
        self.prices
    }

    /// Returns the run's inputs for an event of the model.
    pub fn inputs_for(&mut self, received: Result<ModelEvent, ModelError>) -> Vec<Input> {
        let event = match received {
            Ok(event) => event,
            Err(error) => return vec![Input::CallFailed(error)],
        };
        match &event {
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => self.output_bytes += text.len(),
            ModelEvent::ToolArguments { delta, .. } => self.output_bytes += delta.len(),
            ModelEvent::ToolCall { name, .. } => self.output_bytes += name.len(),
            // Some servers send zeros.
            ModelEvent::Usage(counted) if counted.input_tokens > 0 => {
                self.is_counted = true;
                let usage = self.usage(counted, false);
                return vec![Input::Model(event), Input::UsageKnown(usage)];
            }
            ModelEvent::Usage(_) => {}
            ModelEvent::Finished(_) if !self.is_counted => {
                return vec![Input::UsageKnown(self.estimated_usage()), Input::Model(event)];
            }
            ModelEvent::Finished(_)
            | ModelEvent::TextWasThinking
            | ModelEvent::Sources(_)
            | ModelEvent::Refusal(_)
            | ModelEvent::Opaque { .. }
            | ModelEvent::Unreadable { .. } => {}
        }
        vec![Input::Model(event)]
    }

    fn estimated_usage(&self) -> protocol::Usage {
        let input = self.scale.to_counted(self.estimate).min(MAX_TOKENS);
        let output = self.output_bytes.div_ceil(tokens::BYTES_PER_TOKEN);
        let estimated = Usage {
            input_tokens: input as u64,
            output_tokens: output as u64,
            ..Usage::default()
        };
        self.usage(&estimated, true)
    }

    fn usage(&self, counted: &Usage, estimated: bool) -> protocol::Usage {
        let cost = counted.cost_at(self.prices.as_ref());
        let call = TokenTotals {
            calls: 1,
            input_tokens: token_count(counted.input_tokens),
            output_tokens: token_count(counted.output_tokens),
            cached_input_tokens: token_count(counted.cached_input_tokens),
            cache_write_tokens: token_count(counted.cache_write_tokens),
            thinking_tokens: token_count(counted.thinking_tokens),
            image_input_tokens: token_count(counted.image_input_tokens),
            image_output_tokens: token_count(counted.image_output_tokens),
            estimated_calls: usize::from(estimated),
            unpriced_calls: usize::from(cost.is_none()),
            cost: cost.unwrap_or_default(),
        };
        protocol::Usage {
            input_tokens: call.input_tokens,
            output_tokens: call.output_tokens,
            estimated,
            estimate: self.estimate,
            window: self.window,
            totals: self.before.plus(call),
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
    use crate::{model::FinishReason, protocol::Dollars};

    const END: ModelEvent = ModelEvent::Finished(FinishReason::Stop);

    fn meter() -> TokenMeter {
        TokenMeter::new(100, TokenScale::UNKNOWN, Some(1000))
    }

    fn usage_input(input_tokens: usize, output_tokens: usize, estimated: bool) -> Input {
        Input::UsageKnown(protocol::Usage {
            input_tokens,
            output_tokens,
            estimated,
            estimate: 100,
            window: Some(1000),
            totals: TokenTotals {
                calls: 1,
                input_tokens,
                output_tokens,
                estimated_calls: usize::from(estimated),
                unpriced_calls: 1,
                ..TokenTotals::default()
            },
        })
    }

    #[test]
    fn adds_up_the_calls_of_an_answer() {
        let before = TokenTotals {
            calls: 1,
            input_tokens: 1000,
            unpriced_calls: 1,
            cost: Dollars(7),
            ..TokenTotals::default()
        };
        let prices = Prices {
            input: Dollars(1_000_000),
            output: Dollars(2_000_000),
            ..Prices::default()
        };
        let counted = ModelEvent::Usage(Usage {
            input_tokens: 10,
            output_tokens: 5,
            thinking_tokens: 3,
            ..Usage::default()
        });
        let mut meter = meter().with_totals(before, Some(prices));
        // A server may count more than once. The last count is the one of the whole call.
        for _ in 0..2 {
            let inputs = meter.inputs_for(Ok(counted.clone()));
            let [_, Input::UsageKnown(usage)] = inputs[..] else {
                panic!("{inputs:?}")
            };
            let expected = TokenTotals {
                calls: 2,
                input_tokens: 1010,
                output_tokens: 5,
                thinking_tokens: 3,
                unpriced_calls: 1,
                cost: Dollars(27),
                ..TokenTotals::default()
            };
            assert_eq!((usage.input_tokens, usage.totals), (10, expected));
        }
    }

    #[test]
    fn limits_absurd_counts() {
        let mut meter = TokenMeter::new(100, TokenScale::UNKNOWN, Some(usize::MAX));
        let counted = ModelEvent::Usage(Usage {
            input_tokens: u64::MAX,
            output_tokens: u64::MAX,
            ..Usage::default()
        });
        let inputs = meter.inputs_for(Ok(counted));
        let [_, Input::UsageKnown(usage)] = inputs[..] else {
            panic!("{inputs:?}")
        };
        let written = serde_json::to_vec(&usage).unwrap();
        assert_eq!(protocol::json::parse(&written), Ok(usage));
        assert_eq!((usage.input_tokens, usage.window), (MAX_TOKENS, Some(MAX_TOKENS)));
    }

    #[test]
    fn reports_only_server_counts() {
        let mut meter = meter();
        let counted = ModelEvent::Usage(Usage {
            input_tokens: 120,
            output_tokens: 7,
            ..Usage::default()
        });
        assert_eq!(
            meter.inputs_for(Ok(counted.clone())),
            [Input::Model(counted), usage_input(120, 7, false)]
        );
        assert_eq!(meter.inputs_for(Ok(END)), [Input::Model(END)]);
    }

    #[test]
    fn estimates_uncounted_usage_before_the_end() {
        for zeros in [None, Some(ModelEvent::Usage(Usage::default()))] {
            let mut meter = meter();
            let said = ModelEvent::Text("12345678".into());
            assert_eq!(meter.inputs_for(Ok(said.clone())), [Input::Model(said)]);
            if let Some(zeros) = zeros {
                meter.inputs_for(Ok(zeros));
            }
            assert_eq!(
                meter.inputs_for(Ok(END)),
                [usage_input(100, 2, true), Input::Model(END)]
            );
        }
    }
}
