//! The share that a page shows, if it is a reader's: what is in the page then comes from the share's own URLs, and changes
//! nothing.

use std::sync::Arc;

use leptos::prelude::*;

use parlor_protocol::{AttachmentId, MessageId, sharing::shared_path};

/// The share of a reader's page.
#[derive(Clone)]
pub struct SharedView {
    key: Arc<str>,
}

impl SharedView {
    /// Creates the view of a share and provides it to the current owner's views, which become those of a reader.
    pub fn provide(key: &str) -> Self {
        let view = Self { key: key.into() };
        provide_context(view.clone());
        view
    }

    /// The secret of the link, or the id of the share.
    pub fn key(&self) -> String {
        self.key.to_string()
    }

    /// The URL of a file.
    pub fn file(&self, id: AttachmentId) -> String {
        [&shared_path(&self.key), "/files/", &id.to_string()].concat()
    }

    /// The URL of a payload as a file.
    pub fn payload_file(&self, payload_id: &str) -> String {
        [&shared_path(&self.key), "/payloads/", payload_id, "/file"].concat()
    }

    /// The URL that shows the messages before one, too.
    pub fn older_messages(&self, before: MessageId) -> String {
        let before = before.to_string();
        [&shared_path(&self.key), "?before=", &before, "#", &before].concat()
    }

    /// The URL of the stream, up to its position.
    pub fn events(&self, before: Option<MessageId>) -> String {
        let before = match before {
            Some(before) => ["before=", &before.to_string(), "&"].concat(),
            None => String::new(),
        };
        [&shared_path(&self.key), "/events?", &before, "after="].concat()
    }
}

/// The share of the page, if it is a reader's.
pub fn use_shared_view() -> Option<SharedView> {
    use_context()
}

/// Returns true on a reader's page, where nothing can be changed.
pub fn is_read_only() -> bool {
    use_shared_view().is_some()
}
