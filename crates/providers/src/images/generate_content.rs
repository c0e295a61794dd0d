//! Image models of Google's `generateContent`.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    choice::aspect_ratio,
    client::{ImageClient, short_text},
    received::{take_image, take_list},
};
use crate::refusal::constant_words;
use parlor_model::{ImageAnswer, ImageError, ImageRequest, ReportedUsage};

/// Finish reasons that mean that the model does not want to make an image.
const REFUSAL_REASONS: [&str; 9] = [
    "SAFETY",
    "IMAGE_SAFETY",
    "PROHIBITED_CONTENT",
    "IMAGE_PROHIBITED_CONTENT",
    "BLOCKLIST",
    "RECITATION",
    "IMAGE_RECITATION",
    "SPII",
    "IMAGE_OTHER",
];

/// Makes or edits an image. `path` is that of the model.
///
/// # Errors
///
/// If there is no image: the reason.
pub async fn make_image(
    client: &ImageClient<'_>,
    path: &str,
    model: &str,
    request: &ImageRequest,
) -> Result<ImageAnswer, ImageError> {
    let mut parts = vec![json!({ "text": request.prompt })];
    if let Some(source) = &request.source {
        let data = BASE64_STANDARD.encode(&source.data);
        parts.push(json!({ "inlineData": { "mimeType": source.media_type, "data": data } }));
    }
    let body = json!({
        "contents": [{ "role": "user", "parts": parts }],
        "generationConfig": {
            "responseModalities": ["TEXT", "IMAGE"],
            "imageConfig": { "aspectRatio": aspect_ratio(request.shape) },
        },
    });
    let mut answer = client.post_json(path, model, &body).await?;
    let usage = read_usage(&answer["usageMetadata"]);
    let blocked = answer.pointer("/promptFeedback/blockReason");
    if let Some(reason) = blocked.and_then(Value::as_str) {
        let error = client.refused(&constant_words(reason, "BLOCK_REASON_"));
        return Err(ImageError { error, usage });
    }
    let candidate = answer.pointer_mut("/candidates/0").map(Value::take);
    let mut candidate = candidate.unwrap_or_default();
    let (mut images, mut text) = (Vec::new(), String::new());
    for mut part in take_list(&mut candidate, "/content/parts") {
        // The drafts of a model that thinks are not its answer.
        if part["thought"] == true {
            continue;
        }
        images.extend(take_image(&mut part, &["/inlineData/data", "/inline_data/data"]));
        text.push_str(part["text"].as_str().unwrap_or_default());
    }
    if images.is_empty() {
        let reason = candidate["finishReason"].as_str().unwrap_or_default();
        let words = match candidate["finishMessage"].as_str() {
            Some(message) => message.to_owned(),
            None if text.is_empty() => constant_words(reason, ""),
            None => text,
        };
        let error = match REFUSAL_REASONS.contains(&reason) {
            true => client.refused(&words),
            false => client.no_image(&words),
        };
        return Err(ImageError { error, usage });
    }
    Ok(ImageAnswer {
        images,
        text: short_text(&text),
        usage,
    })
}

fn read_usage(usage: &Value) -> Option<ReportedUsage> {
    let number = |field: &str| usage[field].as_u64().unwrap_or_default();
    let images = |field: &str| {
        let details = usage[field].as_array().into_iter().flatten();
        let images = details.filter(|detail| detail["modality"] == "IMAGE");
        images.filter_map(|detail| detail["tokenCount"].as_u64()).sum()
    };
    usage.is_object().then(|| ReportedUsage {
        input_tokens: number("promptTokenCount"),
        output_tokens: number("candidatesTokenCount").saturating_add(number("thoughtsTokenCount")),
        cached_input_tokens: number("cachedContentTokenCount"),
        thinking_tokens: number("thoughtsTokenCount"),
        image_input_tokens: images("promptTokensDetails"),
        image_output_tokens: images("candidatesTokensDetails"),
        ..ReportedUsage::default()
    })
}
