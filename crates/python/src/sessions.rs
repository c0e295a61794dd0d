//! The sessions of all conversations: started on first use, ended on deletion, idleness, shutdown, and beyond their number or their
//! memory, of all users or of one.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    cgroup::{SessionGroups, session_group},
    environment::Environment,
    folders::Folders,
    session::{Session, SessionError},
    share::{Candidate, MemoryGauge, MemoryLimits},
};
use parlor_base::settings::PythonSettings;
use parlor_protocol::{Attachment, ConversationId, UserId};
use parlor_tools::{StepId, ToolContext};

/// The interval of looking for idle sessions.
const IDLE_INTERVAL: Duration = Duration::from_secs(30);

/// The Python sessions of all conversations.
pub struct Sessions {
    /// The folder of the sessions' folders.
    folder: PathBuf,
    settings: PythonSettings,
    groups: Option<SessionGroups>,
    table: SharedTable,
    /// Told when the memory of a session has changed.
    memory: watch::Sender<()>,
}

type SharedTable = Arc<Mutex<Table>>;

#[derive(Default)]
struct Table {
    entries: HashMap<ConversationId, Entry>,
    /// The users whose sessions start, once for each.
    starting: Vec<UserId>,
    /// The calls that have ended their sessions, by conversation, until it is deleted. They are not replayed.
    fatal_steps: HashMap<ConversationId, FatalSteps>,
    /// The conversations whose sessions are in use, with the number of their users. None of them is ended for others.
    held: HashMap<ConversationId, usize>,
}

/// The session of a conversation, and the calls that have made its state.
struct Entry {
    session: Session,
    user_id: UserId,
    steps: Vec<StepId>,
}

/// The calls of a user's conversation that have ended its sessions.
struct FatalSteps {
    user_id: UserId,
    steps: HashSet<StepId>,
}

impl Sessions {
    pub fn new(folder: PathBuf, settings: PythonSettings, groups: Option<SessionGroups>) -> Self {
        if let Err(error) = Folders::delete_all(&folder) {
            tracing::warn!(%error, "folders of earlier Python sessions can't be deleted");
        }
        Self {
            folder,
            settings,
            groups,
            table: SharedTable::default(),
            memory: watch::Sender::new(()),
        }
    }

    /// Returns the session of a call's conversation. Starts one if there is none.
    ///
    /// # Errors
    ///
    /// If it can't be started, or if it has ended with its state, which is restored before the next call of the model.
    pub async fn get_or_start(
        &self,
        call: &ToolContext,
        environment: impl FnOnce() -> Result<Environment, SessionError>,
    ) -> Result<Session, SessionError> {
        let conversation_id = call.conversation_id;
        let _place = {
            let mut table = self.table.lock();
            if let Some(entry) = table.entries.get(&conversation_id) {
                if entry.session.is_alive() {
                    return Ok(entry.session.clone());
                }
                let (cause, had_state) = (entry.session.end_cause(), !entry.steps.is_empty());
                table.remove(conversation_id);
                if had_state {
                    return Err(cause);
                }
            }
            table.make_room(&self.settings, call.user_id)?;
            table.starting.push(call.user_id);
            Place {
                table: Arc::clone(&self.table),
                user_id: call.user_id,
            }
        };
        let environment = environment()?;
        let folders = Folders::create(&self.folder, &environment.sandbox)
            .map_err(|error| SessionError::NotStarted(error.to_string()))?;
        let memory = MemoryGauge::new(self.memory.clone());
        let group = session_group(self.groups.as_ref());
        let session = Session::start(&environment, &self.settings, folders, group, memory).await?;
        let entry = Entry {
            session: session.clone(),
            user_id: call.user_id,
            steps: Vec::new(),
        };
        self.table.lock().entries.insert(conversation_id, entry);
        Ok(session)
    }

    /// Keeps the session of a conversation.
    pub fn hold(&self, conversation_id: ConversationId) -> Hold {
        *self.table.lock().held.entry(conversation_id).or_default() += 1;
        Hold {
            table: Arc::clone(&self.table),
            conversation_id,
        }
    }

    /// Notes that a call has changed the state of its conversation's session.
    pub fn add_step(&self, call: &ToolContext) {
        if let Some(entry) = self.table.lock().entries.get_mut(&call.conversation_id) {
            entry.steps.push(call.step());
        }
    }

    /// Returns the number of these steps that made the state of a conversation's session. A session that has taken others, or
    /// has other files than these, is ended: 0.
    pub fn taken_steps(
        &self,
        conversation_id: ConversationId,
        steps: &[StepId],
        files: &[Attachment],
    ) -> usize {
        let mut table = self.table.lock();
        let Some(entry) = table.entries.get(&conversation_id) else {
            return 0;
        };
        if entry.session.is_alive() && steps.starts_with(&entry.steps) && entry.session.has_only(files) {
            return entry.steps.len();
        }
        table.remove(conversation_id);
        0
    }

    /// Notes that a call has ended the session of its conversation.
    pub fn add_fatal_step(&self, call: &ToolContext) {
        self.table
            .lock()
            .add_fatal_step(call.conversation_id, call.user_id, call.step());
    }

    /// Returns true if a call has ended the session of its conversation since Parlor was started.
    pub fn is_fatal_step(&self, conversation_id: ConversationId, step: StepId) -> bool {
        let table = self.table.lock();
        let fatal = table.fatal_steps.get(&conversation_id);
        fatal.is_some_and(|fatal| fatal.steps.contains(&step))
    }

    /// Ends the session of a conversation, if there is one. Its fatal steps stay known: a restoration that fails for one goes on
    /// without it.
    pub fn end(&self, conversation_id: ConversationId) {
        self.table.lock().remove(conversation_id);
    }

    /// Ends the session of a deleted conversation, and forgets its fatal steps.
    pub fn forget(&self, conversation_id: ConversationId) {
        let mut table = self.table.lock();
        table.entries.remove(&conversation_id);
        table.fatal_steps.remove(&conversation_id);
    }

    /// Ends the sessions of a user, and forgets the fatal steps of the user's conversations.
    pub fn end_of_user(&self, user_id: UserId) {
        let mut table = self.table.lock();
        table.entries.retain(|_, entry| entry.user_id != user_id);
        table.fatal_steps.retain(|_, fatal| fatal.user_id != user_id);
    }

    /// Returns the number of sessions that have not ended.
    pub fn count(&self) -> usize {
        let table = self.table.lock();
        table
            .entries
            .values()
            .filter(|entry| entry.session.is_alive())
            .count()
    }

    pub fn end_all(&self) {
        self.table.lock().entries.clear();
    }

    /// Ends idle sessions and those that take too much memory together, as long as there are these sessions.
    pub fn end_superfluous_ones(&self) {
        let table = Arc::downgrade(&self.table);
        let idle_time = self.settings.idle_time;
        tokio::spawn(end_idle_sessions(Weak::clone(&table), idle_time));
        let limits = MemoryLimits::new(&self.settings);
        tokio::spawn(end_large_sessions(table, limits, self.memory.subscribe()));
    }
}

impl Table {
    /// Ends the session of a conversation. If it has ended by itself after a call, that call is to blame.
    fn remove(&mut self, conversation_id: ConversationId) {
        let Some(entry) = self.entries.remove(&conversation_id) else {
            return;
        };
        if let Some(last) = entry.steps.last()
            && entry.session.was_ended_after_its_calls()
        {
            self.add_fatal_step(conversation_id, entry.user_id, *last);
        }
    }

    fn add_fatal_step(&mut self, conversation_id: ConversationId, user_id: UserId, step: StepId) {
        let none = || FatalSteps {
            user_id,
            steps: HashSet::new(),
        };
        let fatal = self.fatal_steps.entry(conversation_id).or_insert_with(none);
        fatal.steps.insert(step);
    }

    /// Makes room for a session of a user, if there are as many as the user may have, or all users. Ends the one that was used longest
    /// ago. Sessions that have ended take no place; their entries stay, because their conversations are told the cause.
    fn make_room(&mut self, settings: &PythonSettings, user_id: UserId) -> Result<(), SessionError> {
        let busy = |limit: usize, whose: &str, setting: &str| {
            SessionError::NotStarted(format!(
                "all {limit} sessions{whose} are busy (setting {setting}); try again later"
            ))
        };
        let of_user = |other: UserId| other == user_id;
        if !self.make_place(settings.user_sessions, of_user) {
            return Err(busy(settings.user_sessions, " of yours", "python.user_sessions"));
        }
        if !self.make_place(settings.sessions, |_| true) {
            return Err(busy(settings.sessions, "", "python.sessions"));
        }
        Ok(())
    }

    /// Makes a place among the sessions of some users. Returns `false` if all are in use.
    fn make_place(&mut self, limit: usize, is_counted: impl Fn(UserId) -> bool) -> bool {
        let alive = || self.entries.iter().filter(|(_, entry)| entry.session.is_alive());
        let started = alive().map(|(_, entry)| entry.user_id);
        let all = started.chain(self.starting.iter().copied());
        if all.filter(|user_id| is_counted(*user_id)).count() < limit {
            return true;
        }
        let idle = alive().filter(|(_, entry)| is_counted(entry.user_id));
        let idle = idle.filter_map(|(id, entry)| Some((self.unused_since(*id, entry)?, *id)));
        let Some((_, oldest)) = idle.min_by_key(|(since, _)| *since) else {
            return false;
        };
        self.remove(oldest);
        true
    }

    /// Returns the time since which nobody uses a session.
    fn unused_since(&self, id: ConversationId, entry: &Entry) -> Option<Instant> {
        (!self.held.contains_key(&id))
            .then(|| entry.session.idle_since())
            .flatten()
    }

    /// Ends the sessions that nobody has used for this time, and drops the entries of those that had ended.
    fn end_idle(&mut self, idle_time: Duration) {
        let now = Instant::now();
        let is_idle = |since: Instant| now.saturating_duration_since(since) >= idle_time;
        let unused = self
            .entries
            .iter()
            .filter(|(id, entry)| self.unused_since(**id, entry).is_some_and(is_idle));
        let unused: Vec<_> = unused.map(|(id, _)| *id).collect();
        for conversation_id in unused {
            self.remove(conversation_id);
        }
    }

    /// Ends sessions until the others take no more memory than they may. The entry of each stays: its conversation is told why.
    fn end_large(&self, limits: MemoryLimits) {
        loop {
            let alive = self.entries.iter().filter(|(_, entry)| entry.session.is_alive());
            let candidates = alive.map(|(id, entry)| Candidate {
                conversation_id: *id,
                user_id: entry.user_id,
                bytes: entry.session.memory(),
                unused_since: self.unused_since(*id, entry),
            });
            let Some((id, cause)) = limits.superfluous(&candidates.collect::<Vec<_>>()) else {
                return;
            };
            tracing::warn!(conversation_id = %id, "a Python session is ended: {cause}");
            if let Some(entry) = self.entries.get(&id) {
                entry.session.end(cause);
            }
        }
    }
}

/// The place of a session that starts, until this is dropped.
struct Place {
    table: SharedTable,
    user_id: UserId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let starting = &mut self.table.lock().starting;
        if let Some(at) = starting.iter().position(|user_id| *user_id == self.user_id) {
            starting.swap_remove(at);
        }
    }
}

/// A use of a conversation's session, until this is dropped.
pub struct Hold {
    table: SharedTable,
    conversation_id: ConversationId,
}

impl Drop for Hold {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        if let Some(count) = table.held.get_mut(&self.conversation_id) {
            *count -= 1;
            if *count == 0 {
                table.held.remove(&self.conversation_id);
            }
        }
    }
}

async fn end_idle_sessions(table: Weak<Mutex<Table>>, idle_time: Duration) {
    loop {
        sleep(IDLE_INTERVAL.min(idle_time)).await;
        let Some(table) = table.upgrade() else {
            return;
        };
        table.lock().end_idle(idle_time);
    }
}

/// Ends sessions that take too much memory, until all sessions and their table are gone.
async fn end_large_sessions(
    table: Weak<Mutex<Table>>,
    limits: MemoryLimits,
    mut memory: watch::Receiver<()>,
) {
    while memory.changed().await.is_ok() {
        let Some(table) = table.upgrade() else {
            return;
        };
        table.lock().end_large(limits);
    }
}
