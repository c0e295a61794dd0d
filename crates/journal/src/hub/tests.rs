use std::sync::Weak;

use tokio_util::sync::CancellationToken;

use super::*;
use crate::Journal;
use parlor_protocol::{
    AssistantMessage, Event, EventBody, IntentId, RunEvent, RunStatus, Timestamp, intent::SendMessage,
};
use parlor_storage::{Change, IntentChange, Outcome, RunKey, RunOutput, RunStart, sqlite::SqliteStorage};

/// The reading pace of a follower.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// Reads each event as it arrives.
    Fast,
    /// Reads the available events, then yields for a while: it falls behind now and then.
    Slow,
    /// Subscribes, and reads nothing until the run is over.
    Stalled,
}

/// Follows a run to its last event. Returns the positions seen and the text of the deltas.
async fn follow_run(mut follower: Follower, pace: Pace, over: CancellationToken) -> (Vec<u64>, String) {
    if matches!(pace, Pace::Stalled) {
        over.cancelled().await;
    }
    let (mut positions, mut text) = (Vec::new(), String::new());
    loop {
        let FollowerItem::Event(logged) = follower.next().await.unwrap() else {
            panic!("the log was trimmed")
        };
        positions.push(logged.event.position.0);
        if let EventBody::Run(RunEvent::TextDelta {
            text: delta, offset, ..
        }) = &logged.event.body
        {
            assert!(
                text.is_empty() || *offset == text.len(),
                "a delta is missing or repeated"
            );
            text += delta;
        }
        if logged.event.body.terminal_status().is_some() {
            return (positions, text);
        }
        if matches!(pace, Pace::Slow) && positions.len() % 7 == 0 {
            for _ in 0..200 {
                tokio::task::yield_now().await;
            }
        }
    }
}

/// Starts a run.
async fn start_run(journal: &Journal) -> RunKey {
    let user_id = UserId::LOCAL;
    let intent = SendMessage {
        intent_id: IntentId::new(),
        conversation_id: Default::default(),
        user_message_id: MessageId::new(),
        text: "go".into(),
        files: Vec::new(),
        model: None,
        replaces: None,
        temporary: false,
        project_id: None,
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
    let run = RunKey {
        user_id,
        conversation_id: intent.conversation_id,
        message_id: start.run,
    };
    let send = Change::Intent {
        user_id,
        change: IntentChange::SendMessage { intent, start },
    };
    let sent = journal.submit(send).await.unwrap();
    assert!(matches!(sent, Outcome::Started { .. }));
    run
}

#[tokio::test]
async fn followers_learn_of_an_abandoned_run() {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let hub = Arc::new(Hub::default());
    let (journal, _writer) = Journal::start(storage.clone(), hub.clone());
    let run = start_run(&journal).await;
    let head = storage.last_position(run.user_id).await.unwrap();
    let follow = |topic| Follower::new(hub.clone(), storage.clone(), topic, head);
    let mut of_user = follow(Topic::User(run.user_id));
    let mut of_run = follow(Topic::Run(run.user_id, run.message_id));
    let abandon = Change::Output {
        run,
        output: RunOutput::AbandonRun {
            events: Vec::new(),
            status: RunStatus::Failed,
            message: None,
        },
    };
    journal.submit(abandon).await.unwrap();
    let soon = std::time::Duration::from_secs(20);
    let next_items = async { (of_user.next().await, of_run.next().await) };
    let (of_user, of_run) = tokio::time::timeout(soon, next_items)
        .await
        .expect("both receive an item");
    assert_eq!(of_user.unwrap(), FollowerItem::Reset);
    assert!(matches!(of_run, Err(StorageError::RunAbandoned)), "{of_run:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_follower_sees_every_event_once() {
    check_followers(false).await;
}

/// Every third event is committed by another node, and some of these are announced.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn followers_see_the_events_of_other_nodes_in_order() {
    check_followers(true).await;
}

async fn check_followers(has_nodes: bool) {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let hub = Arc::new(Hub::default());
    let filling = has_nodes.then(|| {
        hub.expect_other_nodes();
        let (hub, storage) = (hub.clone(), storage.clone());
        tokio::spawn(async move { hub.fill_gaps(&*storage).await })
    });
    let (journal, _writer) = Journal::start(storage.clone(), hub.clone());
    let run = start_run(&journal).await;
    let user_id = run.user_id;
    let over = CancellationToken::new();
    let mut followers = Vec::new();
    let mut join = |topic| {
        for pace in [Pace::Fast, Pace::Slow, Pace::Stalled] {
            let follower = Follower::new(hub.clone(), storage.clone(), topic, Position(0));
            followers.push((
                topic,
                pace,
                tokio::spawn(follow_run(follower, pace, over.clone())),
            ));
        }
    };
    let mut written = String::new();
    for n in 0..900 {
        if n % 300 == 0 {
            join(Topic::User(user_id));
            join(Topic::Run(user_id, run.message_id));
        }
        let text = format!("{n} ");
        let delta = RunEvent::TextDelta {
            node: 0,
            part: 0,
            offset: written.len(),
            text: text.clone(),
        };
        written += &text;
        let append = |delta| Change::Output {
            run,
            output: RunOutput::AppendEvents { events: vec![delta] },
        };
        if has_nodes && n % 3 == 0 {
            let committed = storage.commit(Timestamp(0), &[append(delta)]).await.unwrap();
            if n % 2 == 0 {
                hub.announce(user_id, committed.events[0].event.position);
            }
        } else if n % 5 == 0 && !has_nodes {
            journal.append(run, vec![delta]).await;
        } else {
            journal.submit(append(delta)).await.unwrap();
        }
    }
    let event = RunEvent::run_ended(RunStatus::Complete, None, Timestamp(0), 0);
    let message = AssistantMessage {
        status: RunStatus::Complete,
        ..AssistantMessage::new("x/m")
    };
    journal
        .submit(Change::Output {
            run,
            output: RunOutput::EndRun {
                events: vec![event],
                message,
            },
        })
        .await
        .unwrap();
    over.cancel();
    let head = storage.last_position(user_id).await.unwrap().0;
    assert!(
        head > 600,
        "the followers can't have fallen behind: {head} events"
    );
    for (topic, pace, follower) in followers {
        let (positions, text) = follower.await.unwrap();
        assert_eq!(text, written, "{topic:?} {pace:?}");
        // The conversation's own first event is not the run's.
        let first = if matches!(topic, Topic::User(_)) { 1 } else { 2 };
        assert_eq!(
            positions,
            (first..=head).collect::<Vec<_>>(),
            "{topic:?} {pace:?}"
        );
    }
    if let Some(filling) = filling {
        filling.abort();
    }
    let topics = hub.topics.lock();
    assert!(
        topics.senders.is_empty(),
        "topics without subscribers are removed"
    );
    assert!(topics.gaps.is_empty() && topics.known.iter().all(HashMap::is_empty));
}

#[tokio::test]
async fn stalled_follower_keeps_a_bounded_backlog() {
    let folder = tempfile::tempdir().unwrap();
    let storage: Arc<dyn Storage> = Arc::new(SqliteStorage::open(folder.path()).await.unwrap());
    let hub = Arc::new(Hub::default());
    let user_id = UserId::LOCAL;
    let _stalled = Follower::new(hub.clone(), storage, Topic::User(user_id), Position(0));
    let mut published: Vec<Weak<LoggedEvent>> = Vec::new();
    let longest = MAX_LIVE_EVENT_BYTES - 200;
    for n in 1..=4 * MAX_USER_BACKLOG {
        // The last events fill a whole backlog with the longest kept ones.
        let is_long = n <= 2 * MAX_USER_BACKLOG && n % 2 == 0;
        let text = "x".repeat(if is_long { 100_000 } else { longest });
        let event = Event {
            position: Position(n as u64),
            conversation_id: Default::default(),
            message_id: None,
            body: RunEvent::Status { message: text }.into(),
        };
        let json = serde_json::to_string(&event).unwrap();
        assert!(json.len() > 100_000 || (longest..=MAX_LIVE_EVENT_BYTES).contains(&json.len()));
        let logged = Arc::new(LoggedEvent { user_id, event, json });
        published.push(Arc::downgrade(&logged));
        hub.publish(&[logged]);
        if n == 2 * MAX_USER_BACKLOG {
            let kept: Vec<_> = published.iter().filter_map(Weak::upgrade).collect();
            assert!(kept.iter().all(|event| event.json.len() <= MAX_LIVE_EVENT_BYTES));
        }
    }
    let kept: Vec<usize> = published
        .iter()
        .filter_map(Weak::upgrade)
        .map(event_bytes)
        .collect();
    assert_eq!(kept.len(), MAX_USER_BACKLOG);
    let sum: usize = kept.iter().sum();
    assert!(sum < 1 << 20, "{sum}");
}

/// Returns the memory that an event takes: itself, its JSON and its text.
fn event_bytes(logged: Arc<LoggedEvent>) -> usize {
    let text = match &logged.event.body {
        EventBody::Run(RunEvent::Status { message }) => message.capacity(),
        other => panic!("{other:?}"),
    };
    size_of::<LoggedEvent>() + logged.json.capacity() + text
}
