//! The tokens of a model call: the use of the context window, and the answer's totals with their cost.

use super::history::tokens::{self, TokenScale};
use crate::agent::Input;
use parlor_model::{ModelError, ModelEvent, ReportedUsage};
use parlor_protocol as protocol;
use parlor_protocol::{Prices, TokenTotals, usage::MAX_TOKENS};

#[cfg(test)]
mod tests;

/// Counts the tokens of one call. The server's count has priority; without one, the tokens are
/// estimated.
#[derive(Debug)]
pub(super) struct TokenMeter {
    /// The estimated tokens of the request.
    estimate: usize,
    scale: TokenScale,
    window: Option<usize>,
    /// The tokens of the request, if the server has counted them already.
    input: Option<ReportedUsage>,
    /// Bytes of the model's output, from which its tokens are estimated.
    output_bytes: usize,
    /// The totals as reported: the server has counted, or ended without a count.
    reported: Option<TokenTotals>,
    /// True if the server has begun to answer.
    is_open: bool,
    /// The tokens and the cost of the answer's calls before.
    before: TokenTotals,
    /// The part of them that no report of the answer has yet: calls for a summary.
    unreported: TokenTotals,
    prices: Option<Prices>,
}

impl TokenMeter {
    pub fn new(estimate: usize, scale: TokenScale, window: Option<usize>) -> Self {
        Self {
            estimate,
            scale,
            window: window.map(|window| window.min(MAX_TOKENS)),
            input: None,
            output_bytes: 0,
            reported: None,
            is_open: false,
            before: TokenTotals::default(),
            unreported: TokenTotals::default(),
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

    /// Adds the part of the totals that no report of the answer has yet.
    pub fn with_unreported(self, unreported: TokenTotals) -> Self {
        Self { unreported, ..self }
    }

    /// Returns the prices of the model.
    pub fn prices(&self) -> Option<Prices> {
        self.prices
    }

    /// Returns the run's inputs for an event of the model.
    pub fn inputs_for(&mut self, received: Result<ModelEvent, ModelError>) -> Vec<Input> {
        let event = match received {
            Ok(event) => event,
            Err(error) => return self.inputs_for_failure(error),
        };
        // A server may still refuse a request that it has counted.
        self.is_open |= !matches!(event, ModelEvent::InputCounted(_));
        match &event {
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => self.output_bytes += text.len(),
            ModelEvent::ToolArguments { delta, .. } => self.output_bytes += delta.len(),
            ModelEvent::ToolCall { name, .. } => self.output_bytes += name.len(),
            ModelEvent::InputCounted(counted) => {
                self.input = Some(*counted).filter(|counted| counted.input_tokens > 0);
                return Vec::new();
            }
            // Some servers send zeros.
            ModelEvent::Usage(counted) if counted.input_tokens > 0 => {
                let usage = self.report(self.usage(counted, false));
                return vec![Input::Model(event), Input::UsageKnown(usage)];
            }
            ModelEvent::Usage(_) => {}
            ModelEvent::Finished(_) if self.reported.is_none() => {
                let usage = self.report(self.estimated_usage());
                return vec![Input::UsageKnown(usage), Input::Model(event)];
            }
            ModelEvent::Finished(_)
            | ModelEvent::TextWasThinking
            | ModelEvent::Sources(_)
            | ModelEvent::Refusal(_)
            | ModelEvent::Note(_)
            | ModelEvent::ProviderData { .. }
            | ModelEvent::Image(_)
            | ModelEvent::Unreadable { .. } => {}
        }
        vec![Input::Model(event)]
    }

    /// Returns an estimate of the tokens and the cost of a sent call that is cut off here, unless they are reported. A server
    /// that Parlor gives up has worked on it; one that fails before it begins to answer has not.
    pub fn cut_totals(&self, is_given_up: bool) -> Option<TokenTotals> {
        if self.reported.is_some() {
            return None;
        }
        if self.is_open || is_given_up {
            let meter = Self {
                before: self.unreported,
                ..*self
            };
            return Some(meter.estimated_usage().totals);
        }
        Some(self.unreported).filter(|totals| !totals.is_empty())
    }

    /// Returns the totals of a sent call that ends here: those that are reported, or an estimate as by [`Self::cut_totals`].
    pub fn end_totals(&self, is_given_up: bool) -> TokenTotals {
        let totals = self.reported.or_else(|| self.cut_totals(is_given_up));
        totals.unwrap_or_default()
    }

    /// A call that breaks off is reported as far as its server has counted it.
    fn inputs_for_failure(&mut self, error: ModelError) -> Vec<Input> {
        let failed = Input::CallFailed(error);
        if !self.is_open || self.input.is_none() || self.reported.is_some() {
            return vec![failed];
        }
        let usage = self.report(self.estimated_usage());
        vec![Input::UsageKnown(usage), failed]
    }

    fn report(&mut self, usage: protocol::Usage) -> protocol::Usage {
        self.reported = Some(usage.totals);
        usage
    }

    fn estimated_usage(&self) -> protocol::Usage {
        let input = self.input.unwrap_or_else(|| ReportedUsage {
            input_tokens: self.scale.to_counted(self.estimate).min(MAX_TOKENS) as u64,
            ..ReportedUsage::default()
        });
        let output = self.output_bytes.div_ceil(tokens::BYTES_PER_TOKEN);
        let estimated = ReportedUsage {
            output_tokens: output as u64,
            thinking_tokens: 0,
            image_output_tokens: 0,
            ..input
        };
        self.usage(&estimated, true)
    }

    fn usage(&self, counted: &ReportedUsage, estimated: bool) -> protocol::Usage {
        let cost = counted.cost_at(self.prices.as_ref());
        let call = counted.to_totals(cost, estimated);
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
