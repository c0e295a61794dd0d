//! Requests for images: OpenAI's images API, Google's `generateContent` and chat completions with images. Without a script,
//! the answer is a picture of the requested size, in colours that depend on the prompt.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io::Cursor,
    sync::Arc,
};

use axum::{
    Json,
    body::Bytes,
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use image::{ImageFormat, Rgb, RgbImage};
use serde_json::{Map, Value, json};

use crate::{
    play,
    protocol::{Protocol, content_text},
    script::{RequestSummary, Step},
    state::UpstreamState,
};

/// The form of a request for an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageForm {
    Images,
    GenerateContent,
    Chat,
}

impl ImageForm {
    fn prompt(self, request: &Value) -> String {
        match self {
            Self::Images => request["prompt"].as_str().unwrap_or_default().to_owned(),
            Self::GenerateContent => content_text(&request["contents"][0]["parts"]),
            Self::Chat => content_text(&request["messages"][0]["content"]),
        }
    }

    fn size(self, request: &Value) -> (u32, u32) {
        let ratio = match self {
            Self::Images => request["size"].as_str(),
            Self::GenerateContent => request["generationConfig"]["imageConfig"]["aspectRatio"].as_str(),
            Self::Chat => request["image_config"]["aspect_ratio"].as_str(),
        };
        match ratio.unwrap_or_default() {
            "3:2" => (1248, 832),
            "2:3" => (832, 1248),
            size => size
                .split_once('x')
                .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)))
                .unwrap_or((1024, 1024)),
        }
    }

    fn answer(self, png: &[u8]) -> Value {
        let base64 = BASE64_STANDARD.encode(png);
        match self {
            Self::Images => json!({
                "created": 1, "data": [{ "b64_json": base64 }],
                "usage": {
                    "input_tokens": 50, "output_tokens": 4160, "total_tokens": 4210,
                    "input_tokens_details": { "text_tokens": 50, "image_tokens": 0 },
                },
            }),
            Self::GenerateContent => json!({
                "candidates": [{
                    "content": { "role": "model", "parts": [
                        { "text": "Here it is." }, { "inlineData": { "mimeType": "image/png", "data": base64 } },
                    ] },
                    "finishReason": "STOP",
                }],
                "usageMetadata": {
                    "promptTokenCount": 10, "candidatesTokenCount": 1300,
                    "candidatesTokensDetails": [{ "modality": "IMAGE", "tokenCount": 1290 }],
                },
            }),
            Self::Chat => {
                let url = format!("data:image/png;base64,{base64}");
                json!({
                    "choices": [{
                        "index": 0, "finish_reason": "stop",
                        "message": {
                            "role": "assistant", "content": "Here it is.",
                            "images": [{ "type": "image_url", "image_url": { "url": url } }],
                        },
                    }],
                    "usage": { "prompt_tokens": 10, "completion_tokens": 1300 },
                })
            }
        }
    }
}

/// Answers a request for an image: by a script whose condition is its prompt, or with a picture.
pub async fn respond(state: Arc<UpstreamState>, form: ImageForm, model: &str, request: &Value) -> Response {
    let prompt = form.prompt(request);
    let asked = RequestSummary {
        model: model.to_owned(),
        user: String::new(),
        tool: None,
        image_prompt: Some(prompt.clone()),
    };
    if let Some(script) = state.script_for(&asked) {
        if script.steps.iter().any(|step| !matches!(step, Step::Gate(_))) {
            return play::respond(state, Protocol::ChatCompletions, model, script).await;
        }
        // Until the client goes away.
        let _open = state.track_stream();
        for step in &script.steps {
            if let Step::Gate(name) = step {
                state.pass_gate(name).await;
            }
        }
    }
    let (width, height) = form.size(request);
    Json(form.answer(&picture(&prompt, width, height))).into_response()
}

/// Returns a PNG image.
pub fn picture(prompt: &str, width: u32, height: u32) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    prompt.hash(&mut hasher);
    let [red, green, blue, ..] = hasher.finish().to_le_bytes();
    let shade = |from: u8, part: u32, whole: u32| {
        let part = u64::from(part) * 120 / u64::from(whole.max(1));
        (u64::from(from / 2) + part).min(255) as u8
    };
    let image = RgbImage::from_fn(width, height, |x, y| {
        Rgb([
            shade(red, x, width),
            shade(green, y, height),
            shade(blue, x + y, width + height),
        ])
    });
    let mut png = Cursor::new(Vec::new());
    image.write_to(&mut png, ImageFormat::Png).expect("a PNG image");
    png.into_inner()
}

/// Returns the fields of a form as JSON. A file is its size and its type.
pub fn read_form(headers: &HeaderMap, body: &Bytes) -> Value {
    let media_type = headers.get(header::CONTENT_TYPE);
    let media_type = media_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let Some((_, boundary)) = media_type.split_once("boundary=") else {
        return Value::Null;
    };
    let boundary = format!("--{boundary}");
    let mut fields = Map::new();
    let mut rest = &body[..];
    while let Some(at) = find(rest, boundary.as_bytes()) {
        let part = &rest[..at];
        rest = &rest[at + boundary.len()..];
        let Some(head_end) = find(part, b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8_lossy(&part[..head_end]).into_owned();
        let content = part[head_end + 4..].strip_suffix(b"\r\n").unwrap_or_default();
        let name = head
            .split("name=\"")
            .nth(1)
            .and_then(|name| name.split('"').next());
        let media_type = head.split("Content-Type: ").nth(1);
        let value = match media_type {
            Some(media_type) => json!({ "bytes": content.len(), "media_type": media_type }),
            None => json!(String::from_utf8_lossy(content)),
        };
        fields.insert(name.unwrap_or_default().to_owned(), value);
    }
    Value::Object(fields)
}

fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
