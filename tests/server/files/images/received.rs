//! Images as providers send them: they are checked, limited and written again.

use base64::{Engine, prelude::BASE64_STANDARD};
use parlor_base::settings::Settings;
use serde_json::{Value, json};
use upstream::{Page, Script, When, picture};

use super::{complete_call, content, image_requests, start_with_images};
use crate::files::png;

#[tokio::test]
async fn urls_are_fetched_through_the_guard() {
    for is_allowed in [false, true] {
        let (_folder, upstream, parlor) = start_with_images(|settings, upstream| {
            if is_allowed {
                settings.tools.fetch_webpage.allowed_hosts = vec![upstream.address().to_string()];
            }
        })
        .await;
        upstream.add_page("/made.png", Page::bytes(png(30, 20)));
        let answer = json!({ "data": [{ "url": upstream.url_of("/made.png") }] });
        upstream.add_script(When::image_prompt("fox"), Script::new().status(200, answer, &[]));
        let events = parlor.turn(None, "draw").await;
        let end = complete_call(&events);
        match is_allowed {
            true => assert_eq!(end["attachments"][0]["width"], 30, "{end}"),
            false => {
                let output = end["output"].as_str().unwrap();
                assert!(output.contains("an address inside this network"), "{output}");
                assert!(
                    upstream
                        .requests()
                        .iter()
                        .all(|request| request.path != "/made.png")
                );
            }
        }
    }
}

#[tokio::test]
async fn hostile_images_are_not_kept() {
    let base64 = |data: &[u8]| json!({ "data": [{ "b64_json": BASE64_STANDARD.encode(data) }] });
    let page = b"<html><script>alert(1)</script></html>";
    for (answer, why) in [
        (base64(page), "can't be read"),
        (base64(&png(300, 300)[..200]), "can't be read"),
        (base64(&png(2000, 600)), "has too many pixels"),
        (base64(&vec![0; 200_000]), "more than 100000 bytes"),
        (json!({ "data": [{ "b64_json": "%%%" }] }), "can't be read"),
        (json!({ "data": [] }), "without an image"),
        (json!("Hello"), "not JSON"),
    ] {
        let (_folder, upstream, parlor) = start_with_images(|settings, _| {
            settings.files.max_pixels = 1_000_000;
            settings.images.max_bytes = 100_000;
        })
        .await;
        upstream.add_script(When::image_prompt("fox"), Script::new().status(200, answer, &[]));
        let events = parlor.turn(None, "draw").await;
        let end = complete_call(&events);
        assert_eq!(
            (end["status"].as_str(), &end["attachments"]),
            (Some("failed"), &Value::Null)
        );
        let output = end["output"].as_str().unwrap();
        assert!(output.contains(why), "{why}: {output}");
    }
}

#[tokio::test]
async fn metadata_of_an_image_are_removed() {
    let (_folder, upstream, parlor) = start_with_images(|_, _| {}).await;
    let mut marked = picture("x", 40, 20);
    // A text chunk behind the header, whose checksum readers ignore or check; its name says that they may.
    let chunk = [&b"tEXt"[..], b"Comment\0a secret prompt"].concat();
    let mut crc = flate2::Crc::new();
    crc.update(&chunk);
    let length = u32::try_from(chunk.len() - 4).unwrap().to_be_bytes();
    let text = [&length[..], &chunk, &crc.sum().to_be_bytes()].concat();
    marked.splice(33..33, text);
    let answer = json!({ "data": [{ "b64_json": BASE64_STANDARD.encode(&marked) }] });
    upstream.add_script(When::image_prompt("fox"), Script::new().status(200, answer, &[]));
    let events = parlor.turn(None, "draw").await;
    let file = &complete_call(&events)["attachments"][0];
    let (status, shown) = content(&parlor, file).await;
    assert_eq!((status, file["width"].as_u64()), (200, Some(40)), "{file}");
    assert!(!shown.windows(6).any(|bytes| bytes == b"secret"));
}

#[tokio::test]
async fn number_of_images_in_an_answer_is_limited() {
    let (_folder, upstream, parlor) = start_with_images(|settings, _| settings.images.max_count = 2).await;
    let call = |id: &str| (id.to_owned(), r#"{"prompt":"A red fox"}"#);
    let calls = ["a", "b", "c"].map(call).into_iter();
    let script = calls.fold(Script::new(), |script, (id, arguments)| {
        script.tool_call(id, "generate_image", arguments)
    });
    upstream.add_script_times(1, When::user_contains("three"), script);
    upstream.add_script(
        When::tool_gave("which is the maximum"),
        Script::new().text("Two."),
    );
    let events = parlor.turn(None, "three").await;
    let ends = events.iter().filter(|event| event["type"] == "tool_complete");
    let made = ends.filter(|end| end["status"] == "complete").count();
    assert_eq!((made, image_requests(&upstream).len()), (2, 2));
}

/// Returns an answer of the images API.
fn images_answer(images: &[&[u8]]) -> Value {
    let images = images
        .iter()
        .map(|data| json!({ "b64_json": BASE64_STANDARD.encode(data) }));
    json!({ "data": images.collect::<Vec<_>>(), "usage": { "input_tokens": 50, "output_tokens": 4160 } })
}

/// Draws with this answer of the images API. Returns the events.
async fn draw_with(answer: Value, change: impl FnOnce(&mut Settings)) -> Vec<Value> {
    let (_folder, upstream, parlor) = start_with_images(|settings, _| change(settings)).await;
    upstream.add_script(When::image_prompt("fox"), Script::new().status(200, answer, &[]));
    parlor.turn(None, "draw").await
}

#[tokio::test]
async fn damaged_second_image_leaves_the_first() {
    let answer = images_answer(&[&png(30, 20), &png(300, 300)[..200]]);
    let events = draw_with(answer, |_| {}).await;
    let end = complete_call(&events);
    assert_eq!(end["status"], "complete", "{end}");
    assert_eq!(end["attachments"].as_array().map(Vec::len), Some(1), "{end}");
    let output = end["output"].as_str().unwrap();
    assert!(output.contains("can't be read, and was not kept"), "{output}");
}

#[tokio::test]
async fn additional_images_count_too() {
    let answer = images_answer(&[&png(30, 20), &png(40, 20)]);
    let events = draw_with(answer, |settings| settings.images.max_count = 1).await;
    let end = complete_call(&events);
    let images = end["attachments"].as_array().unwrap();
    assert_eq!((images.len(), &images[0]["width"]), (1, &json!(30)), "{end}");
    let output = end["output"].as_str().unwrap();
    assert!(output.contains("sent 1 more, which were not kept"), "{output}");
}

#[tokio::test]
async fn image_may_be_larger_than_other_files() {
    let data = png(300, 300);
    let limit = data.len() - 1;
    let events = draw_with(images_answer(&[&data]), |settings| {
        settings.limits.attachment_bytes = limit;
    })
    .await;
    assert_eq!(
        complete_call(&events)["attachments"][0]["width"],
        300,
        "{events:#?}"
    );
}

#[tokio::test]
async fn lost_image_fails_and_costs() {
    let broken = png(300, 300)[..200].to_vec();
    for answer in [images_answer(&[&broken]), images_answer(&[])] {
        let events = draw_with(answer, |_| {}).await;
        assert_eq!(complete_call(&events)["status"], "failed");
        let usage = events.iter().rfind(|event| event["type"] == "usage").unwrap();
        let images = usage["totals"]["image_output_tokens"].as_u64();
        assert_eq!(images, Some(4160), "{usage}");
    }
}
