//! How much of its window a call of the model has taken, as far as that is known.

use super::history::tokens::{self, Scale};
use crate::{
    agent::Input,
    model::{ModelError, ModelEvent},
    protocol,
};

/// Follows one call. What the server counts is what counts; a server that counts nothing is estimated.
#[derive(Debug)]
pub(super) struct Meter {
    /// What the model is shown, as it was estimated.
    estimate: usize,
    scale: Scale,
    window: Option<usize>,
    /// What the model has said, as it is estimated.
    said: usize,
    /// The server has counted.
    is_counted: bool,
}

impl Meter {
    pub fn new(estimate: usize, scale: Scale, window: Option<usize>) -> Self {
        Self {
            estimate,
            scale,
            window: window.map(|window| window.min(MAX_TOKENS)),
            said: 0,
            is_counted: false,
        }
    }

    /// What the run has to hear of what came from the model.
    pub fn inputs(&mut self, came: Result<ModelEvent, ModelError>) -> Vec<Input> {
        let event = match came {
            Ok(event) => event,
            Err(error) => return vec![Input::Failed(error)],
        };
        match &event {
            ModelEvent::Text(text) | ModelEvent::Thinking(text) => self.said += text.len(),
            ModelEvent::ToolArguments { delta, .. } => self.said += delta.len(),
            ModelEvent::ToolCall { name, .. } => self.said += name.len(),
            // Some servers send zeros.
            ModelEvent::Usage(counted) if counted.input_tokens > 0 => {
                self.is_counted = true;
                let usage = protocol::Usage {
                    input_tokens: size(counted.input_tokens),
                    output_tokens: size(counted.output_tokens),
                    estimated: false,
                    estimate: self.estimate,
                    window: self.window,
                };
                return vec![Input::Model(event), Input::Used(usage)];
            }
            ModelEvent::Usage(_) => {}
            ModelEvent::Finished(_) if !self.is_counted => {
                return vec![Input::Used(self.estimated()), Input::Model(event)];
            }
            ModelEvent::Finished(_)
            | ModelEvent::TextWasThinking
            | ModelEvent::Sources(_)
            | ModelEvent::Opaque { .. }
            | ModelEvent::Unread { .. } => {}
        }
        vec![Input::Model(event)]
    }

    fn estimated(&self) -> protocol::Usage {
        protocol::Usage {
            input_tokens: self.scale.counted(self.estimate).min(MAX_TOKENS),
            output_tokens: self.said.div_ceil(tokens::BYTES_PER_TOKEN),
            estimated: true,
            estimate: self.estimate,
            window: self.window,
        }
    }
}

/// More tokens than any server can count: what claims more must not make an event that a page can't read, whose numbers are shorter.
const MAX_TOKENS: usize = i32::MAX as usize;

/// Tokens as the protocol counts them.
fn size(tokens: u64) -> usize {
    usize::try_from(tokens).map_or(MAX_TOKENS, |tokens| tokens.min(MAX_TOKENS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{FinishReason, Usage};

    const END: ModelEvent = ModelEvent::Finished(FinishReason::Stop);

    fn meter() -> Meter {
        Meter::new(100, Scale::UNKNOWN, Some(1000))
    }

    fn used(input_tokens: usize, output_tokens: usize, estimated: bool) -> Input {
        Input::Used(protocol::Usage {
            input_tokens,
            output_tokens,
            estimated,
            estimate: 100,
            window: Some(1000),
        })
    }

    #[test]
    fn absurd_counts_can_be_read_again() {
        let mut meter = Meter::new(100, Scale::UNKNOWN, Some(usize::MAX));
        let counted = ModelEvent::Usage(Usage {
            input_tokens: u64::MAX,
            output_tokens: u64::MAX,
            cost: None,
        });
        let inputs = meter.inputs(Ok(counted));
        let [_, Input::Used(usage)] = inputs[..] else {
            panic!("{inputs:?}")
        };
        let written = serde_json::to_vec(&usage).unwrap();
        assert_eq!(protocol::json::read(&written), Ok(usage));
        assert_eq!((usage.input_tokens, usage.window), (MAX_TOKENS, Some(MAX_TOKENS)));
    }

    #[test]
    fn what_the_server_counts_is_told_and_nothing_else() {
        let mut meter = meter();
        let counted = ModelEvent::Usage(Usage {
            input_tokens: 120,
            output_tokens: 7,
            cost: None,
        });
        assert_eq!(
            meter.inputs(Ok(counted.clone())),
            [Input::Model(counted), used(120, 7, false)]
        );
        assert_eq!(meter.inputs(Ok(END)), [Input::Model(END)]);
    }

    #[test]
    fn what_nobody_counts_is_estimated_before_the_end() {
        for zeros in [None, Some(ModelEvent::Usage(Usage::default()))] {
            let mut meter = meter();
            let said = ModelEvent::Text("12345678".into());
            assert_eq!(meter.inputs(Ok(said.clone())), [Input::Model(said)]);
            if let Some(zeros) = zeros {
                meter.inputs(Ok(zeros));
            }
            assert_eq!(meter.inputs(Ok(END)), [used(100, 2, true), Input::Model(END)]);
        }
    }
}
