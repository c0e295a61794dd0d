//! The use of the context window by a model call, as far as it is known.

use super::history::tokens::{self, TokenScale};
use crate::{
    agent::Input,
    model::{ModelError, ModelEvent},
    protocol,
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
}

impl TokenMeter {
    pub fn new(estimate: usize, scale: TokenScale, window: Option<usize>) -> Self {
        Self {
            estimate,
            scale,
            window: window.map(|window| window.min(MAX_TOKENS)),
            output_bytes: 0,
            is_counted: false,
        }
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
                let usage = protocol::Usage {
                    input_tokens: token_count(counted.input_tokens),
                    output_tokens: token_count(counted.output_tokens),
                    estimated: false,
                    estimate: self.estimate,
                    window: self.window,
                };
                return vec![Input::Model(event), Input::UsageKnown(usage)];
            }
            ModelEvent::Usage(_) => {}
            ModelEvent::Finished(_) if !self.is_counted => {
                return vec![Input::UsageKnown(self.estimated_usage()), Input::Model(event)];
            }
            ModelEvent::Finished(_)
            | ModelEvent::TextWasThinking
            | ModelEvent::Sources(_)
            | ModelEvent::Opaque { .. }
            | ModelEvent::Unreadable { .. } => {}
        }
        vec![Input::Model(event)]
    }

    fn estimated_usage(&self) -> protocol::Usage {
        protocol::Usage {
            input_tokens: self.scale.to_counted(self.estimate).min(MAX_TOKENS),
            output_tokens: self.output_bytes.div_ceil(tokens::BYTES_PER_TOKEN),
            estimated: true,
            estimate: self.estimate,
            window: self.window,
        }
    }
}

/// Maximum token count, more than any server can count. A larger claim must not make an event that
/// a page can't read, since the page's integers are shorter.
const MAX_TOKENS: usize = i32::MAX as usize;

/// Converts to the protocol's token count.
fn token_count(tokens: u64) -> usize {
    usize::try_from(tokens).map_or(MAX_TOKENS, |tokens| tokens.min(MAX_TOKENS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FinishReason, Usage};

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
        })
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
