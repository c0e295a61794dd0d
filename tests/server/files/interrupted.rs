//! Files whose storing is interrupted: nothing of them stays, and nothing waits for them.

use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use parlor_base::settings::Settings;
use parlor_tools::ToolRegistry;
use serde_json::json;
use tokio::time::timeout;
use upstream::{Script, When, picture};

use super::stored::wait_for_names;
use crate::{
    attachments::{FileTool, PNG_DATA, new_attachment},
    support::{EventStream, Parlor, TEST_TIMEOUT, parlor_with_tools, string_field},
};

/// A reader of files that never ends.
struct EndlessReader(tempfile::TempDir);

impl EndlessReader {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("reader.sh");
        let mark = folder.path().join("reading");
        let script = format!("#!/bin/sh\n: > '{}'\nexec sleep 600\n", mark.display());
        std::fs::write(&program, script).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        Self(folder)
    }

    fn use_in(&self, settings: &mut Settings) {
        settings.files.reader = Some(self.path("reader.sh").into());
        settings.files.reader_timeout = Duration::from_secs(600);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Waits until it reads a file.
    async fn wait_until_reading(&self) {
        let wait = async {
            while !self.path("reading").exists() {
                tokio::task::yield_now().await;
            }
        };
        timeout(TEST_TIMEOUT, wait).await.expect("it reads a file");
    }
}

/// Begins a turn whose tool has made an image, until the image is read.
async fn begin_storing(reader: &EndlessReader) -> (tempfile::TempDir, Parlor, EventStream) {
    let tools =
        ToolRegistry::default().with_tool(FileTool(vec![new_attachment("map", "image/png", PNG_DATA)]));
    let (folder, upstream, parlor) = parlor_with_tools(tools, |settings| reader.use_in(settings)).await;
    upstream.add_script(When::any(), Script::new().tool_call("id0", "give", "{}"));
    let stream = parlor
        .chat(&json!({ "message": "Give", "model": "test/any" }))
        .await;
    reader.wait_until_reading().await;
    // The original, and its form for models.
    wait_for_names(folder.path(), 2).await;
    (folder, parlor, stream)
}

async fn expect_nothing(data: &Path) {
    wait_for_names(data, 0).await;
}

#[tokio::test]
async fn stopped_tool_leaves_no_file() {
    let reader = EndlessReader::new();
    let (folder, parlor, mut stream) = begin_storing(&reader).await;
    let started = stream.next_of_type("tool_start").await;
    let stop = json!({ "message_id": started["message_id"] });
    let stopped = parlor.post("/rpc/stop_run", &stop).send().await.unwrap();
    assert_eq!(stopped.text().await.unwrap(), "\"stopped\"");
    expect_nothing(folder.path()).await;
}

#[tokio::test]
async fn deleted_conversation_leaves_no_unfinished_file() {
    let reader = EndlessReader::new();
    let (folder, parlor, mut stream) = begin_storing(&reader).await;
    let started = stream.next_of_type("tool_start").await;
    let id = string_field(&started, "conversation_id");
    let url = format!("{}/api/conversations/{id}", parlor.url);
    let deleted = parlor.client.delete(url).send().await.unwrap();
    assert_eq!(deleted.status(), 204);
    expect_nothing(folder.path()).await;
}

#[tokio::test]
async fn shutdown_does_not_wait_for_an_image() {
    let reader = EndlessReader::new();
    let (folder, upstream, parlor) = super::start(|settings, _| reader.use_in(settings)).await;
    let url = format!(
        "data:image/png;base64,{}",
        BASE64_STANDARD.encode(picture("x", 60, 40))
    );
    let delta = json!({ "images": [{ "type": "image_url", "image_url": { "url": url } }] });
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta }] });
    let answer = Script::new().raw(format!("data: {chunk}\n\n")).hang();
    upstream.add_script(When::any(), answer);
    let stream = parlor
        .chat(&json!({ "message": "A picture", "model": "test/any" }))
        .await;
    reader.wait_until_reading().await;
    timeout(TEST_TIMEOUT, parlor.stop()).await.expect("it stops");
    drop(stream);
    expect_nothing(folder.path()).await;
}
