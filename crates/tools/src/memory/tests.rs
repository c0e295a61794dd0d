use serde_json::Value;

use super::*;
use crate::test_call;
use parlor_journal::hub::Hub;
use parlor_storage::sqlite::SqliteStorage;

const ANN: UserId = UserId::LOCAL;

/// A store in a temporary folder, with at most three memories of at most 20 bytes.
async fn memory_store() -> (tempfile::TempDir, MemoryStore) {
    let folder = tempfile::tempdir().expect("a folder");
    let storage: Arc<dyn Storage> =
        Arc::new(SqliteStorage::open(folder.path()).await.expect("a new database"));
    let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let limits = Limits {
        memory_bytes: 20,
        memories: 3,
        ..Limits::default()
    };
    (
        folder,
        MemoryStore::new(storage, journal, &limits, &ProjectSettings::default()),
    )
}

async fn remember(memories: &MemoryStore, user_id: UserId, text: &str) -> Result<String, ToolError> {
    let input = RememberInput { text: text.into() };
    let call = test_call::call_by(user_id).0;
    Ok(Remember(memories.clone()).run(input, call).await?.text)
}

async fn recall(memories: &MemoryStore, user_id: UserId, query: Option<&str>) -> String {
    let input = RecallInput {
        query: query.map(str::to_owned),
    };
    let call = test_call::call_by(user_id).0;
    let recalled = Recall(memories.clone()).run(input, call).await;
    recalled.expect("storage works").text
}

async fn forget(memories: &MemoryStore, user_id: UserId, id: &str) -> Result<String, ToolError> {
    let input = ForgetInput { id: id.into() };
    let call = test_call::call_by(user_id).0;
    Ok(Forget(memories.clone()).run(input, call).await?.text)
}

/// Returns the texts of recalled memories.
fn texts(recalled: &str) -> Vec<String> {
    let memories: Vec<Value> = serde_json::from_str(recalled).expect("JSON");
    let texts = memories
        .iter()
        .map(|memory| memory["text"].as_str().expect("a text"));
    texts.map(str::to_owned).collect()
}

#[tokio::test]
async fn remembers_recalls_and_forgets() {
    let (_folder, memories) = memory_store().await;
    assert_eq!(recall(&memories, ANN, None).await, "Nothing is remembered yet.");
    for text in [" Likes tea. ", "Has a dog."] {
        remember(&memories, ANN, text).await.unwrap();
    }
    assert_eq!(
        texts(&recall(&memories, ANN, None).await),
        ["Has a dog.", "Likes tea."]
    );
    let tea = recall(&memories, ANN, Some("what tea?")).await;
    assert_eq!(texts(&tea), ["Likes tea."]);
    let tea: Value = serde_json::from_str(&tea).unwrap();
    let id = tea[0]["id"].as_str().expect("an id");
    assert_eq!(
        forget(&memories, ANN, id).await,
        Ok("It is forgotten: Likes tea.".into())
    );
    let again = forget(&memories, ANN, id).await.unwrap_err();
    assert!(again.0.contains("no memory with this id"), "{again}");
    assert_eq!(texts(&recall(&memories, ANN, Some(" ")).await), ["Has a dog."]);
    let nothing_fits = recall(&memories, ANN, Some("bicycle")).await;
    assert!(
        nothing_fits.starts_with("Nothing fits these words. The newest of 1: [{"),
        "{nothing_fits}"
    );
}

#[tokio::test]
async fn errors_name_the_limits() {
    let (_folder, memories) = memory_store().await;
    for text in ["", "   ", "A text of more than twenty bytes."] {
        let error = remember(&memories, ANN, text).await.unwrap_err();
        assert!(error.0.contains("must have 1 to 20"), "{error}");
    }
    for text in ["one", "two", "three"] {
        remember(&memories, ANN, text).await.unwrap();
    }
    let error = remember(&memories, ANN, "four").await.unwrap_err();
    assert!(
        error
            .0
            .starts_with("3 things are remembered, and no more can be."),
        "{error}"
    );
}

#[tokio::test]
async fn memories_belong_to_one_user() {
    let (_folder, memories) = memory_store().await;
    let bob = UserId(uuid::Uuid::from_u128(2));
    remember(&memories, ANN, "A secret.").await.unwrap();
    assert_eq!(recall(&memories, bob, None).await, "Nothing is remembered yet.");
    let anns: Value = serde_json::from_str(&recall(&memories, ANN, None).await).unwrap();
    let id = anns[0]["id"].as_str().expect("an id");
    for id in [id, "", "1", "' OR 1=1 --"] {
        let error = forget(&memories, bob, id).await.unwrap_err();
        assert!(error.0.contains("no memory with this id"), "{error}");
    }
    assert_eq!(texts(&recall(&memories, ANN, None).await), ["A secret."]);
}

#[tokio::test]
async fn text_cannot_forge_another_memory() {
    let (_folder, memories) = memory_store().await;
    let forged = "x\"}, {\"id\": \"y";
    remember(&memories, ANN, forged).await.unwrap();
    assert_eq!(texts(&recall(&memories, ANN, None).await), [forged]);
}
