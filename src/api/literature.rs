//! The server functions of the page *Literature*.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use super::codec::PageProtocol;
use crate::protocol::{
    ApiError, ResearchStreamId, Timestamp,
    literature::{ArticleSearchResults, ArticleSort, ArticleWithAbstract, Library, ResearchStream},
};

/// Returns the user's saved articles and research streams.
#[server(name = LoadLibrary, prefix = "/rpc", endpoint = "library", protocol = PageProtocol<GetUrl>)]
pub async fn library() -> Result<Library, ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.library(caller.user_id).await)
}

/// Returns a page of PubMed's results for a query. Pages count from 1.
#[server(prefix = "/rpc", endpoint = "search_articles", protocol = PageProtocol<GetUrl>)]
pub async fn search_articles(
    query: String,
    sort: ArticleSort,
    page: usize,
) -> Result<ArticleSearchResults, ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.search(&query, sort, page).await)
}

/// Returns an article with its abstract.
#[server(prefix = "/rpc", endpoint = "article", protocol = PageProtocol<GetUrl>)]
pub async fn article(pmid: String) -> Result<ArticleWithAbstract, ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.full_article(caller.user_id, &pmid).await)
}

/// Saves an article. With a note and a time, it is restored as it was, unless it has another note by then.
#[server(prefix = "/rpc", endpoint = "save_article", protocol = PageProtocol<Json>)]
pub async fn save_article(pmid: String, note: String, saved_at: Option<Timestamp>) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    let saved = literature.save_with_note(caller.user_id, &pmid, &note, saved_at);
    caller.set_error_status(saved.await)
}

/// Removes a saved article. Removing one that is not saved changes nothing.
#[server(prefix = "/rpc", endpoint = "remove_article", protocol = PageProtocol<Json>)]
pub async fn remove_article(pmid: String) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.remove(caller.user_id, pmid).await)
}

/// Sets the note of a saved article if its current note is one of `replaces`, the notes that the page knows.
#[server(prefix = "/rpc", endpoint = "set_article_note", protocol = PageProtocol<Json>)]
pub async fn set_article_note(pmid: String, note: String, replaces: Vec<String>) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.set_note(caller.user_id, pmid, &note, replaces).await)
}

/// Creates a research stream, or updates the one with the same id.
#[server(prefix = "/rpc", endpoint = "save_stream", protocol = PageProtocol<Json>)]
pub async fn save_stream(stream: ResearchStream) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.save_stream(caller.user_id, stream).await)
}

/// Deletes a research stream. Saved articles stay.
#[server(prefix = "/rpc", endpoint = "delete_stream", protocol = PageProtocol<Json>)]
pub async fn delete_stream(stream_id: ResearchStreamId) -> Result<(), ApiError> {
    let caller = crate::app::current_caller()?;
    let literature = caller.app.pages.get::<crate::literature::Literature>()?;
    caller.set_error_status(literature.delete_stream(caller.user_id, stream_id).await)
}
