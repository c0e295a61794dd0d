//! The choice of an endpoint's adapter.

use std::sync::Arc;

use super::{
    EndpointConfig, anthropic::Anthropic, gemini::Gemini, openai::OpenAi, openai_responses::OpenAiResponses,
};
use parlor_base::settings::EndpointKind;
use parlor_model::{Endpoint, ModelError};

/// Creates an endpoint with the adapter of its kind, without sending requests.
///
/// # Errors
///
/// If it can never be called: the URL is invalid, or a header or the key can't be sent.
pub fn create_endpoint(config: &EndpointConfig) -> Result<Arc<dyn Endpoint>, ModelError> {
    Ok(match config.kind {
        EndpointKind::OpenAi => Arc::new(OpenAi::new(config)?),
        EndpointKind::Anthropic => Arc::new(Anthropic::new(config)?),
        EndpointKind::Gemini => Arc::new(Gemini::new(config)?),
        EndpointKind::OpenAiResponses => Arc::new(OpenAiResponses::new(config)?),
    })
}
