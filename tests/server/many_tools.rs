//! More tools than a model gets at once: it finds the others itself, and the page names what is left out.

use std::sync::Arc;

use parlor_tools::{AnyTool, ToolProvider, ToolRegistry, any_tool_with, current_time::CurrentTime};
use serde_json::{Value, json};
use upstream::{Script, When};

use crate::support::{model_calls, parlor_with_tools};

/// A server with 300 tools, `many_0` and so on.
struct ManyTools;

impl ToolProvider for ManyTools {
    fn tools(&self) -> Vec<Arc<dyn AnyTool>> {
        let tool = |number: usize| {
            any_tool_with(CurrentTime, |spec| {
                spec.name = format!("many_{number}");
                spec.description = format!("Does number {number}.");
            })
        };
        (0..300).map(tool).collect()
    }
}

fn tool_names(call: &Value) -> Vec<&str> {
    let tools = call["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn model_finds_tools_beyond_the_limit() {
    let tools = ToolRegistry::default().with_provider(Arc::new(ManyTools));
    let (_folder, upstream, parlor) = parlor_with_tools(tools, |_| {}).await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let search = Script::new().tool_call("c1", "find_tool", json!({ "query": "many_299" }).to_string());
    upstream.add_script_times(1, When::any(), search);
    let turn = parlor.turn(None, "Do number 299").await;
    let found = turn
        .iter()
        .find(|event| event["type"] == "tool_complete")
        .unwrap();
    let output = found["output"].as_str().unwrap();
    assert!(output.contains("- many_299: Does number 299."), "{output}");
    // What it has found stays.
    let conversation = turn[0]["conversation_id"].as_str();
    parlor.turn(conversation, "Again").await;
    let calls = model_calls(&upstream);
    assert_eq!(calls.len(), 3);
    for (call, is_offered) in calls.iter().zip([false, true, true]) {
        let names = tool_names(call);
        assert_eq!((names.len(), names[0]), (128, "find_tool"));
        assert_eq!(names.contains(&"many_299"), is_offered);
    }
    let list = parlor.get_json("/api/models").await.1;
    let problems = list["problems"].as_array().unwrap();
    let problem = problems
        .iter()
        .find(|problem| problem["code"] == "tools_left_out")
        .unwrap();
    let message = problem["message"].as_str().unwrap();
    assert!(
        message.contains(" tools, and a model of “test” gets at most 128 at once.")
            && message.contains("many_130"),
        "{message}"
    );
}

#[tokio::test]
async fn refused_tool_is_named_in_the_answer() {
    let tools = ToolRegistry::default().with_tool(CurrentTime);
    let (_folder, upstream, parlor) = parlor_with_tools(tools, |_| {}).await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let words = json!({ "error": { "message": "Invalid schema for function 'current_time': no." } });
    upstream.add_script_times(1, When::any(), Script::new().status(400, words, &[]));
    let body = json!({ "message": "Hi", "model": "test/any" });
    let response = parlor.post("/api/chat/batch", &body).send().await.unwrap();
    let answer: Value = response.json().await.unwrap();
    assert_eq!(
        answer["message"],
        "*(The model server refused the tool current_time, so it can’t be used here: Invalid schema for function \
         'current_time': no.)*\n\nFine."
    );
    let list = parlor.get_json("/api/models").await.1;
    assert_eq!(list["problems"][0]["code"], "tool_refused", "{list}");
}
