//! The registry of all tools, and the tools offered to a run.

use std::{collections::HashSet, fmt, sync::Arc};

use futures::future::{BoxFuture, join_all};

use super::{AnyTool, Guidance, Tool, TypedTool};
use crate::{
    model::{ToolPlan, ToolSpec, Toolbox},
    protocol::RunError,
};

/// All tools of the server.
#[derive(Clone, Default)]
pub struct ToolRegistry {
    tools: Vec<Arc<dyn AnyTool>>,
    /// Tools that are offered only on pages that name them.
    scoped: Vec<Arc<dyn AnyTool>>,
    sources: Vec<Arc<dyn ToolProvider>>,
}

/// A source of tools that can change over time.
pub trait ToolProvider: Send + Sync {
    /// Returns the present tools.
    fn tools(&self) -> Vec<Arc<dyn AnyTool>>;

    /// Waits until the tools are known for the first time, or can't be determined for now.
    fn wait_until_settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Returns the reasons why tools are missing, for a person.
    fn problems(&self) -> Vec<RunError> {
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

    /// Adds tools that are offered only where a page names them.
    pub fn with_scoped_tools(mut self, tools: Vec<Arc<dyn AnyTool>>) -> Self {
        self.scoped.extend(tools);
        self
    }

    /// Adds a tool if it is available.
    pub fn with_optional_tool(self, tool: Option<impl Tool>) -> Self {
        match tool {
            Some(tool) => self.with_tool(tool),
            None => self,
        }
    }

    /// Removes tools by their names.
    pub fn without_tools(mut self, names: &[String]) -> Self {
        for name in names {
            let before = self.tools.len() + self.scoped.len();
            self.tools.retain(|tool| tool.spec().name != *name);
            self.scoped.retain(|tool| tool.spec().name != *name);
            if self.tools.len() + self.scoped.len() == before {
                tracing::warn!(tool = %name, "no tool has this name, so none is disabled");
            }
        }
        self
    }

    /// Adds a source of tools. Of several tools with the same name, the first is used.
    pub fn with_source(mut self, source: Arc<dyn ToolProvider>) -> Self {
        self.sources.push(source);
        self
    }

    /// Waits until all sources have reported their tools for the first time.
    pub async fn wait_until_settled(&self) {
        join_all(self.sources.iter().map(|source| source.wait_until_settled())).await;
    }

    /// Returns the reasons why tools named in the settings are missing.
    pub fn problems(&self) -> Vec<RunError> {
        let sources = self.sources.iter();
        sources.flat_map(|source| source.problems()).collect()
    }

    /// Returns the tools offered on every page.
    pub fn offer(&self) -> ToolOffer {
        self.offer_with(&[])
    }

    /// Returns the tools offered on a page that names these tools: the global ones and the named
    /// ones.
    pub fn offer_with(&self, named: &[&str]) -> ToolOffer {
        let is_named = |tool: &&Arc<dyn AnyTool>| named.contains(&tool.spec().name.as_str());
        let others = self.sources.iter().flat_map(|source| source.tools());
        let mut names = HashSet::new();
        let scoped = self.scoped.iter().filter(is_named).cloned();
        // Parlor's own tools have priority over those of sources.
        let mut tools: Vec<_> = self.tools.iter().cloned().chain(scoped).chain(others).collect();
        tools.retain(|tool| names.insert(tool.spec().name.clone()));
        ToolOffer(tools)
    }
}

impl ToolOffer {
    pub fn names(&self) -> Vec<String> {
        self.0.iter().map(|tool| tool.spec().name.clone()).collect()
    }

    pub fn specs(&self) -> Vec<Arc<ToolSpec>> {
        self.0.iter().map(|tool| tool.spec().clone()).collect()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if any tool finds sources that an answer should cite.
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

impl Toolbox for ToolOffer {
    fn plan(&self, tool: &str, arguments: &str) -> Result<ToolPlan, String> {
        match self.get(tool) {
            Some(tool) => tool.plan(arguments),
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
    use crate::tools::{any_tool, current_time::CurrentTime};

    /// The present tools.
    #[derive(Default)]
    struct FakeSource(Mutex<Vec<Arc<dyn AnyTool>>>);

    impl ToolProvider for FakeSource {
        fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
            self.0.lock().clone()
        }
    }

    #[test]
    fn offer_is_fixed_when_the_run_starts() {
        let source = Arc::new(FakeSource::default());
        let registry = ToolRegistry::default().with_source(source.clone());
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
        assert_eq!(registry.with_tool(CurrentTime).offer().specs().len(), 1);
    }
}
