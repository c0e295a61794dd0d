//! Who listens to what: hands committed events to live subscribers, and lets anyone follow a log from any
//! position without missing or doubling an event.
//!
//! The hub keeps nothing. A subscriber that falls behind catches up from the log.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};

use crate::{
    protocol::{MessageId, Position, UserId},
    storage::{LogPage, LoggedEvent, Storage, StorageError},
};

/// How many events a user's or a run's subscriber may fall behind before it reads the log instead.
const USER_BACKLOG: usize = 512;
const RUN_BACKLOG: usize = 64;

/// How many events one read of the log brings.
const PAGE: usize = 500;

/// What can be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// All that happens to a user.
    User(UserId),
    /// One run.
    Run(UserId, MessageId),
}

type Sender = broadcast::Sender<Arc<LoggedEvent>>;

/// The live subscribers of this process.
#[derive(Debug, Default)]
pub struct Hub {
    topics: Mutex<HashMap<Topic, Sender>>,
}

impl Hub {
    /// Hands committed events to those who listen.
    pub fn publish(&self, events: &[Arc<LoggedEvent>]) {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        for event in events {
            let run = event.event.message_id.map(|run| Topic::Run(event.user_id, run));
            for topic in [Some(Topic::User(event.user_id)), run].into_iter().flatten() {
                if let Some(sender) = topics.get(&topic) {
                    // The last listener may be just about to leave.
                    let _ = sender.send(event.clone());
                }
            }
        }
    }

    fn subscribe(&self, topic: Topic) -> broadcast::Receiver<Arc<LoggedEvent>> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let backlog = match topic {
            Topic::User(_) => USER_BACKLOG,
            Topic::Run(..) => RUN_BACKLOG,
        };
        topics
            .entry(topic)
            .or_insert_with(|| broadcast::channel(backlog).0)
            .subscribe()
    }

    /// Forgets a topic with its last listener.
    fn leave(&self, topic: Topic, leaving: broadcast::Receiver<Arc<LoggedEvent>>) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        // Only now, so that of two that leave together one is the last.
        drop(leaving);
        if topics
            .get(&topic)
            .is_some_and(|sender| sender.receiver_count() == 0)
        {
            topics.remove(&topic);
        }
    }
}

/// What a follower gets next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    Event(Arc<LoggedEvent>),
    /// The log does not reach back to the follower's position any more.
    Reset,
}

/// Every event of a topic after a position, exactly once and in order: first from the log, then live.
pub struct Follower {
    hub: Arc<Hub>,
    storage: Arc<dyn Storage>,
    topic: Topic,
    live: broadcast::Receiver<Arc<LoggedEvent>>,
    cursor: Position,
    /// Events read from the log and not yet given.
    page: VecDeque<LoggedEvent>,
    /// Something may be in the log that has neither been read nor will come live.
    behind: bool,
}

impl Follower {
    /// Follows a topic from after a position on.
    pub fn new(hub: Arc<Hub>, storage: Arc<dyn Storage>, topic: Topic, after: Position) -> Self {
        // Listening comes before reading, so that nothing can fall between the two.
        let live = hub.subscribe(topic);
        Self {
            hub,
            storage,
            topic,
            live,
            cursor: after,
            page: VecDeque::new(),
            behind: true,
        }
    }

    /// The position of the last event that was given.
    pub fn cursor(&self) -> Position {
        self.cursor
    }

    /// The next event; waits for it. Dropping the future loses nothing.
    ///
    /// # Errors
    ///
    /// If the log could not be read; the next call tries again.
    pub async fn next(&mut self) -> Result<Followed, StorageError> {
        loop {
            if let Some(logged) = self.page.pop_front() {
                self.cursor = logged.event.position;
                return Ok(Followed::Event(Arc::new(logged)));
            }
            if self.behind {
                if let Some(reset) = self.read_page().await? {
                    return Ok(reset);
                }
                continue;
            }
            match self.live.recv().await {
                Ok(logged) => {
                    if let Some(event) = self.take(logged) {
                        return Ok(Followed::Event(event));
                    }
                }
                Err(RecvError::Lagged(_)) => self.behind = true,
                // The hub forgets a topic only when its last listener leaves, and this one has not.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// The next event if it is there already.
    pub fn try_next(&mut self) -> Option<Arc<LoggedEvent>> {
        if let Some(logged) = self.page.pop_front() {
            self.cursor = logged.event.position;
            return Some(Arc::new(logged));
        }
        while !self.behind {
            match self.live.try_recv() {
                Ok(logged) => {
                    if let Some(event) = self.take(logged) {
                        return Some(event);
                    }
                }
                Err(TryRecvError::Lagged(_)) => self.behind = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
        None
    }

    /// Accepts a live event if it is new and nothing is missing before it.
    fn take(&mut self, logged: Arc<LoggedEvent>) -> Option<Arc<LoggedEvent>> {
        let position = logged.event.position;
        if position <= self.cursor {
            return None;
        }
        // A user's positions have no gaps; those of one run do, and there only the channel's own word counts.
        if matches!(self.topic, Topic::User(_)) && position != self.cursor.next() {
            self.behind = true;
            return None;
        }
        self.cursor = position;
        Some(logged)
    }

    async fn read_page(&mut self) -> Result<Option<Followed>, StorageError> {
        let (user_id, run) = match self.topic {
            Topic::User(user_id) => (user_id, None),
            Topic::Run(user_id, run) => (user_id, Some(run)),
        };
        match self.storage.log_after(user_id, self.cursor, run, PAGE).await? {
            LogPage::Reset => Ok(Some(Followed::Reset)),
            LogPage::Events { events, more } => {
                self.behind = more;
                self.page = events.into();
                Ok(None)
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let nothing = broadcast::channel(1).1;
        self.hub
            .leave(self.topic, std::mem::replace(&mut self.live, nothing));
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::{
        journal::Journal,
        protocol::{AssistantMessage, EventBody, IntentId, RunStatus, Timestamp, intent::SendMessage},
        storage::{Change, Outcome, RunKey, Start, sqlite::Sqlite},
    };

    /// How a follower behaves.
    #[derive(Clone, Copy, Debug)]
    enum Pace {
        /// Takes each event as it comes.
        Eager,
        /// Takes what is there, then lets the others work for a while: it falls behind now and then.
        Dawdling,
        /// Subscribes, and reads nothing until all is over.
        Asleep,
    }

    /// Follows until the run's last event; gives the positions seen and the text of the deltas.
    async fn follow(mut follower: Follower, pace: Pace, over: CancellationToken) -> (Vec<u64>, String) {
        if matches!(pace, Pace::Asleep) {
            over.cancelled().await;
        }
        let (mut positions, mut text) = (Vec::new(), String::new());
        loop {
            let Followed::Event(logged) = follower.next().await.unwrap() else {
                panic!("the log was trimmed")
            };
            positions.push(logged.event.position.0);
            if let EventBody::TextDelta {
                text: delta, offset, ..
            } = &logged.event.body
            {
                assert!(
                    text.is_empty() || *offset == text.len(),
                    "a delta is missing or doubled"
                );
                text += delta;
            }
            if logged.event.body.terminal_status().is_some() {
                return (positions, text);
            }
            if matches!(pace, Pace::Dawdling) && positions.len() % 7 == 0 {
                for _ in 0..200 {
                    tokio::task::yield_now().await;
                }
            }
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn every_follower_sees_every_event_once_whenever_it_comes_and_however_slow_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let storage: Arc<dyn Storage> = Arc::new(Sqlite::open(folder.path()).await.unwrap());
        let hub = Arc::new(Hub::default());
        let (journal, _writer) = Journal::start(storage.clone(), hub.clone());
        let user_id = UserId::LOCAL;
        let intent = SendMessage {
            intent_id: IntentId::new(),
            conversation_id: Default::default(),
            user_message_id: MessageId::new(),
            text: "go".into(),
            model: None,
        };
        let start = Start {
            run: MessageId::new(),
            default_model: "x/m".into(),
            fingerprint: String::new(),
        };
        let run = RunKey {
            user_id,
            conversation_id: intent.conversation_id,
            message_id: start.run,
        };
        let sent = journal
            .submit(Change::Send {
                user_id,
                intent,
                start,
            })
            .await
            .unwrap();
        assert!(matches!(sent, Outcome::Started { .. }));

        let over = CancellationToken::new();
        let mut followers = Vec::new();
        let mut join = |topic| {
            for pace in [Pace::Eager, Pace::Dawdling, Pace::Asleep] {
                let follower = Follower::new(hub.clone(), storage.clone(), topic, Position(0));
                followers.push((topic, pace, tokio::spawn(follow(follower, pace, over.clone()))));
            }
        };
        let mut written = String::new();
        for n in 0..900 {
            if n % 300 == 0 {
                join(Topic::User(user_id));
                join(Topic::Run(user_id, run.message_id));
            }
            let text = format!("{n} ");
            let delta = EventBody::TextDelta {
                node: 0,
                part: 0,
                offset: written.len(),
                text: text.clone(),
            };
            written += &text;
            if n % 5 == 0 {
                journal.append(run, vec![delta]).await;
            } else {
                journal
                    .submit(Change::Append {
                        run,
                        events: vec![delta],
                    })
                    .await
                    .unwrap();
            }
        }
        let event = EventBody::ended(RunStatus::Complete, None, Timestamp(0));
        let message = AssistantMessage {
            status: RunStatus::Complete,
            ..AssistantMessage::started("x/m")
        };
        journal
            .submit(Change::End {
                run,
                events: vec![event],
                message,
            })
            .await
            .unwrap();
        over.cancel();
        let head = storage.head(user_id).await.unwrap().0;
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
        assert!(
            hub.topics.lock().unwrap().is_empty(),
            "topics without listeners are forgotten"
        );
    }
}
