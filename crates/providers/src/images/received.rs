//! Images as servers send them: base64 text, data URLs, and parts of streamed answers. They are decoded later.

use serde_json::Value;

use crate::unreadable::raw_excerpt;
use parlor_model::{EncodedImage, ModelEvent, ReceivedImage, UnreadableContent};

/// The places of an image in a part of an answer.
const PLACES: [&str; 7] = [
    "/inlineData/data",
    "/inline_data/data",
    "/image_url/url",
    "/image_url",
    "/result",
    "/b64_json",
    "/data",
];

/// The beginnings of image files.
const SIGNATURES: [&[u8]; 4] = [b"\x89PNG", b"\xFF\xD8\xFF", b"GIF8", b"RIFF"];

/// Returns an image of base64 text or a data URL, or the one at a web URL.
fn received_image(text: String) -> ReceivedImage {
    match text.starts_with("https:") || text.starts_with("http:") {
        true => ReceivedImage::Url(text),
        false => ReceivedImage::Data(EncodedImage(text)),
    }
}

/// Takes the image from a part of an answer, if it has a text at one of these places.
pub fn take_image(part: &mut Value, places: &[&str]) -> Option<ReceivedImage> {
    let is_text = |place: &&&str| part.pointer(place).is_some_and(Value::is_string);
    let place = places.iter().find(is_text)?;
    match part.pointer_mut(place)?.take() {
        Value::String(text) => Some(received_image(text)),
        _ => None,
    }
}

/// Takes the entries of the list at this place; none from anything else, which stays.
pub fn take_list(part: &mut Value, place: &str) -> Vec<Value> {
    let list = part.pointer_mut(place).and_then(Value::as_array_mut);
    list.map(std::mem::take).unwrap_or_default()
}

/// Returns the event of an image in a streamed answer. Its content is checked later.
pub fn image_event(raw: &str) -> ModelEvent {
    let mut part = serde_json::from_str::<Value>(raw).unwrap_or_default();
    match take_image(&mut part, &PLACES) {
        Some(ReceivedImage::Data(image)) if SIGNATURES.iter().any(|begin| image.starts_with(begin)) => {
            ModelEvent::Image(image)
        }
        // URLs of an answer are not fetched.
        _ => ModelEvent::Unreadable {
            what: UnreadableContent::Image,
            raw: raw_excerpt(raw),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_images_of_every_protocol() {
        // "\x89PNG and the rest"
        let base64 = "iVBORyBhbmQgdGhlIHJlc3Q=";
        for raw in [
            format!(r#"{{"inlineData":{{"mimeType":"image/png","data":"{base64}"}}}}"#),
            format!(r#"{{"type":"image_url","image_url":{{"url":"data:image/png;base64,{base64}"}}}}"#),
            format!(r#"{{"type":"image_generation_call","result":"{base64}"}}"#),
        ] {
            let event = image_event(&raw);
            assert!(
                matches!(&event, ModelEvent::Image(image) if image.0.ends_with(base64)),
                "{raw}"
            );
        }
        for raw in [
            r#"{"image_url":{"url":"https://example.com/a.png"}}"#,
            r#"{"inlineData":{"data":"aGVsbG8sIGhlbGxvLCBoZWxsbw=="}}"#,
            r#"{"result":"%%%"}"#,
            "no JSON",
        ] {
            assert!(matches!(image_event(raw), ModelEvent::Unreadable { .. }), "{raw}");
        }
    }
}
