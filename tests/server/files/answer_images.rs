//! Images in answers themselves, in every protocol.

use base64::{Engine, prelude::BASE64_STANDARD};
use parlor_base::settings::EndpointKind;
use serde_json::{Value, json};
use upstream::{Script, When, picture};

use super::{images::content, start};
use crate::support::{last_model_call, set_kind, string_field};

/// Returns the frames of an answer with an image, in the protocol of an endpoint.
fn answer_with_image(kind: EndpointKind, png: &[u8]) -> String {
    let data = BASE64_STANDARD.encode(png);
    let frames = match kind {
        EndpointKind::Gemini => vec![json!({ "candidates": [{
            "content": { "role": "model", "parts": [
                { "text": "Look:" }, { "inlineData": { "mimeType": "image/png", "data": data } },
            ] },
            "finishReason": "STOP",
        }] })],
        EndpointKind::OpenAiResponses => vec![
            json!({ "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Look:" }),
            json!({ "type": "response.output_item.done", "output_index": 1, "item": {
                "type": "image_generation_call", "id": "ig_1", "status": "completed", "result": data,
            } }),
            json!({ "type": "response.completed", "response": { "status": "completed" } }),
        ],
        _ => {
            let url = format!("data:image/png;base64,{data}");
            let chunk = |delta: Value, end: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": end }] });
            vec![
                chunk(json!({ "content": "Look:" }), Value::Null),
                chunk(
                    json!({ "images": [{ "type": "image_url", "image_url": { "url": url } }] }),
                    Value::Null,
                ),
                chunk(json!({}), json!("stop")),
            ]
        }
    };
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
}

#[tokio::test]
async fn answer_image_is_a_file_of_its_message() {
    for kind in [
        EndpointKind::OpenAi,
        EndpointKind::OpenAiResponses,
        EndpointKind::Gemini,
    ] {
        let (_folder, upstream, parlor) =
            start(|settings, upstream| set_kind(&mut settings.endpoints[0], kind, upstream)).await;
        let frames = answer_with_image(kind, &picture("x", 60, 40));
        upstream.add_script_times(1, When::user_contains("picture"), Script::new().raw(frames).end());
        let events = parlor.turn(None, "A picture").await;
        assert_eq!(
            events.last().unwrap()["type"],
            "complete",
            "{kind:?}: {events:#?}"
        );
        let made = events.iter().find(|event| event["type"] == "file_made");
        let file = made.unwrap_or_else(|| panic!("{kind:?}: {events:#?}"))["file"].clone();
        assert_eq!(
            (&file["width"], &file["media_type"]),
            (&json!(60), &json!("image/png"))
        );
        let run = string_field(&events[0], "message_id");
        let message = parlor.get_json(&format!("/api/messages/{run}")).await.1;
        let parts = message.pointer("/message/nodes/0/parts").unwrap();
        assert_eq!(
            (&parts[0]["text"], &parts[1]),
            (&json!("Look:"), &json!({ "type": "file", "file": file })),
            "{kind:?}"
        );
        assert_eq!(content(&parlor, &file).await.0, 200);
        // The model sees it again, and has its id.
        let conversation = string_field(&events[0], "conversation_id");
        parlor.turn(Some(&conversation), "And now?").await;
        let call = last_model_call(&upstream).to_string();
        assert!(
            call.contains("iVBORw0KGgo") && call.contains(&format!("{run}:0")),
            "{kind:?}: {call:.3000}"
        );
    }
}
