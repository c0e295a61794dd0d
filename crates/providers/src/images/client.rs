//! One request for an image, and its response of limited size.

use reqwest::{
    Response,
    header::{self, HeaderValue},
};
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::transport::Api;
use parlor_base::text::single_line;
use parlor_model::{ModelError, ModelErrorKind, lenient_json};

/// The maximum size of a response besides its image.
const MAX_OTHER_BYTES: usize = 1 << 20;

/// The maximum length of the model's words along with an image, in characters.
const MAX_TEXT_CHARS: usize = 2000;

/// Phrases of errors that reject the content of a request.
const REFUSAL_PHRASES: [&str; 7] = [
    "safety system",
    "content policy",
    "content_policy",
    "moderation",
    "content filter",
    "content_filter",
    "responsible ai",
];

/// Sends the requests for images of one endpoint.
pub struct ImageClient<'a> {
    pub api: &'a Api,
    /// The maximum size of one image, in bytes.
    pub max_bytes: usize,
}

impl ImageClient<'_> {
    /// Sends a request and returns the JSON of its response.
    ///
    /// # Errors
    ///
    /// If there is none, or the server rejects the request or its content.
    pub async fn post(
        &self,
        path: &str,
        model: &str,
        media_type: &str,
        body: Vec<u8>,
    ) -> Result<Value, ModelError> {
        let mut headers = self.api.headers().clone();
        headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
        if let Ok(media_type) = HeaderValue::from_str(media_type) {
            headers.insert(header::CONTENT_TYPE, media_type);
        }
        let transport = self.api.transport();
        let url = self.api.path_url(path);
        let post = transport.http().post(url).headers(headers).body(body);
        let response = transport.send(post, Some(model)).await;
        let response = response.map_err(|error| self.recognize_refusal(error))?;
        let body = self.read_body(response).await?;
        // Some ten megabytes would hold up other requests.
        let parsed = spawn_blocking(move || lenient_json::parse_bytes(&body).ok()).await;
        let not_json = || transport.invalid_response("gave an answer that is not JSON.");
        parsed.ok().flatten().ok_or_else(not_json)
    }

    /// Sends a JSON request.
    pub async fn post_json(&self, path: &str, model: &str, body: &Value) -> Result<Value, ModelError> {
        self.post(path, model, "application/json", body.to_string().into_bytes())
            .await
    }

    async fn read_body(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let limit = self.max_bytes.saturating_mul(4) / 3 + MAX_OTHER_BYTES;
        let mut body = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => return Ok(body),
                Err(error) => return Err(self.api.transport().connection_lost(Some(&error), false)),
            }
            if body.len() > limit {
                return Err(self.too_large());
            }
        }
    }

    fn too_large(&self) -> ModelError {
        let what = format!(
            "sent an image of more than {} bytes, which was not kept.",
            self.max_bytes
        );
        let hint = "Raise images.max_bytes in the settings, or ask for a smaller image.";
        self.error("image_too_large", what, hint)
    }

    /// Returns the error of a model that does not want to make an image, with its words.
    pub fn refused(&self, words: &str) -> ModelError {
        self.error_with_words(
            "image_refused",
            "refused to make this image",
            words,
            "Describe it differently.",
        )
    }

    /// Returns the error of a response without an image.
    pub fn no_image(&self, words: &str) -> ModelError {
        let hint = "Try once more, or describe it differently.";
        self.error_with_words("no_image", "answered without an image", words, hint)
    }

    fn error_with_words(&self, code: &str, what: &str, words: &str, hint: &str) -> ModelError {
        let words = self.api.endpoint().quote(words);
        let what = match words.trim_end_matches('.') {
            "" => format!("{what}."),
            words => format!("{what}: {words}."),
        };
        self.error(code, what, hint)
    }

    fn error(&self, code: &str, what: String, hint: &str) -> ModelError {
        self.api
            .endpoint()
            .error(ModelErrorKind::Refused, code, what, hint)
    }

    /// Recognizes the error of a rejected content.
    fn recognize_refusal(&self, error: ModelError) -> ModelError {
        let is_rejection = |status: u16| matches!(status, 400 | 403 | 422);
        let reply = error.reply.clone().filter(|reply| is_rejection(reply.status));
        let Some(reply) = reply else { return error };
        let text = reply.text.to_lowercase();
        match REFUSAL_PHRASES.iter().any(|phrase| text.contains(phrase)) {
            true => self.refused(&reply.text),
            false => error,
        }
    }
}

/// Returns the model's words in one line of limited length.
pub fn short_text(text: &str) -> String {
    single_line(text, MAX_TEXT_CHARS)
}
