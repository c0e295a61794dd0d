//! The search among the tools that a request has no room for. What it finds is offered from then on.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{AnyTool, Tool, ToolContext, ToolError, ToolKind, ToolResult, typed::any_tool_with};
use parlor_base::text::single_line;
use parlor_model::ToolSpec;
use parlor_protocol::{ToolCall, ToolStatus};

/// The maximum number of tools that one search finds.
const MAX_FOUND: usize = 10;

/// The maximum length of a tool's description in the result, in characters.
const MAX_DESCRIPTION_CHARS: usize = 300;

/// The maximum number of groups of tools that are named.
const MAX_GROUPS: usize = 20;

/// The names of the tools that were found, oldest first.
pub type FoundTools = Arc<Mutex<Vec<String>>>;

/// Finds tools.
pub struct FindTool {
    all: Vec<Arc<ToolSpec>>,
    found: FoundTools,
}

#[derive(Deserialize, JsonSchema)]
pub struct Input {
    /// The words for what the tool should do, or a part of its name.
    query: String,
}

impl FindTool {
    /// Creates the search among all tools of a run, and what it has found so far.
    pub fn among(all: Vec<Arc<ToolSpec>>, found: FoundTools) -> Arc<dyn AnyTool> {
        let groups = describe_groups(&all);
        any_tool_with(Self { all, found }, |spec| spec.description.push_str(&groups))
    }

    /// Returns the names of tools that an earlier call has found.
    pub fn names_found_by(call: &ToolCall) -> Vec<String> {
        let output = call.output.as_deref().unwrap_or_default();
        let is_own = call.tool == Self::NAME && call.status == ToolStatus::Complete;
        let lines = output.lines().filter(|_| is_own);
        let names = lines.filter_map(|line| line.strip_prefix("- ")?.split(':').next());
        names.map(str::to_owned).collect()
    }

    /// Returns the tools that fit a query best, the best one first.
    fn search(&self, query: &str) -> Vec<&Arc<ToolSpec>> {
        let query = query.to_lowercase();
        let words: Vec<&str> = words(&query).collect();
        let mut scored: Vec<(usize, &Arc<ToolSpec>)> = self
            .all
            .iter()
            .map(|tool| (score(tool, &words, query.trim()), tool))
            .filter(|(score, _)| *score > 0)
            .collect();
        // Stable: equal ones keep their order.
        scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        scored.into_iter().take(MAX_FOUND).map(|(_, tool)| tool).collect()
    }
}

impl Tool for FindTool {
    type Input = Input;

    const KIND: ToolKind = ToolKind::plain("find_tool");
    const DESCRIPTION: &'static str = "Finds more tools. There are more of them than can be offered at once. If none of the offered ones does \
                                       what you need, search here: the tools that are found can be called from your next step on.";
    const LABEL: &'static str = "Looking for tools";
    const DONE: &'static str = "Looked for tools";
    const IS_IDEMPOTENT: bool = true;

    fn detail(&self, input: &Input) -> Option<String> {
        Some(input.query.clone())
    }

    async fn run(&self, Input { query }: Input, _: ToolContext) -> Result<ToolResult, ToolError> {
        let tools = self.search(&query);
        if tools.is_empty() {
            let groups = describe_groups(&self.all);
            return Ok(format!(
                "No tool fits “{}”. Try other words.{groups}",
                single_line(&query, 200)
            )
            .into());
        }
        let mut found = self.found.lock();
        let mut text = String::from("These tools can be called from now on:");
        for tool in tools {
            found.retain(|name| *name != tool.name);
            found.push(tool.name.clone());
            let description = single_line(&tool.description, MAX_DESCRIPTION_CHARS);
            text.push_str(&format!("\n- {}: {description}", tool.name));
        }
        Ok(text.into())
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Returns a number that is the larger the better a tool fits.
fn score(tool: &ToolSpec, query: &[&str], whole: &str) -> usize {
    let (name, description) = (tool.name.to_lowercase(), tool.description.to_lowercase());
    if name == whole {
        return usize::MAX;
    }
    let of_word = |word: &&str| {
        let is_whole = |text: &str| words(text).any(|other| other == *word);
        // A short word is a part of many others.
        let is_part = |text: &str| word.chars().count() > 3 && text.contains(*word);
        match () {
            () if is_whole(&name) => 6,
            () if is_part(&name) => 4,
            () if is_whole(&description) => 2,
            () if is_part(&description) => 1,
            () => 0,
        }
    };
    query.iter().map(of_word).sum()
}

/// Describes tools by the beginnings of their names, which say where they come from.
fn describe_groups(all: &[Arc<ToolSpec>]) -> String {
    let mut groups: BTreeMap<&str, usize> = BTreeMap::new();
    for tool in all {
        if let Some((group, _)) = tool.name.split_once('_') {
            *groups.entry(group).or_default() += 1;
        }
    }
    let mut groups: Vec<(&str, usize)> = groups.into_iter().filter(|(_, count)| *count > 1).collect();
    groups.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let groups = groups.iter().take(MAX_GROUPS);
    let groups: Vec<String> = groups
        .map(|(group, count)| format!("{group}_ ({count})"))
        .collect();
    match groups.is_empty() {
        true => String::new(),
        false => format!(" Their names begin with: {}.", groups.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::test_call::call;

    fn tool(name: &str, description: &str) -> Arc<ToolSpec> {
        Arc::new(ToolSpec {
            name: name.into(),
            description: description.into(),
            input_schema: json!({}),
        })
    }

    fn catalogue() -> Vec<Arc<ToolSpec>> {
        vec![
            tool("git_list_issues", "Lists issues."),
            tool("git_create_issue", "Creates an issue in a repository."),
            tool("mail_send", "Sends a message to someone."),
        ]
    }

    #[test]
    fn finds_by_name_before_description() {
        let finder = FindTool {
            all: catalogue(),
            found: FoundTools::default(),
        };
        for (query, expected) in [
            ("create an issue", vec!["git_create_issue", "git_list_issues"]),
            ("mail_send", vec!["mail_send"]),
            ("SEND", vec!["mail_send"]),
            ("repository", vec!["git_create_issue"]),
            ("weather", vec![]),
            ("", vec![]),
        ] {
            let found: Vec<&str> = finder.search(query).into_iter().map(|tool| &*tool.name).collect();
            assert_eq!(found, expected, "{query}");
        }
    }

    #[tokio::test]
    async fn remembers_and_names_found_tools() {
        let found = FoundTools::default();
        let tool = FindTool::among(catalogue(), found.clone());
        assert!(
            tool.spec()
                .description
                .ends_with("Their names begin with: git_ (2).")
        );
        let input = tool
            .plan(r#"{"query": "issue"}"#, crate::OpenItems::default())
            .unwrap()
            .input;
        let text = tool.run(input, call()).await.unwrap().text;
        assert_eq!(
            text,
            "These tools can be called from now on:\n- git_create_issue: Creates an issue in a repository.\n\
             - git_list_issues: Lists issues."
        );
        assert_eq!(*found.lock(), ["git_create_issue", "git_list_issues"]);
    }
}
