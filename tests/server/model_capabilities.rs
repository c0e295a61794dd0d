//! The capabilities of models: what the list says of each, and parameters that a model takes.

use parlor_base::settings::{CapabilitySettings, EndpointKind, Price, ThinkingSetting};
use serde_json::{Value, json};
use upstream::{Page, Script, Upstream, When};

use crate::support::{Parlor, last_model_call, set_kind, string_field};

/// Starts a server with one endpoint of a kind, which answers anything.
async fn start(kind: EndpointKind) -> (tempfile::TempDir, Upstream, Parlor) {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    upstream.add_script(When::any(), Script::new().text("Fine."));
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        set_kind(&mut settings.endpoints[0], kind, &upstream);
    })
    .await;
    (folder, upstream, parlor)
}

/// Returns the capabilities of a model in the list.
fn capabilities(list: &Value, id: &str) -> Value {
    let models = list["models"].as_array().unwrap();
    models.iter().find(|model| model["id"] == id).unwrap()["capabilities"].clone()
}

#[tokio::test]
async fn lists_capabilities_from_settings_list_and_table() {
    let folder = tempfile::tempdir().unwrap();
    let upstream = Upstream::start().await;
    let entry = json!({
        "id": "routed", "context_length": 200_000,
        "architecture": { "input_modalities": ["text", "image"] },
        "supported_parameters": ["tools"],
        "pricing": { "prompt": "0.000003", "completion": "0.000015" },
    });
    upstream.list_models(
        200,
        json!({ "data": [entry, { "id": "gpt-5" }, { "id": "mystery" }, { "id": "set" }] }),
    );
    let parlor = Parlor::start_with(folder.path(), &upstream, |settings| {
        let set = CapabilitySettings {
            images: Some(true),
            thinking: Some(ThinkingSetting::Supported(false)),
            ..CapabilitySettings::default()
        };
        settings.endpoints[0].capabilities = [("set".to_owned(), set)].into();
        let price = Price {
            input: parlor_protocol::Dollars(500_000_000),
            output: parlor_protocol::Dollars(2_000_000_000),
            cached_input: Some(parlor_protocol::Dollars(50_000_000)),
            ..Price::default()
        };
        settings.models.prices = [("mystery".to_owned(), price), ("test/routed".to_owned(), price)].into();
    })
    .await;
    let (_, list) = parlor.get_json("/api/models").await;
    let prices = json!({ "input": 0.5, "output": 2, "cached_input": 0.05 });
    assert_eq!(
        capabilities(&list, "test/routed"),
        json!({
            "image_input": true, "pdf_input": false, "tool_use": true, "context_window": 200_000,
            "thinking": { "supported": false }, "prices": prices,
        })
    );
    let known = capabilities(&list, "test/gpt-5");
    assert_eq!(
        (
            &known["thinking"]["levels"],
            &known["context_window"],
            &known["prices"]
        ),
        (
            &json!(["minimal", "low", "medium", "high"]),
            &json!(400_000),
            &Value::Null
        )
    );
    assert_eq!(capabilities(&list, "test/mystery"), json!({ "prices": prices }));
    assert_eq!(
        capabilities(&list, "test/set"),
        json!({ "image_input": true, "thinking": { "supported": false } })
    );
}

#[tokio::test]
async fn local_server_adds_capabilities_once_used() {
    let (_folder, upstream, parlor) = start(EndpointKind::OpenAi).await;
    upstream.add_page(
        "/props",
        Page::json(&json!({
            "default_generation_settings": { "n_ctx": 8192 }, "modalities": { "vision": true },
            "chat_template": "{{ enable_thinking }}{{ tools }}",
        })),
    );
    let (_, list) = parlor.get_json("/api/models").await;
    assert_eq!(capabilities(&list, "test/echo"), Value::Null);
    let body = json!({ "message": "Hi", "model": "test/echo", "parameters": { "thinking_level": "high" } });
    parlor.chat(&body).await.read_to_end().await;
    assert_eq!(
        last_model_call(&upstream)["chat_template_kwargs"],
        json!({ "enable_thinking": true })
    );
    let (_, list) = parlor.get_json("/api/models").await;
    let known = capabilities(&list, "test/echo");
    assert_eq!(
        (&known["image_input"], &known["thinking"]["levels"]),
        (&json!(true), &json!(["off", "on"]))
    );
}

#[tokio::test]
async fn sends_the_closest_thinking_that_a_model_takes() {
    use EndpointKind::{Anthropic, Gemini, OpenAi, OpenAiResponses};
    let adaptive = json!({ "type": "adaptive", "display": "summarized" });
    for (kind, model, parameters, field, expected) in [
        (
            OpenAi,
            "gpt-5.1",
            json!({ "thinking_level": "minimal" }),
            "/reasoning_effort",
            json!("low"),
        ),
        (
            OpenAi,
            "gpt-5.1",
            json!({ "thinking_level": "off" }),
            "/reasoning_effort",
            json!("none"),
        ),
        (
            OpenAi,
            "gpt-4o",
            json!({ "thinking_level": "high" }),
            "/reasoning_effort",
            Value::Null,
        ),
        (
            OpenAi,
            "any",
            json!({ "thinking_level": "minimal" }),
            "/reasoning_effort",
            json!("minimal"),
        ),
        (
            OpenAiResponses,
            "gpt-5",
            json!({ "thinking_level": "xhigh" }),
            "/reasoning/effort",
            json!("high"),
        ),
        (
            OpenAiResponses,
            "gpt-5.2",
            json!({ "thinking_budget": 40_000 }),
            "/reasoning/effort",
            json!("xhigh"),
        ),
        (
            Anthropic,
            "claude-opus-4-6",
            json!({ "thinking_level": "max" }),
            "/output_config/effort",
            json!("max"),
        ),
        (
            Anthropic,
            "claude-opus-4-6",
            json!({ "thinking_budget": 5000 }),
            "/thinking",
            adaptive,
        ),
        (
            Anthropic,
            "claude-opus-4-6",
            json!({ "thinking_level": "off" }),
            "/thinking/type",
            json!("disabled"),
        ),
        (
            Anthropic,
            "claude-haiku-4-5",
            json!({ "thinking_level": "low" }),
            "/thinking/budget_tokens",
            json!(4096),
        ),
        (
            Anthropic,
            "claude-haiku-4-5",
            json!({ "thinking_budget": "7777" }),
            "/thinking/budget_tokens",
            json!(7777),
        ),
        (
            Gemini,
            "gemini-3-pro-preview",
            json!({ "thinking_level": "medium" }),
            "/generationConfig/thinkingConfig/thinkingLevel",
            json!("high"),
        ),
        (
            Gemini,
            "gemini-3-flash-preview",
            json!({ "thinking_level": "off" }),
            "/generationConfig/thinkingConfig/thinkingLevel",
            json!("minimal"),
        ),
        (
            Gemini,
            "gemini-2.5-flash",
            json!({ "thinking_level": "off" }),
            "/generationConfig/thinkingConfig",
            json!({ "thinkingBudget": 0 }),
        ),
        (
            Gemini,
            "gemini-2.5-pro",
            json!({ "thinking_budget": 50_000 }),
            "/generationConfig/thinkingConfig/thinkingBudget",
            json!(32_768),
        ),
    ] {
        let (_folder, upstream, parlor) = start(kind).await;
        let body = json!({ "message": "Hi", "model": format!("test/{model}"), "parameters": parameters });
        let events = parlor.chat(&body).await.read_to_end().await;
        assert_eq!(events.last().unwrap()["type"], "complete", "{kind:?} {model}");
        let sent = last_model_call(&upstream);
        let found = sent.pointer(field).cloned().unwrap_or_default();
        assert_eq!(found, expected, "{kind:?} {model} {parameters}: {sent}");
        // The conversation keeps the choice for models that take it.
        let conversation = string_field(&events[0], "conversation_id");
        let kept = parlor
            .get_json(&format!("/api/conversations/{conversation}/parameters"))
            .await
            .1;
        let (name, value) = parameters.as_object().unwrap().iter().next().unwrap();
        assert_eq!(
            kept[name].to_string().trim_matches('"'),
            value.to_string().trim_matches('"')
        );
    }
}
