//! Charts of Plotly: kept as files of their calls, with the script that draws them and the picture that the page makes.

use std::{fs, path::Path, time::Duration};

use image::{DynamicImage, ImageFormat};
use reqwest::Response;
use serde_json::{Value, json};
use tokio::time::timeout;
use upstream::{Script, Upstream};

use super::conversations::{ask, output, start_in};
use crate::{
    files::png,
    sharing::Share,
    support::{Parlor, TEST_TIMEOUT, last_model_call, parlor_answering, string_field},
};

const CHART: &str =
    "import plotly.express as px\nfigure = px.bar(x=['a', 'b'], y=[1, 2], title='Rates')\nfigure";

/// Draws a chart. Returns the conversation and the id of the file.
async fn draw(parlor: &Parlor, upstream: &Upstream) -> (String, String) {
    let events = ask(parlor, upstream, None, CHART).await;
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    let id = string_field(&ended.unwrap()["attachments"][0], "id");
    (string_field(&events[0], "conversation_id"), id)
}

async fn get_picture(parlor: &Parlor, id: &str) -> Response {
    let path = format!("/rpc/files/{id}/picture");
    parlor.get(&path).send().await.unwrap()
}

async fn post_picture(parlor: &Parlor, id: &str, picture: Vec<u8>) -> u16 {
    let url = format!("{}/rpc/files/{id}/picture", parlor.url);
    let request = parlor.client.post(url).body(picture);
    let request = request.header("content-type", "application/octet-stream");
    request.send().await.unwrap().status().as_u16()
}

fn header<'a>(response: &'a Response, name: &str) -> &'a str {
    response.headers()[name].to_str().unwrap()
}

/// Returns the number of files below a folder.
fn count_files(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(|path| if path.is_dir() { count_files(&path) } else { 1 })
        .sum()
}

#[tokio::test]
async fn chart_is_a_file_of_its_call() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    // Plotly needs the version of nbformat only, which is not installed.
    let again = format!("import nbformat\nassert not hasattr(nbformat, 'v4')\n{CHART}.show()\nfigure");
    let events = ask(&parlor, &upstream, None, &again).await;
    let text = output(&events);
    let line = "[The person sees an interactive chart: “Rates” (bar).]";
    assert!(text.starts_with(&format!("{line}\n\n{line}")), "{text}");
    let ended = events.iter().find(|event| event["type"] == "tool_complete");
    let files = ended.unwrap()["attachments"].as_array().unwrap();
    let shown: Vec<_> = files
        .iter()
        .map(|file| (file["name"].clone(), file["media_type"].clone()))
        .collect();
    let chart = |name: &str| (json!(name), json!("application/vnd.plotly.v1+json"));
    assert_eq!(shown, [chart("chart-1.json"), chart("chart-2.json")]);
    let path = format!("/api/files/{}", string_field(&files[0], "id"));
    let response = parlor.get(&path).send().await.unwrap();
    assert_eq!(header(&response, "content-type"), "application/octet-stream");
    let chart: Value = response.json().await.unwrap();
    assert_eq!(chart["data"][0]["type"], "bar");
}

#[tokio::test]
async fn script_of_the_package_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let response = parlor.get("/charts/plotly.js").send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(
        header(&response, "content-type"),
        "text/javascript; charset=utf-8"
    );
    assert_eq!(header(&response, "cache-control"), "private, no-cache");
    let tag = header(&response, "etag").to_owned();
    let script = response.text().await.unwrap();
    assert!(script.contains("plotly.js v"), "{script:.200}");
    let again = parlor.get("/charts/plotly.js").header("if-none-match", tag);
    assert_eq!(again.send().await.unwrap().status(), 304);

    let (_folder, _upstream, without) = parlor_answering(Script::new()).await;
    let missing = without.get("/charts/plotly.js").send().await.unwrap();
    assert_eq!(missing.status(), 404);
    assert!(missing.text().await.unwrap().contains("no package Plotly"));
}

#[tokio::test]
async fn picture_is_stored_once_and_deleted_with_chart() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let (conversation, id) = draw(&parlor, &upstream).await;
    let placeholder = get_picture(&parlor, &id).await;
    assert_eq!(header(&placeholder, "content-type"), "image/svg+xml");
    assert_eq!(header(&placeholder, "cache-control"), "no-store");
    assert!(
        placeholder
            .text()
            .await
            .unwrap()
            .contains("has not been drawn yet")
    );

    let mut jpeg = std::io::Cursor::new(Vec::new());
    DynamicImage::new_rgb8(8, 8)
        .write_to(&mut jpeg, ImageFormat::Jpeg)
        .unwrap();
    for (picture, status) in [
        (b"<svg onload='a()'>".to_vec(), 400),
        (jpeg.into_inner(), 400),
        (png(8, 8)[..40].to_vec(), 400),
        (Vec::new(), 400),
        (vec![0; (4 << 20) + 1], 413),
    ] {
        assert_eq!(post_picture(&parlor, &id, picture).await, status);
    }
    let (_, other) = parlor.upload("a.csv", None, "a,b\n1,2\n").await;
    let other = string_field(&other, "id");
    assert_eq!(post_picture(&parlor, &other, png(8, 8)).await, 400);
    assert_eq!(get_picture(&parlor, &other).await.status(), 400);
    assert_eq!(
        header(&get_picture(&parlor, &id).await, "content-type"),
        "image/svg+xml"
    );

    // What follows its data in the file is not kept.
    let with_more = [png(16, 9), b"more".to_vec()].concat();
    assert_eq!(post_picture(&parlor, &id, with_more).await, 204);
    assert_eq!(post_picture(&parlor, &id, png(8, 8)).await, 204);
    let stored = get_picture(&parlor, &id).await;
    assert_eq!(header(&stored, "content-type"), "image/png");
    let stored = stored.bytes().await.unwrap();
    assert!(!stored.ends_with(b"more"));
    let decoded = image::load_from_memory(&stored).unwrap();
    assert_eq!((decoded.width(), decoded.height()), (16, 9));

    let files = folder.path().join("files");
    let before = count_files(&files);
    let deleted = parlor
        .client
        .delete(format!("{}/api/conversations/{conversation}", parlor.url));
    assert_eq!(deleted.send().await.unwrap().status(), 204);
    assert_eq!(get_picture(&parlor, &id).await.status(), 404);
    let gone = async {
        while count_files(&files) > before - 2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(TEST_TIMEOUT, gone).await.expect("its files are deleted");
}

#[tokio::test]
async fn drawn_chart_is_shown_to_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let (conversation, id) = draw(&parlor, &upstream).await;
    let sees_picture = async || {
        parlor.turn(Some(&conversation), "And now?").await;
        last_model_call(&upstream)["messages"]
            .to_string()
            .contains("data:image/png;base64,")
    };
    assert!(!sees_picture().await, "no page has drawn it yet");
    assert_eq!(post_picture(&parlor, &id, png(8, 8)).await, 204);
    assert!(sees_picture().await);
}

#[tokio::test]
async fn readers_of_a_share_see_the_picture() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let parlor = start_in(folder.path(), &upstream, |_| {}).await;
    let (conversation, id) = draw(&parlor, &upstream).await;
    assert_eq!(post_picture(&parlor, &id, png(16, 9)).await, 204);
    let share = Share::create(&parlor, &conversation, None, false).await;
    let reader = reqwest::Client::new();
    let url = format!("{}{}/files/{id}/picture", parlor.url, share.path);
    let shared = reader.get(&url).send().await.unwrap();
    assert_eq!(header(&shared, "content-type"), "image/png");
    let decoded = image::load_from_memory(&shared.bytes().await.unwrap()).unwrap();
    assert_eq!((decoded.width(), decoded.height()), (16, 9));
    // Only its owner may draw it.
    let drawn = reader.post(&url).body(png(8, 8)).send().await.unwrap();
    assert_eq!(drawn.status(), 405);
    share.end(&parlor).await;
    assert_eq!(reader.get(&url).send().await.unwrap().status(), 404);
}
