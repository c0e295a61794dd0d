//! Endpoints with OpenAI's Responses API: OpenAI itself, LM Studio, vLLM and others. Nothing is stored on the
//! server: the whole conversation is sent each time, with the encrypted reasoning of earlier answers.

mod decoder;
mod finish;
mod items;
mod phase;
mod request;
#[cfg(test)]
mod tests;
mod wire;

use std::borrow::Cow;

use serde_json::Value;

use self::{
    decoder::ResponseDecoder,
    request::{RequestForm, ResponseRequest, build_request},
};
use super::{
    EndpointConfig,
    adapter::{Adapter, ShownFields},
    error_phrases::ANSWER_SCHEMA_WORDS,
    http_endpoint::KnownModel,
    images::{self, ImageClient},
    model_list::{ModelList, OPENAI_LIST},
    rejection_text::RejectionText,
    rejections::{AnyFeature, Lesson, Rejected},
    transport::Api,
};
use parlor_model::{ImageAnswer, ImageApi, ImageError, ImageRequest, ModelError, ModelRequest};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "openai-responses";

/// A feature of requests that not every model or server takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// `include: ["reasoning.encrypted_content"]`.
    EncryptedReasoning,
    /// `reasoning: {summary}`.
    Summary,
    /// `reasoning`.
    Reasoning,
    /// The reasoning of earlier answers.
    EarlierReasoning,
    /// The phases of earlier messages.
    Phase,
    Temperature,
    ToolChoice,
    /// `text: {format}`, the schema of an answer.
    AnswerSchema,
}

/// Phrases that reject the reasoning of earlier answers.
const EARLIER_REASONING_PHRASES: [&str; 8] = [
    // The item after it is missing, or the one before it.
    "without its required",
    // Another model, which does not reason.
    "reasoning input item",
    "reasoning items can only",
    "reasoning items are not supported",
    // Another organization or key.
    "could not be verified",
    "could not be decrypted",
    "could not be parsed",
    "invalid_encrypted_content",
];

/// The types of items that Parlor makes. A message has none.
const OWN_ITEMS: [&str; 2] = ["function_call", "function_call_output"];

/// OpenAI's Responses API.
pub struct OpenAiResponses;

impl Adapter for OpenAiResponses {
    type Form = RequestForm;
    type Feature = Feature;
    type Body = ResponseRequest;
    type Decoder = ResponseDecoder;

    const LIST: ModelList = OPENAI_LIST;
    const SHOWN_FIELDS: ShownFields = ShownFields {
        conversation: &["model", "instructions", "input", "tools"],
        max_tokens: &["/max_output_tokens"],
        temperature: "/temperature",
    };

    fn new(_: &EndpointConfig) -> Self {
        Self
    }

    fn api(config: &EndpointConfig) -> Result<Api, ModelError> {
        Api::with_bearer(config)
    }

    fn call_url(_: &str) -> (Cow<'static, str>, &'static str) {
        ("/responses".into(), "")
    }

    fn form(&self, model: &KnownModel<'_, Self>, _: &ModelRequest) -> RequestForm {
        let takes = |feature| model.takes(feature);
        RequestForm {
            encrypted_reasoning: takes(Feature::EncryptedReasoning),
            summary: takes(Feature::Summary),
            reasoning: takes(Feature::Reasoning),
            earlier_reasoning: takes(Feature::EncryptedReasoning) && takes(Feature::EarlierReasoning),
            phase: takes(Feature::Phase),
            temperature: takes(Feature::Temperature),
            tool_choice: takes(Feature::ToolChoice),
            answer_schema: takes(Feature::AnswerSchema),
        }
    }

    fn body(model: &str, request: &ModelRequest, form: &RequestForm) -> ResponseRequest {
        build_request(model, request, form)
    }

    fn learn(&self, rejected: &Rejected<'_, Self>) -> Option<Lesson<Feature>> {
        let own = || rejected_feature(&rejected.text()?, &rejected.body_json()).map(AnyFeature::Own);
        let feature = rejected.common_feature(false).or_else(own)?;
        Some(Lesson::Without(feature))
    }

    fn image_api(model: &str, is_set: bool) -> Option<ImageApi> {
        images::openai_model_api(model).or(is_set.then_some(ImageApi::Images))
    }

    async fn make_image(
        client: &ImageClient<'_>,
        model: &str,
        api: ImageApi,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        images::by_openai(client, model, api, request).await
    }
}

/// Returns the feature that a server rejects in these words.
fn rejected_feature(text: &RejectionText, body: &Value) -> Option<Feature> {
    let has = |pointer: &str| body.pointer(pointer).is_some();
    Some(
        if has("/text/format")
            && (text.contains(&ANSWER_SCHEMA_WORDS) || text.rejects(&["text.format", "text"]))
        {
            Feature::AnswerSchema
        } else if has_provider_items(body) && text.contains(&EARLIER_REASONING_PHRASES) {
            Feature::EarlierReasoning
        } else if has_phases(body) && text.rejects(&["phase"]) {
            Feature::Phase
        } else if has("/temperature") && text.rejects(&["temperature"]) {
            Feature::Temperature
        } else if has("/tool_choice") && text.rejects(&["tool_choice"]) {
            Feature::ToolChoice
        } else if has("/include") && text.rejects(&["encrypted content", "encrypted_content", "include"]) {
            Feature::EncryptedReasoning
        } else if has("/reasoning/summary") && text.rejects(&["summary", "summaries"]) {
            Feature::Summary
        } else if has("/reasoning") && text.rejects(&["reasoning", "reasoning_effort"]) {
            Feature::Reasoning
        } else {
            return None;
        },
    )
}

/// Returns true if a request has phases of messages.
fn has_phases(body: &Value) -> bool {
    let mut items = body["input"].as_array().into_iter().flatten();
    items.any(|item| item.get("phase").is_some())
}

/// Returns true if a request has items that the server sent.
fn has_provider_items(body: &Value) -> bool {
    let items = body["input"].as_array().into_iter().flatten();
    let mut kinds = items.filter_map(|item| item["type"].as_str());
    kinds.any(|kind| !OWN_ITEMS.contains(&kind))
}
