use super::*;
use crate::{
    hub::Hub,
    model::ModelMessage,
    protocol::{ConversationId, MessageId, UserId},
    providers::ModelsConfig,
    storage::sqlite::Sqlite,
};

fn asking(text: &str) -> Arc<ModelRequest> {
    Arc::new(ModelRequest::new(
        "parlor/tour",
        vec![ModelMessage::User(text.into())],
    ))
}

async fn recorder() -> (tempfile::TempDir, Recorder) {
    let folder = tempfile::tempdir().unwrap();
    let storage = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let (journal, _writer) = Journal::start(storage, Arc::new(Hub::default()));
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: ConversationId::new(),
        message_id: MessageId::new(),
    };
    let models = Arc::new(Models::new(ModelsConfig::default()));
    let terms = Arc::new(Terms::of(&Settings::default()));
    (
        folder,
        Recorder::new(run, journal, models, terms, Purpose::Answer),
    )
}

fn messages(request: Option<Request>) -> Option<String> {
    request.map(|request| serde_json::to_string(&request.messages).unwrap())
}

#[tokio::test]
async fn what_was_sent_is_written_down_once_while_its_server_refuses_no_part_of_it() {
    let (_folder, mut recorder) = recorder().await;
    recorder.calls(asking("one")).await;
    let said = r#"[{"content":"one","role":"user"}]"#;
    assert_eq!(messages(recorder.request()).as_deref(), Some(said));
    assert_eq!(recorder.request(), None);
    recorder.heard(&Input::Model(ModelEvent::Text("Fine.".into())));
    assert_eq!(recorder.request(), None);
}

#[tokio::test]
async fn of_a_call_that_is_made_again_it_is_what_was_sent_last() {
    let (_folder, mut recorder) = recorder().await;
    recorder.calls(asking("one")).await;
    recorder.request();
    recorder.waits();
    recorder.calls(asking("two")).await;
    let again = recorder.request().unwrap();
    assert_eq!(again.messages[0]["content"], "two");
    assert!(!again.goes_on, "what was sent first counts no more");
}
