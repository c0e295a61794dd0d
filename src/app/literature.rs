//! The initial data of the page *Literature*.

use tokio::time::timeout;

use super::Caller;
use crate::protocol::{
    ApiError, ErrorCode, RawJson, Timestamp,
    literature::{LiteratureLocation, LiteraturePageData, LiteratureTab},
};

/// Returns the data of the page for an address.
pub async fn open(caller: &Caller, address: &str) -> Result<RawJson, ApiError> {
    let literature = &caller.app.literature;
    let address = LiteratureLocation::parse(address).ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            "There is no such place on the page Literature.",
        )
    })?;
    let library = async { literature.library(caller.user_id).await.map_err(ApiError::from) };
    let found = async {
        let searches = address.tab == LiteratureTab::Search && !address.query.is_empty();
        if !searches {
            return None;
        }
        let found = literature
            .search(&address.query, address.sort, address.page)
            .await;
        Some(found.map_err(ApiError::from))
    };
    let article = async {
        let pmid = address.article.as_ref()?;
        let article = literature.full_article(caller.user_id, pmid).await;
        Some(article.map_err(ApiError::from))
    };
    // The whole page waits for this call, including the list and the chat.
    let page_timeout = caller.app.settings.literature.page_timeout;
    let found = async { timeout(page_timeout, found).await.ok().flatten() };
    let article = async { timeout(page_timeout, article).await.ok().flatten() };
    let (library, found, article) = futures::join!(library, found, article);
    let opened = LiteraturePageData {
        library,
        found,
        article,
    };
    let json = serde_json::to_string(&opened).map_err(ApiError::unreadable)?;
    Ok(RawJson::parse_or_quote(&json))
}

/// Saves an article. If the note could not be saved with it, that is an error.
pub async fn save(
    caller: &Caller,
    pmid: &str,
    note: &str,
    saved_at: Option<Timestamp>,
) -> Result<(), ApiError> {
    let literature = &caller.app.literature;
    let result = literature.save(caller.user_id, pmid, note, saved_at).await;
    let is_noted_otherwise = matches!(&result, Ok(result) if result.is_noted_otherwise);
    caller.set_error_status(result.map(drop))?;
    if is_noted_otherwise {
        return Err(ApiError::new(
            ErrorCode::NoteChanged,
            "This article is saved already, with another note, which stays.",
        ));
    }
    Ok(())
}
