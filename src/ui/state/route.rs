//! Where in Parlor a person is: the address, parsed once.

use serde::{Deserialize, Serialize};

use crate::protocol::{ConversationId, MessageId, literature};

const SETTINGS_PATH: &str = "/settings";

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Route {
    /// A conversation that has not begun.
    New,
    Conversation(ConversationId),
    /// The page *Literature*, whatever is open on it.
    Literature,
    /// What a person sets for themselves.
    Settings,
    /// There is nothing at this address.
    Nowhere,
}

impl Route {
    /// The place that an address names.
    pub fn parse(address: &str) -> Self {
        let path = address.split('?').next().unwrap_or_default();
        match path.trim_end_matches('/') {
            "" => Self::New,
            // What there is on it, it knows itself.
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

    /// The path that names the place.
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

    /// Whether it is a page of another kind, beside which one talks in the tray.
    pub fn has_tray(self) -> bool {
        self == Self::Literature
    }

    /// The conversation that the place is.
    pub fn conversation_id(self) -> Option<ConversationId> {
        match self {
            Self::Conversation(id) => Some(id),
            Self::New | Self::Literature | Self::Settings | Self::Nowhere => None,
        }
    }

    /// Whether there is somebody to write to.
    pub fn is_chat(self) -> bool {
        matches!(self, Self::New | Self::Conversation(_))
    }
}

/// The message in an address before which one wants to see more, without scripts.
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
        for place in [
            Route::New,
            Route::Conversation(id),
            Route::Literature,
            Route::Settings,
        ] {
            assert_eq!(Route::parse(&place.path()), place);
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
