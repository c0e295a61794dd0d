use std::{future::poll_fn, task::Poll, time::Duration};

use tokio::time::timeout;

use super::*;
use crate::{
    hub::Hub,
    protocol::{IntentId, MessageId, intent::SendMessage},
    providers::ModelsConfig,
    settings::Settings,
    storage::{PageSize, sqlite::Sqlite},
};

/// Runs that only know the tour, which talks for a while.
pub(super) async fn runs() -> (tempfile::TempDir, Runs) {
    runs_with(Registry::default()).await
}

/// The same, with these tools.
pub(super) async fn runs_with(tools: Registry) -> (tempfile::TempDir, Runs) {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(Sqlite::open(folder.path()).await.unwrap());
    let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let models = Arc::new(Models::new(ModelsConfig::default()));
    let runs = Runs::new(
        storage,
        journal,
        models,
        tools,
        Pages::new(0),
        &Settings::default(),
    );
    (folder, runs)
}

pub(super) fn hello() -> SendMessage {
    SendMessage {
        intent_id: IntentId::new(),
        conversation_id: ConversationId::new(),
        user_message_id: MessageId::new(),
        text: "hello".into(),
        model: Some("parlor/tour".into()),
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    }
}

/// Waits until something is so.
pub(super) async fn until<T>(mut is_so: impl AsyncFnMut() -> Option<T>) -> T {
    timeout(Duration::from_secs(20), async {
        loop {
            if let Some(value) = is_so().await {
                return value;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
    .expect("it becomes so")
}

#[tokio::test]
async fn a_run_whose_asker_has_gone_is_driven_all_the_same() {
    let (_folder, runs) = runs().await;
    let intent = hello();
    let conversation_id = intent.conversation_id;
    let mut asked = Box::pin(runs.send(UserId::LOCAL, intent, String::new()));
    // As soon as the change is on its way, the request goes away.
    poll_fn(|context| Poll::Ready(asked.as_mut().poll(context)))
        .await
        .is_pending();
    until(async || runs.0.at_work.any()).await;
    drop(asked);

    let run = until(async || {
        let transcript = runs
            .0
            .storage
            .transcript(UserId::LOCAL, conversation_id, PageSize::WHOLE, None)
            .await
            .unwrap()?;
        let assistant = transcript.messages.last()?.assistant()?.clone();
        (!assistant.is_empty()).then(|| transcript.active_run())?
    })
    .await;
    assert_eq!(
        runs.stop(UserId::LOCAL, run).await.unwrap(),
        Some(RunStatus::Stopped)
    );
}

#[tokio::test]
async fn a_stop_before_the_commit_of_the_start_is_not_lost() {
    let (_folder, runs) = runs().await;
    let sending = tokio::spawn({
        let runs = runs.clone();
        async move { runs.send(UserId::LOCAL, hello(), String::new()).await }
    });
    let run = until(async || runs.0.at_work.any()).await;
    let stopped = runs.stop(UserId::LOCAL, run).await.unwrap();
    assert_eq!(stopped, Some(RunStatus::Stopped));
    assert_eq!(sending.await.unwrap().unwrap().assistant_message_id, run);
    let (_, message) = runs.0.storage.message(UserId::LOCAL, run).await.unwrap().unwrap();
    assert!(
        message.assistant().unwrap().is_empty(),
        "no model was asked: {message:?}"
    );
}
