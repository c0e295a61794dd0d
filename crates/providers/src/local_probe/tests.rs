use super::*;
use crate::list_entry::listed_window;

#[test]
fn reads_every_window_field() {
    for (entry, window) in [
        (json!({"id": "m", "max_model_len": 32768}), Some(32768)),
        (
            json!({"id": "m", "context_length": 200000, "top_provider": {"context_length": 128000}}),
            Some(128000),
        ),
        (
            json!({"id": "m", "context_length": 200000, "top_provider": {"context_length": null}}),
            Some(200000),
        ),
        (json!({"id": "m", "context_window": 131072}), Some(131072)),
        (json!({"id": "m", "max_context_length": 8192}), Some(8192)),
        (
            json!({"id": "m", "meta": {"n_ctx_train": 131072, "n_ctx": 4096}}),
            Some(4096),
        ),
        (json!({"id": "m", "meta": {"n_ctx_train": 131072}}), Some(131072)),
        (json!({"id": "m", "max_model_len": 0}), None),
        (json!({"id": "m", "max_model_len": "many"}), None),
        (json!({"id": "m"}), None),
    ] {
        assert_eq!(listed_window(&entry), window, "{entry}");
    }
}

#[test]
fn detects_tool_support_from_template() {
    let smol = "{% for message in messages %}{{ message['content'] }}{% endfor %}";
    let hermes = "{% if tools %}{{ tools | tojson }}{% endif %}";
    for (props, takes_tools) in [
        (
            json!({"chat_template": hermes, "chat_template_caps": {"supports_tools": false, "supports_tool_calls": false}}),
            Some(false),
        ),
        (
            json!({"chat_template": smol, "chat_template_caps": {"supports_tools": true}}),
            Some(true),
        ),
        (
            json!({"chat_template_caps": {"supports_tools": false, "supports_tool_calls": true}}),
            Some(true),
        ),
        (
            json!({"chat_template": smol, "chat_template_tool_use": hermes}),
            Some(true),
        ),
        (
            json!({"chat_template": hermes, "chat_template_caps": {"supports_system_role": true}}),
            Some(true),
        ),
        (json!({"chat_template": smol}), Some(false)),
        (json!({"chat_template": ""}), None),
        (json!({}), None),
    ] {
        assert_eq!(template_takes_tools(&props), takes_tools, "{props}");
    }
}

#[test]
fn prefers_ollamas_loaded_window() {
    let info = json!({"llama.context_length": 131072, "llama.embedding_length": 4096});
    assert_eq!(ollama_shown_window(&json!({"model_info": info})), Some(131072));
    let parameters = "stop    \"<|end|>\"\nnum_ctx    8192";
    assert_eq!(
        ollama_shown_window(&json!({"model_info": info, "parameters": parameters})),
        Some(8192)
    );
    assert_eq!(
        ollama_shown_window(&json!({"model_info": info, "parameters": "num_ctx 0"})),
        Some(131072),
        "nobody can talk in no tokens"
    );
    assert_eq!(ollama_shown_window(&json!({"error": "no such model"})), None);
}

#[test]
fn reads_capabilities_of_local_servers() {
    use ThinkingLevel::{Off, On};
    let switch = Some(ThinkingSupport::levels(&[Off, On]));
    // llama.cpp
    let qwen = json!({
        "default_generation_settings": { "n_ctx": 4096 }, "modalities": { "vision": true, "audio": false },
        "chat_template": "{% if enable_thinking is false %}<think></think>{% endif %}{{ tools }}",
    });
    assert!(is_llama_cpp(&qwen) && !is_llama_cpp(&json!({ "error": "Unexpected endpoint" })));
    let probed = read_props(&qwen);
    assert!(probed.has_template_switch);
    let known = probed.capabilities;
    assert_eq!(
        (known.image_input, known.tool_use, known.context_window),
        (Some(true), Some(true), Some(4096))
    );
    assert_eq!(known.thinking, switch);
    let plain =
        json!({ "default_generation_settings": { "n_ctx": 4096 }, "chat_template": "{{ messages }}" });
    assert_eq!(read_props(&plain).capabilities.thinking, None);
    // Ollama
    let shown = |capabilities: Value, family: &str| {
        read_shown(&json!({ "capabilities": capabilities, "details": { "family": family } }))
    };
    let known = shown(json!(["completion", "vision", "thinking"]), "qwen3");
    assert_eq!(
        (known.image_input, known.tool_use, known.thinking),
        (Some(true), Some(false), switch)
    );
    assert_eq!(shown(json!(["completion", "thinking"]), "gptoss").thinking, None);
    assert_eq!(
        shown(json!(["completion"]), "llama").thinking,
        Some(ThinkingSupport::NONE)
    );
    assert_eq!(
        read_shown(&json!({})),
        ModelCapabilities::default(),
        "an old one says nothing"
    );
}

#[test]
fn probes_local_servers_only_above_the_version() {
    let root = |url: &str| {
        let probe = LocalProbe::new(&Url::parse(url).unwrap());
        probe.root.map(String::from)
    };
    assert_eq!(root("http://gpu:8000/v1/").as_deref(), Some("http://gpu:8000/"));
    assert_eq!(root("http://gpu/llm/v1").as_deref(), Some("http://gpu/llm/"));
    assert_eq!(root("http://gpu/llm").as_deref(), Some("http://gpu/llm/"));
    assert_eq!(root("http://gpu/v1beta").as_deref(), Some("http://gpu/"));
    assert_eq!(root("https://api.openai.com/v1"), None);
}
