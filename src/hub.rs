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
    storage::{LogPage, LoggedEvent, RunKey, Storage, StorageError},
};

/// How many events a user's or a run's subscriber may fall behind before it reads the log instead. Powers of two, since the
/// channel takes the next one.
const MAX_USER_BACKLOG: usize = 256;
const MAX_RUN_BACKLOG: usize = 64;

/// How long an event's JSON may be that is handed over live. Longer ones are read from the log by whoever wants them: otherwise
/// one subscriber that does not read would keep a backlog of them in memory, however long they are. An event is kept with its
/// JSON and its text, which is no longer: a whole backlog comes to well under a MiB.
const MAX_LIVE_EVENT_BYTES: usize = 1 << 10;

/// How many events one read of the log brings.
const LOG_PAGE_EVENTS: usize = 500;

/// What can be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// All that happens to a user.
    User(UserId),
    /// One run.
    Run(UserId, MessageId),
}

type Sender = broadcast::Sender<LiveMessage>;

/// What subscribers are handed.
#[derive(Clone, Debug)]
enum LiveMessage {
    Event(Arc<LoggedEvent>),
    /// An event at this position is in the log, and too long to be kept for those who fall behind.
    ReadFromLog(Position),
    /// The end of a run is in no event, and nothing more comes of it.
    RunAbandoned,
}

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
            let live = if event.json.len() > MAX_LIVE_EVENT_BYTES {
                LiveMessage::ReadFromLog(event.event.position)
            } else {
                LiveMessage::Event(event.clone())
            };
            let run = event.event.message_id.map(|run| Topic::Run(event.user_id, run));
            for topic in [Some(Topic::User(event.user_id)), run].into_iter().flatten() {
                if let Some(sender) = topics.get(&topic) {
                    // The last listener may be just about to leave.
                    let _ = sender.send(live.clone());
                }
            }
        }
    }

    /// Tells those who follow a run that its end is in no event, and those who follow its user to look anew at what is stored.
    pub fn abandon_run(&self, run: RunKey) {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        for topic in [Topic::User(run.user_id), Topic::Run(run.user_id, run.message_id)] {
            if let Some(sender) = topics.get(&topic) {
                // The last listener may be just about to leave.
                let _ = sender.send(LiveMessage::RunAbandoned);
            }
        }
    }

    /// How many listen now. For tests, and for operators who want to know.
    pub fn subscriber_count(&self) -> usize {
        let topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        topics.values().map(Sender::receiver_count).sum()
    }

    fn subscribe(&self, topic: Topic) -> broadcast::Receiver<LiveMessage> {
        let mut topics = self.topics.lock().unwrap_or_else(PoisonError::into_inner);
        let backlog = match topic {
            Topic::User(_) => MAX_USER_BACKLOG,
            Topic::Run(..) => MAX_RUN_BACKLOG,
        };
        topics
            .entry(topic)
            .or_insert_with(|| broadcast::channel(backlog).0)
            .subscribe()
    }

    /// Forgets a topic with its last listener.
    fn unsubscribe(&self, topic: Topic, leaving: broadcast::Receiver<LiveMessage>) {
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
pub enum FollowerItem {
    Event(Arc<LoggedEvent>),
    /// The log does not tell all that happened since the follower's position.
    Reset,
}

/// Every event of a topic after a position, exactly once and in order: first from the log, then live.
pub struct Follower {
    hub: Arc<Hub>,
    storage: Arc<dyn Storage>,
    topic: Topic,
    live: broadcast::Receiver<LiveMessage>,
    cursor: Position,
    /// Events read from the log and not yet given.
    buffered: VecDeque<LoggedEvent>,
    /// Something may be in the log that has neither been read nor will come live.
    is_behind: bool,
    /// A run that is followed has ended without an event.
    is_abandoned: bool,
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
            buffered: VecDeque::new(),
            is_behind: true,
            is_abandoned: false,
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
    pub async fn next(&mut self) -> Result<FollowerItem, StorageError> {
        loop {
            if let Some(logged) = self.buffered.pop_front() {
                self.cursor = logged.event.position;
                return Ok(FollowerItem::Event(Arc::new(logged)));
            }
            if self.is_behind {
                if let Some(reset) = self.read_page().await? {
                    return Ok(reset);
                }
                continue;
            }
            if self.is_abandoned {
                return match self.topic {
                    Topic::User(_) => Ok(FollowerItem::Reset),
                    Topic::Run(..) => Err(StorageError::RunAbandoned),
                };
            }
            match self.live.recv().await {
                Ok(live) => {
                    if let Some(event) = self.accept_live(live) {
                        return Ok(FollowerItem::Event(event));
                    }
                }
                Err(RecvError::Lagged(_)) => self.is_behind = true,
                // The hub forgets a topic only when its last listener leaves, and this one has not.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// The next event if it is there already.
    pub fn try_next(&mut self) -> Option<Arc<LoggedEvent>> {
        if let Some(logged) = self.buffered.pop_front() {
            self.cursor = logged.event.position;
            return Some(Arc::new(logged));
        }
        while !self.is_behind {
            match self.live.try_recv() {
                Ok(live) => {
                    if let Some(event) = self.accept_live(live) {
                        return Some(event);
                    }
                }
                Err(TryRecvError::Lagged(_)) => self.is_behind = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
        None
    }

    /// Accepts a live event if it is new and nothing is missing before it.
    fn accept_live(&mut self, live: LiveMessage) -> Option<Arc<LoggedEvent>> {
        let logged = match live {
            LiveMessage::Event(logged) => logged,
            LiveMessage::ReadFromLog(position) => {
                self.is_behind = position > self.cursor;
                return None;
            }
            LiveMessage::RunAbandoned => {
                self.is_abandoned = true;
                return None;
            }
        };
        let position = logged.event.position;
        if position <= self.cursor {
            return None;
        }
        // A user's positions have no gaps; those of one run do, and there only the channel's own word counts.
        if matches!(self.topic, Topic::User(_)) && position != self.cursor.next() {
            self.is_behind = true;
            return None;
        }
        self.cursor = position;
        Some(logged)
    }

    async fn read_page(&mut self) -> Result<Option<FollowerItem>, StorageError> {
        let (user_id, run) = match self.topic {
            Topic::User(user_id) => (user_id, None),
            Topic::Run(user_id, run) => (user_id, Some(run)),
        };
        match self
            .storage
            .events_after(user_id, self.cursor, run, LOG_PAGE_EVENTS)
            .await?
        {
            LogPage::Reset => Ok(Some(FollowerItem::Reset)),
            LogPage::Events { events, more } => {
                self.is_behind = more;
                self.buffered = events.into();
                Ok(None)
            }
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let nothing = broadcast::channel(1).1;
        self.hub
            .unsubscribe(self.topic, std::mem::replace(&mut self.live, nothing));
    }
}

#[cfg(test)]
mod tests;
