//! Access to the web for tools: a client that never connects to internal IP addresses, and the
//! readable text of a page.
//!
//! URLs come from a model or from a page and are not trusted: [`guard`] decides where a
//! connection may go. Responses are not trusted either: [`readable`] turns them into text without
//! running, loading or believing anything in them. Both are independent of tools, conversations and
//! models. Servers named in the settings are not reached through these: [`http_client`] makes the clients for all of them,
//! [`services`] limits and retries the requests to configured services such as PubMed.

mod bounded_writer;
mod error;
pub mod guard;
pub mod http_client;
pub mod readable;
pub mod services;
#[cfg(test)]
mod tests;

pub use self::{
    error::FetchError,
    guard::{WebClient, WebConfig},
    readable::ReadablePage,
};

/// Fetches a URL and reads its page.
///
/// # Errors
///
/// The reason, with advice for a model.
pub async fn fetch_page(client: &WebClient, url: &str) -> Result<ReadablePage, FetchError> {
    let download = client.get(url, readable::is_readable).await?;
    // Large pages take some processor time, which must not block the threads that serve requests. A
    // panic would affect only this page.
    tokio::task::spawn_blocking(move || readable::read_page(&download))
        .await
        .unwrap_or(Err(FetchError::Unreadable))
}
