//! The server functions of the page *Literature*.

use leptos::prelude::*;
use server_fn::codec::{GetUrl, Json};

use parlor_protocol::{
    ApiError, ResearchStreamId, Timestamp,
    literature::{ArticleSearchResults, ArticleSort, ArticleWithAbstract, Library, ResearchStream},
};

server_functions! {
    trait LiteratureFunctions;

    /// Returns the user's saved articles and research streams.
    GetUrl "library" as LoadLibrary
    fn library() -> Library;

    /// Returns a page of PubMed's results for a query. Pages count from 1.
    GetUrl "search_articles"
    fn search_articles(query: String, sort: ArticleSort, page: usize) -> ArticleSearchResults;

    /// Returns an article with its abstract, and with its full text if the quote is not in the abstract.
    GetUrl "article"
    fn article(pmid: String, quote: Option<String>) -> ArticleWithAbstract;

    /// Saves an article. With a note and a time, it is restored as it was, unless it has another note by then.
    Json "save_article"
    fn save_article(pmid: String, note: String, saved_at: Option<Timestamp>) -> ();

    /// Removes a saved article. Removing one that is not saved changes nothing.
    Json "remove_article"
    fn remove_article(pmid: String) -> ();

    /// Sets the note of a saved article if its current note is one of `replaces`, the notes that the page knows.
    Json "set_article_note"
    fn set_article_note(pmid: String, note: String, replaces: Vec<String>) -> ();

    /// Creates a research stream, or updates the one with the same id.
    Json "save_stream"
    fn save_stream(stream: ResearchStream) -> ();

    /// Deletes a research stream. Saved articles stay.
    Json "delete_stream"
    fn delete_stream(stream_id: ResearchStreamId) -> ();
}
