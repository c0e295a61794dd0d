//! The models that a user can choose.

use super::AppState;
use crate::protocol::model_list::{ModelList, WEB_SEARCH};

/// Returns the models that can be chosen now, whether they can search the web, and the unavailable servers of models and tools.
pub async fn list(app: &AppState) -> ModelList {
    let mut list = app.models.list().await;
    list.can_search = app.runs.is_tool_offered(WEB_SEARCH);
    let tool_problems = app.runs.tool_problems().into_iter();
    list.problems.extend(tool_problems.map(Into::into));
    list
}
