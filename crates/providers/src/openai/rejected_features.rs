//! The features that an OpenAI-compatible server has rejected. Later requests leave them out, until Parlor is
//! restarted.

use std::sync::atomic::{AtomicBool, Ordering};

use super::{
    request,
    thinking_rejection::{RejectedThinking, is_thinking_rejection, thinking_choice_rejection},
};
use crate::{
    error_phrases,
    fallback_messages::{adapt_tools, has_tools},
    rejected_roles::{RejectedRoles, rejected_roles},
    rejections::Rejections,
};
use parlor_model::{ModelError, ModelMessage, ModelRequest, ServerCapabilities};
use parlor_protocol::ThinkingChoice;

/// The rejected features of one server.
#[derive(Default)]
pub struct RejectedFeatures {
    /// The request for usage, which Mistral rejects.
    usage: AtomicBool,
    /// The field that forces a tool.
    tool_choice: AtomicBool,
    /// The model's earlier thinking.
    thinking: AtomicBool,
    by_model: Rejections<Feature>,
    /// Choices of thinking that a model does not take.
    choices: Rejections<ThinkingChoice>,
}

/// A feature that a server rejects for one of its models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Feature {
    Tools,
    ToolRoles,
    ToolFiles,
    SystemPrompt,
    /// Any choice of thinking.
    ThinkingChoice,
    /// Images in the answer, which are asked for by the model's name.
    ImageOutput,
}

impl RejectedFeatures {
    /// Creates an empty record. With `forget_thinking`, requests never have the model's earlier thinking.
    pub fn new(forget_thinking: bool) -> Self {
        Self {
            thinking: AtomicBool::new(forget_thinking),
            ..Self::default()
        }
    }

    /// Returns the features that requests to a model may have. `tools` is true if its template takes tools.
    pub fn capabilities(&self, model: &str, tools: bool) -> ServerCapabilities {
        let is_taken = |feature| !self.by_model.contains(model, feature);
        ServerCapabilities {
            tools: tools && is_taken(Feature::Tools),
            tool_roles: is_taken(Feature::ToolRoles),
            tool_files: is_taken(Feature::ToolFiles),
            system: is_taken(Feature::SystemPrompt),
            usage: !self.usage.load(Ordering::Relaxed),
            tool_choice: !self.tool_choice.load(Ordering::Relaxed),
            thinking: !self.thinking.load(Ordering::Relaxed),
            thinking_choice: is_taken(Feature::ThinkingChoice),
            image_output: is_taken(Feature::ImageOutput),
            rejected_features: self.choices.count(model),
        }
    }

    /// Returns true if the server has rejected this choice of thinking for the model.
    pub fn has_choice(&self, model: &str, choice: ThinkingChoice) -> bool {
        self.choices.contains(model, choice)
    }

    /// Learns from a rejected request, which had the features `sent`. Returns true if the next one will differ.
    pub fn learn_from_rejection(
        &self,
        model: &str,
        request: &ModelRequest,
        sent: ServerCapabilities,
        error: &ModelError,
    ) -> bool {
        if sent.usage && error.error.message.contains("stream_options") {
            self.usage.store(true, Ordering::Relaxed);
            return true;
        }
        if sent.thinking && has_thinking(request) && is_thinking_rejection(error) {
            self.thinking.store(true, Ordering::Relaxed);
            return true;
        }
        if sent.thinking_choice
            && let Some(choice) = request.parameters.thinking()
            && let Some(rejected) = thinking_choice_rejection(error)
        {
            match rejected {
                RejectedThinking::Field => self.add(model, Feature::ThinkingChoice, error),
                RejectedThinking::Choice => {
                    tracing::warn!(%model, %error, "asking without this choice of thinking from now on");
                    self.choices.add(model, choice);
                }
            }
            return true;
        }
        if sent.tool_choice
            && !request::forced_tools(request, sent).is_empty()
            && error.error.message.contains("tool_choice")
        {
            self.tool_choice.store(true, Ordering::Relaxed);
            return true;
        }
        if sent.image_output
            && request::asks_for_images(model)
            && error_phrases::is_image_output_unsupported(error)
        {
            self.add(model, Feature::ImageOutput, error);
            return true;
        }
        let adapted = adapt_tools(request, sent.into());
        if let Some(rejected) = rejected_roles(&adapted.messages, sent.system, error) {
            let feature = match rejected {
                RejectedRoles::ToolFiles => Feature::ToolFiles,
                RejectedRoles::System => Feature::SystemPrompt,
                RejectedRoles::ToolRoles => Feature::ToolRoles,
            };
            self.add(model, feature, error);
            return true;
        }
        if sent.tools && has_tools(request) && error_phrases::is_tools_unsupported(error) {
            self.add(model, Feature::Tools, error);
            return true;
        }
        if sent.system && has_system_message(request) && error_phrases::is_system_unsupported(error) {
            self.add(model, Feature::SystemPrompt, error);
            return true;
        }
        false
    }

    fn add(&self, model: &str, feature: Feature, error: &ModelError) {
        tracing::warn!(%model, ?feature, %error, "asking without this from now on");
        self.by_model.add(model, feature);
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
