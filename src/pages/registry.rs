//! The registry of pages, and the scope of a request in it.

use std::sync::Arc;

use async_trait::async_trait;

use super::{CHAT, Page, ResolvedScope};
use crate::{
    protocol::{PageContext, UserId},
    storage::{PageContextSnapshot, StorageError},
    text::single_line,
};

/// The maximum length of a quoted name, in characters.
const MAX_QUOTED_NAME_CHARS: usize = 60;

/// Loads the context of a page.
#[async_trait]
pub trait ContextBuilder: Send + Sync {
    /// Checks a context before a message is accepted, as far as possible without asking another host.
    ///
    /// # Errors
    ///
    /// If an item that the context refers to does not exist.
    async fn check(&self, user_id: UserId, context: &PageContext) -> Result<(), ContextError>;

    /// Builds the text for the model, in bounded time and after the message is stored. It says which items
    /// could not be loaded. Every item must belong to the user or be public.
    ///
    /// # Errors
    ///
    /// If storage fails.
    async fn build(&self, user_id: UserId, context: &PageContext) -> Result<BuiltContext, StorageError>;
}

/// The context of a page for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltContext {
    /// The contents of the page. Text of others in it is [fenced](super::fence_text).
    pub text: String,
    /// The user's instructions for this page.
    pub instructions: String,
}

/// An error in the context of a request.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error("There is no page “{page}”. The pages are: {pages}.")]
    UnknownPage { page: String, pages: String },
    #[error("The page {page} has no tab “{tab}”. Its tabs are: {tabs}.")]
    UnknownTab {
        page: &'static str,
        tab: String,
        tabs: String,
    },
    #[error("The tab {tab} has no subtab “{subtab}”. Its subtabs are: {subtabs}.")]
    UnknownSubtab {
        tab: &'static str,
        subtab: String,
        subtabs: String,
    },
    /// A sentence for the user.
    #[error("{0}")]
    NotFound(String),
    #[error("The context has {length} bytes; the limit is {limit} (setting limits.context_bytes).")]
    TooLarge { length: usize, limit: usize },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The registered pages.
#[derive(Clone)]
pub struct Pages {
    pages: Vec<(&'static Page, Option<Arc<dyn ContextBuilder>>)>,
    /// The maximum size of a context, in bytes.
    max_context_bytes: usize,
}

impl Pages {
    /// Creates a registry with only the chat.
    pub fn new(limit: usize) -> Self {
        Self {
            pages: vec![(&CHAT, None)],
            max_context_bytes: limit,
        }
    }

    /// Adds a page.
    pub fn with_page(mut self, page: &'static Page, builder: Arc<dyn ContextBuilder>) -> Self {
        self.pages.push((page, Some(builder)));
        self
    }

    /// Checks the context of a request. The text for the model is left to [`build`](Self::build).
    ///
    /// # Errors
    ///
    /// If the page, tab or subtab does not exist, or an open item does not exist.
    pub async fn snapshot(
        &self,
        user_id: UserId,
        context: Option<&PageContext>,
    ) -> Result<Option<PageContextSnapshot>, ContextError> {
        let Some(context) = context else { return Ok(None) };
        let length = serde_json::to_vec(context).map_or(0, |json| json.len());
        if length > self.max_context_bytes {
            return Err(ContextError::TooLarge {
                length,
                limit: self.max_context_bytes,
            });
        }
        if let Some(builder) = self.find_builder(context)? {
            builder.check(user_id, context).await?;
        }
        Ok(Some(PageContextSnapshot {
            context: context.clone(),
            ..PageContextSnapshot::default()
        }))
    }

    /// Builds the text for the model; `None` if the page has no context.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn build(
        &self,
        user_id: UserId,
        context: &PageContext,
    ) -> Result<Option<BuiltContext>, StorageError> {
        // The page may have been removed since the message was stored.
        match self.find_builder(context) {
            Ok(Some(builder)) => Ok(Some(builder.build(user_id, context).await?)),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// Returns the scope of a context. An unknown or removed page has the common scope.
    pub fn resolve(&self, context: Option<&PageContext>) -> ResolvedScope {
        let found = context.and_then(|context| Some((self.page(&context.current_page)?.0, context)));
        match found {
            Some((page, context)) => {
                page.resolve(context.active_tab.as_deref(), context.active_subtab.as_deref())
            }
            None => CHAT.resolve(None, None),
        }
    }

    fn page(&self, name: &str) -> Option<&(&'static Page, Option<Arc<dyn ContextBuilder>>)> {
        self.pages.iter().find(|(page, _)| page.name == name)
    }

    /// Returns the builder of a page's context, if the page has one.
    fn find_builder(&self, context: &PageContext) -> Result<Option<&dyn ContextBuilder>, ContextError> {
        let Some((page, builder)) = self.page(&context.current_page) else {
            return Err(ContextError::UnknownPage {
                page: shorten_name(&context.current_page),
                pages: join_names(self.pages.iter().map(|(page, _)| page.name)),
            });
        };
        if let Some(name) = &context.active_tab {
            let tab = page.tab(name).ok_or_else(|| ContextError::UnknownTab {
                page: page.name,
                tab: shorten_name(name),
                tabs: join_names(page.tabs.iter().map(|tab| tab.name)),
            })?;
            if let Some(name) = &context.active_subtab
                && tab.subtab(name).is_none()
            {
                return Err(ContextError::UnknownSubtab {
                    tab: tab.name,
                    subtab: shorten_name(name),
                    subtabs: join_names(tab.subtabs.iter().map(|subtab| subtab.name)),
                });
            }
        }
        Ok(builder.as_deref())
    }
}

fn join_names(names: impl Iterator<Item = &'static str>) -> String {
    let names: Vec<&str> = names.collect();
    if names.is_empty() {
        return "none".into();
    }
    names.join(", ")
}

/// Shortens a name, so that it can be quoted.
fn shorten_name(name: &str) -> String {
    single_line(name, MAX_QUOTED_NAME_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::LITERATURE;

    struct Nothing;

    #[async_trait]
    impl ContextBuilder for Nothing {
        async fn check(&self, _: UserId, context: &PageContext) -> Result<(), ContextError> {
            match &context.article_id {
                Some(id) => Err(ContextError::NotFound(format!("There is no {id}."))),
                None => Ok(()),
            }
        }

        async fn build(&self, _: UserId, _: &PageContext) -> Result<BuiltContext, StorageError> {
            Ok(BuiltContext {
                text: "Nothing is open.".into(),
                instructions: "Be quick.".into(),
            })
        }
    }

    fn pages() -> Pages {
        Pages::new(200).with_page(&LITERATURE, Arc::new(Nothing))
    }

    async fn rejection_text(context: PageContext) -> String {
        let looked = pages().snapshot(UserId::LOCAL, Some(&context)).await;
        looked.expect_err("refused").to_string()
    }

    #[tokio::test]
    async fn snapshot_keeps_context_and_text() {
        let context = PageContext {
            active_tab: Some("saved".into()),
            ..PageContext::for_page("literature")
        };
        let looking = pages().snapshot(UserId::LOCAL, Some(&context)).await.unwrap();
        let here = pages().resolve(Some(&context));
        assert!(here.tools.contains(&"list_saved_articles"));
        let built = pages().build(UserId::LOCAL, &context).await.unwrap();
        let expected = BuiltContext {
            text: "Nothing is open.".into(),
            instructions: "Be quick.".into(),
        };
        assert_eq!(built, Some(expected));
        let looking_at = PageContextSnapshot {
            context,
            ..PageContextSnapshot::default()
        };
        assert_eq!(looking, Some(looking_at));
        assert_eq!(pages().snapshot(UserId::LOCAL, None).await.unwrap(), None);
    }

    #[tokio::test]
    async fn unknown_place_error_lists_known_places() {
        let of = PageContext::for_page;
        let tab = |page: &str, tab: &str| PageContext {
            active_tab: Some(tab.into()),
            ..of(page)
        };
        let subtab = PageContext {
            active_subtab: Some("left".into()),
            ..tab("literature", "saved")
        };
        let article = PageContext {
            article_id: Some("11".into()),
            ..of("literature")
        };
        for (context, words) in [
            (
                of("reports"),
                "There is no page “reports”. The pages are: chat, literature.",
            ),
            (
                tab("literature", "top"),
                "The page literature has no tab “top”. Its tabs are: search, saved.",
            ),
            (
                tab("chat", "top"),
                "The page chat has no tab “top”. Its tabs are: none.",
            ),
            (
                subtab,
                "The tab saved has no subtab “left”. Its subtabs are: none.",
            ),
            (article, "There is no 11."),
        ] {
            assert_eq!(rejection_text(context).await, words);
        }
        let long = rejection_text(of(&"x".repeat(300))).await;
        assert!(long.contains("limits.context_bytes"), "{long}");
    }

    #[test]
    fn removed_page_resolves_to_chat() {
        let here = pages().resolve(Some(&PageContext::for_page("reports")));
        assert_eq!((here.page.name, here.tools.len()), ("chat", 0));
    }
}
