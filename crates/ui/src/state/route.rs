//! The current route: the URL, parsed once.

use serde::{Deserialize, Serialize};

use super::{page_registry::PageEntry, settings_tab::SettingsTab};
use parlor_protocol::{
    ConversationId, MessageId, PageInfo, ProjectId, project::PROJECT_PATH,
    shared_project::SHARED_PROJECT_PATH,
};

/// The meaning of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Route {
    /// A new conversation.
    New,
    Conversation(ConversationId),
    /// A project: its conversations, and a new one in it.
    Project(ProjectId),
    /// A project of another person, for reading. Nothing is sent from it, so it is not stored.
    #[serde(skip)]
    SharedProject(ProjectId),
    /// A registered page, at any of its URLs. Nothing is sent from it, so it is not stored.
    #[serde(skip)]
    Page(&'static PageInfo),
    /// A tab of the user's settings. Nothing is sent from it, either.
    #[serde(skip)]
    Settings(SettingsTab),
    /// An unknown URL.
    NotFound,
}

impl Route {
    /// Parses a URL, which may be one of these pages.
    pub fn parse(url: &str, pages: &[PageEntry]) -> Self {
        let path = url.split('?').next().unwrap_or_default();
        // The page parses the rest itself.
        if let Some(page) = pages.iter().find(|page| page.info.has_path(path)) {
            return Self::Page(page.info);
        }
        match path.trim_end_matches('/') {
            "" => Self::New,
            path => {
                if let Some(id) = path.strip_prefix("/c/") {
                    return id.parse().map_or(Self::NotFound, Self::Conversation);
                }
                if let Some(id) = path.strip_prefix(PROJECT_PATH) {
                    return id.parse().map_or(Self::NotFound, Self::Project);
                }
                if let Some(id) = path.strip_prefix(SHARED_PROJECT_PATH) {
                    return id.parse().map_or(Self::NotFound, Self::SharedProject);
                }
                SettingsTab::parse(path).map_or(Self::NotFound, Self::Settings)
            }
        }
    }

    /// The path of the route.
    pub fn path(self) -> String {
        match self {
            Self::New | Self::NotFound => "/".into(),
            Self::Page(page) => page.path.into(),
            Self::Settings(tab) => tab.path(),
            Self::Project(id) => [PROJECT_PATH, &id.to_string()].concat(),
            Self::SharedProject(id) => [SHARED_PROJECT_PATH, &id.to_string()].concat(),
            Self::Conversation(id) => {
                let mut path = String::from("/c/");
                path.push_str(&id.to_string());
                path
            }
        }
    }

    /// Returns true for a page with the chat in the tray.
    pub fn has_tray(self) -> bool {
        matches!(self, Self::Page(page) if page.has_tray)
    }

    /// The conversation of the route.
    pub fn conversation_id(self) -> Option<ConversationId> {
        match self {
            Self::Conversation(id) => Some(id),
            Self::New
            | Self::Project(_)
            | Self::SharedProject(_)
            | Self::Page(_)
            | Self::Settings(_)
            | Self::NotFound => None,
        }
    }

    /// The project of the route.
    pub fn project_id(self) -> Option<ProjectId> {
        match self {
            Self::Project(id) => Some(id),
            _ => None,
        }
    }

    /// Returns true if a message that is sent here begins a conversation.
    pub fn begins_chat(self) -> bool {
        matches!(self, Self::New | Self::Project(_))
    }

    /// Returns true if messages can be sent here.
    pub fn is_chat(self) -> bool {
        matches!(self, Self::New | Self::Conversation(_) | Self::Project(_))
    }
}

/// The message in a URL before which older messages are to be shown, for pages without scripts.
pub fn before_message(url: &str) -> Option<MessageId> {
    let (_, query) = url.split_once('?')?;
    let before = query
        .split('&')
        .find_map(|parameter| parameter.strip_prefix("before="));
    before?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::pages;
    use parlor_protocol::literature;

    #[test]
    fn route_and_path_round_trip() {
        let id = ConversationId::new();
        for route in [
            Route::New,
            Route::Conversation(id),
            Route::Project(ProjectId::new()),
            Route::SharedProject(ProjectId::new()),
            Route::Page(&literature::PAGE),
            Route::Settings(SettingsTab::General),
            Route::Settings(SettingsTab::Users),
        ] {
            assert_eq!(Route::parse(&route.path(), pages()), route);
        }
        assert_eq!(
            Route::parse(&format!("/c/{id}/"), pages()),
            Route::Conversation(id)
        );
        let before = MessageId::new();
        let older = format!("/c/{id}?before={before}&plain=");
        assert_eq!(
            (Route::parse(&older, pages()), before_message(&older)),
            (Route::Conversation(id), Some(before))
        );
        assert_eq!(
            Route::parse("/literature/articles/11?q=tea", pages()),
            Route::Page(&literature::PAGE)
        );
        for path in [
            "/literaturex",
            "/c",
            "/c/",
            "/c/what",
            "/project",
            "/project/x",
            "/shared-project",
            "/shared-project/x",
            "/setting",
            "/settings/x",
        ] {
            assert_eq!(Route::parse(path, pages()), Route::NotFound, "{path}");
        }
    }
}
