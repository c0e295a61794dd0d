//! The functions of the page *Literature*.

use async_trait::async_trait;

use super::Api;
use crate::app;
use parlor_protocol::{
    ApiError, ResearchStreamId, Timestamp,
    literature::{ArticleSearchResults, ArticleSort, ArticleWithAbstract, Library, ResearchStream},
};
use parlor_ui::api::literature::LiteratureFunctions;

#[async_trait]
impl LiteratureFunctions for Api {
    async fn library(&self) -> Result<Library, ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(literature.library(caller.user_id).await)
    }

    async fn search_articles(
        &self,
        query: String,
        sort: ArticleSort,
        page: usize,
    ) -> Result<ArticleSearchResults, ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(literature.search(&query, sort, page).await)
    }

    async fn article(&self, pmid: String, quote: Option<String>) -> Result<ArticleWithAbstract, ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(
            literature
                .full_article(caller.user_id, &pmid, &quote.unwrap_or_default())
                .await,
        )
    }

    async fn save_article(
        &self,
        pmid: String,
        note: String,
        saved_at: Option<Timestamp>,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        let saved = literature.save_with_note(caller.user_id, &pmid, &note, saved_at);
        caller.set_error_status(saved.await)
    }

    async fn remove_article(&self, pmid: String) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(literature.remove(caller.user_id, pmid).await)
    }

    async fn set_article_note(
        &self,
        pmid: String,
        note: String,
        replaces: Vec<String>,
    ) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(literature.set_note(caller.user_id, pmid, &note, replaces).await)
    }

    async fn save_stream(&self, stream: ResearchStream) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(literature.save_stream(caller.user_id, stream).await)
    }

    async fn delete_stream(&self, stream_id: ResearchStreamId) -> Result<(), ApiError> {
        let caller = app::current_caller()?;
        let literature = caller.app.pages.get::<parlor_pages::literature::Literature>()?;
        caller.set_error_status(literature.delete_stream(caller.user_id, stream_id).await)
    }
}
