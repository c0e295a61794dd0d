//! Where in Parlor a person is: the address, parsed once.

use serde::{Deserialize, Serialize};

use crate::protocol::{ConversationId, MessageId};

const SETTINGS: &str = "/settings";

/// What an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Place {
    /// A conversation that has not begun.
    New,
    Conversation(ConversationId),
    /// What a person sets for themselves.
    Settings,
    /// There is nothing at this address.
    Nowhere,
}

impl Place {
    /// The place that a path names.
    pub fn of(path: &str) -> Self {
        match path.trim_end_matches('/') {
            "" => Self::New,
            SETTINGS => Self::Settings,
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
            Self::Settings => SETTINGS.into(),
            Self::Conversation(id) => {
                let mut path = String::from("/c/");
                path.push_str(&id.to_string());
                path
            }
        }
    }

    /// The conversation that the place is.
    pub fn conversation(self) -> Option<ConversationId> {
        match self {
            Self::Conversation(id) => Some(id),
            Self::New | Self::Settings | Self::Nowhere => None,
        }
    }

    /// Whether there is somebody to write to.
    pub fn is_chat(self) -> bool {
        matches!(self, Self::New | Self::Conversation(_))
    }
}

/// The message in an address before which one wants to see more, without scripts.
pub fn before(query: &str) -> Option<MessageId> {
    query
        .trim_start_matches('?')
        .strip_prefix("before=")?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_and_its_path_are_one() {
        let id = ConversationId::new();
        for place in [Place::New, Place::Conversation(id), Place::Settings] {
            assert_eq!(Place::of(&place.path()), place);
        }
        assert_eq!(Place::of(&format!("/c/{id}/")), Place::Conversation(id));
        for path in ["/c", "/c/", "/c/what", "/setting", "/settings/x"] {
            assert_eq!(Place::of(path), Place::Nowhere, "{path}");
        }
    }
}
