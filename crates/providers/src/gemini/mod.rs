//! Endpoints with Google's Gemini API (`generateContent`).

mod content;
mod decoder;
mod finish;
mod function_call;
mod models;
mod request;
#[cfg(test)]
mod tests;
mod thinking;
mod wire;

use std::borrow::Cow;

use reqwest::header::HeaderName;

use self::{
    decoder::ContentDecoder,
    request::{ContentRequest, RequestForm, build_request},
    thinking::ThinkingForm,
};
use super::{
    EndpointConfig,
    adapter::{Adapter, ShownFields},
    http_endpoint::KnownModel,
    images::{self, ImageClient},
    model_list::ModelList,
    rejection_text::RejectionText,
    rejections::{AnyFeature, Lesson, Rejected},
    transport::Api,
};
use parlor_model::{ImageAnswer, ImageApi, ImageError, ImageRequest, ModelError, ModelRequest};

/// The provider kind of these endpoints.
const PROVIDER_KIND: &str = "gemini";

/// A feature of requests that not every model takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The thinking levels besides low and high.
    MiddleLevels,
    /// Any setting of thinking.
    Thinking,
    /// Function calls without signatures.
    MissingSignatures,
    /// The signatures of earlier answers.
    EarlierSignatures,
    /// `responseSchema`, the schema of an answer.
    AnswerSchema,
}

/// The names of signatures.
const SIGNATURE_NAMES: [&str; 6] = [
    "thought_signature",
    "thought_signatures",
    "thought signature",
    "thought signatures",
    "thoughtsignature",
    "thoughtsignatures",
];

/// Words of errors about the schema of an answer. A request with one has no tools.
const ANSWER_SCHEMA_WORDS: [&str; 6] = [
    "schema",
    "json mode",
    "response_mime_type",
    "responsemimetype",
    "response mime type",
    "structured output",
];

/// The names of the settings of thinking.
const THINKING_NAMES: [&str; 9] = [
    "thinking",
    "thinking_config",
    "thinkingconfig",
    "thinking_level",
    "thinkinglevel",
    "thinking_budget",
    "thinkingbudget",
    "include_thoughts",
    "includethoughts",
];

/// Google's API.
pub struct Gemini;

impl Adapter for Gemini {
    type Form = RequestForm;
    type Feature = Feature;
    type Body = ContentRequest;
    type Decoder = ContentDecoder;

    const LIST: ModelList = models::LIST;
    const SHOWN_FIELDS: ShownFields = ShownFields {
        conversation: &["systemInstruction", "contents", "tools"],
        max_tokens: &["/generationConfig/maxOutputTokens"],
        temperature: "/generationConfig/temperature",
    };

    fn new(_: &EndpointConfig) -> Self {
        Self
    }

    fn api(config: &EndpointConfig) -> Result<Api, ModelError> {
        let key_header = |key: &str| (HeaderName::from_static("x-goog-api-key"), key.to_owned());
        Api::new(config, key_header)
    }

    fn call_url(model: &str) -> (Cow<'static, str>, &'static str) {
        (models::call_path(model).into(), "alt=sse")
    }

    fn form(&self, model: &KnownModel<'_, Self>, _: &ModelRequest) -> RequestForm {
        let takes = |feature| model.takes(feature);
        RequestForm {
            thinking: ThinkingForm::choose(model.name, &model.capabilities(), takes),
            needs_signatures: thinking::needs_signatures(model.name) || !takes(Feature::MissingSignatures),
            earlier_signatures: takes(Feature::EarlierSignatures),
            answer_schema: takes(Feature::AnswerSchema),
            system: model.takes_any(AnyFeature::System),
        }
    }

    fn body(_: &str, request: &ModelRequest, form: &RequestForm) -> ContentRequest {
        build_request(request, form)
    }

    fn learn(&self, rejected: &Rejected<'_, Self>) -> Option<Lesson<Feature>> {
        let form = rejected.form;
        let own = || rejected_feature(&rejected.text()?, form, rejected.request);
        let feature = rejected.common_feature(form.system).or_else(own)?;
        Some(Lesson::Without(feature))
    }

    fn image_api(model: &str, is_set: bool) -> Option<ImageApi> {
        images::google_model_api(model).or(is_set.then_some(ImageApi::GenerateContent))
    }

    async fn make_image(
        client: &ImageClient<'_>,
        model: &str,
        _: ImageApi,
        request: &ImageRequest,
    ) -> Result<ImageAnswer, ImageError> {
        images::by_generate_content(client, &models::image_path(model), model, request).await
    }
}

/// Returns the feature that a server rejects in these words.
fn rejected_feature(
    text: &RejectionText,
    form: &RequestForm,
    request: &ModelRequest,
) -> Option<AnyFeature<Feature>> {
    let has_answer_schema = form.answer_schema && request.answer_schema.is_some();
    let feature = if has_answer_schema && text.contains(&ANSWER_SCHEMA_WORDS) {
        Feature::AnswerSchema
    } else if text.names(&SIGNATURE_NAMES) {
        match text.contains(&["missing", "without", "required"]) && !form.needs_signatures {
            true => Feature::MissingSignatures,
            false => Feature::EarlierSignatures,
        }
    } else if form.thinking != ThinkingForm::None && text.rejects(&THINKING_NAMES) {
        match text.contains(&["level"]) && form.thinking == ThinkingForm::Level {
            true => Feature::MiddleLevels,
            false => Feature::Thinking,
        }
    } else {
        let is_system = form.system && text.contains(&["developer instruction", "system instruction"]);
        return is_system.then_some(AnyFeature::System);
    };
    Some(AnyFeature::Own(feature))
}
