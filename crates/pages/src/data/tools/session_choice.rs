//! A tool in two forms: one for a server with Python, which has fields about its session, and one for a server without.

use std::sync::Arc;

use async_trait::async_trait;

use parlor_model::{ToolInput, ToolPlan, ToolSpec};
use parlor_python::Python;
use parlor_tools::{
    AnyTool, FinishedCall, OpenItems, ReplayedCall, ToolContext, ToolError, ToolResult, ToolRunOptions,
};

/// The form for the present state of Python, which is known some time after the start.
pub struct SessionChoice {
    /// The name by which pages and conversations ask for it.
    pub offer_name: &'static str,
    pub python: Python,
    pub with_session: Arc<dyn AnyTool>,
    pub without: Arc<dyn AnyTool>,
}

impl SessionChoice {
    fn chosen(&self) -> &Arc<dyn AnyTool> {
        match self.python.is_available() {
            true => &self.with_session,
            false => &self.without,
        }
    }
}

#[async_trait]
impl AnyTool for SessionChoice {
    fn spec(&self) -> &Arc<ToolSpec> {
        self.chosen().spec()
    }

    fn offer_name(&self) -> &str {
        self.offer_name
    }

    fn run_options(&self) -> ToolRunOptions {
        self.chosen().run_options()
    }

    fn plan(&self, arguments: &str, open: OpenItems<'_>) -> Result<ToolPlan, String> {
        self.chosen().plan(arguments, open)
    }

    async fn run(&self, input: ToolInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        self.chosen().run(input, call).await
    }

    fn uses_session(&self, arguments: &str) -> bool {
        self.chosen().uses_session(arguments)
    }

    fn is_replayed(&self, arguments: &str, finished: &FinishedCall) -> bool {
        self.chosen().is_replayed(arguments, finished)
    }

    async fn replay(
        &self,
        arguments: &str,
        finished: FinishedCall,
        call: ToolContext,
    ) -> Result<ReplayedCall, ToolError> {
        self.chosen().replay(arguments, finished, call).await
    }

    fn without_session(&self) -> Option<Arc<dyn AnyTool>> {
        Some(Arc::clone(&self.without))
    }
}
