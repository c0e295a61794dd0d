//! Files of the user over HTTP: upload, limits, contents, and what models get of them.

use std::{io::Cursor, path::Path};

use image::{DynamicImage, ImageFormat};
use parlor::{
    settings::{CapabilitySettings, EndpointKind, Settings},
    tools::ToolRegistry,
};
use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{ConnectOptions, Executor, sqlite::SqliteConnectOptions};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, last_model_call, read_json, set_kind};

fn png(width: u32, height: u32) -> Vec<u8> {
    let mut png = Vec::new();
    DynamicImage::new_rgb8(width, height)
        .write_to(&mut Cursor::new(&mut png), ImageFormat::Png)
        .unwrap();
    png
}

/// Starts a server whose model answers everything with "Seen.", with the tools that Parlor includes.
async fn start(change: impl FnOnce(&mut Settings, &Upstream)) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let parlor =
        Parlor::start_built_in(folder.path(), &upstream, |settings| change(settings, &upstream)).await;
    (folder, upstream, parlor)
}

impl Parlor {
    /// Uploads a file. Returns the status and the response.
    async fn upload(
        &self,
        name: &str,
        conversation: Option<Uuid>,
        data: impl Into<reqwest::Body>,
    ) -> (u16, Value) {
        let mut url = format!("{}/api/files?name={name}", self.url);
        if let Some(id) = conversation {
            url.push_str(&format!("&conversation_id={id}"));
        }
        let response = self.client.post(url).body(data).send().await.unwrap();
        (response.status().as_u16(), read_json(response).await)
    }

    /// Uploads a file and sends it with a message. Returns the upload and the events of the turn.
    async fn send_file(&self, name: &str, data: Vec<u8>, text: &str) -> (Value, Vec<Value>) {
        let (status, file) = self.upload(name, None, data).await;
        assert_eq!(status, 201, "{file}");
        let turn = json!({
            "message": text, "files": [file["id"]], "conversation_id": file["conversation_id"], "model": "test/any",
        });
        let events = self.chat(&turn).await.read_to_end().await;
        (file, events)
    }

    /// Sends a message and returns its rejection.
    async fn rejection(&self, turn: &Value) -> (u16, Value) {
        let response = self.post("/api/chat/stream", turn).send().await.unwrap();
        (response.status().as_u16(), read_json(response).await)
    }
}

fn stored_names(data: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![data.join("files")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => names.push(entry.file_name().into_string().unwrap()),
            }
        }
    }
    names.sort();
    names
}

async fn wait_for_names(data: &Path, count: usize) {
    let wait = async {
        while stored_names(data).len() != count {
            tokio::task::yield_now().await;
        }
    };
    let waited = tokio::time::timeout(crate::support::TEST_TIMEOUT, wait).await;
    assert!(waited.is_ok(), "{:?}", stored_names(data));
}

#[tokio::test]
async fn upload_is_typed_stored_and_served() {
    let (folder, _upstream, parlor) = start(|_, _| {}).await;
    let data = png(4, 3);
    // The content decides, not the name.
    let (status, file) = parlor.upload("../a%20b.txt", None, data.clone()).await;
    assert_eq!(status, 201);
    let mut expected = json!({
        "name": "a b.txt", "media_type": "image/png", "bytes": data.len(), "width": 4, "height": 3,
    });
    expected["id"] = file["id"].clone();
    expected["conversation_id"] = file["conversation_id"].clone();
    assert_eq!(file, expected);
    assert_eq!(
        stored_names(folder.path()).len(),
        2,
        "the original and the form for models"
    );
    let path = format!("/api/files/{}", file["id"].as_str().unwrap());
    for path in [path.clone(), path.replace("files", "attachments")] {
        let response = parlor.get(&path).send().await.unwrap();
        let headers = response.headers();
        assert_eq!(headers["content-type"], "image/png");
        assert_eq!(headers["content-disposition"], "inline; filename=\"a b.txt\"");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        assert!(
            headers["content-security-policy"]
                .to_str()
                .unwrap()
                .contains("sandbox")
        );
        assert_eq!(response.bytes().await.unwrap(), data);
    }
    let part = parlor
        .get(&path)
        .header("range", "bytes=1-3")
        .send()
        .await
        .unwrap();
    let range = format!("bytes 1-3/{}", data.len());
    assert_eq!(
        (part.status(), part.headers()["content-range"].to_str().unwrap()),
        (StatusCode::PARTIAL_CONTENT, &*range)
    );
    assert_eq!(part.bytes().await.unwrap(), "PNG");
    let deleted = parlor
        .client
        .delete(format!("{}{path}", parlor.url))
        .send()
        .await
        .unwrap();
    assert_eq!(deleted.status(), 204);
    assert_eq!(parlor.get(&path).send().await.unwrap().status(), 404);
    wait_for_names(folder.path(), 0).await;
}

#[tokio::test]
async fn rejected_uploads_leave_nothing() {
    let (folder, _upstream, parlor) = start(|settings, _| {
        settings.files.max_bytes = 5000;
        settings.files.max_pixels = 100;
    })
    .await;
    let chunks = std::iter::repeat_n(Ok::<_, std::convert::Infallible>(vec![b'x'; 1000]), 6);
    let unsized_body = reqwest::Body::wrap_stream(futures::stream::iter(chunks));
    for (name, data, status, code) in [
        ("long.txt", vec![b'x'; 5001].into(), 413, "too_large"),
        ("chunks.txt", unsized_body, 413, "too_large"),
        ("bomb.png", png(101, 1).into(), 413, "too_large"),
        (
            "cut.png",
            png(9, 9)[..40].to_vec().into(),
            415,
            "unsupported_media_type",
        ),
        (
            "a.txt",
            b"PK\x03\x04 and so on".to_vec().into(),
            415,
            "unsupported_media_type",
        ),
        ("a.txt", b"a\0b".to_vec().into(), 415, "unsupported_media_type"),
        ("empty.txt", Vec::new().into(), 400, "bad_request"),
    ] {
        let body: reqwest::Body = data;
        let (found, problem) = parlor.upload(name, None, body).await;
        assert_eq!((found, problem["code"].as_str()), (status, Some(code)), "{name}");
    }
    wait_for_names(folder.path(), 0).await;
}

#[tokio::test]
async fn page_uploads_need_their_content_type() {
    let (_folder, _upstream, parlor) = start(|settings, _| settings.limits.request_bytes = 100).await;
    let upload = |content_type: &'static str| {
        let url = format!("{}/rpc/files?name=a.txt", parlor.url);
        let request = parlor.client.post(url).header("content-type", content_type);
        request.body(vec![b'x'; 1000]).send()
    };
    assert_eq!(upload("application/octet-stream").await.unwrap().status(), 201);
    for simple in [
        "text/plain",
        "multipart/form-data",
        "application/x-www-form-urlencoded",
    ] {
        assert_eq!(upload(simple).await.unwrap().status(), 415, "{simple}");
    }
}

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
    let base64 = |data: &[u8]| {
        use base64::{Engine, prelude::BASE64_STANDARD};
        BASE64_STANDARD.encode(data)
    };
    assert!(call.contains("data:image/jpeg;base64,") && !call.contains(&base64(&photo)));
    let sent = call.split("base64,").nth(1).unwrap().split('"').next().unwrap();
    use base64::{Engine, prelude::BASE64_STANDARD};
    let sent = BASE64_STANDARD.decode(sent).unwrap();
    assert!(!sent.windows(3).any(|bytes| bytes == b"GPS"));
    // The user still has the original.
    let own = parlor.get(&format!("/api/files/{}", file["id"].as_str().unwrap()));
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
    assert!(crate::support::raw_model_calls(&upstream).is_empty());
    let sent = parlor
        .chat(&turn(json!([id]), conversation, "test/seeing"))
        .await
        .read_to_end()
        .await;
    assert_eq!(sent.last().unwrap()["type"], "complete");
}

#[tokio::test]
async fn deleted_conversation_takes_its_files() {
    let (folder, _upstream, parlor) = start(|_, _| {}).await;
    let (file, _) = parlor.send_file("map.png", png(4, 3), "Look").await;
    let (_, kept) = parlor.upload("kept.txt", None, "Hello").await;
    let id = file["conversation_id"].as_str().unwrap();
    let deletion = parlor
        .client
        .delete(format!("{}/api/conversations/{id}", parlor.url));
    assert_eq!(deletion.send().await.unwrap().status(), 204);
    wait_for_names(folder.path(), 1).await;
    let path = |file: &Value| format!("/api/files/{}", file["id"].as_str().unwrap());
    assert_eq!(parlor.get(&path(&file)).send().await.unwrap().status(), 404);
    assert_eq!(parlor.get(&path(&kept)).send().await.unwrap().status(), 200);
}

#[tokio::test]
async fn orphans_are_deleted_at_the_start() {
    let (folder, upstream, parlor) = start(|_, _| {}).await;
    parlor.upload("kept.txt", None, "Hello").await;
    parlor.stop().await;
    let kept = stored_names(folder.path());
    let orphan = folder.path().join("files").join(Uuid::now_v7().to_string());
    let orphan = orphan.join(Uuid::now_v7().to_string());
    std::fs::create_dir_all(&orphan).unwrap();
    std::fs::write(orphan.join(Uuid::new_v4().to_string()), "orphan").unwrap();
    let parlor = Parlor::start(folder.path(), &upstream).await;
    assert_eq!(stored_names(folder.path()), kept);
    parlor.stop().await;
}

#[tokio::test]
async fn model_looks_at_a_file_again() {
    let (_folder, upstream, parlor) = start(|_, _| {}).await;
    let (file, events) = parlor.send_file("map.png", png(4, 3), "Look").await;
    let conversation = file["conversation_id"].as_str().unwrap();
    let saved = events
        .iter()
        .find(|event| event["type"] == "user_message_saved")
        .unwrap();
    let arguments = json!({ "message_id": saved["user_message_id"], "file_index": 0 }).to_string();
    upstream.add_script(
        When::user_contains("once more"),
        Script::new().tool_call("call1", "retrieve_file", &arguments),
    );
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
    let saved = events
        .iter()
        .find(|event| event["type"] == "user_message_saved")
        .unwrap();
    let arguments = json!({ "message_id": saved["user_message_id"], "file_index": 0 }).to_string();
    upstream.add_script(
        When::user_contains("once more"),
        Script::new().tool_call("call1", "retrieve_file", &arguments),
    );
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
    let large = [b"%PDF-1.7\n".to_vec(), vec![b' '; 2 << 20]].concat();
    let (file, _) = parlor.send_file("large.pdf", large, "Read it").await;
    let conversation = file["conversation_id"].as_str().unwrap();
    parlor.turn(Some(conversation), "And now?").await;
    let call = last_model_call(&upstream)["messages"].to_string();
    assert!(
        call.contains("(The file large.pdf is not shown to you: there is no room for it.)"),
        "{call}"
    );
}

#[tokio::test]
async fn tool_files_move_out_of_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Seen."));
    let parlor = Parlor::start_with_tools(folder.path(), &upstream, ToolRegistry::default(), |_| {}).await;
    let events = parlor.turn(None, "Hello").await;
    parlor.stop().await;
    let (conversation, run) = (
        events[0]["conversation_id"].as_str().unwrap(),
        events[0]["message_id"].as_str().unwrap(),
    );
    let id = Uuid::now_v7();
    // As the release before stored them.
    let options = SqliteConnectOptions::new().filename(folder.path().join("parlor.db"));
    let mut database = options.connect().await.unwrap();
    let insert = format!(
        "INSERT INTO attachments VALUES ('{id}', '00000000-0000-0000-0000-000000000001', '{conversation}', '{run}', 'a.txt', \
         'text/plain', CAST('content' AS BLOB), 1)"
    );
    database.execute(sqlx::AssertSqlSafe(insert)).await.unwrap();
    drop(database);
    for _ in 0..2 {
        let parlor = Parlor::start(folder.path(), &upstream).await;
        let response = parlor
            .get(&format!("/api/attachments/{id}"))
            .send()
            .await
            .unwrap();
        assert_eq!(response.bytes().await.unwrap(), "content");
        parlor.stop().await;
    }
    let mut database = SqliteConnectOptions::new()
        .filename(folder.path().join("parlor.db"))
        .connect()
        .await
        .unwrap();
    let left: i64 = sqlx::query_scalar("SELECT count(*) FROM attachments")
        .fetch_one(&mut database)
        .await
        .unwrap();
    assert_eq!((left, stored_names(folder.path()).len()), (0, 1));
}
