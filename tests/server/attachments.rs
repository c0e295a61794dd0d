//! Files that tools give, over HTTP.

use bytes::Bytes;
use parlor::{
    protocol::{AttachmentId, UserId},
    storage::{Storage, sqlite::Sqlite},
    tools::{Call, NewAttachment, Registry, Tool, ToolError, ToolResult},
};
use serde_json::{Value, json};
use upstream::{Script, When};
use uuid::Uuid;

use crate::support::{Nothing, Parlor, with_tools};

const PNG: &[u8] = b"\x89PNG\r\n\x1a\nand so on";
const PAGE: &[u8] = b"<html><script>alert(1)</script>";

/// Gives these files.
struct Giver(Vec<NewAttachment>);

impl Tool for Giver {
    type Input = Nothing;

    const NAME: &'static str = "give";
    const DESCRIPTION: &'static str = "Gives files.";
    const LABEL: &'static str = "Giving";
    const DONE: &'static str = "Gave";

    async fn run(&self, _: Nothing, _: Call) -> Result<ToolResult, ToolError> {
        Ok(ToolResult {
            text: "Here they are.".into(),
            attachments: self.0.clone(),
            ..ToolResult::default()
        })
    }
}

fn file(name: &str, media_type: &str, data: &'static [u8]) -> NewAttachment {
    NewAttachment {
        media_type: media_type.into(),
        name: name.into(),
        data: Bytes::from_static(data),
    }
}

/// Has a tool give these files in a Parlor that keeps two of at most a hundred bytes: the end of the call.
async fn give(files: Vec<NewAttachment>) -> (tempfile::TempDir, Parlor, Value) {
    let tools = Registry::default().with(Giver(files));
    let (folder, upstream, parlor) = with_tools(tools, |settings| {
        settings.limits.attachment_bytes = 100;
        settings.limits.attachments = 2;
    })
    .await;
    upstream.script(When::any(), Script::new().tool_call("id0", "give", "{}"));
    upstream.script(When::tool_gave("Here they are."), Script::new().text("Done."));
    let events = parlor.turn(None, "Give").await;
    let end = events.iter().find(|event| event["type"] == "tool_complete");
    (folder, parlor, end.expect("an end").clone())
}

fn address(attachment: &Value) -> String {
    format!("/api/attachments/{}", attachment["id"].as_str().unwrap())
}

fn header<'a>(response: &'a reqwest::Response, name: &str) -> &'a str {
    response
        .headers()
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

#[tokio::test]
async fn an_image_is_named_in_its_call_and_can_be_looked_at() {
    let (_folder, parlor, end) = give(vec![file("map", "image/png", PNG)]).await;
    let [given] = &end["attachments"].as_array().unwrap()[..] else {
        panic!("one: {end}")
    };
    let mut expected = json!({ "name": "map.png", "media_type": "image/png", "bytes": PNG.len() });
    expected["id"] = given["id"].clone();
    assert_eq!(*given, expected);
    assert_eq!(end["output"], "Here they are.\n\n(The person is shown map.png.)");
    let path = format!("/api/messages/{}", end["message_id"].as_str().unwrap());
    let message = parlor.get_json(&path).await.1;
    assert_eq!(
        message["message"]["nodes"][0]["parts"][0]["attachments"],
        json!([expected])
    );

    let response = parlor.get(&address(given)).send().await.unwrap();
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
    assert_eq!(response.bytes().await.unwrap(), PNG);
    let again = parlor.get(&address(given)).header("if-none-match", tag).send();
    assert_eq!(again.await.unwrap().status(), 304);
    let part = parlor.get(&address(given)).header("range", "bytes=1-3");
    let part = part.send().await.unwrap();
    assert_eq!(
        (part.status().as_u16(), header(&part, "content-range")),
        (206, "bytes 1-3/17")
    );
    assert_eq!(part.bytes().await.unwrap(), "PNG");
}

#[tokio::test]
async fn what_is_not_what_it_is_said_to_be_is_only_saved() {
    for (media_type, name) in [
        ("image/png", "a__b"),
        ("text/html", "a__b.html"),
        ("image/svg+xml", "a__b.svg"),
        ("audio/mpeg", "a__b"),
    ] {
        let (_folder, parlor, end) = give(vec![file("a\"\nb", media_type, PAGE)]).await;
        let given = &end["attachments"][0];
        assert_eq!(given["name"], name, "{media_type}");
        let response = parlor.get(&address(given)).send().await.unwrap();
        assert_eq!(header(&response, "content-type"), "application/octet-stream");
        let disposition = format!("attachment; filename=\"{name}\"");
        assert_eq!(header(&response, "content-disposition"), disposition);
        assert!(header(&response, "content-security-policy").contains("sandbox"));
        assert_eq!(response.bytes().await.unwrap(), PAGE);
    }
}

#[tokio::test]
async fn what_is_too_large_or_too_many_is_not_kept_and_the_model_knows() {
    let large = file("large", "image/png", &[0; 101]);
    let small = || file("small", "image/png", PNG);
    let (_folder, _parlor, end) = give(vec![large, small(), small()]).await;
    assert_eq!(end["attachments"].as_array().unwrap().len(), 1, "{end}");
    let output = end["output"].as_str().unwrap();
    for told in [
        "large has 101 bytes and was not kept: 100 are the most (setting limits.attachment_bytes)",
        "The person is shown small.png.",
        "1 more files were not kept: 2 are the most (setting limits.attachments)",
    ] {
        assert!(output.contains(told), "{told}: {output}");
    }
}

#[tokio::test]
async fn nobody_else_has_it() {
    let (folder, parlor, end) = give(vec![file("map", "image/png", PNG)]).await;
    parlor.stop().await;
    let storage = Sqlite::open(folder.path()).await.unwrap();
    let id: AttachmentId = end["attachments"][0]["id"].as_str().unwrap().parse().unwrap();
    let found = async |user| storage.attachment(user, id).await.unwrap();
    assert!(found(UserId::LOCAL).await.is_some());
    assert_eq!(found(UserId(Uuid::from_u128(2))).await, None);
}

#[tokio::test]
async fn with_its_conversation_it_is_gone() {
    let (folder, parlor, end) = give(vec![file("map", "image/png", PNG)]).await;
    let status = async |path: &str| parlor.get(path).send().await.unwrap().status().as_u16();
    for unknown in [Uuid::now_v7().to_string(), "what".into(), "%27%20OR%201=1".into()] {
        assert_eq!(status(&format!("/api/attachments/{unknown}")).await, 404);
    }
    let path = address(&end["attachments"][0]);
    assert_eq!(status(&path).await, 200);
    let storage = Sqlite::open(folder.path()).await;
    assert!(storage.is_err(), "one process has it");
    let delete = json!({ "conversation_id": end["conversation_id"] });
    let deleted = parlor.post("/rpc/delete_conversation", &delete).send();
    assert_eq!(deleted.await.unwrap().status(), 200);
    assert_eq!(status(&path).await, 404);
    parlor.stop().await;
    let storage = Sqlite::open(folder.path()).await.unwrap();
    let id: AttachmentId = end["attachments"][0]["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(storage.attachment(UserId::LOCAL, id).await.unwrap(), None);
}
