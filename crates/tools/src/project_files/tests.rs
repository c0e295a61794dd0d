use std::sync::Arc;

use bytes::Bytes;
use futures::stream;
use parlor_base::settings::Settings;
use parlor_files::{FileOwner, Files, UploadHead};
use parlor_journal::{Journal, hub::Hub};
use parlor_protocol::{
    Attachment, ConversationId, IntentId, MessageId, Project, ProjectId, UserId, intent::SendMessage,
};
use parlor_storage::{
    Change, FileChange, IntentChange, RunStart, Storage, projects::ProjectChange, search::passages,
    sqlite::SqliteStorage,
};
use serde_json::{Value, json};

use super::{super::test_call, *};
use crate::{Tool, ToolContext};

const ANN: UserId = UserId::LOCAL;

/// A server's parts with a project that has a conversation.
struct World {
    storage: Arc<dyn Storage>,
    files: Files,
    journal: Journal,
    project: ProjectId,
    conversation_id: ConversationId,
    _folder: tempfile::TempDir,
}

impl World {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let storage: Arc<dyn Storage> =
            Arc::new(SqliteStorage::open(folder.path()).await.expect("a new database"));
        let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
        let settings = Settings::default();
        let files =
            Files::open(folder.path(), storage.clone(), journal.clone(), &settings).expect("a folder");
        let world = Self {
            storage,
            files,
            journal,
            project: ProjectId::new(),
            conversation_id: ConversationId::new(),
            _folder: folder,
        };
        world.save(world.project).await;
        world.begin(world.conversation_id, Some(world.project)).await;
        world
    }

    async fn save(&self, id: ProjectId) {
        let project = Project {
            name: "Garden".into(),
            ..Project::default()
        };
        let change = ProjectChange::Save {
            id,
            project: Box::new(project),
            replaces: None,
            limit: 9,
        };
        let user_id = ANN;
        let saved = self.journal.submit(Change::Project { user_id, change }).await;
        saved.expect("it is saved");
    }

    async fn begin(&self, conversation_id: ConversationId, project_id: Option<ProjectId>) {
        let intent = SendMessage {
            intent_id: IntentId::new(),
            conversation_id,
            user_message_id: MessageId::new(),
            text: "Hello".into(),
            files: Vec::new(),
            model: Some("x/m".into()),
            replaces: None,
            temporary: false,
            project_id,
            force_tools: Vec::new(),
            parameters: None,
            context: None,
            interaction: Default::default(),
        };
        let start = RunStart {
            context_snapshot: None,
            run: MessageId::new(),
            default_model: "x/m".into(),
            parameters: None,
            fingerprint: String::new(),
        };
        let change = IntentChange::SendMessage { intent, start };
        let user_id = ANN;
        let begun = self.journal.submit(Change::Intent { user_id, change }).await;
        begun.expect("it begins");
    }

    async fn add(&self, project: ProjectId, name: &str, text: String) -> Attachment {
        let head = UploadHead {
            user_id: ANN,
            owner: FileOwner::Project {
                id: project,
                file_id: None,
                max_files: 9,
                text_bytes: 1 << 20,
            },
            name,
            length: None,
        };
        let body = stream::iter([Ok::<_, std::io::Error>(Bytes::from(text))]);
        self.files.upload(head, Box::pin(body)).await.expect("it is kept")
    }

    /// Indexes the texts of all files, as the server does in the background.
    async fn index(&self) {
        while let Some((_, file)) = self.storage.next_unindexed_file().await.expect("storage works") {
            let text = read::text_of(&self.files, &file).await.expect("a text");
            let ranges = passages::ranges(&text, passages::MAX_FILE_BYTES).into_iter();
            let change = FileChange::IndexText {
                id: file.attachment.id,
                first: 1,
                texts: ranges.map(|range| text[range].to_owned()).collect(),
                is_last: true,
            };
            let indexed = self.journal.submit(Change::File(change)).await;
            indexed.expect("it is indexed");
        }
    }

    fn call(&self, conversation_id: ConversationId) -> ToolContext {
        ToolContext {
            user_id: ANN,
            conversation_id,
            ..test_call::call()
        }
    }

    async fn search(&self, conversation_id: ConversationId, phrasing: &str) -> Result<Value, String> {
        let tool = SearchProjectFiles {
            storage: self.storage.clone(),
            files: self.files.clone(),
        };
        let input = serde_json::from_value(json!({ "phrasings": [phrasing] })).expect("an input");
        let found = tool.run(input, self.call(conversation_id)).await;
        found
            .map(|found| serde_json::from_str(&found.text).expect("JSON"))
            .map_err(|error| error.0)
    }

    async fn read(&self, input: Value) -> Result<String, String> {
        let tool = ReadProjectFile {
            storage: self.storage.clone(),
            files: self.files.clone(),
        };
        let input = serde_json::from_value(input).expect("an input");
        let read = tool.run(input, self.call(self.conversation_id)).await;
        read.map(|read| read.text).map_err(|error| error.0)
    }
}

/// A text of some pages, as the reader of PDF files writes it. The pages have these words, and many others.
fn text_of_pages(pages: &[&str]) -> String {
    let filler = "Nothing else grows here. ".repeat(200);
    let pages = pages.iter().enumerate();
    let pages = pages.map(|(index, words)| format!("[Page {}]\n{words}\n{filler}\n", index + 1));
    pages.collect()
}

#[tokio::test]
async fn passages_are_found_with_their_pages() {
    let world = World::new().await;
    let here = world.conversation_id;
    let long = text_of_pages(&["Water the roses", "Feed the hedgehog", "Prune the roses in March"]);
    world.add(world.project, "plan.txt", long).await;
    world
        .add(world.project, "trees.txt", "Roses between trees".into())
        .await;
    let other = ProjectId::new();
    world.save(other).await;
    world
        .add(other, "secret.txt", "Roses of another project".into())
        .await;

    let found = world.search(here, "roses").await.expect("a result");
    assert_eq!(found["passages"], json!([]));
    assert_eq!(found["not_searched_yet"], json!(["plan.txt", "trees.txt"]));
    world.index().await;

    let found = world.search(here, "hedgehog").await.expect("a result");
    let [passage] = found["passages"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default()
    else {
        panic!("one passage: {found}");
    };
    assert_eq!(
        (&passage["file"], &passage["page"]),
        (&json!("plan.txt"), &json!(2))
    );
    let text = passage["text"].as_str().unwrap_or_default();
    assert!(text.starts_with("Feed the hedgehog Nothing else"), "{text}");

    let found = world.search(here, "prune roses").await.expect("a result");
    assert_eq!(found["passages"][0]["page"], json!(3), "{found}");
    assert!(!found.to_string().contains("secret"), "{found}");
    assert_eq!(found["not_searched_yet"], Value::Null);
    let found = world.search(here, "trees").await.expect("a result");
    assert_eq!(
        found["passages"],
        json!([{ "file": "trees.txt", "page": null, "text": "Roses between trees" }])
    );

    let elsewhere = ConversationId::new();
    world.begin(elsewhere, None).await;
    let refused = world.search(elsewhere, "roses").await.expect_err("no project");
    assert!(
        refused.starts_with("The conversation is in no project"),
        "{refused}"
    );
    assert!(world.search(here, "  ").await.is_err());
}

#[tokio::test]
async fn old_file_is_found_among_many_passages() {
    let world = World::new().await;
    world
        .add(world.project, "old.txt", "The hedgehog likes the bed.".into())
        .await;
    world.index().await;
    let newer = "The bed is watered, the compost is turned. ".repeat(48_000);
    world.add(world.project, "new.txt", newer).await;
    world.index().await;
    // No passage has all words, and hundreds of newer ones have one.
    let found = world.search(world.conversation_id, "hedgehog wardrobe bed").await;
    let found = found.expect("a result");
    assert_eq!(found["passages"][0]["file"], "old.txt");
}

#[tokio::test]
async fn files_are_read_in_parts() {
    let world = World::new().await;
    let pages: Vec<String> = (1..=12).map(|page| format!("Rule {page}")).collect();
    let pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    world.add(world.project, "rules.txt", text_of_pages(&pages)).await;
    let first = world.read(json!({ "file": "RULES.txt" })).await.expect("a part");
    assert!(
        first.starts_with("[File: rules.txt, part 1 of 2]\n[Page 1]\nRule 1\n"),
        "{first}"
    );
    let second = world
        .read(json!({ "file": "rules.txt", "part": 2 }))
        .await
        .expect("a part");
    assert!(second.contains("Rule 12"), "{second}");
    let page = world
        .read(json!({ "file": "rules.txt", "page": 11 }))
        .await
        .expect("a part");
    assert!(
        page.starts_with("[File: rules.txt from page 11 on]\nRule 11\n"),
        "{page}"
    );
    for (input, expected) in [
        (
            json!({ "file": "rules.txt", "part": 3 }),
            "There is no part 3: there are 2.",
        ),
        (
            json!({ "file": "rules.txt", "page": 13 }),
            "Of rules.txt pages 1 to 12 can be read.",
        ),
        (
            json!({ "file": "laws.txt" }),
            "The project has no file “laws.txt”. Its files: rules.txt.",
        ),
    ] {
        assert_eq!(world.read(input).await.expect_err("refused"), expected);
    }
}
