//! The list of conversations, and the reducer that keeps it up to date.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    ConversationEvent, ConversationId, Event, EventBody, MessageId, Position, ProjectId, RunEvent, Timestamp,
    UserEvent, flat_json::Fields, sorted_vec,
};

/// A conversation as the list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from, rename = "ConversationSummary")]
pub struct ListedConversation {
    pub id: ConversationId,
    pub title: String,
    /// The time of its last activity.
    pub updated_at: Timestamp,
    /// The log position of its last activity, by which the list is sorted. Unlike times, positions are never
    /// equal.
    pub activity: Position,
    /// The active run; null if there is none.
    pub active_run: Option<MessageId>,
    /// True if the active run waits for the user.
    pub waiting: bool,
    /// True if nobody has opened the conversation since a run in it ended (other than by the user's stop) or
    /// began to wait for the user.
    pub unseen: bool,
    /// True if it is at the top of the list; missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// True if it is not in the list, but in the archive; missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// True if it is erased some time after its last activity; missing if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub temporary: bool,
    /// Its project; missing if it is in none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

impl ListedConversation {
    /// The place in the list: pinned ones first, then the newest activity.
    pub fn order(&self) -> (Reverse<bool>, Reverse<Position>) {
        (Reverse(self.pinned), Reverse(self.activity))
    }
}

/// The newest part of a user's list of conversations, as it stood at a position of the log.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Fields")]
#[schemars(!try_from)]
pub struct ConversationList {
    /// The last position that this state includes. Skip events up to it.
    // As `apply` does.
    pub as_of: Position,
    /// All pinned ones on the first page, then the others; of each the newest activity first.
    pub conversations: Vec<ListedConversation>,
    /// True if there are conversations older than the last one here.
    pub has_more: bool,
    /// True if these are the archived conversations; missing if they are the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The project, if these are only its conversations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<ProjectId>,
}

/// A change of conversations in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListChange {
    /// To the top of the list.
    Pin,
    Unpin,
    /// Out of the list.
    Archive,
    /// Back into the list.
    Unarchive,
    /// Marks the results as seen.
    MarkRead,
    /// Out of the list and of the search. Can be undone by `Restore` for some time, then it is erased.
    Delete,
    /// Undoes `Delete`.
    Restore,
    /// Makes a temporary conversation one that stays.
    Keep,
    /// Into a project, or out of its project.
    Move {
        project_id: Option<ProjectId>,
    },
}

/// The result of a change of several conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListChanged {
    /// The conversations that were changed. Those already in that state are not included.
    pub ids: Vec<ConversationId>,
    /// The reason why others were not changed, for the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// The start of the next page of the list: the conversations before this activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListCursor {
    pub activity: Position,
}

impl ConversationList {
    /// Returns the cursor of the next page, if there is one.
    pub fn next_cursor(&self) -> Option<ListCursor> {
        let last = self
            .conversations
            .last()
            .filter(|last| self.has_more && !last.pinned)?;
        Some(ListCursor {
            activity: last.activity,
        })
    }

    /// Appends an older page. A conversation that moved up since the request is in the list already and stays
    /// there.
    pub fn append_page(&mut self, page: ConversationList) {
        for older in page.conversations {
            if self.get(older.id).is_none() {
                self.conversations.push(older);
            }
        }
        self.has_more = page.has_more;
    }

    /// Returns the conversation with this id if it is in the loaded part of the list.
    pub fn get(&self, id: ConversationId) -> Option<&ListedConversation> {
        self.conversations
            .iter()
            .find(|conversation| conversation.id == id)
    }

    fn update(&mut self, id: ConversationId, change: impl FnOnce(&mut ListedConversation)) -> bool {
        self.conversations
            .iter_mut()
            .find(|conversation| conversation.id == id)
            .map(change)
            .is_some()
    }

    /// Puts a conversation where it belongs now: in this list, in another one, or in the part that is not loaded.
    fn place(&mut self, placed: &ListedConversation) {
        self.conversations
            .retain(|conversation| conversation.id != placed.id);
        let is_loaded = !self.has_more
            || self
                .conversations
                .last()
                .is_some_and(|last| placed.order() < last.order());
        if placed.archived == self.archived
            && self.is_of_project(placed.project_id)
            && (is_loaded || placed.pinned)
        {
            self.insert(placed.clone());
        }
    }

    /// Returns true if the list has the conversations of this project.
    fn is_of_project(&self, project_id: Option<ProjectId>) -> bool {
        self.project_id.is_none() || self.project_id == project_id
    }

    /// Takes all conversations out of a project that was deleted.
    fn leave_project(&mut self, deleted: ProjectId) -> bool {
        let is_in = |conversation: &&mut ListedConversation| conversation.project_id == Some(deleted);
        let mut is_changed = false;
        for conversation in self.conversations.iter_mut().filter(is_in) {
            conversation.project_id = None;
            is_changed = true;
        }
        if self.project_id == Some(deleted) {
            self.conversations.clear();
            self.has_more = false;
        }
        is_changed
    }

    /// Inserts a conversation in the order of the list.
    pub fn insert(&mut self, conversation: ListedConversation) {
        sorted_vec::insert_sorted(&mut self.conversations, conversation, ListedConversation::order);
    }

    /// Moves a conversation to the top of the pinned ones or of the others, where the latest activity belongs.
    fn move_to_top(&mut self, id: ConversationId, activity: Position, at: Timestamp) -> bool {
        let Some(index) = self
            .conversations
            .iter()
            .position(|conversation| conversation.id == id)
        else {
            return false;
        };
        let mut conversation = self.conversations.remove(index);
        conversation.updated_at = at;
        conversation.activity = activity;
        self.insert(conversation);
        true
    }
}

/// The effect of an event on the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListUpdate {
    /// Nothing changed.
    Unchanged,
    Changed,
    /// The active run of a conversation in the list ended by itself; the list changed too.
    RunEnded(RunEnd),
    /// The event is about a conversation outside the loaded part of the list. It belongs at the top now, and
    /// the caller has to request its summary.
    UnknownConversation(ConversationId),
}

/// The end of a run that no user stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunEnd {
    pub conversation_id: ConversationId,
    pub run_id: MessageId,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
}

/// Applies one event of the list's user.
pub fn apply(list: &mut ConversationList, event: &Event) -> ListUpdate {
    if event.position <= list.as_of {
        return ListUpdate::Unchanged;
    }
    list.as_of = event.position;
    match &event.body {
        EventBody::Conversation(change) => apply_to_conversation(list, event, change),
        EventBody::Run(output) => apply_to_run(list, event, output),
        EventBody::User(UserEvent::ProjectChanged {
            project_id,
            deleted: true,
        }) => update_if(list.leave_project(*project_id)),
        EventBody::User(_) | EventBody::Placeholder(_) => ListUpdate::Unchanged,
    }
}

fn apply_to_conversation(
    list: &mut ConversationList,
    event: &Event,
    change: &ConversationEvent,
) -> ListUpdate {
    let id = event.conversation_id;
    match change {
        ConversationEvent::ConversationCreated {
            title,
            created_at,
            temporary,
            project_id,
        } => {
            if list.get(id).is_none() && !list.archived && list.is_of_project(*project_id) {
                let created = ListedConversation {
                    id,
                    title: title.clone(),
                    updated_at: *created_at,
                    activity: event.position,
                    active_run: None,
                    waiting: false,
                    unseen: false,
                    pinned: false,
                    archived: false,
                    temporary: *temporary,
                    project_id: *project_id,
                };
                list.insert(created);
            }
            ListUpdate::Changed
        }
        ConversationEvent::ConversationPlaced { conversation } => {
            list.place(conversation);
            ListUpdate::Changed
        }
        // A conversation outside the loaded part gets its title when its page is loaded.
        ConversationEvent::ConversationRenamed { title } => {
            update_if(list.update(id, |conversation| conversation.title.clone_from(title)))
        }
        ConversationEvent::ConversationDeleted => {
            let before = list.conversations.len();
            list.conversations.retain(|conversation| conversation.id != id);
            update_if(list.conversations.len() != before)
        }
        ConversationEvent::UserMessageSaved { created_at, .. } => {
            let is_known = list.move_to_top(id, event.position, *created_at);
            update_or_load(list, is_known, id)
        }
        ConversationEvent::ConversationRead => {
            update_if(list.update(id, |conversation| conversation.unseen = false))
        }
        ConversationEvent::ModelChosen { .. }
        | ConversationEvent::ParametersChosen { .. }
        | ConversationEvent::LeafSelected { .. }
        | ConversationEvent::MessageQueued { .. }
        | ConversationEvent::QueueChanged { .. }
        | ConversationEvent::MessageHidden { .. }
        | ConversationEvent::MessageRestored { .. }
        | ConversationEvent::FilesDeleted { .. }
        | ConversationEvent::PayloadJudged { .. } => ListUpdate::Unchanged,
    }
}

fn apply_to_run(list: &mut ConversationList, event: &Event, output: &RunEvent) -> ListUpdate {
    let id = event.conversation_id;
    match output {
        RunEvent::RunStarted { created_at, .. } | RunEvent::RunContinued { created_at } => {
            let is_known = list.move_to_top(id, event.position, *created_at);
            list.update(id, |conversation| {
                conversation.active_run = event.message_id;
                conversation.waiting = false;
                conversation.unseen = false;
            });
            update_or_load(list, is_known, id)
        }
        RunEvent::Waiting { .. } => update_if(list.update(id, |conversation| {
            conversation.waiting = true;
            conversation.unseen = true;
        })),
        RunEvent::ApprovalAnswered { .. } => {
            update_if(list.update(id, |conversation| conversation.waiting = false))
        }
        RunEvent::Complete { ended_at, .. }
        | RunEvent::Cancelled { ended_at, .. }
        | RunEvent::Error { ended_at, .. } => end_run(list, event, output.is_notifiable_end(), *ended_at),
        RunEvent::RunResumed { .. }
        | RunEvent::Status { .. }
        | RunEvent::Thinking { .. }
        | RunEvent::TextDelta { .. }
        | RunEvent::TextWasThinking { .. }
        | RunEvent::ApprovalRequested(_)
        | RunEvent::ToolStart { .. }
        | RunEvent::ToolProgress { .. }
        | RunEvent::ToolComplete { .. }
        | RunEvent::PayloadMade { .. }
        | RunEvent::FileMade { .. }
        | RunEvent::SuggestedValues { .. }
        | RunEvent::SuggestedActions { .. }
        | RunEvent::ActionTaken { .. }
        | RunEvent::Sources { .. }
        | RunEvent::Usage(_) => ListUpdate::Unchanged,
    }
}

/// Applies the last event of a run.
fn end_run(
    list: &mut ConversationList,
    event: &Event,
    is_notifiable: bool,
    ended_at: Timestamp,
) -> ListUpdate {
    let mut ended_run = None;
    let changed = list.update(event.conversation_id, |conversation| {
        let active_run = conversation.active_run.take();
        conversation.waiting = false;
        conversation.unseen = is_notifiable;
        ended_run = active_run
            .filter(|run| is_notifiable && Some(*run) == event.message_id)
            .map(|run_id| RunEnd {
                conversation_id: event.conversation_id,
                run_id,
                // Nothing else happens in a conversation while a run is active.
                started_at: conversation.updated_at,
                ended_at,
            });
    });
    ended_run.map_or(update_if(changed), ListUpdate::RunEnded)
}

/// The effect of an event that belongs at the top of the list.
fn update_or_load(list: &ConversationList, is_known: bool, id: ConversationId) -> ListUpdate {
    if is_known {
        ListUpdate::Changed
    } else if list.archived || (list.project_id.is_some() && !list.has_more) {
        // Activity takes a conversation out of the archive. One that a whole project does not have is of another.
        ListUpdate::Unchanged
    } else {
        ListUpdate::UnknownConversation(id)
    }
}

fn update_if(changed: bool) -> ListUpdate {
    if changed {
        ListUpdate::Changed
    } else {
        ListUpdate::Unchanged
    }
}
