//! Files of the user over HTTP: upload, limits and contents ([`stored`]), their tables ([`tables`]), messages with files ([`messages`]), documents
//! ([`documents`]), images that models make ([`images`],
//! [`answer_images`]), the list of all ([`listed`]), and files that are not stored completely ([`interrupted`]).

mod answer_images;
mod documents;
mod images;
#[cfg(unix)]
mod interrupted;
mod listed;
mod messages;
pub(crate) mod stored;
mod tables;

use std::io::Cursor;

use image::{DynamicImage, ImageFormat};
use parlor_base::settings::Settings;
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{Parlor, read_json, string_field};

pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
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
    pub(crate) async fn upload(
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

/// Returns the id of an uploaded file.
fn id(file: &Value) -> String {
    string_field(file, "id")
}

/// Returns the URL of an uploaded file.
fn file_path(file: &Value) -> String {
    format!("/api/files/{}", id(file))
}
