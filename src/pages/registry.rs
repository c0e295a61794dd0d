//! The pages that there are, and a request's place among them.

use std::sync::Arc;

use async_trait::async_trait;

use super::{CHAT, Page, ResolvedScope};
use crate::{
    protocol::{PageContext, UserId},
    storage::{PageContextSnapshot, StorageError},
};

/// Loads what a person is looking at.
#[async_trait]
pub trait ContextBuilder: Send + Sync {
    /// Checks, before a message is taken, what can be known without asking another host.
    ///
    /// # Errors
    ///
    /// If something that the context names is not there.
    async fn check(&self, user_id: UserId, context: &PageContext) -> Result<(), ContextError>;

    /// Says what the model is told of it, in bounded time and after the message is stored: what can't be had is named as
    /// missing. Whatever the ids name must be the user's, or everybody's.
    ///
    /// # Errors
    ///
    /// If storage does not work.
    async fn build(&self, user_id: UserId, context: &PageContext) -> Result<BuiltContext, StorageError>;
}

/// What the model is told of what a person is looking at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltContext {
    /// What is there. What others have written stands in it [fenced](super::fenced).
    pub text: String,
    /// What the person wants of the assistant there.
    pub instructions: String,
}

/// What is wrong with what a request says of where the person is.
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
    /// In words for the person, as a sentence.
    #[error("{0}")]
    NotFound(String),
    #[error("The context has {length} bytes; Parlor takes {limit} (setting limits.context_bytes).")]
    TooLarge { length: usize, limit: usize },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// All pages.
#[derive(Clone)]
pub struct Pages {
    pages: Vec<(&'static Page, Option<Arc<dyn ContextBuilder>>)>,
    /// The most bytes that a context may have.
    max_context_bytes: usize,
}

impl Pages {
    /// The chat alone.
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

    /// Checks what a person is said to look at. What the model is told of it is left to [`build`](Self::build).
    ///
    /// # Errors
    ///
    /// If there is no such place, or something that is said to be open is not there.
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

    /// Says what the model is told of what a person looks at; nothing where nobody has anything to tell.
    ///
    /// # Errors
    ///
    /// If storage does not work.
    pub async fn build(
        &self,
        user_id: UserId,
        context: &PageContext,
    ) -> Result<Option<BuiltContext>, StorageError> {
        // A page may be gone since the message was stored.
        match self.find_builder(context) {
            Ok(Some(builder)) => Ok(Some(builder.build(user_id, context).await?)),
            Ok(None) | Err(_) => Ok(None),
        }
    }

    /// What there is at a place; at one that is not known (any more), what there is everywhere.
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

    /// Who loads what is open at a place, if anybody has to.
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

/// Enough of a name to know it by.
fn shorten_name(name: &str) -> String {
    name.chars().take(60).collect()
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
