//! Images made by models: the tool `generate_image` and its providers, the images that they send ([`received`]), and
//! generations that break off ([`interrupted`]).

mod interrupted;
mod received;

use parlor_base::settings::{EndpointKind, ImageApiSetting, Settings};
use serde_json::{Value, json};
use upstream::{CapturedRequest, Script, Upstream, When};
use uuid::Uuid;

use super::{png, start};
use crate::support::{Parlor, last_model_call, set_kind, string_field};

/// Starts a server with an image model. A message with "draw" asks for an image of its rest.
async fn start_with_images(
    change: impl FnOnce(&mut Settings, &Upstream),
) -> (tempfile::TempDir, Upstream, Parlor) {
    let (folder, upstream, parlor) = start(|settings, upstream| {
        settings.images.model = Some("test/gpt-image-1".into());
        change(settings, upstream);
    })
    .await;
    add_drawing(&upstream, "draw", json!({ "prompt": "A red fox" }));
    upstream.add_script(When::tool_gave("Made by"), Script::new().text("Here it is."));
    (folder, upstream, parlor)
}

fn add_drawing(upstream: &Upstream, word: &str, arguments: Value) {
    let call = Script::new().tool_call("call1", "generate_image", arguments.to_string());
    upstream.add_script_times(1, When::user_contains(word), call);
}

fn complete_call(events: &[Value]) -> &Value {
    let found = events.iter().find(|event| event["type"] == "tool_complete");
    found.unwrap_or_else(|| panic!("no tool ended: {events:#?}"))
}

fn image_requests(upstream: &Upstream) -> Vec<CapturedRequest> {
    let is_one = |request: &CapturedRequest| {
        request.path.contains("/images/")
            || request.path.ends_with(":generateContent")
            || !request.body["modalities"].is_null()
    };
    upstream.requests().into_iter().filter(is_one).collect()
}

/// Returns the status and the content of a file.
pub(super) async fn content(parlor: &Parlor, file: &Value) -> (u16, Vec<u8>) {
    let path = format!("/api/files/{}", string_field(file, "id"));
    let response = parlor.get(&path).send().await.unwrap();
    let status = response.status().as_u16();
    (status, response.bytes().await.unwrap().into())
}

#[tokio::test]
async fn every_kind_of_provider_makes_images() {
    for (kind, api, path) in [
        (EndpointKind::OpenAi, None, "/v1/images/generations"),
        (EndpointKind::OpenAiResponses, None, "/v1/images/generations"),
        (
            EndpointKind::OpenAi,
            Some(ImageApiSetting::Chat),
            "/v1/chat/completions",
        ),
        (
            EndpointKind::Gemini,
            None,
            "/v1beta/models/gpt-image-1:generateContent",
        ),
    ] {
        let (_folder, upstream, parlor) = start_with_images(|settings, upstream| {
            set_kind(&mut settings.endpoints[0], kind, upstream);
            settings.images.api = api;
        })
        .await;
        let events = parlor.turn(None, "draw").await;
        let end = complete_call(&events);
        assert_eq!(
            (end["status"].as_str(), end["label"].as_str()),
            (Some("complete"), Some("Generated image")),
            "{kind:?}: {end}"
        );
        let file = &end["attachments"][0];
        assert_eq!(
            (
                &file["name"],
                &file["media_type"],
                &file["width"],
                &file["height"]
            ),
            (
                &json!("A red fox.png"),
                &json!("image/png"),
                &json!(1024),
                &json!(1024)
            )
        );
        let (status, shown) = content(&parlor, file).await;
        assert!(status == 200 && shown.starts_with(b"\x89PNG"), "{status}");
        let requests = image_requests(&upstream);
        assert_eq!(requests.len(), 1, "{kind:?}");
        assert_eq!(requests[0].path, path);
        assert!(requests[0].body.to_string().contains("A red fox"));
        // The model that called the tool sees it.
        let call = last_model_call(&upstream).to_string();
        assert!(
            call.contains("base64") || call.contains("inlineData"),
            "{kind:?}: {call:.9000}"
        );
        assert!(
            call.contains("The person is shown A red fox.png."),
            "{kind:?}: {call:.3000}"
        );
    }
}

#[tokio::test]
async fn earlier_image_is_edited() {
    let (_folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let events = parlor.turn(None, "draw").await;
    let conversation = string_field(&events[0], "conversation_id");
    let edit = json!({
        "prompt": "Make it blue", "history_image_message_id": events[0]["message_id"], "history_image_file_index": 0,
    });
    add_drawing(&upstream, "change", edit);
    let events = parlor.turn(Some(&conversation), "change").await;
    let end = complete_call(&events);
    assert_eq!(end["status"], "complete", "{end}");
    let request = image_requests(&upstream).pop().unwrap();
    assert_eq!(request.path, "/v1/images/edits");
    assert_eq!(request.body["prompt"], "Make it blue");
    assert!(
        request.body["image"]["bytes"].as_u64().unwrap() > 1000,
        "{}",
        request.body
    );
    // The history names what was made, with the ids of the files.
    parlor.turn(Some(&conversation), "Thanks").await;
    let call = last_model_call(&upstream).to_string();
    assert!(call.contains("generated 1 image"), "{call:.4000}");
    // The index of an unknown file is told to the model.
    let wrong = json!({ "prompt": "x", "history_image_message_id": Uuid::now_v7() });
    add_drawing(&upstream, "again", wrong);
    let events = parlor.turn(Some(&conversation), "again").await;
    let output = complete_call(&events)["output"].as_str().unwrap().to_owned();
    assert!(output.starts_with("There is no file"), "{output}");
}

#[tokio::test]
async fn uploaded_image_is_edited_in_its_shape() {
    let (_folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let (file, events) = parlor.send_file("map.png", png(300, 200), "Look").await;
    let saved = events
        .iter()
        .find(|event| event["type"] == "user_message_saved")
        .unwrap();
    let id = format!("{}:0", string_field(saved, "user_message_id"));
    add_drawing(
        &upstream,
        "change",
        json!({ "prompt": "Greener", "history_image_message_id": id }),
    );
    let conversation = file["conversation_id"].as_str();
    let events = parlor.turn(conversation, "change").await;
    let started = events
        .iter()
        .find(|event| event["type"] == "tool_progress")
        .unwrap();
    assert_eq!(started["data"], json!({ "width": 1536, "height": 1024 }));
    assert_eq!(complete_call(&events)["attachments"][0]["width"], 1536);
}

#[tokio::test]
async fn tool_is_offered_where_an_endpoint_can() {
    let offered = async |models: Value| {
        let (_folder, upstream, parlor) =
            start(|_, upstream| upstream.list_models(200, json!({ "data": models }))).await;
        parlor.turn(None, "Hello").await;
        last_model_call(&upstream)["tools"]
            .to_string()
            .contains("generate_image")
    };
    assert!(!offered(json!([{ "id": "any" }])).await);
    assert!(offered(json!([{ "id": "any" }, { "id": "dall-e-3" }])).await);
    assert!(offered(json!([{ "id": "any" }, { "id": "google/gemini-2.5-flash-image" }])).await);
}

#[tokio::test]
async fn unusable_image_model_of_the_settings_is_reported() {
    let (_folder, _upstream, parlor) = start(|settings, _| {
        settings.images.model = Some("nosuch/gpt-image-1".into());
    })
    .await;
    let (_, personal) = parlor.get_json("/rpc/personal").await;
    let reasons = personal["unavailable_tools"].to_string();
    assert!(
        reasons.contains("images.model names “nosuch/gpt-image-1”"),
        "{reasons}"
    );
}

#[tokio::test]
async fn refusal_is_told_in_words() {
    let (_folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let refusal = json!({ "error": {
        "message": "Your request was rejected by the safety system.", "code": "moderation_blocked",
    } });
    upstream.add_script(When::image_prompt("fox"), Script::new().status(400, refusal, &[]));
    upstream.add_script(When::tool_gave("refused"), Script::new().text("It was refused."));
    let events = parlor.turn(None, "draw").await;
    let end = complete_call(&events);
    assert_eq!(
        (end["status"].as_str(), end["label"].as_str()),
        (Some("failed"), Some("Generating image"))
    );
    let output = end["output"].as_str().unwrap();
    assert!(
        output.ends_with(
            "refused to make this image: Your request was rejected by the safety system. Describe it differently."
        ),
        "{output}"
    );
    assert!(end["attachments"].is_null());
    let shown = events.last().unwrap()["payload"]["message"].as_str().unwrap();
    assert!(shown.ends_with("It was refused."), "{shown}");
}

#[tokio::test]
async fn regenerated_image_is_another_one() {
    let (_folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let events = parlor.turn(None, "draw").await;
    let file = complete_call(&events)["attachments"][0].clone();
    // Another answer is another image.
    add_drawing(&upstream, "draw", json!({ "prompt": "A red fox" }));
    let run = parlor.regenerate(&events).await;
    let message = parlor.get_json(&format!("/api/messages/{run}")).await.1;
    let other = message.pointer("/message/nodes/0/parts/0/attachments/0").unwrap();
    assert_ne!(other["id"], file["id"]);
    let conversation = string_field(&events[0], "conversation_id");
    let deleted = parlor
        .client
        .delete(format!("{}/api/conversations/{conversation}", parlor.url))
        .send()
        .await
        .unwrap();
    assert!(deleted.status().is_success(), "{}", deleted.status());
    for file in [&file, other] {
        assert_eq!(content(&parlor, file).await.0, 404);
    }
}
