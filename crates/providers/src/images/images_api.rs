//! OpenAI's images API.

use serde_json::{Map, Value, json};

use super::{
    choice::expected_size,
    client::{ImageClient, short_text},
    multipart::Multipart,
    received::{take_image, take_list},
};
use parlor_model::{ImageAnswer, ImageApi, ImageError, ImageRequest, ReceivedImage, ReportedUsage};

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
    let fields = fields(model, request);
    let response = match &request.source {
        None => {
            let body = Value::Object(fields);
            client.post_json("/images/generations", model, &body).await?
        }
        Some(source) => {
            let mut form = Multipart::new();
            for (name, value) in &fields {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                form.add_text(name, &text);
            }
            let name = match source.media_type {
                "image/png" => "image.png",
                _ => "image.jpg",
            };
            form.add_file("image", name, source.media_type, &source.data);
            let (media_type, body) = form.finish();
            client.post("/images/edits", model, &media_type, body).await?
        }
    };
    read_response(client, response)
}

fn fields(model: &str, request: &ImageRequest) -> Map<String, Value> {
    let size = expected_size(ImageApi::Images, model, request.shape);
    let mut fields = Map::new();
    fields.insert("model".into(), json!(model));
    fields.insert("prompt".into(), json!(request.prompt));
    fields.insert("n".into(), json!(1));
    // OpenAI's newer models know no URL in the response, the others send one by default. xAI's take no size.
    let is_newer = model.contains("gpt-image");
    if !is_newer {
        fields.insert("response_format".into(), json!("b64_json"));
    }
    if is_newer || model.starts_with("dall-e") {
        fields.insert("size".into(), json!(format!("{}x{}", size.width, size.height)));
    }
    fields
}

#[expect(clippy::result_large_err, reason = "one a request for images")]
fn read_response(client: &ImageClient<'_>, mut response: Value) -> Result<ImageAnswer, ImageError> {
    let usage = read_usage(&response["usage"]);
    let mut entries = take_list(&mut response, "/data");
    let forms = ["/b64_json", "/url"];
    let images = entries.iter_mut().filter_map(|entry| take_image(entry, &forms));
    let images: Vec<ReceivedImage> = images.collect();
    if images.is_empty() {
        let error = client.no_image("");
        return Err(ImageError { error, usage });
    }
    let revised = entries
        .iter()
        .find_map(|entry| entry["revised_prompt"].as_str())
        .filter(|revised| !revised.is_empty());
    Ok(ImageAnswer {
        images,
        text: revised
            .map(|revised| format!("The description that was followed: {}", short_text(revised)))
            .unwrap_or_default(),
        usage,
    })
}

fn read_usage(usage: &Value) -> Option<ReportedUsage> {
    let number = |pointer: &str| usage.pointer(pointer).and_then(Value::as_u64);
    let output_tokens = number("/output_tokens")?;
    Some(ReportedUsage {
        input_tokens: number("/input_tokens").unwrap_or_default(),
        output_tokens,
        cached_input_tokens: number("/input_tokens_details/cached_tokens").unwrap_or_default(),
        image_input_tokens: number("/input_tokens_details/image_tokens").unwrap_or_default(),
        image_output_tokens: number("/output_tokens_details/image_tokens").unwrap_or(output_tokens),
        ..ReportedUsage::default()
    })
}
