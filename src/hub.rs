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
        topics.entry(topic).or_insert_with(|| broadcast::channel(backlog).0).subscribe()
    }

    /// Forgets a topic that has at most `leaving` listeners.
    fn leave(&self, topic: Topic, leaving: usize) {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        if topics.get(&topic).is_some_and(|sender| sender.receiver_count() <= leaving) {
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
        Self { hub, storage, topic, live, cursor: after, page: VecDeque::new(), behind: true }
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
            LogPage::Events(events) => {
                self.behind = events.len() == PAGE;
                self.page = events.into();
                Ok(None)
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        // This one's receiver is dropped after this, so it still counts.
        self.hub.leave(self.topic, 1);
    }
}
