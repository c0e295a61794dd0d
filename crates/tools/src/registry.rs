//! The registry of all tools, and the tools offered to a run.

use std::{collections::HashSet, fmt, sync::Arc};

use futures::future::{BoxFuture, join_all};

use super::{AnyTool, Guidance, OpenItems, SessionKeeper, Tool, TypedTool};
use parlor_model::{ToolPlan, ToolSpec};
use parlor_protocol::RunError;

/// All tools of the server.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Vec<Arc<dyn AnyTool>>,
    /// Tools that are offered only where a page, or the conversation, names them.
    scoped: Vec<Arc<dyn AnyTool>>,
    providers: Vec<Arc<dyn ToolProvider>>,
    /// The tools that the settings disable, also those of providers.
    disabled: Vec<String>,
    /// The names of Parlor's own tools that are not there: disabled, or without a setting that they need.
    absent: Vec<String>,
    /// The keeper of the sessions that some of the tools use.
    sessions: Option<Arc<dyn SessionKeeper>>,
}

/// A provider of tools that can change over time.
pub trait ToolProvider: Send + Sync {
    /// Returns the present tools.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;

    /// Returns the present tools that are offered only where a page, or the conversation, names them.
    fn scoped_tools(&self) -> Vec<Arc<dyn AnyTool>> {
        Vec::new()
    }

    /// Waits until the tools are known for the first time, or can't be determined for now.
    fn wait_until_settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns true if a tool with this name may be among the tools at some time.
    fn may_have(&self, _name: &str) -> bool {
        false
    }

    /// Returns the reasons why tools are missing, for the user.
    fn problems(&self) -> Vec<RunError> {
        Vec::new()
    }

    /// Returns the reasons why tools are missing that nobody has asked for, for the settings page.
    fn unavailable(&self) -> Vec<RunError> {
        Vec::new()
    }
}

/// The tools that a run may use.
#[derive(Clone, Default)]
pub struct ToolOffer(Vec<Arc<dyn AnyTool>>);

impl ToolRegistry {
    /// Adds a tool. An earlier tool of the same name has priority.
    pub fn with_tool(self, tool: impl Tool) -> Self {
        self.with_dyn_tool(Arc::new(TypedTool::new(tool)))
    }

    /// Adds a tool that a server describes.
    pub fn with_dyn_tool(mut self, tool: Arc<dyn AnyTool>) -> Self {
        let name = &tool.spec().name;
        if self.tools.iter().any(|known| known.spec().name == *name) {
            tracing::warn!(tool = %name, "two tools have this name; the first is used");
        } else {
            self.tools.push(tool);
        }
        self
    }

    /// Adds tools that are offered only where a page, or the conversation, names them.
    pub fn with_scoped_tools(mut self, tools: Vec<Arc<dyn AnyTool>>) -> Self {
        self.scoped.extend(tools);
        self
    }

    /// Adds a tool if it is available.
    pub fn with_optional_tool<T: Tool>(mut self, tool: Option<T>) -> Self {
        match tool {
            Some(tool) => self.with_tool(tool),
            None => {
                self.absent.push(T::NAME.into());
                self
            }
        }
    }

    /// Removes tools by their names. [`Self::unknown_disabled`] returns the names that have no effect.
    pub fn without_tools(mut self, names: &[String]) -> Self {
        for name in names {
            if !self.disabled.contains(name) {
                self.disabled.push(name.clone());
            }
            let mut own = self.tools.iter().chain(&self.scoped);
            if own.any(|tool| tool.spec().name == *name) {
                self.absent.push(name.clone());
            }
            self.tools.retain(|tool| tool.spec().name != *name);
            self.scoped.retain(|tool| tool.spec().name != *name);
        }
        self
    }

    /// Returns those of the disabled names that no tool has, nor one that a provider may list later. It is complete when all
    /// tools are added.
    pub fn unknown_disabled(&self) -> impl Iterator<Item = &str> {
        let names = self.disabled.iter().filter(|name| {
            let is_provided = self.providers.iter().any(|provider| provider.may_have(name));
            !is_provided && !self.absent.contains(name)
        });
        names.map(String::as_str)
    }

    /// Returns those of the names that no tool has, nor one that a provider may list later.
    pub fn unknown_names<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let is_known = |name: &str| {
            let mut own = self.tools.iter().chain(&self.scoped);
            own.any(|tool| tool.spec().name.eq_ignore_ascii_case(name))
                || self.providers.iter().any(|provider| provider.may_have(name))
        };
        names.filter(|name| !is_known(name)).collect()
    }

    /// Adds a provider of tools. Of several tools with the same name, the first is used.
    pub fn with_provider(mut self, provider: Arc<dyn ToolProvider>) -> Self {
        self.providers.push(provider);
        self
    }

    /// Sets the keeper of the sessions that some of the tools use.
    pub fn with_sessions(mut self, sessions: Arc<dyn SessionKeeper>) -> Self {
        self.sessions = Some(sessions);
        self
    }

    /// Returns the keeper of the sessions.
    pub fn sessions(&self) -> Option<&Arc<dyn SessionKeeper>> {
        self.sessions.as_ref()
    }

    /// Returns a tool of Parlor's own, of any page.
    pub fn find(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        let tools = self.tools.iter().chain(&self.scoped).cloned();
        let mut tools = tools.chain(self.scoped_of_providers());
        tools.find(|tool| tool.spec().name == name)
    }

    fn scoped_of_providers(&self) -> impl Iterator<Item = Arc<dyn AnyTool>> {
        let tools = self.providers.iter().flat_map(|provider| provider.scoped_tools());
        tools.filter(|tool| self.is_enabled(tool))
    }

    fn is_enabled(&self, tool: &Arc<dyn AnyTool>) -> bool {
        !self.disabled.contains(&tool.spec().name)
    }

    /// Returns the names of the tools that find sources: all that are known now, wherever they are offered.
    pub fn source_tools(&self) -> HashSet<String> {
        let others = self.providers.iter().flat_map(|provider| provider.tools());
        let own = self.tools.iter().chain(&self.scoped).cloned();
        own.chain(self.scoped_of_providers())
            .chain(others)
            .filter(|tool| tool.finds_sources())
            .map(|tool| tool.spec().name.clone())
            .collect()
    }

    /// Waits until all providers have reported their tools for the first time.
    pub async fn wait_until_settled(&self) {
        join_all(
            self.providers
                .iter()
                .map(|provider| provider.wait_until_settled()),
        )
        .await;
    }

    /// Returns the reasons why tools named in the settings are missing.
    pub fn problems(&self) -> Vec<RunError> {
        let providers = self.providers.iter();
        providers.flat_map(|provider| provider.problems()).collect()
    }

    /// Returns the reasons why tools are missing that nobody has asked for.
    pub fn unavailable(&self) -> Vec<RunError> {
        let providers = self.providers.iter();
        providers.flat_map(|provider| provider.unavailable()).collect()
    }

    /// Returns the tools offered on every page.
    pub fn offer(&self) -> ToolOffer {
        self.offer_with(&[])
    }

    /// Returns the tools offered on a page that names these tools: the global ones and the named
    /// ones.
    pub fn offer_with(&self, named: &[&str]) -> ToolOffer {
        let is_named = |tool: &Arc<dyn AnyTool>| named.contains(&tool.offer_name());
        let others = self.providers.iter().flat_map(|provider| provider.tools());
        let others = others.filter(|tool| self.is_enabled(tool));
        let mut names = HashSet::new();
        let scoped_others = self.scoped_of_providers();
        let scoped = self.scoped.iter().cloned().chain(scoped_others).filter(is_named);
        // Parlor's own tools have priority over those of providers.
        let mut tools: Vec<_> = self.tools.iter().cloned().chain(scoped).chain(others).collect();
        tools.retain(|tool| names.insert(tool.spec().name.clone()));
        ToolOffer(tools)
    }
}

impl ToolOffer {
    /// Returns those of the tools whose names are allowed.
    pub fn only(mut self, is_allowed: impl Fn(&str) -> bool) -> Self {
        self.0.retain(|tool| is_allowed(&tool.spec().name));
        self
    }

    /// Returns the forms of the tools for users who have no session.
    pub fn without_sessions(mut self) -> Self {
        for tool in &mut self.0 {
            if let Some(other) = tool.without_session() {
                *tool = other;
            }
        }
        self
    }

    /// Adds a tool before the others. It replaces one of the same name.
    pub fn add(&mut self, tool: Arc<dyn AnyTool>) {
        self.0.retain(|other| other.spec().name != tool.spec().name);
        self.0.insert(0, tool);
    }

    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|tool| tool.spec().name.clone()).collect()
    }

    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.0.iter().map(|tool| tool.spec().clone()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if one of the tools finds sources, which an answer should cite.
    pub fn finds_sources(&self) -> bool {
        self.0.iter().any(|tool| tool.finds_sources())
    }

    /// Returns the instructions of these tools' servers, each once.
    pub fn guidance(&self) -> Vec<Arc<Guidance>> {
        let mut all: Vec<Arc<Guidance>> = Vec::new();
        for guidance in self.0.iter().filter_map(|tool| tool.guidance()) {
            if !all.iter().any(|other| other.server == guidance.server) {
                all.push(guidance);
            }
        }
        all
    }

    pub fn get(&self, name: &str) -> Option<Arc<dyn AnyTool>> {
        self.0.iter().find(|tool| tool.spec().name == name).cloned()
    }
}

impl fmt::Debug for ToolOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.0.iter().map(|tool| &tool.spec().name))
            .finish()
    }
}

impl ToolOffer {
    /// Plans a call with these arguments, completed with what the user has open.
    ///
    /// # Errors
    ///
    /// If there is no such tool, or the arguments are invalid: the message for the model.
    pub fn plan(&self, tool: &str, arguments: &str, open: OpenItems<'_>) -> Result<ToolPlan, String> {
        match self.get(tool) {
            Some(tool) => tool.plan(arguments, open),
            None => {
                let names: Vec<&str> = self.0.iter().map(|tool| tool.spec().name.as_str()).collect();
                Err(format!(
                    "There is no tool “{tool}”. The tools are: {}.",
                    names.join(", ")
                ))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::*;
    use crate::{any_tool, calculate::Calculate, current_time::CurrentTime, web_search::WebSearch};

    /// The present tools.
    #[derive(Default)]
    struct FakeSource(Mutex<Vec<Arc<dyn AnyTool>>>);

    impl ToolProvider for FakeSource {
        fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
            self.0.lock().clone()
        }

        fn may_have(&self, name: &str) -> bool {
            name.starts_with("fake_")
        }
    }

    #[test]
    fn names_without_a_tool_are_found() {
        let registry = ToolRegistry::default()
            .with_tool(CurrentTime)
            .with_provider(Arc::new(FakeSource::default()));
        let names = ["Current_Time", "run_query", "fake_later"].into_iter();
        assert_eq!(registry.unknown_names(names), ["run_query"]);
    }

    #[test]
    fn disabled_names_without_a_tool_are_found() {
        let names = [
            "current_time",
            "web_search",
            "calculate",
            "fake_later",
            "telepathy",
        ]
        .map(String::from);
        // The settings disable tools before those of pages and providers are added, and again afterwards.
        let registry = ToolRegistry::default()
            .with_tool(CurrentTime)
            .with_optional_tool(None::<WebSearch>)
            .without_tools(&names)
            .with_scoped_tools(vec![any_tool(Calculate)])
            .with_provider(Arc::new(FakeSource::default()))
            .without_tools(&names);
        assert!(registry.unknown_disabled().eq(["telepathy"]));
    }

    #[test]
    fn offer_is_fixed_when_the_run_starts() {
        let source = Arc::new(FakeSource::default());
        let registry = ToolRegistry::default().with_provider(source.clone());
        let before = registry.offer();
        source.0.lock().push(Arc::new(TypedTool::new(CurrentTime)));
        assert_eq!((before.specs().len(), registry.offer().specs().len()), (0, 1));
        // Scoped tools are offered only where they are named.
        let scoped = ToolRegistry::default().with_scoped_tools(vec![any_tool(CurrentTime)]);
        assert_eq!(scoped.offer().specs().len(), 0);
        assert_eq!(scoped.offer_with(&["calculate"]).specs().len(), 0);
        assert_eq!(scoped.offer_with(&["current_time"]).specs().len(), 1);
        let disabled = scoped.without_tools(&["current_time".into()]);
        assert_eq!(disabled.offer_with(&["current_time"]).specs().len(), 0);
        // The model server would reject the same name twice.
        assert_eq!(registry.clone().with_tool(CurrentTime).offer().specs().len(), 1);
        // A provider's tool can be disabled, too.
        let disabled = registry.without_tools(&["current_time".into()]);
        assert_eq!(disabled.offer().specs().len(), 0);
    }
}
