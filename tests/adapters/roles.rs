//! Rejections of the order of roles.

use parlor_base::settings::EndpointKind::OpenAi;
use parlor_model::ModelFile;
use parlor_protocol::AttachmentId;

use super::*;

/// A refusal of the whole request, as servers phrase it, and its status.
const REFUSALS: [(u16, &str); 9] = [
    (
        400,
        "After the optional system message, conversation roles must alternate user/assistant/user/assistant/...",
    ),
    (
        500,
        "Conversation roles must alternate user and assistant roles except for tool calls and results.",
    ),
    (400, "Unexpected role 'user' after role 'tool'"),
    (
        400,
        "Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant",
    ),
    (
        400,
        "messages: roles must alternate between \"user\" and \"assistant\", but found multiple \"user\" roles in a row",
    ),
    (400, "user and assistant roles should be alternating"),
    (
        400,
        "Please ensure that multiturn requests alternate between user and model.",
    ),
    (
        400,
        "A conversation must alternate between user and assistant roles. Make sure the conversation alternates between user and assistant roles and try again.",
    ),
    (
        400,
        "After the (optional) system message(s), user or tool message(s) should alternate with assistant message(s).",
    ),
];

fn image() -> ModelMessage {
    ModelMessage::File(ModelFile {
        id: AttachmentId::new(),
        name: "chart.png".into(),
        media_type: "image/png".into(),
        bytes: 3,
        text_bytes: None,
        problem: None,
        tokens: 0,
        base64: "AAAA".into(),
    })
}

/// Returns a question whose answer has called a tool.
fn request_with_output(files: Vec<ModelMessage>) -> ModelRequest {
    let call = ToolUse {
        id: "c1".into(),
        name: "look".into(),
        arguments: "{}".into(),
        provider_data: Vec::new(),
    };
    let mut request = full_request("m");
    request.messages.extend([
        ModelMessage::Assistant {
            text: String::new(),
            thinking: None,
            tool_calls: vec![call],
            provider_data: Vec::new(),
        },
        ModelMessage::Tool {
            tool_use_id: "c1".into(),
            output: "It is blue.".into(),
        },
    ]);
    request.messages.extend(files);
    request
}

/// Returns a question whose answer has called a tool twice at once.
fn request_with_two_calls() -> ModelRequest {
    let mut request = request_with_output(Vec::new());
    if let Some(ModelMessage::Assistant { tool_calls, .. }) = request.messages.get_mut(2) {
        let second = ToolUse {
            id: "c2".into(),
            ..tool_calls[0].clone()
        };
        tool_calls.push(second);
    }
    request.messages.push(ModelMessage::Tool {
        tool_use_id: "c2".into(),
        output: "It is large.".into(),
    });
    request
}

/// Returns the roles of a chat completion.
fn roles(body: &Value) -> Vec<&str> {
    let messages = body["messages"].as_array().unwrap().iter();
    messages
        .map(|message| message["role"].as_str().unwrap())
        .collect()
}

async fn refusing(message: &str, status: u16, times: u64) -> Upstream {
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let refusal = Script::new().status(status, json!({ "error": { "message": message } }), &[]);
    upstream.add_script_times(times, When::any(), refusal);
    upstream
}

#[tokio::test]
async fn separates_files_of_tools_once_refused() {
    for (status, message) in REFUSALS {
        let upstream = refusing(message, status, 1).await;
        let endpoint = endpoint(OpenAi, &upstream);
        let request = request_with_output(vec![image()]);
        let before = endpoint.capabilities("m");
        for _ in 0..2 {
            assert_eq!(answer(&*endpoint, &request).await.unwrap(), "Fine.", "{message}");
        }
        let calls = calls(&upstream);
        assert_eq!(
            roles(&calls[0]),
            ["system", "user", "assistant", "tool", "user"],
            "{message}"
        );
        for call in &calls[1..] {
            let apart = ["system", "user", "assistant", "tool", "assistant", "user"];
            assert_eq!(roles(call), apart, "{message}: it is remembered");
        }
        assert_eq!(calls.len(), 3, "{message}");
        assert_ne!(endpoint.capabilities("m"), before, "{message}");
        let preview = endpoint.preview_request("m", &request).body;
        assert_eq!(Value::Object(preview), calls[2], "{message}");
    }
}

#[tokio::test]
async fn describes_outputs_a_template_has_no_role_for() {
    // The template of Gemma: neither instructions nor outputs are roles of their own.
    let message = "Conversation roles must alternate user/assistant/user/assistant/...";
    let upstream = refusing(message, 500, 2).await;
    let endpoint = endpoint(OpenAi, &upstream);
    let request = request_with_output(Vec::new());
    assert_eq!(answer(&*endpoint, &request).await.unwrap(), "Fine.");
    let calls = calls(&upstream);
    let sent: Vec<Vec<&str>> = calls.iter().map(roles).collect();
    assert_eq!(
        sent,
        [
            vec!["system", "user", "assistant", "tool"],
            vec!["user", "assistant", "tool"],
            vec!["user", "assistant", "user"],
        ]
    );
    // Tools are still offered.
    assert!(calls[2].get("tools").is_some());
}

/// Returns the roles of a chat completion, each call as `call`.
fn turns(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().unwrap().iter();
    let turn = |message: &Value| match message["tool_calls"].as_array() {
        Some(calls) => vec!["call"; calls.len()].join("+"),
        None => message["role"].as_str().unwrap().to_owned(),
    };
    messages.map(turn).collect()
}

#[tokio::test]
async fn learns_each_rule_of_a_template() {
    // The words of templates, as llama.cpp and vLLM quote them.
    for (message, expected) in [
        (
            "Only user, system and assistant roles are supported!",
            "system user assistant user",
        ),
        (
            "Only user and assistant roles are supported!",
            "user assistant user",
        ),
        (
            "Only user and assistant roles are supported, with the exception of an initial optional system message!",
            "system user assistant user",
        ),
        (
            "Invalid role tool. Only user, assistant are supported.",
            "user assistant user",
        ),
        ("unknown role: tool", "system user assistant user"),
        ("Unexpected message role.", "system user assistant user"),
        (
            "This model only supports single tool-calls at once!",
            "system user call tool call tool",
        ),
        (
            "Prompting with images is incompatible with system messages.",
            "user call+call tool tool",
        ),
    ] {
        for status in [400, 500] {
            let text = match status {
                400 => message.to_owned(),
                _ => format!(
                    "\n------------\nWhile executing CallExpression at line 9, column 3 in source:\nError: Jinja Exception: {message}"
                ),
            };
            let upstream = Upstream::start().await;
            let refusal = Script::new().status(status, json!({ "error": { "message": text } }), &[]);
            // A template that takes neither instructions nor outputs says the same twice.
            let times = u64::from(expected.starts_with("user assistant")) + 1;
            upstream.add_script(When::any(), Script::new().text("Fine."));
            upstream.add_script_times(times, When::any(), refusal);
            let endpoint = endpoint(OpenAi, &upstream);
            let request = request_with_two_calls();
            assert_eq!(answer(&*endpoint, &request).await.unwrap(), "Fine.", "{message}");
            let calls = calls(&upstream);
            assert_eq!(turns(calls.last().unwrap()).join(" "), expected, "{message}");
        }
    }
}

#[tokio::test]
async fn leaves_out_words_beside_calls_once_refused() {
    let message = "Assistant message must have either content or tool_calls, but not both.";
    let upstream = refusing(message, 400, 1).await;
    let endpoint = endpoint(OpenAi, &upstream);
    let mut request = request_with_two_calls();
    if let Some(ModelMessage::Assistant { text, .. }) = request.messages.get_mut(2) {
        *text = "I look.".into();
    }
    assert_eq!(answer(&*endpoint, &request).await.unwrap(), "Fine.");
    let contents: Vec<Option<String>> = calls(&upstream)
        .iter()
        .map(|call| call["messages"][2]["content"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(contents, [Some("I look.".into()), None]);
}

#[tokio::test]
async fn native_kinds_learn_the_order_too() {
    for kind in NATIVE_KINDS {
        let message = "Unexpected role 'user' after role 'tool'";
        let upstream = refusing(message, 400, 1).await;
        let endpoint = endpoint(kind, &upstream);
        let request = request_with_output(vec![image()]);
        for _ in 0..2 {
            assert_eq!(answer(&*endpoint, &request).await.unwrap(), "Fine.", "{kind:?}");
        }
        let bodies: Vec<String> = calls(&upstream).iter().map(Value::to_string).collect();
        let apart: Vec<bool> = bodies
            .iter()
            .map(|body| body.contains("files that the tools made"))
            .collect();
        assert_eq!(apart, [false, true, true], "{kind:?}");
    }
}

#[tokio::test]
async fn gives_up_when_nothing_is_left_to_change() {
    let (status, message) = REFUSALS[0];
    let upstream = refusing(message, status, 9).await;
    let endpoint = endpoint(OpenAi, &upstream);
    let request = ModelRequest::new("m", vec![ModelMessage::User("Hi".into())]);
    let error = answer(&*endpoint, &request).await.unwrap_err();
    assert_eq!(error.error.code, "request_refused");
    assert_eq!(calls(&upstream).len(), 1);
}
