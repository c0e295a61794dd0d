use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::*;

/// An input that counts how often it is parsed.
#[derive(JsonSchema)]
struct CountedInput;

static PARSED: AtomicUsize = AtomicUsize::new(0);

impl<'de> Deserialize<'de> for CountedInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PARSED.fetch_add(1, SeqCst);
        serde::de::IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}

struct CountedTool;

impl Tool for CountedTool {
    type Input = CountedInput;

    const KIND: ToolKind = ToolKind::plain("counted");
    const DESCRIPTION: &'static str = "";
    const LABEL: &'static str = "";
    const DONE: &'static str = "";

    async fn run(&self, _: CountedInput, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok("done".to_owned().into())
    }
}

#[tokio::test]
async fn parses_the_arguments_of_a_call_once() {
    let tool: Arc<dyn AnyTool> = Arc::new(TypedTool::new(CountedTool));
    let input = tool.plan("{}", OpenItems::default()).unwrap().input;
    let ToolContext {
        user_id,
        conversation_id,
        run,
        ..
    } = test_call::call();
    let origin = CallOrigin {
        index: 0,
        user_id,
        conversation_id,
        run,
        page: None,
        files: [].into(),
        usage: UsageMeter::default(),
    };
    let result = execute(tool.clone(), input, origin, |_| ()).await;
    assert_eq!((result.unwrap().text, PARSED.load(SeqCst)), ("done".into(), 1));
    // Another type of input is an error of the call.
    let foreign = tool.run(ToolInput::new("{}", 5), test_call::call()).await;
    assert!(foreign.is_err(), "{foreign:?}");
}
