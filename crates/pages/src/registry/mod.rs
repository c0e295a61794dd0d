//! The registry of pages, and the scope of a request in it.

use std::{any::Any, sync::Arc};

use super::{
    CHAT, ContextError, Page, PageDefinition, ResolvedScope,
    chat::NoFields,
    page::{AnyPage, BuiltContext, StoredText},
    payload_config::{COMMON_PAYLOADS, PayloadConfig},
    payloads::PayloadViews,
};
use parlor_base::text::single_line;
use parlor_protocol::{ApiError, ErrorCode, PageContext, PanelView, RawJson, UserId};
use parlor_storage::{PageContextSnapshot, StorageError, not_found};
use parlor_tools::AnyTool;

/// The maximum length of a quoted name, in characters.
const MAX_QUOTED_NAME_CHARS: usize = 60;

/// The registered pages, besides the chat. Clones refer to the same pages.
#[derive(Clone)]
pub struct Pages {
    pages: Vec<Arc<dyn AnyPage>>,
    /// The views of the payloads of all pages.
    views: PayloadViews,
    /// The maximum size of a context, in bytes.
    max_context_bytes: usize,
}

impl Pages {
    /// Creates a registry with only the chat.
    pub fn new(limit: usize) -> Self {
        Self {
            pages: Vec::new(),
            views: PayloadViews::default(),
            max_context_bytes: limit,
        }
    }

    /// Adds a page.
    pub fn with_page(mut self, page: impl Page) -> Self {
        self.pages.push(Arc::new(page));
        self.views = PayloadViews::new(self.payload_types());
        self
    }

    /// Returns the registered page of this type.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn get<P: Page>(&self) -> Result<&P, ApiError> {
        let mut pages = self.pages.iter().map(|page| &**page as &dyn Any);
        pages.find_map(|page| page.downcast_ref()).ok_or_else(not_found)
    }

    /// Returns the tools of all pages.
    pub fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        self.pages.iter().flat_map(|page| page.tools()).collect()
    }

    /// Returns the context of a request with only the fields that its page knows. A context of an unknown page
    /// is returned as it is; [`snapshot`](Self::snapshot) rejects it.
    ///
    /// # Errors
    ///
    /// If a field of the page can't be read.
    pub fn normalize(&self, context: Option<PageContext>) -> Result<Option<PageContext>, ContextError> {
        let Some(context) = context else { return Ok(None) };
        Ok(Some(match self.find(&context.current_page) {
            Some(page) => page.normalize(context)?,
            None if context.current_page == CHAT.info.name => context.normalized::<NoFields>()?,
            None => context,
        }))
    }

    /// Checks the context of a request. The text for the model is left to [`describe`](Self::describe).
    ///
    /// # Errors
    ///
    /// If the page, tab or subtab does not exist, or an open item does not exist.
    pub async fn snapshot(
        &self,
        user_id: UserId,
        context: Option<&PageContext>,
    ) -> Result<Option<PageContextSnapshot>, ContextError> {
        let Some(mut context) = self.normalize(context.cloned())? else {
            return Ok(None);
        };
        let mut length = context_bytes(&context);
        if length > self.max_context_bytes
            && let Some(page) = self.find(&context.current_page)
        {
            context = page.fit(context, self.max_context_bytes)?;
            length = context_bytes(&context);
        }
        if length > self.max_context_bytes {
            return Err(ContextError::TooLarge {
                length,
                limit: self.max_context_bytes,
            });
        }
        self.check_place(&context)?;
        if let Some(page) = self.find(&context.current_page) {
            page.check(user_id, &context).await?;
        }
        Ok(Some(PageContextSnapshot {
            context,
            ..PageContextSnapshot::default()
        }))
    }

    /// Describes the open items of a page to the model; `None` for the chat and for removed pages.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn describe(
        &self,
        user_id: UserId,
        context: &PageContext,
    ) -> Result<Option<BuiltContext>, StorageError> {
        // The page or the tab may have been removed since the message was stored.
        match (self.check_place(context), self.find(&context.current_page)) {
            (Ok(()), Some(page)) => Ok(Some(page.describe(user_id, context).await?)),
            _ => Ok(None),
        }
    }

    /// Returns the scope of a context. An unknown or removed page has the common scope.
    pub fn resolve(&self, context: Option<&PageContext>) -> ResolvedScope {
        let found = context.and_then(|context| Some((self.find(&context.current_page)?, context)));
        match found {
            Some((page, context)) => page
                .definition()
                .resolve(context.active_tab.as_deref(), context.active_subtab.as_deref()),
            None => CHAT.resolve(None, None),
        }
    }

    /// Returns true if a user who may use these tools may open the page at a path.
    pub fn may_open(&self, path: &str, is_allowed: impl Fn(&str) -> bool) -> bool {
        may_open(self.find_by_path(path), is_allowed)
    }

    /// Returns true if a user who may use these tools may open the page of a context.
    pub fn may_describe(&self, context: &PageContext, is_allowed: impl Fn(&str) -> bool) -> bool {
        may_open(self.find(&context.current_page), is_allowed)
    }

    /// Returns the names of the pages that can do something for a user who may use these tools.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn useful_to(
        &self,
        user_id: UserId,
        is_allowed: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, StorageError> {
        let mut useful = Vec::new();
        for page in &self.pages {
            if may_open(Some(&**page), &is_allowed) && page.is_useful_to(user_id).await? {
                useful.push(page.definition().info.name.to_owned());
            }
        }
        Ok(useful)
    }

    /// Returns the URL of what an action opens: a page and its fields as JSON, checked as the context of a request is. `here` is
    /// the page that the user has open, whose fields the page may complete them with.
    ///
    /// # Errors
    ///
    /// If there is no such page, field or item, or if it is not the user's. The message is for the diagnostics.
    pub async fn url_to_open(
        &self,
        user_id: UserId,
        asked: PageContext,
        here: Option<&PageContext>,
        is_allowed: impl Fn(&str) -> bool,
    ) -> Result<String, ContextError> {
        self.check_place(&asked)?;
        let Some(page) = self.find(&asked.current_page) else {
            return Err(ContextError::NothingToOpen(CHAT.info.name));
        };
        let name = page.definition().info.name;
        if !may_open(Some(page), is_allowed) {
            return Err(ContextError::NotAllowed(name));
        }
        let length = context_bytes(&asked);
        if length > self.max_context_bytes {
            return Err(ContextError::TooLarge {
                length,
                limit: self.max_context_bytes,
            });
        }
        let known = page.normalize(asked.clone())?;
        // A button that opens less than it says would mislead.
        let given = asked
            .own_fields
            .iter()
            .filter(|(_, value)| value.as_str() != "null");
        let mut given = given.map(|(field, _)| field);
        if let Some(field) = given.find(|field| !known.own_fields.iter().any(|(name, _)| name == *field)) {
            return Err(ContextError::UnknownField {
                page: name,
                field: shorten_name(field),
            });
        }
        page.check(user_id, &known).await?;
        let here = here.filter(|here| here.current_page == known.current_page);
        page.url(&known, here).ok_or(ContextError::NothingToOpen(name))
    }

    /// Returns the text of the item at a URL, of the first page that knows it and that the user may open, and the URL at which
    /// the page marks this quote in it.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn stored_text(
        &self,
        user_id: UserId,
        url: &str,
        quote: &str,
        is_allowed: impl Fn(&str) -> bool,
    ) -> Result<Option<(StoredText, String)>, StorageError> {
        for page in self
            .pages
            .iter()
            .filter(|page| may_open(Some(&***page), &is_allowed))
        {
            if let Some(marked) = page.url_of_passage(url, quote)
                && let Some(text) = page.stored_text(user_id, url).await?
            {
                return Ok(Some((text, marked)));
            }
        }
        Ok(None)
    }

    /// Loads the data with which the page at a URL starts.
    ///
    /// # Errors
    ///
    /// If there is nothing at the URL.
    pub async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        let path = url.split('?').next().unwrap_or_default();
        match self.find_by_path(path) {
            Some(page) => page.load(user_id, url).await,
            None => Err(ApiError::new(
                ErrorCode::NotFound,
                "There is no such place on any page.",
            )),
        }
    }

    /// Lets every page add what it knows to the panel's view of a payload.
    ///
    /// # Errors
    ///
    /// If storage fails.
    pub async fn complete_view(&self, user_id: UserId, view: &mut PanelView) -> Result<(), ApiError> {
        for page in &self.pages {
            page.complete_view(user_id, view).await?;
        }
        Ok(())
    }

    /// Returns true if opening a URL sends requests to other hosts.
    pub fn asks_other_hosts(&self, path: &str, has_query: bool) -> bool {
        let page = self.find_by_path(path);
        page.is_some_and(|page| page.asks_other_hosts(path, has_query))
    }

    /// Returns the views of the payloads of all pages.
    pub fn payload_views(&self) -> &PayloadViews {
        &self.views
    }

    /// Returns the payload types of all pages, the common ones first.
    pub fn payload_types(&self) -> Vec<&'static PayloadConfig> {
        let own = self.pages.iter().flat_map(|page| page.definition().scopes());
        let own = own.flat_map(|scope| scope.payloads).copied();
        COMMON_PAYLOADS.into_iter().chain(own).collect()
    }

    /// Returns the page with this name; `None` for the chat, which is not registered.
    fn find(&self, name: &str) -> Option<&dyn AnyPage> {
        let mut pages = self.pages.iter();
        pages
            .find(|page| page.definition().info.name == name)
            .map(|page| &**page)
    }

    fn find_by_path(&self, path: &str) -> Option<&dyn AnyPage> {
        let mut pages = self.pages.iter();
        pages
            .find(|page| page.definition().info.has_path(path))
            .map(|page| &**page)
    }

    /// Checks that the page, the tab and the subtab of a context exist.
    fn check_place(&self, context: &PageContext) -> Result<(), ContextError> {
        let pages = self.pages.iter().map(|page| page.definition());
        let pages: Vec<&'static PageDefinition> = std::iter::once(&CHAT).chain(pages).collect();
        let Some(page) = pages.iter().find(|page| page.info.name == context.current_page) else {
            return Err(ContextError::UnknownPage {
                page: shorten_name(&context.current_page),
                pages: join_names(pages.iter().map(|page| page.info.name)),
            });
        };
        let tab = page.tab(context.active_tab.as_deref());
        if let (None, Some(name)) = (tab, &context.active_tab) {
            return Err(ContextError::UnknownTab {
                page: page.info.name,
                tab: shorten_name(name),
                tabs: join_names(page.tabs.iter().map(|tab| tab.name)),
            });
        }
        let Some(name) = &context.active_subtab else {
            return Ok(());
        };
        let subtabs = tab.map_or(&[][..], |tab| tab.subtabs);
        if subtabs.iter().any(|subtab| subtab.name == name) {
            return Ok(());
        }
        Err(ContextError::UnknownSubtab {
            tab: tab.map_or(page.info.name, |tab| tab.name),
            subtab: shorten_name(name),
            subtabs: join_names(subtabs.iter().map(|subtab| subtab.name)),
        })
    }
}

/// The size of a context on the wire.
fn context_bytes(context: &PageContext) -> usize {
    serde_json::to_vec(context).map_or(0, |json| json.len())
}

fn may_open(page: Option<&dyn AnyPage>, is_allowed: impl Fn(&str) -> bool) -> bool {
    let tools = page.map_or(&[][..], AnyPage::required_tools);
    tools.is_empty() || tools.iter().any(|tool| is_allowed(tool))
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
mod tests;
