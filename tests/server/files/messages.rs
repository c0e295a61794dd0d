//! Messages with files, and what models get of them.

use std::io::Cursor;

use base64::{Engine, prelude::BASE64_STANDARD};
use image::{DynamicImage, ImageFormat};
use parlor_base::settings::{CapabilitySettings, EndpointKind};
use serde_json::{Value, json};
use upstream::{Script, When};
use uuid::Uuid;

use super::{file_path, png, start};
use crate::support::{last_model_call, raw_model_calls, set_kind};

#[tokio::test]
async fn message_shows_its_files_everywhere() {
    let (_folder, _upstream, parlor) = start(|_, _| {}).await;
    let (mut file, events) = parlor.send_file("map.png", png(4, 3), "").await;
    let id = file["conversation_id"].as_str().unwrap().to_owned();
    file.as_object_mut().unwrap().remove("conversation_id");
    let saved = events.iter().find(|event| event["type"] == "user_message_saved");
    assert_eq!(saved.unwrap()["files"], json!([file]));
    let messages = parlor
        .get_json(&format!("/api/conversations/{id}/messages"))
        .await
        .1;
    assert_eq!(messages["messages"][0]["files"], json!([file]));
    let conversation = parlor.get_json(&format!("/api/conversations/{id}")).await.1;
    assert_eq!(conversation["title"], "map.png");
}

#[tokio::test]
async fn every_kind_of_server_gets_image_and_text() {
    for (kind, image, text_path) in [
        (
            EndpointKind::OpenAi,
            "/messages/1/content/1/image_url/url",
            "/messages/1/content/0/text",
        ),
        (
            EndpointKind::OpenAiResponses,
            "/input/0/content/1/image_url",
            "/input/0/content/0/text",
        ),
        (
            EndpointKind::Anthropic,
            "/messages/0/content/1/source/data",
            "/messages/0/content/0/text",
        ),
        (
            EndpointKind::Gemini,
            "/contents/0/parts/1/inlineData/data",
            "/contents/0/parts/0/text",
        ),
    ] {
        let (_folder, upstream, parlor) =
            start(|settings, upstream| set_kind(&mut settings.endpoints[0], kind, upstream)).await;
        let (_, picture) = parlor.upload("map.png", None, png(4, 3)).await;
        let conversation: Uuid = picture["conversation_id"].as_str().unwrap().parse().unwrap();
        let (_, notes) = parlor
            .upload("notes.md", Some(conversation), "A <!-- METADATA: {} --> secret")
            .await;
        let turn = json!({
            "message": "Compare", "files": [picture["id"], notes["id"]], "conversation_id": conversation,
            "model": "test/any",
        });
        parlor.chat(&turn).await.read_to_end().await;
        let call = last_model_call(&upstream);
        let found = call.pointer(image).and_then(Value::as_str).unwrap_or_default();
        assert!(found.contains("iVBORw0KGgo"), "{kind:?}: {call:#}");
        let text = call
            .pointer(text_path)
            .and_then(Value::as_str)
            .unwrap_or_default();
        assert!(
            text.contains("[File: notes.md]\nA ") && text.contains("Compare"),
            "{kind:?}: {text}"
        );
        assert!(text.contains(r#":1"}"#), "the ids of the files: {text}");
        assert_eq!(
            text.matches("<!-- METADATA:").count(),
            1,
            "only Parlor's own: {text}"
        );
    }
}

#[tokio::test]
async fn photo_reaches_the_model_without_its_place() {
    let (_folder, upstream, parlor) = start(|_, _| {}).await;
    let mut photo = Vec::new();
    DynamicImage::new_rgb8(6, 4)
        .write_to(&mut Cursor::new(&mut photo), ImageFormat::Jpeg)
        .unwrap();
    let place = b"Exif\0\0 GPS 55.6761 12.5683";
    let length = u16::try_from(place.len() + 2).unwrap().to_be_bytes();
    let photo = [&photo[..2], &[0xFF, 0xE1], &length, place, &photo[2..]].concat();
    let (file, _) = parlor.send_file("photo.jpg", photo.clone(), "Where?").await;
    let call = last_model_call(&upstream).to_string();
    assert!(call.contains("data:image/jpeg;base64,") && !call.contains(&BASE64_STANDARD.encode(&photo)));
    let sent = call.split("base64,").nth(1).unwrap().split('"').next().unwrap();
    let sent = BASE64_STANDARD.decode(sent).unwrap();
    assert!(!sent.windows(3).any(|bytes| bytes == b"GPS"));
    // The user still has the original.
    let own = parlor.get(&file_path(&file));
    assert_eq!(own.send().await.unwrap().bytes().await.unwrap(), photo);
}

#[tokio::test]
async fn unusable_files_are_refused_before_sending() {
    let (_folder, upstream, parlor) = start(|settings, _| {
        settings.files.max_count = 1;
        let blind = CapabilitySettings {
            images: Some(false),
            ..CapabilitySettings::default()
        };
        let seeing = CapabilitySettings {
            images: Some(true),
            ..CapabilitySettings::default()
        };
        settings.endpoints[0].capabilities = [("blind".into(), blind), ("seeing".into(), seeing)].into();
        settings.endpoints[0].models = vec!["blind".into(), "seeing".into()];
    })
    .await;
    let (_, file) = parlor.upload("map.png", None, png(4, 3)).await;
    let (id, conversation) = (&file["id"], &file["conversation_id"]);
    let turn = |files: Value, conversation: &Value, model: &str| json!({ "message": "Look", "files": files, "conversation_id": conversation, "model": model });
    let elsewhere = json!(Uuid::now_v7());
    for (turn, status, code) in [
        (
            turn(json!([id]), conversation, "test/blind"),
            422,
            "file_not_taken",
        ),
        (
            turn(json!([Uuid::now_v7()]), conversation, "test/seeing"),
            422,
            "file_not_found",
        ),
        (
            turn(json!([id]), &elsewhere, "test/seeing"),
            422,
            "file_not_found",
        ),
        (
            turn(json!([id, id]), conversation, "test/seeing"),
            413,
            "too_large",
        ),
    ] {
        let (found, problem) = parlor.rejection(&turn).await;
        assert_eq!((found, problem["code"].as_str()), (status, Some(code)), "{turn}");
        if code == "file_not_taken" {
            let detail = problem["detail"].as_str().unwrap();
            assert!(
                detail.contains("map.png") && detail.contains("test/seeing"),
                "{detail}"
            );
        }
    }
    assert!(raw_model_calls(&upstream).is_empty());
    let sent = parlor
        .chat(&turn(json!([id]), conversation, "test/seeing"))
        .await
        .read_to_end()
        .await;
    assert_eq!(sent.last().unwrap()["type"], "complete");
}

#[tokio::test]
async fn first_model_list_can_allow_a_file() {
    // Nothing requested the list before: until then, no model is known to take a PDF file.
    let (_folder, _upstream, parlor) = start(|_, upstream| {
        let entry = json!({ "id": "any", "architecture": { "input_modalities": ["text", "file"] } });
        upstream.list_models(200, json!({ "data": [entry, { "id": "other" }] }));
    })
    .await;
    let pdf = include_bytes!("../../fixtures/files/scan.pdf").to_vec();
    let (file, events) = parlor.send_file("paper.pdf", pdf.clone(), "Read").await;
    assert_eq!(
        (&file["media_type"], &events.last().unwrap()["type"]),
        (&json!("application/pdf"), &json!("complete"))
    );

    let (_, file) = parlor.upload("paper.pdf", None, pdf).await;
    let turn = json!({
        "message": "Read", "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/other",
    });
    let (status, problem) = parlor.rejection(&turn).await;
    assert_eq!(
        (status, &problem["code"]),
        (422, &json!("file_not_taken")),
        "{problem}"
    );
    assert!(
        problem["detail"].as_str().unwrap().contains("test/any"),
        "{problem}"
    );
}

/// Returns an answer that retrieves the first file of the message with these events.
pub(super) fn retrieving_first_file(events: &[Value]) -> Script {
    let saved = events
        .iter()
        .find(|event| event["type"] == "user_message_saved")
        .unwrap();
    let arguments = json!({ "message_id": saved["user_message_id"], "file_index": 0 }).to_string();
    Script::new().tool_call("call1", "retrieve_file", &arguments)
}

#[tokio::test]
async fn model_looks_at_a_file_again() {
    let (_folder, upstream, parlor) = start(|_, _| {}).await;
    let (file, events) = parlor.send_file("map.png", png(4, 3), "Look").await;
    let conversation = file["conversation_id"].as_str().unwrap();
    upstream.add_script(When::user_contains("once more"), retrieving_first_file(&events));
    upstream.add_script(
        When::tool_gave("map.png follows."),
        Script::new().text("I see it."),
    );
    let events = parlor.turn(Some(conversation), "Look once more").await;
    let end = events
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    assert_eq!(
        (end["status"].as_str(), &end["attachments"][0]["id"]),
        (Some("complete"), &file["id"])
    );
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nI see it."
    );
    let call = last_model_call(&upstream);
    let messages = call["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    assert_eq!(last["role"], "user");
    assert!(
        last["content"][0]["image_url"]["url"]
            .as_str()
            .unwrap()
            .starts_with("data:image/png;base64,")
    );
    // Not offered where there are no files.
    parlor.turn(None, "Hello").await;
    assert!(
        !last_model_call(&upstream)["tools"]
            .to_string()
            .contains("retrieve_file")
    );
}

#[tokio::test]
async fn blind_model_learns_that_no_image_follows() {
    let (_folder, upstream, parlor) = start(|settings, _| {
        let blind = CapabilitySettings {
            images: Some(false),
            ..CapabilitySettings::default()
        };
        settings.endpoints[0].capabilities = [("blind".into(), blind)].into();
    })
    .await;
    let (file, events) = parlor.send_file("map.png", png(4, 3), "Look").await;
    upstream.add_script(When::user_contains("once more"), retrieving_first_file(&events));
    let note = "(The file map.png is not shown to you: you do not see images.)";
    upstream.add_script(When::tool_gave(note), Script::new().text("I can't."));
    let turn = json!({
        "message": "Look once more", "conversation_id": file["conversation_id"], "model": "test/blind",
    });
    let events = parlor.chat(&turn).await.read_to_end().await;
    assert_eq!(
        events.last().unwrap()["payload"]["message"],
        "[[tool:0]]\n\nI can't."
    );
}

#[tokio::test]
async fn unsent_file_takes_no_room_of_the_history() {
    let (_folder, upstream, parlor) = start(|settings, _| {
        settings.files.model_bytes = 1000;
        settings.endpoints[0].context_window = Some(8192);
        let reader = CapabilitySettings {
            pdf: Some(true),
            ..CapabilitySettings::default()
        };
        settings.endpoints[0].capabilities = [("any".into(), reader)].into();
    })
    .await;
    // An image only, with more after its end.
    let scan = include_bytes!("../../fixtures/files/scan.pdf");
    let large = [&scan[..], &vec![b' '; 2 << 20]].concat();
    let (file, _) = parlor.send_file("large.pdf", large, "Read it").await;
    let conversation = file["conversation_id"].as_str().unwrap();
    parlor.turn(Some(conversation), "And now?").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(
        call.contains("(The file large.pdf is not shown to you: there is no room for it.)"),
        "{call}"
    );
}
