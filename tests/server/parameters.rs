//! Model parameters of a conversation, and required tools.

use parlor_tools::{Tool, ToolContext, ToolError, ToolKind, ToolRegistry, ToolResult};
use serde_json::{Value, json};
use upstream::{Script, Upstream, When};
use uuid::Uuid;

use crate::support::{
    Nothing, Parlor, model_calls, parlor_answering, parlor_with_tools, raw_model_calls, read_json,
    string_field,
};

struct LookTool;

impl Tool for LookTool {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("look");
    const DESCRIPTION: &'static str = "Looks.";
    const LABEL: &'static str = "Looking";
    const DONE: &'static str = "Looked";

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok("found".to_owned().into())
    }
}

struct ListenTool;

impl Tool for ListenTool {
    type Input = Nothing;

    const KIND: ToolKind = ToolKind::plain("listen");
    const DESCRIPTION: &'static str = "Listens.";
    const LABEL: &'static str = "Listening";
    const DONE: &'static str = "Listened";

    async fn run(&self, _: Nothing, _: ToolContext) -> Result<ToolResult, ToolError> {
        Ok("heard".to_owned().into())
    }
}

async fn parlor_with_look_tool() -> (tempfile::TempDir, Upstream, Parlor) {
    let (folder, upstream, parlor) = parlor_with_tools(
        ToolRegistry::default().with_tool(LookTool).with_tool(ListenTool),
        |_| {},
    )
    .await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    (folder, upstream, parlor)
}

async fn put_parameters(parlor: &Parlor, conversation: &str, key: &str, body: &Value) -> (u16, Value) {
    let response = parlor
        .client
        .put(format!(
            "{}/api/conversations/{conversation}/parameters",
            parlor.url
        ))
        .header("content-type", "application/json")
        .header("idempotency-key", key)
        .body(body.to_string())
        .send()
        .await
        .unwrap();
    (response.status().as_u16(), read_json(response).await)
}

#[tokio::test]
async fn sends_only_the_conversations_parameters() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let mut all = parlor.follow("/api/events?after=0").await;
    let events = parlor
        .chat(&json!({ "message": "Hi", "model": "test/any" }))
        .await
        .read_to_end()
        .await;
    let conversation = string_field(&events[0], "conversation_id");
    let set = json!({ "temperature": 0.7, "thinking_level": "low", "max_completion_tokens": 500 });
    let key = Uuid::now_v7().to_string();
    assert_eq!(
        put_parameters(&parlor, &conversation, &key, &set).await,
        (200, set.clone())
    );
    // The same request again changes nothing; another request with its key is rejected.
    assert_eq!(
        put_parameters(&parlor, &conversation, &key, &set).await,
        (200, set.clone())
    );
    let (status, problem) = put_parameters(&parlor, &conversation, &key, &json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("intent_reused")));
    let chosen = all.next_of_type("parameters_chosen").await;
    assert_eq!(chosen["parameters"], set);

    parlor
        .chat(&json!({ "message": "And?", "conversation_id": conversation }))
        .await
        .read_to_end()
        .await;
    let next = all.next().await.unwrap();
    assert_eq!(
        (&next["type"], &next["text"]),
        (&json!("user_message_saved"), &json!("And?")),
        "it was one event"
    );
    let sent = model_calls(&upstream);
    let fields = |call: &Value| {
        json!([
            call["temperature"],
            call["reasoning_effort"],
            call["max_completion_tokens"]
        ])
    };
    assert_eq!(fields(&sent[0]), json!([null, null, null]));
    assert_eq!(fields(&sent[1]), json!([0.7, "low", 500]));

    let cleared = put_parameters(&parlor, &conversation, &Uuid::now_v7().to_string(), &json!({})).await;
    assert_eq!(cleared, (200, json!({})));
    let url = format!("/api/conversations/{conversation}/parameters");
    assert_eq!(parlor.get_json(&url).await.1, json!({}));
}

#[tokio::test]
async fn conversation_can_start_with_parameters() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let body = json!({ "message": "Hi", "model": "test/any", "parameters": { "temperature": "0,2" } });
    let events = parlor.chat(&body).await.read_to_end().await;
    let next = json!({ "message": "And?", "conversation_id": string_field(&events[0], "conversation_id") });
    parlor.chat(&next).await.read_to_end().await;
    let sent: Vec<Value> = model_calls(&upstream)
        .iter()
        .map(|call| call["temperature"].clone())
        .collect();
    assert_eq!(sent, [0.2, 0.2]);
}

#[tokio::test]
async fn rejects_invalid_parameters_with_reasons() {
    let (_folder, upstream, parlor) = parlor_answering(Script::new().text("Fine.")).await;
    let conversation = Uuid::now_v7().to_string();
    let key = || Uuid::now_v7().to_string();
    let hot = json!({ "temperature": 3 });
    let (status, problem) = put_parameters(&parlor, &conversation, &key(), &hot).await;
    assert_eq!((status, &problem["code"]), (422, &json!("invalid_parameters")));
    assert_eq!(
        problem["detail"],
        "The temperature is a number from 0 to 2, not “3”. Nothing was changed."
    );
    let (status, _) = put_parameters(&parlor, &conversation, &key(), &json!({ "temperature": 1 })).await;
    assert_eq!(status, 404, "there is no such conversation");
    let (status, _) = put_parameters(&parlor, &conversation, &key(), &json!({ "top_p": 1 })).await;
    assert_eq!(status, 400, "parameters without effect are rejected");
    let body = json!({ "message": "Hi", "model": "test/any", "parameters": hot });
    let response = parlor.post("/api/chat/stream", &body).send().await.unwrap();
    assert_eq!(response.status(), 422);
    assert_eq!(model_calls(&upstream), Vec::<Value>::new());
}

#[tokio::test]
async fn forces_a_tool_in_the_first_call_only() {
    let (_folder, upstream, parlor) = parlor_with_look_tool().await;
    let look = Script::new().tool_call("1", "look", "{}").finish("tool_calls");
    upstream.add_script_times(1, When::any(), look);
    let body = json!({ "message": "Hi", "model": "test/any", "force_tools": ["look"] });
    let events = parlor.chat(&body).await.read_to_end().await;
    let next = json!({ "message": "And?", "conversation_id": string_field(&events[0], "conversation_id") });
    parlor.chat(&next).await.read_to_end().await;
    let choices: Vec<Value> = model_calls(&upstream)
        .iter()
        .map(|call| call["tool_choice"].clone())
        .collect();
    let forced = json!({"type": "function", "function": {"name": "look"}});
    assert_eq!(choices, [forced, Value::Null, Value::Null]);
}

#[tokio::test]
async fn regenerate_forces_the_same_tools() {
    let (_folder, upstream, parlor) = parlor_with_look_tool().await;
    let body = json!({ "message": "Hi", "model": "test/any", "force_tools": ["look"] });
    let events = parlor.chat(&body).await.read_to_end().await;
    parlor.regenerate(&events).await;
    let forced = json!({"type": "function", "function": {"name": "look"}});
    let choices: Vec<Value> = model_calls(&upstream)
        .iter()
        .map(|call| call["tool_choice"].clone())
        .collect();
    assert_eq!(choices, [forced.clone(), forced]);
}

#[tokio::test]
async fn forces_tools_by_instruction_where_necessary() {
    let (_folder, upstream, parlor) = parlor_with_look_tool().await;
    let force = |names: Value| json!({ "message": "Hi", "model": "test/any", "force_tools": names });
    parlor
        .chat(&force(json!(["look", "listen"])))
        .await
        .read_to_end()
        .await;
    let refusal = json!({"error": {"message": "tool_choice is not supported by this model"}});
    upstream.add_script_times(1, When::any(), Script::new().status(400, refusal, &[]));
    for _ in 0..2 {
        let events = parlor.chat(&force(json!(["look"]))).await.read_to_end().await;
        assert_eq!(events.last().unwrap()["type"], "complete");
    }
    let asked: Vec<(bool, bool)> = raw_model_calls(&upstream)
        .iter()
        .map(|call| {
            let prompt = call["messages"][0]["content"].as_str().unwrap();
            let in_words = prompt.contains("the person wants these tools to be used: look");
            (call.get("tool_choice").is_some(), in_words)
        })
        .collect();
    assert_eq!(
        asked,
        [(false, true), (true, false), (false, true), (false, true)]
    );
    assert!(
        model_calls(&upstream).iter().all(|call| call["tools"].is_array()),
        "the tools themselves were not refused"
    );
}

#[tokio::test]
async fn rejects_unknown_forced_tool_and_lists_tools() {
    let (_folder, upstream, parlor) = parlor_with_look_tool().await;
    let body = json!({ "message": "Hi", "model": "test/any", "force_tools": ["look", "taste"] });
    let response = parlor.post("/api/chat/stream", &body).send().await.unwrap();
    assert_eq!(response.status(), 422);
    let problem = read_json(response).await;
    assert_eq!(problem["code"], "unknown_tool");
    assert_eq!(
        problem["detail"],
        "There is no tool “taste” to be used. Nothing was changed. The tools are: look, listen."
    );
    assert_eq!(model_calls(&upstream), Vec::<Value>::new());
}
