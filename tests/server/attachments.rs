//! Files of tools, over HTTP.

use bytes::Bytes;
use parlor_protocol::{AttachmentId, UserId};
use parlor_storage::{Storage, sqlite::SqliteStorage};
use parlor_tools::{NewAttachment, Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use serde_json::{Value, json};
use upstream::{Script, When};
use uuid::Uuid;

use crate::support::{Nothing, Parlor, parlor_with_tools};

pub const PNG_DATA: &[u8] = b"\x89PNG\r\n\x1a\nand so on";
const HTML_DATA: &[u8] = b"<html><script>alert(1)</script>";

/// A tool that returns these files.
pub struct FileTool(pub Vec<NewAttachment>);

impl Tool for FileTool {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("give");
    const DESCRIPTION: &'static str = "Gives files.";
    const LABEL: &'static str = "Giving";
    const DONE: &'static str = "Gave";

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok(ToolResult {
            text: "Here they are.".into(),
            attachments: self.0.clone(),
            ..ToolResult::default()
        })
    }
}

pub fn new_attachment(name: &str, media_type: &str, data: &'static [u8]) -> NewAttachment {
    NewAttachment {
        media_type: media_type.into(),
        name: name.into(),
        data: Bytes::from_static(data),
    }
}

/// Runs a tool that returns these files, in a Parlor that stores two of at most a hundred bytes. Returns the
/// event of the call's end.
async fn produce_files(files: Vec<NewAttachment>) -> (tempfile::TempDir, Parlor, Value) {
    let tools = ToolRegistry::default().with_tool(FileTool(files));
    let (folder, upstream, parlor) = parlor_with_tools(tools, |settings| {
        settings.limits.attachment_bytes = 100;
        settings.limits.attachments = 2;
    })
    .await;
    upstream.add_script(When::any(), Script::new().tool_call("id0", "give", "{}"));
    upstream.add_script(When::tool_gave("Here they are."), Script::new().text("Done."));
    let events = parlor.turn(None, "Give").await;
    let end = events.iter().find(|event| event["type"] == "tool_complete");
    (folder, parlor, end.expect("an end").clone())
}

fn attachment_path(attachment: &Value) -> String {
    format!("/api/attachments/{}", attachment["id"].as_str().unwrap())
}

fn header<'a>(response: &'a reqwest::Response, name: &str) -> &'a str {
    response
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn image_is_listed_and_served() {
    let (_folder, parlor, end) = produce_files(vec![new_attachment("map", "image/png", PNG_DATA)]).await;
    let [given] = &end["attachments"].as_array().unwrap()[..] else {
        panic!("one: {end}")
    };
    let mut expected = json!({ "name": "map.png", "media_type": "image/png", "bytes": PNG_DATA.len() });
    expected["id"] = given["id"].clone();
    assert_eq!(*given, expected);
    assert_eq!(end["output"], "Here they are.\n\n(The person is shown map.png.)");
    let path = format!("/api/messages/{}", end["message_id"].as_str().unwrap());
    let message = parlor.get_json(&path).await.1;
    assert_eq!(
        message["message"]["nodes"][0]["parts"][0]["attachments"],
        json!([expected])
    );

    let response = parlor.get(&attachment_path(given)).send().await.unwrap();
    let headers = [
        ("content-type", "image/png"),
        ("content-disposition", "inline; filename=\"map.png\""),
        ("x-content-type-options", "nosniff"),
        ("cache-control", "private, max-age=31536000, immutable"),
        (
            "content-security-policy",
            "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'",
        ),
    ];
    for (name, value) in headers {
        assert_eq!(header(&response, name), value, "{name}");
    }
    let tag = header(&response, "etag").to_owned();
    assert_eq!(response.bytes().await.unwrap(), PNG_DATA);
    let again = parlor
        .get(&attachment_path(given))
        .header("if-none-match", tag)
        .send();
    assert_eq!(again.await.unwrap().status(), 304);
    let part = parlor.get(&attachment_path(given)).header("range", "bytes=1-3");
    let part = part.send().await.unwrap();
    assert_eq!(
        (part.status().as_u16(), header(&part, "content-range")),
        (206, "bytes 1-3/17")
    );
    assert_eq!(part.bytes().await.unwrap(), "PNG");
    let outside = parlor.get(&attachment_path(given)).header("range", "bytes=17-");
    let outside = outside.send().await.unwrap();
    assert_eq!(
        (outside.status().as_u16(), header(&outside, "content-range")),
        (416, "bytes */17")
    );
    let other_version = parlor.get(&attachment_path(given)).header("range", "bytes=1-3");
    let other_version = other_version
        .header("if-range", "\"another\"")
        .send()
        .await
        .unwrap();
    assert_eq!(other_version.status(), 200, "the whole of what is there now");
}

#[tokio::test]
async fn mistyped_file_is_served_as_download() {
    for (media_type, name) in [
        ("image/png", "a__b"),
        ("text/html", "a__b.html"),
        ("image/svg+xml", "a__b.svg"),
        ("audio/mpeg", "a__b"),
    ] {
        let (_folder, parlor, end) =
            produce_files(vec![new_attachment("a\"\nb", media_type, HTML_DATA)]).await;
        let given = &end["attachments"][0];
        assert_eq!(given["name"], name, "{media_type}");
        let response = parlor.get(&attachment_path(given)).send().await.unwrap();
        assert_eq!(header(&response, "content-type"), "application/octet-stream");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(header(&response, "content-disposition"), disposition);
        assert!(header(&response, "content-security-policy").contains("sandbox"));
        assert_eq!(response.bytes().await.unwrap(), HTML_DATA);
    }
}

#[tokio::test]
async fn drops_excess_files_and_tells_the_model() {
    let large = new_attachment("large", "image/png", &[0; 101]);
    let small = || new_attachment("small", "image/png", PNG_DATA);
    let (_folder, _parlor, end) = produce_files(vec![large, small(), small()]).await;
    assert_eq!(end["attachments"].as_array().unwrap().len(), 1, "{end}");
    let output = end["output"].as_str().unwrap();
    for told in [
        "large has 101 bytes and was not kept: at most 100 are allowed (setting limits.attachment_bytes)",
        "The person is shown small.png.",
        "1 more files were not kept: at most 2 are allowed (setting limits.attachments)",
    ] {
        assert!(output.contains(told), "{told}: {output}");
    }
}

#[tokio::test]
async fn attachment_is_private() {
    let (folder, parlor, end) = produce_files(vec![new_attachment("map", "image/png", PNG_DATA)]).await;
    parlor.stop().await;
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let id: AttachmentId = end["attachments"][0]["id"].as_str().unwrap().parse().unwrap();
    let found = async |user| storage.file(user, id).await.unwrap();
    assert!(found(UserId::LOCAL).await.is_some());
    assert_eq!(found(UserId(Uuid::from_u128(2))).await, None);
}

#[tokio::test]
async fn deleted_with_its_conversation() {
    let (folder, parlor, end) = produce_files(vec![new_attachment("map", "image/png", PNG_DATA)]).await;
    let status = async |path: &str| parlor.get(path).send().await.unwrap().status().as_u16();
    for unknown in [Uuid::now_v7().to_string(), "what".into(), "%27%20OR%201=1".into()] {
        assert_eq!(status(&format!("/api/attachments/{unknown}")).await, 404);
    }
    let path = attachment_path(&end["attachments"][0]);
    assert_eq!(status(&path).await, 200);
    let storage = SqliteStorage::open(folder.path()).await;
    assert!(storage.is_err(), "another process holds the lock");
    let delete = json!({ "conversation_id": end["conversation_id"] });
    let deleted = parlor.post("/rpc/delete_conversation", &delete).send();
    assert_eq!(deleted.await.unwrap().status(), 200);
    assert_eq!(status(&path).await, 404);
    parlor.stop().await;
    let storage = SqliteStorage::open(folder.path()).await.unwrap();
    let id: AttachmentId = end["attachments"][0]["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(storage.file(UserId::LOCAL, id).await.unwrap(), None);
}
