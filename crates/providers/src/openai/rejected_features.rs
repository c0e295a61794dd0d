//! The features that an OpenAI-compatible server has rejected. Later requests leave them out, until Parlor is
//! restarted.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    ChatCompletions, request,
    thinking_rejection::{RejectedThinking, is_thinking_rejection, thinking_choice_rejection},
};
use crate::{
    error_phrases,
    http_endpoint::KnownModel,
    rejections::{AnyFeature, Lesson, Rejected},
};
use parlor_model::{ModelMessage, ModelRequest, ServerCapabilities};
use parlor_protocol::ThinkingChoice;

/// The features that one server has rejected for all its models.
#[derive(Default)]
pub struct RejectedFeatures {
    /// The request for usage, which Mistral rejects.
    usage: AtomicBool,
    /// The field that forces a tool.
    tool_choice: AtomicBool,
    /// The model's earlier thinking.
    thinking: AtomicBool,
}

/// A feature that a server rejects for one of its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Any choice of thinking.
    ThinkingChoice,
    /// One choice of thinking.
    Choice(ThinkingChoice),
    /// Images in the answer, which are asked for by the model's name.
    ImageOutput,
    /// The schema of an answer.
    AnswerSchema,
}

impl RejectedFeatures {
    /// Creates an empty record. With `forget_thinking`, requests never have the model's earlier thinking.
    pub fn new(forget_thinking: bool) -> Self {
        Self {
            thinking: AtomicBool::new(forget_thinking),
            ..Self::default()
        }
    }

    /// Returns the features that requests to a model may have.
    pub fn capabilities(&self, model: &KnownModel<'_, ChatCompletions>) -> ServerCapabilities {
        ServerCapabilities {
            usage: !self.usage.load(Ordering::Relaxed),
            tool_choice: !self.tool_choice.load(Ordering::Relaxed),
            thinking: !self.thinking.load(Ordering::Relaxed),
            thinking_choice: model.takes(Feature::ThinkingChoice),
            image_output: model.takes(Feature::ImageOutput),
            answer_schema: model.takes(Feature::AnswerSchema),
            ..model.server_capabilities()
        }
    }

    /// Returns what a rejected request teaches.
    pub fn learn(&self, rejected: &Rejected<'_, ChatCompletions>) -> Option<Lesson<Feature>> {
        let Rejected { request, error, .. } = *rejected;
        let sent = rejected.form.capabilities;
        let message = &error.error.message;
        let record = |feature: &AtomicBool| {
            feature.store(true, Ordering::Relaxed);
            Some(Lesson::Recorded)
        };
        let without = |feature| Some(Lesson::Without(AnyFeature::Own(feature)));
        if sent.usage && message.contains("stream_options") {
            return record(&self.usage);
        }
        if sent.thinking && has_thinking(request) && is_thinking_rejection(error) {
            return record(&self.thinking);
        }
        if sent.thinking_choice
            && let Some(choice) = request.parameters.thinking()
            && let Some(part) = thinking_choice_rejection(error)
        {
            return without(match part {
                RejectedThinking::Field => Feature::ThinkingChoice,
                RejectedThinking::Choice => Feature::Choice(choice),
            });
        }
        if sent.tool_choice
            && !request::forced_tools(request, sent).is_empty()
            && message.contains("tool_choice")
        {
            return record(&self.tool_choice);
        }
        if sent.image_output
            && request::asks_for_images(rejected.model)
            && error_phrases::is_image_output_unsupported(error)
        {
            return without(Feature::ImageOutput);
        }
        if sent.answer_schema
            && request.answer_schema.is_some()
            && error_phrases::is_answer_schema_unsupported(error)
        {
            return without(Feature::AnswerSchema);
        }
        let has_system = sent.system && has_system_message(request);
        let is_system_rejected = || has_system && error_phrases::is_system_unsupported(error);
        rejected
            .common_feature(sent.system)
            .or_else(|| is_system_rejected().then_some(AnyFeature::System))
            .map(Lesson::Without)
    }
}

fn has_system_message(request: &ModelRequest) -> bool {
    matches!(request.messages.first(), Some(ModelMessage::System(_)))
}

/// Returns true if a request has the model's earlier thinking.
fn has_thinking(request: &ModelRequest) -> bool {
    let shows = |message: &ModelMessage| {
        matches!(
            message,
            ModelMessage::Assistant {
                thinking: Some(_),
                ..
            }
        )
    };
    request.messages.iter().any(shows)
}
