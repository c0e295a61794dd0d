//! The current route: the address, parsed once.

use serde::{Deserialize, Serialize};

use crate::protocol::{ConversationId, MessageId, literature};

const SETTINGS_PATH: &str = "/settings";

/// The meaning of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Route {
    /// A new conversation.
    New,
    Conversation(ConversationId),
    /// The page *Literature*, at any of its addresses.
    Literature,
    /// The user's settings.
    Settings,
    /// An unknown address.
    Nowhere,
}

impl Route {
    /// Parses an address.
    pub fn parse(address: &str) -> Self {
        let path = address.split('?').next().unwrap_or_default();
        match path.trim_end_matches('/') {
            "" => Self::New,
            // The page parses the rest itself.
            path if path == literature::LITERATURE_PATH || path.starts_with("/literature/") => {
                Self::Literature
            }
            SETTINGS_PATH => Self::Settings,
            path => path
                .strip_prefix("/c/")
                .and_then(|id| id.parse().ok())
                .map_or(Self::Nowhere, Self::Conversation),
        }
    }

    /// The path of the route.
    pub fn path(self) -> String {
        match self {
            Self::New | Self::Nowhere => "/".into(),
            Self::Literature => literature::LITERATURE_PATH.into(),
            Self::Settings => SETTINGS_PATH.into(),
            Self::Conversation(id) => {
                let mut path = String::from("/c/");
                path.push_str(&id.to_string());
                path
            }
        }
    }

    /// Returns true for a page with the chat in the tray.
    pub fn has_tray(self) -> bool {
        self == Self::Literature
    }

    /// The conversation of the route.
    pub fn conversation_id(self) -> Option<ConversationId> {
        match self {
            Self::Conversation(id) => Some(id),
            Self::New | Self::Literature | Self::Settings | Self::Nowhere => None,
        }
    }

    /// Returns true if messages can be sent here.
    pub fn is_chat(self) -> bool {
        matches!(self, Self::New | Self::Conversation(_))
    }
}

/// The message in an address before which older messages are to be shown, for pages without scripts.
pub fn before_message(address: &str) -> Option<MessageId> {
    let (_, query) = address.split_once('?')?;
    let before = query
        .split('&')
        .find_map(|parameter| parameter.strip_prefix("before="));
    before?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_and_path_round_trip() {
        let id = ConversationId::new();
        for route in [
            Route::New,
            Route::Conversation(id),
            Route::Literature,
            Route::Settings,
        ] {
            assert_eq!(Route::parse(&route.path()), route);
        }
        assert_eq!(Route::parse(&format!("/c/{id}/")), Route::Conversation(id));
        let before = MessageId::new();
        let older = format!("/c/{id}?before={before}&plain=");
        assert_eq!(
            (Route::parse(&older), before_message(&older)),
            (Route::Conversation(id), Some(before))
        );
        assert_eq!(Route::parse("/literature/articles/11?q=tea"), Route::Literature);
        for path in ["/literaturex", "/c", "/c/", "/c/what", "/setting", "/settings/x"] {
            assert_eq!(Route::parse(path), Route::Nowhere, "{path}");
        }
    }
}
