//! [`Tool`]s with their typed input as [`AnyTool`]s.

use std::sync::Arc;

use async_trait::async_trait;

use super::{
    AnyTool, FinishedCall, OpenItems, ReplayedCall, Tool, ToolContext, ToolError, ToolResult, ToolRunOptions,
    schema,
};
use parlor_base::text;
use parlor_model::{ToolInput, ToolPlan, ToolSpec};

/// Maximum length of the subject of a call, in characters.
const MAX_DETAIL_CHARS: usize = 200;

/// Erases the input type of a tool.
pub fn any_tool(tool: impl Tool) -> Arc<dyn AnyTool> {
    Arc::new(TypedTool::new(tool))
}

/// Erases the input type of a tool whose description depends on the settings.
pub fn any_tool_with(tool: impl Tool, adapt: impl FnOnce(&mut ToolSpec)) -> Arc<dyn AnyTool> {
    let mut tool = TypedTool::new(tool);
    adapt(Arc::make_mut(&mut tool.spec));
    Arc::new(tool)
}

/// A [`Tool`] as [`AnyTool`].
pub(super) struct TypedTool<T> {
    tool: T,
    spec: Arc<ToolSpec>,
}

impl<T: Tool> TypedTool<T> {
    pub(super) fn new(tool: T) -> Self {
        let spec = ToolSpec {
            name: T::NAME.into(),
            description: T::DESCRIPTION.into(),
            input_schema: schema::for_type::<T::Input>(),
        };
        Self {
            tool,
            spec: Arc::new(spec),
        }
    }

    fn parse_input(arguments: &str) -> Result<T::Input, String> {
        // Some models send no arguments for a tool that needs none.
        let arguments = if arguments.trim().is_empty() {
            "{}"
        } else {
            arguments
        };
        // Serde would read an array as the fields in their order.
        if !arguments.trim_start().starts_with('{') {
            let name = T::NAME;
            return Err(format!(
                "The arguments are not a JSON object. Correct them and call {name} again."
            ));
        }
        serde_json::from_str(arguments).map_err(|error| {
            let what = if error.is_data() {
                "The arguments do not fit the schema"
            } else {
                "The arguments are not JSON"
            };
            format!("{what}: {error}. Correct them and call {} again.", T::NAME)
        })
    }
}

#[async_trait]
impl<T: Tool> AnyTool for TypedTool<T> {
    fn spec(&self) -> &Arc<ToolSpec> {
        &self.spec
    }

    fn label(&self) -> String {
        T::LABEL.into()
    }

    fn run_options(&self) -> ToolRunOptions {
        ToolRunOptions {
            done_label: T::DONE.into(),
            timeout: self.tool.timeout(),
            output_bytes: T::OUTPUT_BYTES,
            file_limits: self.tool.file_limits(),
        }
    }

    fn finds_sources(&self) -> bool {
        T::FINDS_SOURCES
    }

    fn is_idempotent(&self) -> bool {
        T::IS_IDEMPOTENT
    }

    fn plan(&self, arguments: &str, open: OpenItems<'_>) -> Result<ToolPlan, String> {
        let mut input = Self::parse_input(arguments)?;
        self.tool.complete(&mut input, open)?;
        Ok(ToolPlan {
            label: T::LABEL.into(),
            detail: self
                .tool
                .detail(&input)
                // As it was written: markup of a query is a part of it.
                .map(|detail| text::single_line(&detail, MAX_DETAIL_CHARS)),
            needs_approval: self.tool.needs_approval(),
            is_idempotent: T::IS_IDEMPOTENT,
            input: ToolInput::new(arguments, input),
        })
    }

    async fn run(&self, input: ToolInput, call: ToolContext) -> Result<ToolResult, ToolError> {
        let input = input.into_parsed().ok_or_else(ToolError::foreign_input)?;
        self.tool.run(input, call).await
    }

    fn uses_session(&self, arguments: &str) -> bool {
        Self::parse_input(arguments).is_ok_and(|input| self.tool.uses_session(&input))
    }

    fn is_replayed(&self, arguments: &str, finished: &FinishedCall) -> bool {
        self.uses_session(arguments) && self.tool.is_replayed(finished)
    }

    async fn replay(
        &self,
        arguments: &str,
        finished: FinishedCall,
        call: ToolContext,
    ) -> Result<ReplayedCall, ToolError> {
        let input = Self::parse_input(arguments).map_err(ToolError)?;
        self.tool.replay(input, finished, call).await
    }
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::*;
    use crate::ToolKind;

    struct Query;

    #[derive(Deserialize, JsonSchema)]
    struct QueryInput {
        query: String,
    }

    impl Tool for Query {
        type Input = QueryInput;

        const KIND: ToolKind = ToolKind::plain("query");
        const DESCRIPTION: &'static str = "";
        const LABEL: &'static str = "";
        const DONE: &'static str = "";

        fn detail(&self, input: &QueryInput) -> Option<String> {
            Some(input.query.clone())
        }

        async fn run(&self, _input: QueryInput, _call: ToolContext) -> Result<ToolResult, ToolError> {
            Ok(String::new().into())
        }
    }

    #[test]
    fn detail_is_shown_as_written() {
        let detail = |query: &str| {
            let arguments = serde_json::json!({ "query": query }).to_string();
            any_tool(Query)
                .plan(&arguments, OpenItems::default())
                .ok()
                .and_then(|plan| plan.detail)
        };
        for (query, shown) in [
            (
                "SELECT '<b>' || x || '</b>'\n  FROM t WHERE a <i> b",
                "SELECT '<b>' || x || '</b>' FROM t WHERE a <i> b",
            ),
            ("SELECT '&lt;&amp;', 'a<br/>b'", "SELECT '&lt;&amp;', 'a<br/>b'"),
            ("fox <sub>2</sub>", "fox <sub>2</sub>"),
        ] {
            assert_eq!(detail(query).as_deref(), Some(shown));
        }
    }
}
