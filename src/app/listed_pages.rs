//! The pages that a user's sidebar links to.

use super::Caller;
use parlor_protocol::ApiError;

/// Returns the names of the pages that can do something for the caller.
///
/// # Errors
///
/// If storage fails.
pub async fn of_user(caller: &Caller) -> Result<Vec<String>, ApiError> {
    let permissions = caller.app.runs.permissions(caller.user_id).await?;
    let useful = caller
        .app
        .pages
        .useful_to(caller.user_id, |tool| permissions.allows_tool(tool));
    Ok(useful.await?)
}
