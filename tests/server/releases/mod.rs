//! The data folders of releases, in `tests/fixtures/releases`: every later version opens them and shows the same.
//!
//! `UPDATE_GOLDEN=1` writes the folder of the present version, once, when it is released.

mod folder;

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use upstream::{Script, Upstream, When};

use crate::{
    accounts::{Browser, PASSWORD, with_passwords},
    projects::put_project,
    schedules::{daily, put},
    sharing::Share,
    support::{Parlor, string_field},
};

pub use folder::{migrate_until, newer_migrations, restore};

const RELEASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/releases");

/// The responses that a data folder gave when it was made.
#[derive(Deserialize, Serialize)]
struct Shown {
    /// The responses that its owner got, by their paths.
    pages: Map<String, Value>,
    /// The texts of its owner's files, by their paths.
    files: Map<String, Value>,
    /// The path of a page that everybody may read.
    share: String,
}

impl Shown {
    /// Checks that a data folder shows the same, and that its conversations go on.
    async fn check(&self, data: &Path) {
        let upstream = Upstream::start().await;
        upstream.add_script(When::any(), Script::new().text("It goes on."));
        let mut parlor = Parlor::start_built_in(data, &upstream, with_passwords).await;
        let mut ann = Browser::new(&parlor);
        let fields = [("name", "ann"), ("password", PASSWORD)];
        assert_eq!(ann.submit("/sign-in", &fields).await.status(), 303);
        let stranger = std::mem::replace(&mut parlor.client, ann.signed_in_client());
        for (path, expected) in &self.pages {
            let (status, shown) = parlor.get_json(path).await;
            assert_eq!(status, 200, "{path}: {shown}");
            assert_contains(&shown, expected, path);
        }
        for (path, expected) in &self.files {
            let file = parlor.get(path).send().await.unwrap().text().await.unwrap();
            assert_eq!(Some(&*file), expected.as_str(), "{path}");
        }
        let shared = stranger
            .get(format!("{}{}", parlor.url, self.share))
            .send()
            .await
            .unwrap();
        assert_eq!(shared.status(), 200, "{}", self.share);
        let conversations = self.pages["/api/conversations"]["conversations"]
            .as_array()
            .unwrap();
        for conversation in conversations {
            let id = string_field(conversation, "id");
            let events = parlor.turn(Some(&id), "Go on").await;
            let last = events.last().unwrap();
            assert_eq!(last["type"], "complete", "{last}");
        }
        parlor.stop().await;
    }
}

/// Fails unless all of `expected` is in `shown`. A later version may show more.
fn assert_contains(shown: &Value, expected: &Value, place: &str) {
    match (shown, expected) {
        (Value::Object(shown), Value::Object(expected)) => {
            for (key, expected) in expected {
                let place = format!("{place} {key}");
                let missing = || panic!("{place} is missing");
                // The position of the log grows with each sign-in and change.
                if key != "as_of" {
                    assert_contains(shown.get(key).unwrap_or_else(missing), expected, &place);
                }
            }
        }
        (Value::Array(shown), Value::Array(expected)) => {
            assert_eq!(shown.len(), expected.len(), "{place}");
            for (index, (shown, expected)) in shown.iter().zip(expected).enumerate() {
                assert_contains(shown, expected, &format!("{place} {index}"));
            }
        }
        _ => assert_eq!(shown, expected, "{place}"),
    }
}

/// Fills a data folder through the API: what a person and their assistant make in some minutes.
async fn make_data(data: &Path) -> Shown {
    let upstream = Upstream::start().await;
    add_scripts(&upstream);
    let mut parlor = Parlor::start_built_in(data, &upstream, with_passwords).await;
    let mut ann = Browser::new(&parlor);
    assert_eq!(ann.set_up(&parlor, "ann").await.status(), 303);
    ann.invite(&parlor, "ben").await;
    parlor.client = ann.signed_in_client();

    let rivers = parlor.turn(None, "Show the longest rivers").await;
    let first = string_field(&rivers[0], "conversation_id");
    let payload = rivers
        .iter()
        .find_map(|event| event["payload"]["payload_id"].as_str())
        .expect("a table");
    parlor.regenerate(&rivers).await;
    parlor.turn(Some(&first), "Remember that I like tea").await;
    let (status, file) = parlor
        .upload("rivers.csv", None, "name,km\nNile,6650\nElbe,1094\n")
        .await;
    assert_eq!(status, 201, "{file}");
    let ask = json!({ "message": "How long is the Elbe?", "files": [file["id"]],
        "conversation_id": file["conversation_id"], "model": "test/any" });
    let queried = parlor.chat(&ask).await.read_to_end().await;
    let second = string_field(&queried[0], "conversation_id");
    let stopped = stop_with_a_queue(&parlor).await;

    let post = async |path: &str, body: Value| {
        let response = parlor.post(path, &body).send().await.unwrap();
        assert!(response.status().is_success(), "{path}: {}", response.status());
    };
    let rename = json!({ "conversation_id": first, "title": "A title of my own" });
    post("/rpc/rename_conversation", rename).await;
    post(
        "/rpc/save_instructions",
        json!({ "text": "Answer in short sentences." }),
    )
    .await;
    post("/rpc/create_token", json!({ "name": "a program", "days": null })).await;
    let share = Share::create(&parlor, &first, None, true).await;
    let garden = uuid::Uuid::now_v7().to_string();
    let (status, saved) =
        put_project(&parlor, &garden, &json!({ "name": "Garden", "colour": "green" })).await;
    assert_eq!(status, 200, "{saved}");
    let moved = json!({ "conversation_ids": [first], "change": { "move": { "project_id": garden } } });
    post("/rpc/change_conversations", moved).await;
    let mut schedule = daily("Morning", "08:00", "Europe/Oslo");
    schedule["is_paused"] = json!(true);
    let (status, saved) = put(&parlor, &uuid::Uuid::now_v7().to_string(), &schedule).await;
    assert_eq!(status, 200, "{saved}");

    let mut pages = Map::new();
    let conversations = [&first, &second, &stopped];
    let transcripts = conversations.map(|id| format!("/rpc/conversation?conversation_id={id}"));
    let others = [
        "/api/conversations",
        "/rpc/personal",
        "/rpc/library",
        "/rpc/projects",
        "/rpc/schedules",
    ]
    .map(str::to_owned);
    let table = format!("/rpc/payload?conversation_id={first}&payload_id={payload}");
    for path in transcripts.into_iter().chain(others).chain([table]) {
        let (status, shown) = parlor.get_json(&path).await;
        assert_eq!(status, 200, "{path}: {shown}");
        pages.insert(path, shown);
    }
    let mut files = Map::new();
    let path = format!("/api/files/{}", string_field(&file, "id"));
    let text = parlor.get(&path).send().await.unwrap().text().await.unwrap();
    files.insert(path, text.into());
    parlor.stop().await;
    Shown {
        pages,
        files,
        share: share.path,
    }
}

fn add_scripts(upstream: &Upstream) {
    upstream.add_script(When::any(), Script::new().text("Well."));
    let table =
        r#"TABLE: {"title": "Rivers", "columns": ["name", "km"], "rows": [["Nile", 6650], ["Elbe", 1094]]}"#;
    upstream.add_script(
        When::user_contains("longest rivers"),
        Script::new().think("Which ones?").text(format!(
            "Here they are.\n\n{table}\n\nThe **Nile** is the longest."
        )),
    );
    let memory = r#"{"text": "The user likes tea."}"#;
    upstream.add_script(
        When::user_contains("I like tea"),
        Script::new().tool_call("call_1", "remember", memory),
    );
    upstream.add_script(
        When::tool_gave("emember"),
        Script::new().text("I will remember it."),
    );
    let query = r#"{"query": "SELECT km FROM rivers WHERE name = 'Elbe'"}"#;
    upstream.add_script(
        When::user_contains("How long"),
        Script::new().tool_call("call_2", "sql_query", query),
    );
    upstream.add_script(When::tool_gave("1094"), Script::new().text("1,094 km."));
    upstream.add_script(
        When::user_contains("Count"),
        Script::new().text("One, two").gate("never"),
    );
}

/// Stops an answer while a message waits behind it. Returns the conversation.
async fn stop_with_a_queue(parlor: &Parlor) -> String {
    let mut count = parlor
        .chat(&json!({ "message": "Count", "model": "test/any" }))
        .await;
    let counted = count.next_of_type("text_delta").await;
    let id = string_field(&counted, "conversation_id");
    let wait = json!({ "message": "And then?", "conversation_id": id, "queue": true });
    let queued = parlor.post("/api/chat/stream", &wait).send().await.unwrap();
    assert!(queued.status().is_success(), "{}", queued.status());
    let stop = format!("/api/runs/{}/stop", string_field(&counted, "message_id"));
    assert_eq!(parlor.post(&stop, &json!({})).send().await.unwrap().status(), 200);
    count.next_of_type("cancelled").await;
    id
}

#[tokio::test]
async fn a_folder_of_this_version_can_be_packed_and_opened() {
    let folder = tempfile::tempdir().unwrap();
    let [data, packed, opened] = ["data", "packed", "opened"].map(|name| folder.path().join(name));
    for folder in [&data, &opened] {
        fs::create_dir(folder).unwrap();
    }
    let shown = make_data(&data).await;
    folder::pack(&data, &packed).await;
    folder::unpack(&packed, &opened).await;
    shown.check(&opened).await;
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let release = Path::new(RELEASES).join(env!("CARGO_PKG_VERSION"));
        assert!(!release.exists(), "{} is never written again", release.display());
        folder::pack(&data, &release).await;
        let shown = serde_json::to_string_pretty(&shown).unwrap() + "\n";
        fs::write(release.join("shown.json"), shown).unwrap();
    }
}

/// They open at once, and after a kill between any two migrations.
#[tokio::test]
async fn folders_of_all_releases_open() {
    for packed in release_folders() {
        let shown = fs::read_to_string(packed.join("shown.json")).unwrap();
        let shown: Shown = serde_json::from_str(&shown).unwrap();
        let data = tempfile::tempdir().unwrap();
        folder::unpack(&packed, data.path()).await;
        let newer = newer_migrations(data.path()).await;
        shown.check(data.path()).await;
        for last in newer {
            let data = tempfile::tempdir().unwrap();
            folder::unpack(&packed, data.path()).await;
            migrate_until(data.path(), last).await;
            shown.check(data.path()).await;
        }
    }
}

fn release_folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(RELEASES).unwrap().map(|entry| entry.unwrap().path());
    let folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    assert!(!folders.is_empty(), "no release in {RELEASES}");
    folders
}
