use super::*;
use parlor_journal::hub::Hub;
use parlor_model::{ModelEvent, ModelMessage};
use parlor_protocol::{ConversationId, MessageId, UserId};
use parlor_providers::ModelsConfig;
use parlor_storage::sqlite::SqliteStorage;

fn request_with(text: &str) -> Arc<ModelRequest> {
    Arc::new(ModelRequest::new(
        "parlor/tour",
        vec![ModelMessage::User(text.into())],
    ))
}

async fn recorder() -> (tempfile::TempDir, Recorder) {
    let folder = tempfile::tempdir().unwrap();
    let storage = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let (journal, _writer) = Journal::start(storage, Arc::new(Hub::default()));
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    };
    let models = Arc::new(Models::new(ModelsConfig::default()));
    let settings = Arc::new(RecorderSettings::new(&Settings::default(), Arc::default()));
    (
        folder,
        Recorder::new(run, journal, models, settings, Purpose::Answer),
    )
}

fn messages(request: Option<RequestRecord>) -> Option<String> {
    request.map(|request| serde_json::to_string(&request.messages).unwrap())
}

#[tokio::test]
async fn writes_a_request_once_unless_refused() {
    let (_folder, mut recorder) = recorder().await;
    recorder.record_call(request_with("one"), None).await;
    let said = r#"[{"content":"one","role":"user"}]"#;
    assert_eq!(messages(recorder.take_request()).as_deref(), Some(said));
    assert_eq!(recorder.take_request(), None);
    recorder.record_input(&Input::Model(ModelEvent::Text("Fine.".into())));
    assert_eq!(recorder.take_request(), None);
}

#[tokio::test]
async fn retry_records_the_last_request() {
    let (_folder, mut recorder) = recorder().await;
    recorder.record_call(request_with("one"), None).await;
    recorder.take_request();
    recorder.record_effect(&Effect::ScheduleRetry(Duration::ZERO));
    recorder.record_call(request_with("two"), None).await;
    let again = recorder.take_request().unwrap();
    assert_eq!(again.messages[0]["content"], "two");
    assert!(!again.goes_on, "the first request no longer counts");
}
