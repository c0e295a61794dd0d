//! Chat models that return images in their answers, as OpenRouter serves them.

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use super::{
    choice::aspect_ratio,
    client::{ImageClient, short_text},
    received::{take_image, take_list},
};
use parlor_model::{ImageAnswer, ImageError, ImageRequest, ReceivedImage, ReportedUsage};
use parlor_protocol::Dollars;

/// Makes or edits an image.
///
/// # Errors
///
/// If there is no image: the reason.
pub async fn make_image(
    client: &ImageClient<'_>,
    model: &str,
    request: &ImageRequest,
) -> Result<ImageAnswer, ImageError> {
    let mut content = vec![json!({ "type": "text", "text": request.prompt })];
    if let Some(source) = &request.source {
        let base64 = BASE64_STANDARD.encode(&source.data);
        let url = format!("data:{};base64,{base64}", source.media_type);
        content.push(json!({ "type": "image_url", "image_url": { "url": url } }));
    }
    let mut body = json!({
        "model": model,
        "messages": [{ "role": "user", "content": content }],
        "modalities": ["image", "text"],
        "stream": false,
    });
    if model.contains("gemini") {
        body["image_config"] = json!({ "aspect_ratio": aspect_ratio(request.shape) });
    }
    let mut response = client.post_json("/chat/completions", model, &body).await?;
    let usage = read_usage(&response["usage"]);
    let choice = response.pointer_mut("/choices/0").map(Value::take);
    let mut choice = choice.unwrap_or_default();
    let mut content = take_list(&mut choice, "/message/content");
    let mut listed = take_list(&mut choice, "/message/images");
    let forms = ["/image_url/url", "/image_url", "/b64_json", "/url"];
    let parts = listed.iter_mut().chain(&mut content);
    let images: Vec<ReceivedImage> = parts.filter_map(|part| take_image(part, &forms)).collect();
    let message = &choice["message"];
    let said = match message["content"].as_str() {
        Some(text) => text.to_owned(),
        None => content.iter().filter_map(|part| part["text"].as_str()).collect(),
    };
    if images.is_empty() {
        let refusal = message["refusal"].as_str().filter(|words| !words.is_empty());
        let is_filtered = choice["finish_reason"] == "content_filter";
        let error = match refusal {
            Some(words) => client.refused(words),
            None if is_filtered => client.refused(&said),
            None => client.no_image(&said),
        };
        return Err(ImageError { error, usage });
    }
    Ok(ImageAnswer {
        images,
        text: short_text(&said),
        usage,
    })
}

fn read_usage(usage: &Value) -> Option<ReportedUsage> {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    Some(ReportedUsage {
        input_tokens: number("/prompt_tokens")?,
        output_tokens: number("/completion_tokens").unwrap_or_default(),
        cached_input_tokens: number("/prompt_tokens_details/cached_tokens").unwrap_or_default(),
        thinking_tokens: number("/completion_tokens_details/reasoning_tokens").unwrap_or_default(),
        image_output_tokens: number("/completion_tokens_details/image_tokens").unwrap_or_default(),
        cost: usage["cost"].as_f64().and_then(Dollars::from_f64),
        ..ReportedUsage::default()
    })
}
