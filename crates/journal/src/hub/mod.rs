//! The event hub: sends committed events to live subscribers. A [`Follower`] reads a log from any position
//! without missing or repeating an event.
//!
//! The hub stores no events. A subscriber that falls behind catches up from the log. What other nodes have written is read once for
//! all subscribers of a log: see [`gaps`].

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::Arc,
};

use parking_lot::Mutex;
use tokio::sync::{
    Notify,
    broadcast::{self, error::RecvError, error::TryRecvError},
};

use parlor_base::metrics::Metrics;
use parlor_protocol::{MessageId, Position, UserId};
use parlor_storage::{LogPage, LoggedEvent, RunKey, Storage, StorageError};

mod gaps;

/// The number of events that a user's or a run's subscriber may fall behind before it reads the log instead.
/// Powers of two, since the channel rounds up to the next one.
const MAX_USER_BACKLOG: usize = 256;
const MAX_RUN_BACKLOG: usize = 64;

/// The maximum length of the JSON of an event that is sent live. Subscribers read longer events from the log:
/// otherwise a subscriber that does not read would keep a backlog of them in memory, of any length. An event
/// is kept with its JSON and its text, which is no longer than the JSON: a whole backlog stays well under 1
/// MiB.
const MAX_LIVE_EVENT_BYTES: usize = 1 << 10;

/// The number of events in one read of the log.
const LOG_PAGE_EVENTS: usize = 500;

/// The subject of a subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Topic {
    /// All events of a user.
    User(UserId),
    /// The events of one run.
    Run(UserId, MessageId),
}

impl Topic {
    fn user_id(&self) -> UserId {
        match self {
            Self::User(user_id) | Self::Run(user_id, _) => *user_id,
        }
    }
}

type Sender = broadcast::Sender<LiveMessage>;

/// A message to live subscribers.
#[derive(Clone, Debug)]
enum LiveMessage {
    Event(Arc<LoggedEvent>),
    /// An event at this position is in the log and is too long for the backlog.
    ReadFromLog(Position),
    /// The run ended without an event; no more events follow.
    RunAbandoned,
}

/// The live subscribers of this process.
#[derive(Debug, Default)]
pub struct Hub {
    topics: Mutex<Topics>,
    /// Notified when a gap was noted.
    gap: Notify,
    metrics: Arc<Metrics>,
}

#[derive(Debug, Default)]
struct Topics {
    senders: HashMap<Topic, Sender>,
    /// With other nodes, the last position of each log that all its subscribers know of; `None` without. An event is sent live only
    /// if it is the next one: those between are of other nodes.
    known: Option<HashMap<UserId, Position>>,
    /// The logs that have more than that, up to these positions.
    gaps: HashMap<UserId, Position>,
}

impl Topics {
    /// Tells all subscribers of a user's log that it has events up to this position.
    fn tell_to_read(&mut self, user_id: UserId, position: Position) {
        let of_user = self
            .senders
            .iter()
            .filter(|(topic, _)| topic.user_id() == user_id);
        for (_, sender) in of_user {
            // The last subscriber may be leaving.
            let _ = sender.send(LiveMessage::ReadFromLog(position));
        }
        if let Some(known) = &mut self.known {
            known.insert(user_id, position);
        }
        self.gaps.remove(&user_id);
    }

    /// Returns true if it is known, with other nodes, what the subscribers of a log know of.
    fn is_known(&self, user_id: UserId) -> bool {
        let known = self.known.as_ref();
        known.is_some_and(|known| known.contains_key(&user_id))
    }

    /// Returns true if an event of this node can be sent live.
    fn is_next(&mut self, user_id: UserId, position: Position) -> bool {
        let Some(known) = &mut self.known else {
            return true;
        };
        match known.get_mut(&user_id) {
            Some(last) if last.next() == position => {
                *last = position;
                true
            }
            _ => false,
        }
    }

    /// Sends the next event of a log to the subscribers of its topics.
    fn send(&self, event: &Arc<LoggedEvent>) {
        let live = if event.json.len() > MAX_LIVE_EVENT_BYTES {
            LiveMessage::ReadFromLog(event.event.position)
        } else {
            LiveMessage::Event(event.clone())
        };
        for topic in topics_of(event) {
            if let Some(sender) = self.senders.get(&topic) {
                // The last subscriber may be leaving.
                let _ = sender.send(live.clone());
            }
        }
    }
}

/// Returns the topics of an event.
fn topics_of(event: &LoggedEvent) -> impl Iterator<Item = Topic> {
    let run = event.event.message_id.map(|run| Topic::Run(event.user_id, run));
    [Some(Topic::User(event.user_id)), run].into_iter().flatten()
}

impl Hub {
    /// Creates a hub that records with the journal in these figures.
    pub fn new(metrics: Arc<Metrics>) -> Self {
        Self {
            topics: Mutex::default(),
            gap: Notify::new(),
            metrics,
        }
    }

    /// Expects events of other nodes in the logs, too.
    pub fn expect_other_nodes(&self) {
        self.topics.lock().known.get_or_insert_default();
    }

    /// Returns the users whose logs have subscribers.
    pub fn users(&self) -> Vec<UserId> {
        let topics = self.topics.lock();
        let users: HashSet<UserId> = topics.senders.keys().map(Topic::user_id).collect();
        users.into_iter().collect()
    }

    /// Tells that a user's log has events up to this position, perhaps of other nodes.
    pub fn announce(&self, user_id: UserId, position: Position) {
        let mut topics = self.topics.lock();
        let known = topics.known.as_ref().and_then(|known| known.get(&user_id));
        if known.is_none_or(|known| *known < position)
            && topics.senders.keys().any(|topic| topic.user_id() == user_id)
        {
            self.note_gap(&mut topics, user_id, position);
        }
    }

    pub(crate) fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }

    /// Sends committed events to the subscribers of their topics.
    pub fn publish(&self, events: &[Arc<LoggedEvent>]) {
        let mut topics = self.topics.lock();
        for event in events {
            let (user_id, position) = (event.user_id, event.event.position);
            let is_followed = topics_of(event).any(|topic| topics.senders.contains_key(&topic));
            // One that nobody follows is no gap for the others.
            if !is_followed && !topics.is_known(user_id) {
                continue;
            }
            match topics.is_next(user_id, position) {
                true => topics.send(event),
                false => self.note_gap(&mut topics, user_id, position),
            }
        }
        self.metrics.commits.count_published(events.len());
    }

    /// Tells the followers of a run that it ended without an event, and the followers of its user to reload
    /// the stored state.
    pub fn abandon_run(&self, run: RunKey) {
        let topics = self.topics.lock();
        for topic in [Topic::User(run.user_id), Topic::Run(run.user_id, run.message_id)] {
            if let Some(sender) = topics.senders.get(&topic) {
                // The last subscriber may be leaving.
                let _ = sender.send(LiveMessage::RunAbandoned);
            }
        }
    }

    /// Returns the number of live subscribers. For tests and operators.
    pub fn subscriber_count(&self) -> usize {
        let topics = self.topics.lock();
        topics.senders.values().map(Sender::receiver_count).sum()
    }

    fn subscribe(&self, topic: Topic) -> broadcast::Receiver<LiveMessage> {
        let mut topics = self.topics.lock();
        let backlog = match topic {
            Topic::User(_) => MAX_USER_BACKLOG,
            Topic::Run(..) => MAX_RUN_BACKLOG,
        };
        topics
            .senders
            .entry(topic)
            .or_insert_with(|| broadcast::channel(backlog).0)
            .subscribe()
    }

    /// Removes a topic with its last subscriber.
    fn unsubscribe(&self, topic: Topic, leaving: broadcast::Receiver<LiveMessage>) {
        let mut topics = self.topics.lock();
        // Dropped under the lock, so that of two concurrent leavers one is the last.
        drop(leaving);
        if topics
            .senders
            .get(&topic)
            .is_some_and(|sender| sender.receiver_count() == 0)
        {
            topics.senders.remove(&topic);
            let user_id = topic.user_id();
            if !topics.senders.keys().any(|other| other.user_id() == user_id)
                && let Some(known) = &mut topics.known
            {
                known.remove(&user_id);
                topics.gaps.remove(&user_id);
            }
        }
    }
}

/// The next item of a follower.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FollowerItem {
    Event(Arc<LoggedEvent>),
    /// The log does not have everything that happened since the follower's position: load snapshots again.
    Reset,
}

/// A reader of a topic: returns every event after a position exactly once and in order, first from the log,
/// then live.
pub struct Follower {
    hub: Arc<Hub>,
    storage: Arc<dyn Storage>,
    topic: Topic,
    live: broadcast::Receiver<LiveMessage>,
    cursor: Position,
    /// Events read from the log and not yet returned.
    buffered: VecDeque<LoggedEvent>,
    /// True if the log may have events that were not read and will not come live.
    is_behind: bool,
    /// True if the followed run ended without an event.
    is_abandoned: bool,
}

impl Follower {
    /// Follows a topic from the position after `after`.
    pub fn new(hub: Arc<Hub>, storage: Arc<dyn Storage>, topic: Topic, after: Position) -> Self {
        // Subscribing comes before reading, so that no event is missed between the two.
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

    /// Returns the position of the last returned event.
    pub fn cursor(&self) -> Position {
        self.cursor
    }

    /// Waits for the next event and returns it. Cancel-safe.
    ///
    /// # Errors
    ///
    /// If the log could not be read; the next call retries.
    pub async fn next(&mut self) -> Result<FollowerItem, StorageError> {
        loop {
            if let Some(item) = self.next_committed().await? {
                return Ok(item);
            }
            match self.live.recv().await {
                Ok(live) => {
                    if let Some(event) = self.accept_live(live) {
                        return Ok(FollowerItem::Event(event));
                    }
                }
                Err(RecvError::Lagged(missed)) => self.fall_behind(missed),
                // The hub removes a topic only with its last subscriber, and this follower still subscribes.
                Err(RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// Returns the next event if it is committed already, also if it must be read from the log. Cancel-safe.
    ///
    /// # Errors
    ///
    /// If the log could not be read; the next call retries.
    pub async fn next_committed(&mut self) -> Result<Option<FollowerItem>, StorageError> {
        loop {
            if let Some(logged) = self.try_next() {
                return Ok(Some(FollowerItem::Event(logged)));
            }
            if self.is_behind {
                if let Some(reset) = self.read_page().await? {
                    return Ok(Some(reset));
                }
                continue;
            }
            return match self.topic {
                _ if !self.is_abandoned => Ok(None),
                Topic::User(_) => Ok(Some(FollowerItem::Reset)),
                Topic::Run(..) => Err(StorageError::RunAbandoned),
            };
        }
    }

    /// Returns the next event if it is available without waiting.
    pub fn try_next(&mut self) -> Option<Arc<LoggedEvent>> {
        if let Some(logged) = self.buffered.pop_front() {
            self.cursor = logged.event.position;
            return Some(Arc::new(logged));
        }
        while !self.is_behind && !self.is_abandoned {
            match self.live.try_recv() {
                Ok(live) => {
                    if let Some(event) = self.accept_live(live) {
                        return Some(event);
                    }
                }
                Err(TryRecvError::Lagged(missed)) => self.fall_behind(missed),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
            }
        }
        None
    }

    /// Reads the log next: the channel has dropped this number of messages.
    fn fall_behind(&mut self, missed: u64) {
        self.hub.metrics.commits.count_lag(missed);
        self.is_behind = true;
    }

    /// Accepts a live event if it is new and none is missing before it.
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
        // A user's positions have no gaps. Those of one run do, so there only the channel reports a gap.
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
