//! The page *Literature*: its identity, what it offers in which tab, and the data that it starts with.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::timeout;

use super::{
    Literature, LiteratureError,
    articles::check_pmid,
    read_article::ReadArticle,
    stream_tools::{ChangeStream, DeleteStream, ListStreams, SaveStream},
    tools::{self, ListSavedArticles, SaveArticle, WriteNote},
};
use crate::{
    BuiltContext, ContextError, OpenPage, Page, PageDefinition, Scope, StoredText, Subtab, Tab,
    actions::Opening,
    payload_config::{PayloadConfig, proposal},
    payloads::links,
};
use parlor_protocol::{
    ApiError, ErrorCode, PanelView, RawJson, Timestamp, UserId,
    literature::{
        self, ARTICLE_SUBTAB as ARTICLE_SUBTAB_NAME, LITERATURE_PATH, LiteratureFields, LiteratureLocation,
        LiteraturePageData, LiteratureTab, QueryProposal, is_pmid,
    },
    panel::{ArticleView, PanelBody},
};
use parlor_storage::StorageError;
use parlor_tools::{AnyTool, Tool};

/// A query for the page's search.
pub const QUERY_SUGGESTION: PayloadConfig = proposal::<QueryProposal>();

/// Articles: searching and saved ones.
pub static LITERATURE: PageDefinition = PageDefinition {
    info: &literature::PAGE,
    brief_identity: "You are a research assistant for scientific literature. When the person speaks of “this”, they mean what is open.",
    identity: "You are a research assistant for scientific literature. You help a person to find articles in PubMed, to judge what they \
         say, and to keep those that matter. You talk with them on the page Literature of Parlor, a chat that they run \
         themselves. When they speak of “this”, they mean what is open there.",
    scope: Scope {
        tools: &[
            ReadArticle::NAME,
            SaveArticle::NAME,
            ListSavedArticles::NAME,
            ListStreams::NAME,
            ChangeStream::NAME,
            DeleteStream::NAME,
        ],
        payloads: &[],
        openings: &[OPEN_ARTICLE, OPEN_STREAM],
    },
    tabs: &[
        Tab {
            name: LiteratureTab::Search.name(),
            // Both need a query for PubMed. The query of the other tab is a filter.
            scope: Scope {
                tools: &[SaveStream::NAME],
                payloads: &[&QUERY_SUGGESTION],
                openings: &[],
            },
            subtabs: &ARTICLE_SUBTAB,
        },
        Tab {
            name: LiteratureTab::Saved.name(),
            scope: Scope::EMPTY,
            subtabs: &ARTICLE_SUBTAB,
        },
    ],
};

/// An open article, in either tab.
static ARTICLE_SUBTAB: [Subtab; 1] = [Subtab {
    name: ARTICLE_SUBTAB_NAME,
    scope: Scope {
        tools: &[WriteNote::NAME],
        ..Scope::EMPTY
    },
}];

/// The page without PubMed: the saved articles, and no search.
static LITERATURE_WITHOUT_PUBMED: PageDefinition = PageDefinition {
    info: &literature::PAGE,
    brief_identity: LITERATURE.brief_identity,
    identity: "You are a research assistant for scientific literature. You help a person to judge what articles say that they have \
         saved. PubMed can’t be searched on this server. You talk with them on the page Literature of Parlor, a chat that they run \
         themselves. When they speak of “this”, they mean what is open there.",
    scope: Scope {
        tools: &[ListSavedArticles::NAME],
        payloads: &[],
        openings: &[OPEN_ARTICLE],
    },
    tabs: &[
        tab_without_scope(LiteratureTab::Search),
        tab_without_scope(LiteratureTab::Saved),
    ],
};

const fn tab_without_scope(tab: LiteratureTab) -> Tab {
    Tab {
        name: tab.name(),
        scope: Scope::EMPTY,
        subtabs: &ARTICLE_SUBTAB,
    }
}

pub(crate) const OPEN_ARTICLE: Opening = Opening {
    data: r#"{"page": "literature", "article_id": "its PMID"}"#,
    address: "/literature/articles/PMID",
};

pub(crate) const OPEN_STREAM: Opening = Opening {
    data: r#"{"page": "edit_stream", "stream_id": "its id"}"#,
    address: "/stream/ID",
};

#[async_trait]
impl Page for Literature {
    type Fields = LiteratureFields;

    fn definition(&self) -> &'static PageDefinition {
        match self.0.pubmed {
            Ok(_) => &LITERATURE,
            Err(_) => &LITERATURE_WITHOUT_PUBMED,
        }
    }

    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        tools::all_tools(self)
    }

    async fn is_useful_to(&self, user_id: UserId) -> Result<bool, StorageError> {
        self.is_in_use(user_id).await
    }

    async fn check(&self, user_id: UserId, open: &OpenPage<LiteratureFields>) -> Result<(), ContextError> {
        if let Some(stream_id) = open.fields.stream_id {
            self.stream(user_id, stream_id).await.map_err(refused)?;
        }
        // Only PubMed knows whether it exists, and the check must not wait for PubMed.
        let pmid = open.fields.article_id.as_deref();
        pmid.map_or(Ok(()), check_pmid).map_err(refused)
    }

    async fn describe(
        &self,
        user_id: UserId,
        open: &OpenPage<LiteratureFields>,
    ) -> Result<BuiltContext, StorageError> {
        self.describe_page(user_id, open).await
    }

    fn url(
        &self,
        asked: &OpenPage<LiteratureFields>,
        here: Option<&OpenPage<LiteratureFields>>,
    ) -> Option<String> {
        // The list on the screen stays behind an article.
        let list = here.filter(|_| asked.fields.query.is_none()).unwrap_or(asked);
        let is_saved = list.tab == Some(LiteratureTab::Saved.name());
        let location = LiteratureLocation {
            tab: if is_saved {
                LiteratureTab::Saved
            } else {
                LiteratureTab::Search
            },
            query: list.fields.query.clone().unwrap_or_default(),
            page: list.fields.page.unwrap_or(1),
            stream: asked.fields.stream_id.or(list.fields.stream_id),
            article: asked.fields.article_id.clone(),
            ..LiteratureLocation::default()
        };
        Some(location.to_url())
    }

    async fn stored_text(&self, user_id: UserId, url: &str) -> Result<Option<StoredText>, StorageError> {
        match pmid_of(url) {
            Some(pmid) => self.article_text(user_id, &pmid).await,
            None => Ok(None),
        }
    }

    fn url_of_passage(&self, url: &str, quote: &str) -> Option<String> {
        let location = LiteratureLocation {
            article: Some(pmid_of(url)?),
            quote: quote.into(),
            ..LiteratureLocation::default()
        };
        Some(location.to_url())
    }

    async fn load(&self, user_id: UserId, url: &str) -> Result<RawJson, ApiError> {
        let location = LiteratureLocation::parse(url).ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                "There is no such place on the page Literature.",
            )
        })?;
        let data = self.load_page(user_id, &location).await;
        let json = serde_json::to_string(&data).map_err(ApiError::unreadable)?;
        Ok(RawJson::parse_or_quote(&json))
    }

    /// Marks the articles that the user has saved, and proposed queries that can't be run.
    async fn complete_view(&self, user_id: UserId, view: &mut PanelView) -> Result<(), ApiError> {
        self.mark_saved(user_id, view.articles_mut()).await?;
        let query = QUERY_SUGGESTION.payload_type;
        if matches!(&view.body, PanelBody::Proposal(proposal) if proposal.kind == query) {
            view.obstacle = self.search_unavailable_reason();
        }
        Ok(())
    }

    fn asks_other_hosts(&self, path: &str, has_query: bool) -> bool {
        asks_pubmed(path, has_query)
    }
}

/// The refusal of a message about an item that does not exist.
pub(super) fn refused(error: LiteratureError) -> ContextError {
    match error {
        LiteratureError::Storage(error) => ContextError::from(error),
        error => ContextError::NotFound(error.to_string()),
    }
}

/// Returns the PMID of the article at a URL of the page or of PubMed.
fn pmid_of(url: &str) -> Option<String> {
    let pmid = match links::pmid_of_link(url) {
        Some(pmid) => pmid.to_owned(),
        None => LiteratureLocation::parse(url)?.article?,
    };
    is_pmid(&pmid).then_some(pmid)
}

/// Returns true for the URLs of a search and of an article.
pub(super) fn asks_pubmed(path: &str, has_query: bool) -> bool {
    let below = path.strip_prefix(LITERATURE_PATH).unwrap_or_default();
    has_query || below.starts_with("/articles")
}

impl Literature {
    /// Loads the initial data of the page, without those for which PubMed takes too long.
    async fn load_page(&self, user_id: UserId, location: &LiteratureLocation) -> LiteraturePageData {
        let library = async { self.library(user_id).await.map_err(ApiError::from) };
        let found = async {
            let searches = location.tab == LiteratureTab::Search && !location.query.is_empty();
            if !searches {
                return None;
            }
            let found = self.search(&location.query, location.sort, location.page).await;
            Some(found.map_err(ApiError::from))
        };
        let article = async {
            let pmid = location.article.as_ref()?;
            let article = self.full_article(user_id, pmid, &location.quote).await;
            Some(article.map_err(ApiError::from))
        };
        // The whole page waits for this call, including the list and the chat.
        let page_timeout = self.0.settings.page_timeout;
        let found = async { timeout(page_timeout, found).await.ok().flatten() };
        let article = async { timeout(page_timeout, article).await.ok().flatten() };
        let (library, found, article) = futures::join!(library, found, article);
        LiteraturePageData {
            library,
            found,
            article,
        }
    }

    /// Saves an article for the page.
    ///
    /// # Errors
    ///
    /// If it could not be saved, or not with this note.
    pub async fn save_with_note(
        &self,
        user_id: UserId,
        pmid: &str,
        note: &str,
        saved_at: Option<Timestamp>,
    ) -> Result<(), ApiError> {
        let saved = self.save(user_id, pmid, note, saved_at).await?;
        if saved.has_note_conflict {
            return Err(ApiError::new(
                ErrorCode::NoteChanged,
                "This article is saved already, with another note, which stays.",
            ));
        }
        Ok(())
    }

    /// Marks the articles that the user has saved. Without PubMed, only saved articles can be opened.
    async fn mark_saved(&self, user_id: UserId, articles: &mut [ArticleView]) -> Result<(), ApiError> {
        let pmids: Vec<String> = articles
            .iter()
            .filter_map(|article| article.pmid.clone())
            .collect();
        if pmids.is_empty() {
            return Ok(());
        }
        let saved = self.saved_pmids(user_id, &pmids).await?;
        let can_ask = self.search_unavailable_reason().is_none();
        for article in articles {
            article.is_saved = article.pmid.as_ref().is_some_and(|pmid| saved.contains(pmid));
            article.pmid = article.pmid.take().filter(|_| can_ask || article.is_saved);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_suggested_in_the_search_tab() {
        for (tab, is_offered) in [(None, true), (Some("search"), true), (Some("saved"), false)] {
            let here = LITERATURE.resolve(tab, None);
            let suggests = here
                .payloads
                .iter()
                .any(|config| config.payload_type == QUERY_SUGGESTION.payload_type);
            let makes_streams = here.tools.contains(&"make_stream");
            assert_eq!((suggests, makes_streams), (is_offered, is_offered), "{tab:?}");
            assert!(here.tools.contains(&"save_article"), "{tab:?}");
        }
    }

    #[test]
    fn searches_and_articles_ask_pubmed() {
        assert!(asks_pubmed("/literature", true));
        assert!(asks_pubmed("/literature/articles/11", false));
        assert!(!asks_pubmed("/literature", false));
    }
}
