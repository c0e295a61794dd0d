//! The choice of tools for a request with a limit: those of the page, those that were used or found, then the others in their
//! order.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;

use parlor_base::text::list_first;
use parlor_model::ToolSpec;
use parlor_protocol::{AssistantMessage, Message, RunError, model_list::ModelInfo};
use parlor_providers::Models;
use parlor_tools::{FindTool, FoundTools, Tool, ToolOffer};

/// The maximum number of left-out tools that a problem names.
const MAX_NAMED: usize = 20;

/// The choice of the tools for a run's calls.
pub(super) struct ToolChoice {
    /// The tools that are always offered: those that the page or the user names.
    named: HashSet<String>,
    /// The tools that the conversation has used, oldest first.
    used: Vec<String>,
    found: FoundTools,
}

impl ToolChoice {
    /// Creates the choice, and adds the search for tools to the offer if not all of it can be offered at once.
    pub fn new(
        offer: &mut ToolOffer,
        max: usize,
        refused: &[String],
        named: impl IntoIterator<Item = String>,
        history: &[Message],
        answer: &AssistantMessage,
    ) -> Self {
        let answers = history.iter().filter_map(Message::assistant).chain([answer]);
        let calls: Vec<_> = answers.flat_map(AssistantMessage::tool_calls).collect();
        let found: FoundTools = Arc::new(Mutex::new(
            calls
                .iter()
                .flat_map(|call| FindTool::names_found_by(call))
                .collect(),
        ));
        let mut takable = offer.specs();
        takable.retain(|tool| !refused.contains(&tool.name));
        if takable.len() > max {
            offer.add(FindTool::among(takable, found.clone()));
        }
        Self {
            named: named.into_iter().chain([FindTool::NAME.to_owned()]).collect(),
            used: calls.into_iter().map(|call| call.tool.clone()).collect(),
            found,
        }
    }

    /// Returns the tools of the next request, in the order of the offer: at most `max`, and none of the refused ones.
    pub fn choose(
        &self,
        offer: &ToolOffer,
        refused: &[String],
        max: usize,
        answer: &AssistantMessage,
    ) -> Vec<Arc<ToolSpec>> {
        let mut tools = offer.specs();
        tools.retain(|tool| !refused.contains(&tool.name));
        if tools.len() <= max {
            return tools;
        }
        let found = self.found.lock();
        let used = self.used.iter().cloned();
        let used: Vec<String> = used
            .chain(answer.tool_calls().map(|call| call.tool.clone()))
            .chain(found.iter().cloned())
            .collect();
        // Lower is better. What was used or found last counts more.
        let rank = |tool: &ToolSpec| match used.iter().rposition(|name| *name == tool.name) {
            _ if self.named.contains(&tool.name) => 0,
            Some(at) => used.len() - at,
            None => used.len() + 1,
        };
        let mut ranked: Vec<usize> = (0..tools.len()).collect();
        // Stable: equal ones keep their order.
        ranked.sort_by_key(|at| rank(&tools[*at]));
        ranked.truncate(max);
        ranked.sort_unstable();
        ranked.into_iter().map(|at| tools[at].clone()).collect()
    }
}

/// Returns the problems of endpoints that take fewer tools at once than there are.
pub(super) fn limit_problems(models: &Models, listed: &[ModelInfo], tools: &[String]) -> Vec<RunError> {
    let mut endpoints: Vec<&str> = Vec::new();
    let mut problems = Vec::new();
    for model in listed {
        if endpoints.contains(&&*model.endpoint) {
            continue;
        }
        endpoints.push(&model.endpoint);
        let max = models.max_tools(&model.id);
        if tools.len() <= max {
            continue;
        }
        // The search takes one place.
        let left_out = &tools[max.saturating_sub(1)..];
        problems.push(RunError {
            code: "tools_left_out".into(),
            message: format!(
                "There are {} tools, and a model of “{}” gets at most {max} at once. Until they are used, these are left out: {}.",
                tools.len(),
                model.endpoint,
                list_first(left_out, MAX_NAMED)
            ),
            hint: "The model looks for them itself when it needs them (find_tool). To choose, disable tools of an MCP server \
                   (disabled_tools), or set max_tools of the endpoint."
                .into(),
        });
    }
    problems
}

#[cfg(test)]
mod tests;
