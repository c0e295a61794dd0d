//! The choice of an endpoint's adapter.

use std::sync::Arc;

use super::{EndpointConfig, gemini::Gemini, anthropic::Anthropic, openai::OpenAi};
use crate::{
    model::{Endpoint, ModelError, ModelErrorKind},
    protocol::RunError,
    settings::EndpointKind,
};

/// Creates an endpoint with the adapter of its kind, without sending requests.
///
/// # Errors
///
/// If it can never be called: the address is invalid, a header or the key can't be sent, or the kind has no
/// adapter yet.
pub fn create_endpoint(config: &EndpointConfig) -> Result<Arc<dyn Endpoint>, ModelError> {
    match config.kind {
        EndpointKind::OpenAi => Ok(Arc::new(OpenAi::new(config)?)),
        EndpointKind::Anthropic => Ok(Arc::new(Anthropic::new(config)?)),
        EndpointKind::Gemini => Ok(Arc::new(Gemini::new(config)?)),
        kind => {
            let kind = kind.as_str();
            let error = RunError {
                code: "settings_invalid".into(),
                message: format!("The endpoint “{}” has the kind “{kind}”, which has no adapter yet.", config.name),
                hint: String::new(),
            };
            let kind = ModelErrorKind::Refused;
            Err(ModelError { error, kind })
        }
    }
}
