//! The parts of a page on the server.

use std::{any::Any, sync::Arc};

use async_trait::async_trait;

use super::PageDefinition;
use parlor_protocol::{
    ApiError, PageContext, PageFields, PanelView, RawJson, UserId, context::UnreadableField,
};
use parlor_storage::{StorageError, not_found};
use parlor_tools::AnyTool;

/// A page with its own fields in the context of a message. Everything but the definition, the fields and the
/// description is optional.
#[async_trait]
pub trait Page: Send + Sync + 'static {
    /// The page's own fields in a request.
    type Fields: PageFields + Send + Sync;

    /// Returns the page's identity and capabilities, with those that this server can offer.
    fn definition(&self) -> &'static PageDefinition;

    /// Returns the page's tools. A tool is offered where a scope of the definition names it.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        Vec::new()
    }

    /// Returns the tools that give what the page shows: a user who may use none of them may not open it. None for a page that
    /// everybody may open.
    fn required_tools(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns true if the page can do something for a user: their sidebar links to it then. Its URLs always work.
    ///
    /// # Errors
    ///
    /// If storage fails.
    async fn is_useful_to(&self, _user_id: UserId) -> Result<bool, StorageError> {
        Ok(true)
    }

    /// Leaves out of the fields what does not fit into a context of `max_bytes`, and names it in them. A context that is still
    /// too large is rejected.
    fn fit(&self, fields: Self::Fields, _max_bytes: usize) -> Self::Fields {
        fields
    }

    /// Checks the open items before a message is accepted, as far as possible without asking another host.
    ///
    /// # Errors
    ///
    /// If an open item does not exist.
    async fn check(&self, _user_id: UserId, _open: &OpenPage<Self::Fields>) -> Result<(), ContextError> {
        Ok(())
    }

    /// Describes the open items to the model, in bounded time and after the message is stored. The text names
    /// the items that could not be loaded. Every item must belong to the user or be public.
    ///
    /// # Errors
    ///
    /// If storage fails.
    async fn describe(
        &self,
        user_id: UserId,
        open: &OpenPage<Self::Fields>,
    ) -> Result<BuiltContext, StorageError>;

    /// Returns the URL at which the page shows these items, which [`check`](Self::check) has accepted. `here` is the page as the
    /// user has it open already. `None` if the fields name nothing that has a URL.
    fn url(&self, _asked: &OpenPage<Self::Fields>, _here: Option<&OpenPage<Self::Fields>>) -> Option<String> {
        Some(self.definition().info.path.into())
    }

    /// Returns the text of the item at a URL: the page's own, or that of the same item elsewhere. Quotes are looked for in it.
    /// `None` if the page knows no such item, or it is not the user's.
    ///
    /// # Errors
    ///
    /// If storage fails.
    async fn stored_text(&self, _user_id: UserId, _url: &str) -> Result<Option<StoredText>, StorageError> {
        Ok(None)
    }

    /// Returns the page's URL at which a passage of an item is marked.
    fn url_of_passage(&self, _url: &str, _quote: &str) -> Option<String> {
        None
    }

    /// Loads the data with which the page starts at a URL. Only the page's own code parses them. By default there are none, and
    /// nothing below the page's own path.
    ///
    /// # Errors
    ///
    /// If there is nothing at the URL. Other errors belong into the data.
    async fn load(&self, _user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        match self.definition().info.is_at(url) {
            true => Ok(RawJson::parse_or_quote("null")),
            false => Err(not_found()),
        }
    }

    /// Adds the page's data to the panel's view of a payload, also of payloads that are shown elsewhere.
    ///
    /// # Errors
    ///
    /// If storage fails.
    async fn complete_view(&self, _user_id: UserId, _view: &mut PanelView) -> Result<(), ApiError> {
        Ok(())
    }

    /// Returns true if opening a URL of the page sends requests to other hosts. Pages of other sites may
    /// not cause that without a click.
    fn asks_other_hosts(&self, _path: &str, _has_query: bool) -> bool {
        false
    }
}

/// A page as the user has it open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenPage<F> {
    /// The tab; `None` if the page has none. Without one in the request, it is the page's first.
    pub tab: Option<&'static str>,
    /// The page's own fields.
    pub fields: F,
}

/// The text of an item, in which quotes are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredText {
    /// The title of the item.
    pub title: String,
    pub paragraphs: Vec<String>,
}

/// The context of a page for the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BuiltContext {
    /// The contents of the page. Untrusted text in it is [fenced](super::fence_text).
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
    #[error("context: {0}")]
    UnreadableField(#[from] UnreadableField),
    /// A sentence for the user.
    #[error("{0}")]
    NotFound(String),
    #[error("The page {page} has no field “{field}”.")]
    UnknownField { page: &'static str, field: String },
    #[error("These fields name nothing that the page {0} can open.")]
    NothingToOpen(&'static str),
    #[error("The page {0} is not yours to open.")]
    NotAllowed(&'static str),
    #[error("The context has {length} bytes; the limit is {limit} (setting limits.context_bytes).")]
    TooLarge { length: usize, limit: usize },
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A [`Page`] with any fields.
#[async_trait]
pub(super) trait AnyPage: Any + Send + Sync {
    fn definition(&self) -> &'static PageDefinition;
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;
    fn required_tools(&self) -> &'static [&'static str];
    async fn is_useful_to(&self, user_id: UserId) -> Result<bool, StorageError>;
    fn normalize(&self, context: PageContext) -> Result<PageContext, UnreadableField>;
    fn fit(&self, context: PageContext, max_bytes: usize) -> Result<PageContext, UnreadableField>;
    async fn check(&self, user_id: UserId, context: &PageContext) -> Result<(), ContextError>;
    async fn describe(&self, user_id: UserId, context: &PageContext) -> Result<BuiltContext, StorageError>;
    fn url(&self, asked: &PageContext, here: Option<&PageContext>) -> Option<String>;
    async fn stored_text(&self, user_id: UserId, url: &str) -> Result<Option<StoredText>, StorageError>;
    fn url_of_passage(&self, url: &str, quote: &str) -> Option<String>;
    async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError>;
    async fn complete_view(&self, user_id: UserId, view: &mut PanelView) -> Result<(), ApiError>;
    fn asks_other_hosts(&self, path: &str, has_query: bool) -> bool;
}

#[async_trait]
impl<P: Page> AnyPage for P {
    fn definition(&self) -> &'static PageDefinition {
        Page::definition(self)
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        Page::tools(self)
    }

    fn required_tools(&self) -> &'static [&'static str] {
        Page::required_tools(self)
    }

    async fn is_useful_to(&self, user_id: UserId) -> Result<bool, StorageError> {
        Page::is_useful_to(self, user_id).await
    }

    fn normalize(&self, context: PageContext) -> Result<PageContext, UnreadableField> {
        context.normalized::<P::Fields>()
    }

    fn fit(&self, context: PageContext, max_bytes: usize) -> Result<PageContext, UnreadableField> {
        let fields = Page::fit(self, context.fields()?, max_bytes);
        Ok(context.with_own_fields(&fields))
    }

    async fn check(&self, user_id: UserId, context: &PageContext) -> Result<(), ContextError> {
        let fields = context.fields()?;
        Page::check(self, user_id, &open_page(self, context, fields)).await
    }

    async fn describe(&self, user_id: UserId, context: &PageContext) -> Result<BuiltContext, StorageError> {
        // A field that was stored by another version may have another type.
        let fields = context.fields().unwrap_or_default();
        Page::describe(self, user_id, &open_page(self, context, fields)).await
    }

    fn url(&self, asked: &PageContext, here: Option<&PageContext>) -> Option<String> {
        let open = |context: &PageContext| Some(open_page(self, context, context.fields().ok()?));
        Page::url(self, &open(asked)?, here.and_then(open).as_ref())
    }

    async fn stored_text(&self, user_id: UserId, url: &str) -> Result<Option<StoredText>, StorageError> {
        Page::stored_text(self, user_id, url).await
    }

    fn url_of_passage(&self, url: &str, quote: &str) -> Option<String> {
        Page::url_of_passage(self, url, quote)
    }

    async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        Page::load(self, user_id, url).await
    }

    async fn complete_view(&self, user_id: UserId, view: &mut PanelView) -> Result<(), ApiError> {
        Page::complete_view(self, user_id, view).await
    }

    fn asks_other_hosts(&self, path: &str, has_query: bool) -> bool {
        Page::asks_other_hosts(self, path, has_query)
    }
}

fn open_page<P: Page>(page: &P, context: &PageContext, fields: P::Fields) -> OpenPage<P::Fields> {
    let tab = Page::definition(page).tab(context.active_tab.as_deref());
    OpenPage {
        tab: tab.map(|tab| tab.name),
        fields,
    }
}
