//! The state of the page of another person's project, and its requests.

use leptos::{prelude::*, task::spawn_local};

use crate::{
    api::projects,
    browser,
    components::toast::{Toasts, use_toasts},
    runtime::requests::LastRequest,
    state::{Projects, snapshot::OpenedSharedProject, use_projects},
};
use parlor_protocol::{ApiError, ErrorCode, ProjectId, SharedProjectContent};

/// The page's element, which takes the focus when its content is gone.
const PAGE: &str = "#shared-project";

/// The content as it is known.
#[derive(Clone)]
pub enum Content {
    Loading,
    Here(SharedProjectContent),
    /// It can't be read: it never could, or (`true`) not any more.
    Gone(bool),
}

#[derive(Clone, Copy)]
pub struct SharedPage {
    pub id: ProjectId,
    projects: Projects,
    toasts: Toasts,
    pub content: RwSignal<Content>,
    /// The reason why the content is missing, or not the latest.
    pub error: RwSignal<Option<String>>,
    pub is_loading_more: RwSignal<bool>,
    /// The content is being loaded again: a page would be of an earlier one.
    is_loading: StoredValue<bool>,
    requests: LastRequest,
}

impl SharedPage {
    /// Opens the page for the current view.
    pub fn open(id: ProjectId) -> Self {
        let projects = use_projects();
        let opened = use_context::<OpenedSharedProject>()
            .and_then(|opened| opened.0.try_update_value(Option::take).flatten());
        let of_this = |content: &SharedProjectContent| content.project.id == id;
        // The project that was opened first, as it was then.
        let content = match opened {
            Some(Ok(content)) if of_this(&content) => Content::Here(content),
            Some(Err(error)) if error.code == ErrorCode::NotFound => Content::Gone(false),
            _ => Content::Loading,
        };
        let page = SharedPage {
            id,
            projects,
            toasts: use_toasts(),
            content: RwSignal::new(content),
            error: RwSignal::new(None),
            is_loading_more: RwSignal::new(false),
            is_loading: StoredValue::new(false),
            requests: LastRequest::new(),
        };
        // Whatever a reader sees is told as a change of the project.
        Effect::new(move |before: Option<u32>| {
            let version = projects.version();
            let is_first = before.is_none();
            if !is_first
                || !page
                    .content
                    .with_untracked(|content| matches!(content, Content::Here(_)))
            {
                page.load();
            }
            version
        });
        page
    }

    /// Reads the content, if it is here. Tracked.
    pub fn read<T>(self, read: impl FnOnce(&SharedProjectContent) -> T) -> Option<T> {
        self.content.with(|content| match content {
            Content::Here(content) => Some(read(content)),
            Content::Loading | Content::Gone(_) => None,
        })
    }

    /// Loads the content again, with at least as many conversations as are shown.
    pub fn load(self) {
        let number = self.requests.begin();
        self.is_loading_more.set(false);
        self.is_loading.set_value(true);
        let shown = untrack(|| self.read(|content| content.conversations.len())).unwrap_or(0);
        spawn_local(async move {
            let loaded = self.load_first(shown, number).await;
            if !self.requests.is_last(number) {
                return;
            }
            self.is_loading.set_value(false);
            match loaded {
                Ok(content) => {
                    self.error.try_set(None);
                    self.content.try_set(Content::Here(content));
                }
                Err(error) => self.fail(error),
            }
        });
    }

    /// Loads the first conversations, page by page, as long as this is the last request.
    async fn load_first(self, count: usize, number: u32) -> Result<SharedProjectContent, ApiError> {
        let connection = self.projects.connection();
        let mut content = connection.call(projects::shared_project(self.id, None)).await?;
        while content.conversations.len() < count && self.requests.is_last(number) {
            let Some(cursor) = content.next.take() else {
                break;
            };
            let page = connection
                .call(projects::shared_project(self.id, Some(cursor)))
                .await?;
            append(&mut content, page);
        }
        Ok(content)
    }

    /// Loads the content again after a failure. The pressed button goes.
    pub fn try_again(self) {
        self.error.set(None);
        browser::focus_selector(PAGE);
        self.load();
    }

    pub fn load_more(self) {
        let Some(cursor) = untrack(|| self.read(|content| content.next.clone())).flatten() else {
            return;
        };
        if self.is_loading_more.get_untracked() || self.is_loading.get_value() {
            return;
        }
        self.is_loading_more.set(true);
        let (number, connection) = (self.requests.begin(), self.projects.connection());
        spawn_local(async move {
            let request = projects::shared_project(self.id, Some(cursor));
            let loaded = connection.call(request).await;
            if !self.requests.is_last(number) {
                return;
            }
            self.is_loading_more.try_set(false);
            match loaded {
                Ok(page) => {
                    self.content.try_update(|content| {
                        if let Content::Here(content) = content {
                            append(content, page);
                        }
                    });
                }
                Err(error) => self.fail(error),
            }
        });
    }

    fn fail(self, error: ApiError) {
        if error.code == ErrorCode::NotFound {
            let had_focus = browser::has_focus_in(PAGE);
            self.content.try_update(|content| {
                let was_here = matches!(content, Content::Here(_) | Content::Gone(true));
                *content = Content::Gone(was_here);
            });
            // The element that had it is gone.
            if had_focus {
                browser::focus_selector(PAGE);
            }
        } else {
            self.error.try_set(Some(error.message));
        }
    }

    pub fn leave(self) {
        spawn_local(async move {
            if let Err(error) = self.projects.leave(self.id).await {
                self.toasts.show(&error.message);
            }
        });
    }
}

/// Adds the next page. A conversation that has moved since the pages before stays where it is.
fn append(content: &mut SharedProjectContent, page: SharedProjectContent) {
    for chat in page.conversations {
        if content.conversations.iter().all(|known| known.id != chat.id) {
            content.conversations.push(chat);
        }
    }
    content.next = page.next;
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_protocol::{ConversationId, Position, ProjectColour, SharedChat, SharedProject, Timestamp};

    #[test]
    fn a_conversation_that_moved_is_shown_once() {
        let chats: Vec<SharedChat> = (0..3)
            .map(|number| SharedChat {
                id: ConversationId::new(),
                title: format!("{number}"),
                updated_at: Timestamp(number),
            })
            .collect();
        let page = |conversations: &[SharedChat], next: Option<&str>| SharedProjectContent {
            as_of: Position(1),
            project: SharedProject {
                id: ProjectId::new(),
                name: "Garden".into(),
                colour: ProjectColour::default(),
                owner: "ann".into(),
            },
            instructions: String::new(),
            files: Vec::new(),
            conversations: conversations.to_vec(),
            next: next.map(str::to_owned),
        };
        let mut content = page(&chats[..2], Some("a"));
        append(&mut content, page(&chats[1..], None));
        assert_eq!(content.conversations, chats);
        assert_eq!(content.next, None);
    }
}
