//! What tools that reach the web stand on: a client that never connects inside, and the readable text of a page.
//!
//! Addresses come from a model or from a page, so nobody can vouch for them: [`guard`] decides where a connection
//! may go. What comes back can't be trusted either: [`readable`] turns it into text without running, loading or
//! believing anything in it. Neither knows of tools, conversations or models; servers that the settings name (a
//! search engine, say) are not reached this way.

mod bounded_writer;
mod error;
pub mod guard;
pub mod readable;
#[cfg(test)]
mod tests;

pub use self::{
    error::FetchError,
    guard::{WebClient, WebConfig},
    readable::Page,
};

/// Fetches an address and reads the page there.
///
/// # Errors
///
/// Whatever went wrong, in words that tell a model what to do instead.
pub async fn fetch_page(client: &WebClient, url: &str) -> Result<Page, FetchError> {
    let download = client.get(url, readable::is_readable).await?;
    // Reading takes a moment of the processor's time for large pages: not on the threads that serve everybody. Should it
    // ever panic, that is this page's trouble alone.
    tokio::task::spawn_blocking(move || readable::read_page(&download))
        .await
        .unwrap_or(Err(FetchError::Unreadable))
}
