mod recovery;
mod stop;

use std::{future::poll_fn, task::Poll, time::Duration};

use tokio::time::timeout;

use super::*;
use parlor_base::settings::Settings;
use parlor_journal::hub::Hub;
use parlor_protocol::{IntentId, MessageId, intent::SendMessage};
use parlor_providers::ModelsConfig;
use parlor_storage::{IntentChange, PageSize, QueueLimits, RunStart, sqlite::SqliteStorage};

/// Runs with only the tour as a model, whose answer takes a while.
pub(super) async fn tour_runs() -> (tempfile::TempDir, Runs) {
    runs_with(ToolRegistry::default()).await
}

/// Runs with the tour and these tools.
pub(super) async fn runs_with(tools: ToolRegistry) -> (tempfile::TempDir, Runs) {
    let mut settings = Settings::default();
    settings.agent.max_resumptions = 0;
    runs_with_settings(tools, &settings).await
}

async fn runs_with_settings(tools: ToolRegistry, settings: &Settings) -> (tempfile::TempDir, Runs) {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let (journal, _writer) = Journal::start(storage.clone(), Arc::new(Hub::default()));
    let models = Arc::new(Models::new(ModelsConfig::default()));
    let files = Files::open(folder.path(), storage.clone(), journal.clone(), settings).unwrap();
    let runs = Runs::new(storage, journal, models, tools, Pages::new(0), files, settings);
    (folder, runs)
}

pub(super) fn hello() -> SendMessage {
    SendMessage {
        intent_id: IntentId::new(),
        conversation_id: ConversationId::new(),
        user_message_id: MessageId::new(),
        text: "hello".into(),
        files: Vec::new(),
        model: Some("parlor/tour".into()),
        replaces: None,
        temporary: false,
        project_id: None,
        force_tools: Vec::new(),
        parameters: None,
        context: None,
        interaction: Default::default(),
    }
}

/// Waits until the condition returns a value.
pub(super) async fn wait_until<T>(mut is_so: impl AsyncFnMut() -> Option<T>) -> T {
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
async fn drives_a_run_after_disconnect() {
    let (_folder, runs) = tour_runs().await;
    let intent = hello();
    let conversation_id = intent.conversation_id;
    let mut asked = Box::pin(runs.send(UserId::LOCAL, intent, String::new()));
    // The request is dropped as soon as the change is submitted.
    poll_fn(|context| Poll::Ready(asked.as_mut().poll(context)))
        .await
        .is_pending();
    wait_until(async || runs.0.active.any_active()).await;
    drop(asked);

    let run = wait_until(async || {
        let transcript = runs
            .0
            .storage
            .transcript(UserId::LOCAL, conversation_id, PageSize::UNLIMITED, None)
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
async fn keeps_a_stop_before_the_commit() {
    let (_folder, runs) = tour_runs().await;
    let sending = tokio::spawn({
        let runs = runs.clone();
        async move { runs.send(UserId::LOCAL, hello(), String::new()).await }
    });
    let run = wait_until(async || runs.0.active.any_active()).await;
    let stopped = runs.stop(UserId::LOCAL, run).await.unwrap();
    assert_eq!(stopped, Some(RunStatus::Stopped));
    assert_eq!(sending.await.unwrap().unwrap().assistant_message_id, run);
    let (_, message) = runs.0.storage.message(UserId::LOCAL, run).await.unwrap().unwrap();
    assert!(
        message.assistant().unwrap().is_empty(),
        "no model was asked: {message:?}"
    );
}

#[tokio::test]
async fn released_run_slot_sends_the_queue() {
    let mut settings = Settings::default();
    settings.accounts.runs = Some(1);
    let (_folder, runs) = runs_with_settings(ToolRegistry::default(), &settings).await;
    let start = || RunStart {
        context_snapshot: None,
        run: MessageId::new(),
        default_model: "parlor/tour".into(),
        parameters: None,
        fingerprint: String::new(),
    };
    // A message waits, and nothing is running: the place was taken when the run before it ended.
    let (first, first_start) = (hello(), start());
    let run = RunKey {
        user_id: UserId::LOCAL,
        conversation_id: first.conversation_id,
        message_id: first_start.run,
    };
    let waiting = SendMessage {
        conversation_id: first.conversation_id,
        ..hello()
    };
    let mut answer = AssistantMessage::new("parlor/tour");
    let ended = RunEvent::run_ended(RunStatus::Complete, None, clock::now(), 0);
    apply_to_run(&mut answer, &ended);
    for change in [
        Change::Intent {
            user_id: UserId::LOCAL,
            change: IntentChange::SendMessage {
                intent: first.clone(),
                start: first_start,
            },
        },
        Change::Intent {
            user_id: UserId::LOCAL,
            change: IntentChange::QueueMessage {
                intent: waiting,
                start: start(),
                limits: QueueLimits {
                    messages: 1,
                    bytes: 1000,
                },
            },
        },
        Change::Output {
            run,
            output: RunOutput::EndRun {
                events: vec![ended],
                message: answer,
            },
        },
    ] {
        runs.0.journal.submit(change).await.unwrap();
    }
    // A repeated intent takes the place and starts nothing.
    let again = runs.send(UserId::LOCAL, first, String::new()).await.unwrap();
    assert_eq!(again.assistant_message_id, run.message_id);
    let sent = wait_until(async || runs.0.active.any_active()).await;
    assert_ne!(sent, run.message_id);
    runs.stop(UserId::LOCAL, sent).await.unwrap();
}
