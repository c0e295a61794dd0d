//! Image models: the request form of each, its sizes, and the calls.

mod chat;
mod choice;
mod client;
mod generate_content;
mod images_api;
mod multipart;
mod received;
#[cfg(test)]
mod tests;

pub use self::{
    choice::{can_edit, expected_size, google_model_api, image_rank, openai_model_api},
    client::ImageClient,
    generate_content::make_image as by_generate_content,
    received::image_event,
};
use parlor_model::{ImageAnswer, ImageApi, ImageError, ImageRequest};

/// Makes or edits an image with one of OpenAI's protocols.
///
/// # Errors
///
/// If there is no image: the reason.
pub async fn by_openai(
    client: &ImageClient<'_>,
    model: &str,
    api: ImageApi,
    request: &ImageRequest,
) -> Result<ImageAnswer, ImageError> {
    match api {
        ImageApi::Chat => chat::make_image(client, model, request).await,
        ImageApi::Images | ImageApi::GenerateContent => images_api::make_image(client, model, request).await,
    }
}
