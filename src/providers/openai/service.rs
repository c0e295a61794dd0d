//! async-openai's HTTP requests, sent by the adapters' common transport.

use async_openai::{error::OpenAIError, middleware::HttpRequestFactory};
use reqwest::Response;

use crate::{model::ModelError, providers::transport::Transport};

/// Returns the transport for async-openai, whose own one retries by itself.
pub fn service(
    transport: &Transport,
) -> impl tower::Service<HttpRequestFactory, Response = Response, Error = OpenAIError, Future: Send + 'static>
+ Clone
+ Send
+ Sync
+ 'static {
    let transport = transport.clone();
    tower::service_fn(move |factory: HttpRequestFactory| {
        let transport = transport.clone();
        async move {
            let request = factory.build().await?;
            transport
                .send(request, None)
                .await
                .map_err(|error| OpenAIError::Boxed(Box::new(error)))
        }
    })
}

/// Converts an error of async-openai: a transported [`ModelError`], or an unreadable response.
pub fn map_error(transport: &Transport, error: OpenAIError) -> ModelError {
    match error {
        OpenAIError::Boxed(error) => match error.downcast::<ModelError>() {
            Ok(error) => *error,
            Err(error) => transport.invalid_response(format!("gave an answer that cannot be read: {error}")),
        },
        OpenAIError::Reqwest(error) => transport.connection_lost(Some(&error), false),
        OpenAIError::JSONDeserialize(..) => transport.invalid_response("gave an answer that is not JSON."),
        error => transport.invalid_response(format!("gave an answer that cannot be read: {error}")),
    }
}
