//! The stream of a live share: a projection of the owner's log ([`branch`](crate::app::sharing::branch)).
//!
//! It begins with the present state, unless that is what the reader has: events from before the stream are never sent, since
//! what they tell may be gone by now.

use axum::{http::HeaderMap, response::Response};
use serde::Deserialize;

use super::Shared;
use crate::{
    app::{
        AppState,
        access::Access,
        sharing::{
            self, WatcherPlace,
            branch::{SharedBranch, SharedEvent},
        },
    },
    http::{
        event_stream::{self, Projection, parse_position},
        problem::Problem,
        request::QueryParameters,
    },
};
use parlor_journal::hub::{Follower, Topic};
use parlor_protocol::{
    ApiError, ConversationEvent, ErrorCode, Event, EventBody, MessageId, SharedConversation, SharedFrame,
    UserEvent,
};
use parlor_storage::{
    LoggedEvent,
    shares::{Audience, StoredShare},
};

/// The part of the log, and of the conversation.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SharedQuery {
    /// Only what follows this position.
    after: Option<String>,
    /// The message before which older ones are shown, too.
    before: Option<String>,
}

/// `GET /shared/{key}/events?after=N`: the changes of a live share. A snapshot has none.
pub async fn follow(
    shared: Shared,
    query: Result<QueryParameters<SharedQuery>, Problem>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let QueryParameters(query) = query?;
    let Shared {
        app,
        key,
        access,
        share,
    } = shared;
    if share.snapshot.is_some() {
        return Err(sharing::not_shared().into());
    }
    let known = parse_position(query.after.as_deref(), &headers)?;
    let limit = app.settings.sharing.watchers;
    let place = app.watchers.enter(share.id, limit).ok_or_else(|| {
        ApiError::new(
            ErrorCode::TooManyRequests,
            "Too many people watch this conversation (setting sharing.watchers). Reload the page later to see what is new.",
        )
    })?;
    let before = query.before.and_then(|before| before.parse().ok());
    let state = read_while_shared(&app, &key, access.as_ref(), &share, before).await?;
    let as_of = state.transcript.as_of;
    let projection = SharedProjection {
        branch: SharedBranch::new(&state.transcript),
        opening: (known != Some(as_of)).then_some(state),
        app: app.clone(),
        key: key.clone(),
        access: access.clone(),
        share,
        before,
        _place: place,
    };
    let user = Topic::User(projection.share.user_id);
    let follower = Follower::new(app.hub.clone(), app.storage.clone(), user, as_of);
    let end = sharing::end_of_reading(&app, key, access);
    Ok(event_stream::respond_until(end, follower, &app, projection))
}

/// Returns the present state, if it may still be read then: a move takes a conversation from the readers of its project, and what is
/// written afterwards is not theirs.
async fn read_while_shared(
    app: &AppState,
    key: &str,
    access: Option<&Access>,
    share: &StoredShare,
    before: Option<MessageId>,
) -> Result<SharedConversation, ApiError> {
    let state = sharing::read(app, share, before).await?;
    if matches!(share.audience, Audience::Project(_)) && sharing::find(app, key, access).await?.is_none() {
        return Err(sharing::not_shared());
    }
    Ok(state)
}

/// Projects the events that readers may see.
struct SharedProjection {
    app: AppState,
    key: String,
    access: Option<Access>,
    share: StoredShare,
    before: Option<MessageId>,
    branch: SharedBranch,
    /// The state before the first event.
    opening: Option<SharedConversation>,
    _place: WatcherPlace,
}

impl SharedProjection {
    /// Returns the present state, from which the branch continues.
    async fn state(&mut self) -> Result<SharedConversation, ApiError> {
        let access = self.access.as_ref();
        let state = read_while_shared(&self.app, &self.key, access, &self.share, self.before).await?;
        self.branch = SharedBranch::new(&state.transcript);
        Ok(state)
    }

    /// Returns true if an event may take the conversation from the readers of its project: it was moved, or the project changed.
    fn may_end_with_project(&self, event: &Event) -> bool {
        let Audience::Project(of_share) = self.share.audience else {
            return false;
        };
        match &event.body {
            EventBody::User(UserEvent::ProjectChanged { project_id, .. }) => *project_id == of_share,
            EventBody::Conversation(ConversationEvent::ConversationPlaced { .. }) => {
                event.conversation_id == self.share.conversation_id
            }
            EventBody::User(_)
            | EventBody::Conversation(_)
            | EventBody::Run(_)
            | EventBody::Placeholder(_) => false,
        }
    }
}

impl Projection for SharedProjection {
    async fn frames(&mut self, logged: &LoggedEvent) -> (Vec<String>, bool) {
        if self.may_end_with_project(&logged.event) {
            match sharing::find(&self.app, &self.key, self.access.as_ref()).await {
                // It may be read as one of another project now.
                Ok(Some(share)) => self.share = share,
                Ok(None) => return (vec![encode(&SharedFrame::Ended)], true),
                Err(error) => {
                    tracing::warn!(%error, "a share can't be read");
                    return (Vec::new(), true);
                }
            }
        }
        let frame = match self.branch.apply(&logged.event) {
            SharedEvent::Nothing => return (Vec::new(), false),
            SharedEvent::Event(event) => SharedFrame::Event(event),
            SharedEvent::NeedsState => match self.state().await {
                Ok(state) => SharedFrame::State(Box::new(state)),
                Err(error) if error.code == ErrorCode::NotFound => {
                    return (vec![encode(&SharedFrame::Ended)], true);
                }
                Err(error) => {
                    tracing::warn!(%error, "a share can't be read");
                    // The reader connects again, and gets the state then.
                    return (Vec::new(), true);
                }
            },
            SharedEvent::Ended => return (vec![encode(&SharedFrame::Ended)], true),
        };
        (vec![encode(&frame)], false)
    }

    async fn is_over(&mut self) -> bool {
        false
    }

    fn take_opening(&mut self) -> Option<String> {
        let state = self.opening.take()?;
        Some(encode(&SharedFrame::State(Box::new(state))))
    }

    fn last_frame(&self) -> Option<String> {
        Some(encode(&SharedFrame::Ended))
    }
}

fn encode(frame: &SharedFrame) -> String {
    serde_json::to_string(frame).unwrap_or_default()
}
