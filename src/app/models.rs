//! The models that a user can choose.

use super::AppState;
use parlor_protocol::{ApiError, UserId, model_list::ModelList, tool_kind::WEB_SEARCH};

/// Returns the models that a user can choose now, whether they can search the web, whether the user may add servers
/// or keys, and the unavailable servers of models and tools.
///
/// # Errors
///
/// If the database can't be read.
pub async fn list(app: &AppState, user_id: UserId) -> Result<ModelList, ApiError> {
    let permissions = app.runs.permissions(user_id).await?;
    let mut list = app.runs.allowed_models(&permissions).await;
    list.can_search = app.runs.is_tool_offered(&permissions, WEB_SEARCH.name);
    list.can_connect = app.is_administrator(user_id).await?;
    list.can_bring_keys = app.endpoints.allows_own_keys();
    let tool_problems = app.runs.tool_problems(&permissions, &list.models);
    list.problems.extend(tool_problems.into_iter().map(Into::into));
    Ok(list)
}
