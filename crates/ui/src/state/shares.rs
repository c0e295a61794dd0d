//! The user's shares of conversations.

use leptos::{prelude::*, task::spawn_local};

use super::{connection::Connection, texts};
use crate::{api::sharing, runtime::requests::LastRequest};
use parlor_protocol::{ApiError, ConversationId, NewShare, Share, ShareId, sorted_vec::insert_sorted};

/// The user's shares. One store per page.
#[derive(Clone, Copy)]
pub struct Shares {
    list: RwSignal<Vec<Share>>,
    /// The list could not be read so far.
    is_unread: RwSignal<bool>,
    connection: Connection,
    requests: LastRequest,
}

impl Shares {
    pub(super) fn new(list: Result<Vec<Share>, ApiError>, connection: Connection) -> Self {
        Self {
            is_unread: RwSignal::new(list.is_err()),
            list: RwSignal::new(list.unwrap_or_default()),
            connection,
            requests: LastRequest::new(),
        }
    }

    /// Returns true if it is not known what is shared. Tracked.
    pub fn is_unread(self) -> bool {
        self.is_unread.get()
    }

    /// Loads the list if it could not be read before.
    pub fn load_if_unread(self) {
        if self.is_unread.get_untracked() {
            self.reload();
        }
    }

    /// The shares of a conversation, newest first. Tracked.
    pub fn of_conversation(self, id: ConversationId) -> Vec<Share> {
        self.list.with(|list| {
            let of_it = list.iter().filter(|share| share.conversation_id == id);
            of_it.cloned().collect()
        })
    }

    /// A sentence about those who can read a conversation, if there are any: "Shared with ann and whoever has the link".
    /// Tracked.
    pub fn audience(self, id: ConversationId) -> Option<String> {
        self.list.with(|list| describe_audience(list, id))
    }

    /// Loads the list again.
    pub fn reload(self) {
        let number = self.requests.begin();
        spawn_local(async move {
            let loaded = self.connection.call(sharing::shares()).await;
            if let Ok(list) = loaded
                && self.requests.is_last(number)
            {
                self.list.try_set(list);
                self.is_unread.try_set(false);
            }
        });
    }

    /// Shares a conversation with people by name, or by a link if none are named.
    pub async fn create(
        self,
        id: ConversationId,
        readers: Option<Vec<String>>,
        is_live: bool,
    ) -> Result<NewShare, ApiError> {
        let request = sharing::create_share(id, readers, is_live);
        let created = self.connection.call(request).await?;
        self.list.try_update(|list| {
            // The stream may have been faster.
            if list.iter().all(|share| share.id != created.share.id) {
                list.insert(0, created.share.clone());
            }
        });
        Ok(created)
    }

    /// Ends a share.
    pub async fn end(self, id: ShareId) -> Result<(), ApiError> {
        self.connection.call(sharing::end_share(id)).await?;
        self.list.try_update(|list| list.retain(|share| share.id != id));
        Ok(())
    }
}

fn describe_audience(list: &[Share], id: ConversationId) -> Option<String> {
    let mut has_link = false;
    let mut names: Vec<&str> = Vec::new();
    for share in list.iter().filter(|share| share.conversation_id == id) {
        match &share.readers {
            None => has_link = true,
            Some(readers) => {
                for name in readers {
                    insert_sorted(&mut names, name.as_str(), |name| *name);
                }
            }
        }
    }
    if has_link {
        names.push(texts::SHARED_BY_LINK);
    }
    match names.split_last() {
        None => {
            // The accounts of its readers are gone.
            let is_shared = list.iter().any(|share| share.conversation_id == id);
            is_shared.then(|| texts::SHARED_WITH_NOBODY.into())
        }
        Some((last, others)) => Some(texts::shared_with(others, last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ErrorCode, Timestamp};

    #[test]
    fn a_failed_read_is_not_an_empty_list() {
        let owner = Owner::new();
        let is_unread = |list| owner.with(|| Shares::new(list, Connection::new()).is_unread.get_untracked());
        assert!(!is_unread(Ok(Vec::new())));
        assert!(is_unread(Err(ApiError::new(ErrorCode::Internal, "Broken."))));
    }

    #[test]
    fn audience_names_everybody_once() {
        let (here, elsewhere) = (ConversationId::new(), ConversationId::new());
        let share = |conversation_id, readers: Option<&[&str]>| Share {
            id: ShareId::new(),
            conversation_id,
            readers: readers.map(|names| names.iter().map(ToString::to_string).collect()),
            is_live: false,
            created_at: Timestamp(0),
        };
        let ben_and_ann = share(here, Some(&["ben", "ann"]));
        let link = share(here, None);
        let audience = |list: &[Share]| describe_audience(list, here);
        assert_eq!(audience(&[share(elsewhere, None)]), None);
        assert_eq!(
            audience(&[link.clone(), link.clone()]).as_deref(),
            Some("Shared with whoever has the link")
        );
        assert_eq!(
            audience(&[ben_and_ann, link, share(here, Some(&["ann"]))]).as_deref(),
            Some("Shared with ann, ben and whoever has the link")
        );
        assert_eq!(
            audience(&[share(here, Some(&[]))]).as_deref(),
            Some("Shared with nobody who is still here")
        );
    }
}
