//! Image models by their names, as lists seldom say what a model returns.

use parlor_model::{ImageApi, ImageShape, ImageSize};

/// The beginnings of the names of models that OpenAI's images API serves, here and elsewhere.
const IMAGES_API_NAMES: [&str; 5] = [
    "gpt-image",
    "chatgpt-image",
    "dall-e",
    "grok-2-image",
    "grok-imagine-image",
];

/// Image models from the first to the last choice.
const RANKS: [&str; 11] = [
    "gpt-image-2",
    "gpt-image-1.5",
    "gpt-image-1",
    "chatgpt-image",
    "gemini-3",
    "gemini",
    "gpt-5",
    "grok-imagine",
    "grok-2",
    "dall-e-3",
    "dall-e-2",
];

/// Returns the name of a model in lower case, without the vendor that routers put before it.
fn plain_name(model: &str) -> String {
    model.rsplit('/').next().unwrap_or(model).to_lowercase()
}

/// Returns the request form of an image model of a server with OpenAI's protocols; `None` for any other model.
pub fn openai_model_api(model: &str) -> Option<ImageApi> {
    let name = plain_name(model);
    if model.contains('/') {
        // A router, such as OpenRouter: images come in answers.
        return name.contains("-image").then_some(ImageApi::Chat);
    }
    let is_known = IMAGES_API_NAMES.iter().any(|known| name.starts_with(known));
    is_known.then_some(ImageApi::Images)
}

/// Returns the request form of an image model of Google's; `None` for any other model.
pub fn google_model_api(model: &str) -> Option<ImageApi> {
    let name = plain_name(model);
    (name.starts_with("gemini") && name.contains("-image")).then_some(ImageApi::GenerateContent)
}

/// Returns the place of an image model among others: the smallest comes first.
pub fn image_rank(model: &str) -> usize {
    let name = plain_name(model);
    let rank = RANKS.iter().position(|known| name.starts_with(known));
    // Smaller versions of a model come after it.
    let is_small = ["mini", "lite"].iter().any(|part| name.contains(part));
    2 * rank.unwrap_or(RANKS.len()) + usize::from(is_small)
}

/// Returns true if an image model takes an image to edit.
pub fn can_edit(api: ImageApi, model: &str) -> bool {
    let name = plain_name(model);
    api != ImageApi::Images || !(name.starts_with("dall-e-3") || name.starts_with("grok"))
}

/// Returns the size of the images that a model makes in this shape, as far as it is known.
pub fn expected_size(api: ImageApi, model: &str, shape: ImageShape) -> ImageSize {
    let name = plain_name(model);
    let (long, short) = match api {
        ImageApi::GenerateContent | ImageApi::Chat => (1248, 832),
        ImageApi::Images if name.starts_with("dall-e-3") => (1792, 1024),
        ImageApi::Images => (1536, 1024),
    };
    let (width, height) = match shape {
        // It takes no size.
        _ if name.starts_with("grok") => (1024, 768),
        _ if name.starts_with("dall-e-2") => (1024, 1024),
        ImageShape::Square => (1024, 1024),
        ImageShape::Landscape => (long, short),
        ImageShape::Portrait => (short, long),
    };
    ImageSize { width, height }
}

/// Returns a shape as the ratio of width and height.
pub(super) fn aspect_ratio(shape: ImageShape) -> &'static str {
    match shape {
        ImageShape::Square => "1:1",
        ImageShape::Landscape => "3:2",
        ImageShape::Portrait => "2:3",
    }
}
