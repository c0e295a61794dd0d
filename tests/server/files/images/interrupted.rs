//! Generations that are stopped, or interrupted by the end of the server.

use serde_json::{Value, json};
use upstream::{Script, Upstream, When};

use super::{image_requests, start_with_images};
use crate::support::{EventStream, Parlor, TEST_TIMEOUT, model_calls, string_field};

/// Begins a turn, until the image API has the request and does not answer yet. Returns its stream and the call's start.
async fn begin_image(upstream: &Upstream, parlor: &Parlor) -> (EventStream, Value) {
    upstream.add_script(When::image_prompt("fox"), Script::new().gate("made"));
    let turn = json!({ "message": "draw", "model": "test/any" });
    let mut stream = parlor.chat(&turn).await;
    let started = stream.next_of_type("tool_start").await;
    tokio::time::timeout(TEST_TIMEOUT, upstream.wait_for_gate("made"))
        .await
        .unwrap();
    (stream, started)
}

#[tokio::test]
async fn stop_ends_the_request() {
    let (_folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let (stream, started) = begin_image(&upstream, &parlor).await;
    let stop = json!({ "message_id": started["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    let closed = tokio::time::timeout(TEST_TIMEOUT, upstream.wait_until_closed()).await;
    assert!(closed.is_ok(), "the image API still has the request");
    stream.read_to_end().await;
    let path = format!("/api/messages/{}", string_field(&started, "message_id"));
    let message = parlor.get_json(&path).await.1;
    let call = &message["message"]["nodes"][0]["parts"][0];
    assert_eq!(call["status"], "stopped", "{message}");
    assert!(call["attachments"].is_null());
}

#[tokio::test]
async fn interrupted_generation_is_not_repeated() {
    let (folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let (stream, started) = begin_image(&upstream, &parlor).await;
    parlor.stop().await;
    drop(stream);
    let parlor = Parlor::start_built_in(folder.path(), &upstream, |settings| {
        settings.images.model = Some("test/gpt-image-1".into());
    })
    .await;
    upstream.add_script(When::tool_gave("outcome"), Script::new().text("I don't know."));
    let events = parlor.continue_run(&[started]).await;
    assert_eq!(events.last().unwrap()["type"], "complete", "{events:?}");
    assert_eq!(image_requests(&upstream).len(), 1);
    let shown = model_calls(&upstream).pop().unwrap().to_string();
    assert!(shown.contains("outcome of this call is unknown"), "{shown:.3000}");
}
