//! The capabilities in an entry of an OpenAI-compatible model list. The servers have no common fields:
//! OpenRouter, Mistral, Vercel, Together, Groq, LM Studio, vLLM and llama.cpp each have their own.

use serde_json::Value;

use super::model_list::{parse_count, parse_tokens};
use parlor_protocol::{
    Dollars, ModelCapabilities, Prices,
    ThinkingLevel::{self, High, Low, Medium, Minimal, Off, XHigh},
    ThinkingSupport,
};

/// The levels of OpenRouter, which converts them for each model.
const ROUTED_LEVELS: [ThinkingLevel; 5] = [Minimal, Low, Medium, High, XHigh];

/// Tokens in the unit of prices.
const PRICED_TOKENS: f64 = 1e6;

/// Reads an entry.
pub fn read_capabilities(entry: &Value) -> ModelCapabilities {
    let modalities = ["/architecture/input_modalities", "/input_modalities"];
    let modalities = modalities.iter().find_map(|path| entry.pointer(path)?.as_array());
    let modality = |names: &[&str]| modalities.map(|list| has_any(list, names));
    // A list of abilities is complete. Tags are free: what they do not name, they do not deny.
    let feature = |names: &[&str]| {
        let list = |field: &str| entry[field].as_array().filter(|list| !list.is_empty());
        let tagged = || has_any(list("tags")?, names).then_some(true);
        match list("capabilities") {
            Some(abilities) => Some(has_any(abilities, names)),
            None => tagged(),
        }
    };
    let flag = |name: &str| entry["capabilities"][name].as_bool();
    let parameter = |name: &str| {
        let list = entry["supported_parameters"].as_array()?;
        Some(has_any(list, &[name]))
    };
    // LM Studio.
    let is_vision_model = match entry["type"].as_str() {
        Some("vlm") => Some(true),
        Some("llm") => Some(false),
        _ => None,
    };
    ModelCapabilities {
        image_input: modality(&["image"])
            .or(flag("vision"))
            .or(is_vision_model)
            .or_else(|| feature(&["vision", "multimodal"]).filter(|sees| *sees)),
        pdf_input: modality(&["file", "pdf"]).or_else(|| feature(&["file-input"]).filter(|reads| *reads)),
        tool_use: parameter("tools")
            .or(flag("function_calling"))
            .or_else(|| feature(&["tools", "tool_use", "tool-use"])),
        thinking: read_thinking(entry),
        context_window: listed_window(entry),
        max_output_tokens: [
            "/top_provider/max_completion_tokens",
            "/max_completion_tokens",
            "/max_output_tokens",
        ]
        .iter()
        .find_map(|path| parse_count(entry.pointer(path)?))
        .filter(|tokens| *tokens > 0),
        prices: read_prices(&entry["pricing"]),
    }
}

/// Reads the thinking: OpenRouter says if and how a model can be set, others at most that it thinks.
fn read_thinking(entry: &Value) -> Option<ThinkingSupport> {
    let parameters = entry["supported_parameters"].as_array();
    let reasoning = &entry["reasoning"];
    let thinks = match parameters {
        Some(list) => has_any(list, &["reasoning", "reasoning_effort"]),
        None if reasoning.is_object() => true,
        None => match entry["capabilities"]["reasoning"].as_bool() {
            // How it is set is not said.
            Some(true) | None => return None,
            Some(false) => false,
        },
    };
    if !thinks {
        return Some(ThinkingSupport::NONE);
    }
    let named = reasoning["supported_efforts"].as_array();
    let mut levels: Vec<ThinkingLevel> = match named {
        Some(named) => {
            let named: Vec<&str> = named.iter().filter_map(Value::as_str).collect();
            let is_named = |level: &ThinkingLevel| named.contains(&level.as_str());
            ThinkingLevel::ALL.into_iter().filter(is_named).collect()
        }
        None => ROUTED_LEVELS.to_vec(),
    };
    if reasoning["mandatory"].as_bool() != Some(true) {
        levels.insert(0, Off);
    }
    Some(ThinkingSupport::levels(&levels))
}

/// Reads prices: texts are for one token (OpenRouter, Vercel), numbers for a million (Together).
fn read_prices(pricing: &Value) -> Option<Prices> {
    let price = |names: [&str; 2]| {
        let value = names.iter().find_map(|name| pricing.get(name))?;
        let dollars = match value.as_str() {
            Some(text) => text.parse::<f64>().ok()? * PRICED_TOKENS,
            None => value.as_f64()?,
        };
        Dollars::from_f64(dollars)
    };
    Some(Prices {
        input: price(["prompt", "input"])?,
        output: price(["completion", "output"])?,
        cached_input: price(["input_cache_read", "cached_input"]),
        cache_write: price(["input_cache_write", "cache_creation_input"]),
        image_output: price(["image_output", "output_image"]),
    })
}

/// Returns the window in an entry of a model list: vLLM, OpenRouter, Groq, Mistral, LM Studio, llama.cpp.
pub fn listed_window(entry: &Value) -> Option<usize> {
    const NAMES: [&str; 8] = [
        "/max_model_len",
        "/top_provider/context_length",
        "/context_length",
        "/context_window",
        "/loaded_context_length",
        "/max_context_length",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    NAMES.iter().find_map(|name| parse_tokens(entry.pointer(name)?))
}

fn has_any(list: &[Value], names: &[&str]) -> bool {
    let mut texts = list.iter().filter_map(Value::as_str);
    texts.any(|text| names.contains(&text))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn dollars(text: &str) -> Dollars {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn reads_an_openrouter_entry() {
        let entry = json!({
            "id": "anthropic/claude-x", "context_length": 200_000,
            "architecture": { "input_modalities": ["text", "image", "file"], "output_modalities": ["text"] },
            "pricing": { "prompt": "0.000003", "completion": "0.000015", "request": "0", "image": "0.0048",
                "input_cache_read": "0.0000003", "input_cache_write": "0.00000375" },
            "top_provider": { "context_length": 200_000, "max_completion_tokens": 64_000 },
            "supported_parameters": ["include_reasoning", "max_tokens", "reasoning", "tools"],
            "reasoning": { "mandatory": false, "supported_efforts": ["high", "medium", "low"] },
        });
        let expected = ModelCapabilities {
            image_input: Some(true),
            pdf_input: Some(true),
            tool_use: Some(true),
            thinking: Some(ThinkingSupport::levels(&[Off, Low, Medium, High])),
            context_window: Some(200_000),
            max_output_tokens: Some(64_000),
            prices: Some(Prices {
                input: dollars("3"),
                output: dollars("15"),
                cached_input: Some(dollars("0.3")),
                cache_write: Some(dollars("3.75")),
                image_output: None,
            }),
        };
        assert_eq!(read_capabilities(&entry), expected);
    }

    #[test]
    fn reads_what_other_servers_say() {
        let sees = |entry: Value| {
            let read = read_capabilities(&entry);
            (read.image_input, read.tool_use)
        };
        // Mistral, LM Studio, Vercel, Ollama, and a server that says nothing.
        let mistral = json!({ "id": "m", "capabilities": { "vision": false, "function_calling": true, "reasoning": false } });
        assert_eq!(sees(mistral.clone()), (Some(false), Some(true)));
        assert_eq!(read_capabilities(&mistral).thinking, Some(ThinkingSupport::NONE));
        let lm_studio = json!({ "id": "m", "type": "vlm", "capabilities": ["tool_use"] });
        assert_eq!(sees(lm_studio), (Some(true), Some(true)));
        let vercel = json!({ "id": "m", "tags": ["vision", "tool-use"], "pricing": { "input": "0.00000125", "output": "0.00001" } });
        assert_eq!(sees(vercel.clone()), (Some(true), Some(true)));
        assert_eq!(read_capabilities(&vercel).prices.unwrap().input, dollars("1.25"));
        // Open WebUI and llama.cpp tag no model.
        for tags in [json!([]), json!(["chat"])] {
            assert_eq!(sees(json!({ "id": "m", "tags": tags })), (None, None));
        }
        let together = json!({ "id": "m", "pricing": { "input": 0.3, "output": 0.6 } });
        assert_eq!(
            read_capabilities(&together).prices.unwrap().output,
            dollars("0.6")
        );
        assert_eq!(
            read_capabilities(&json!({ "id": "m" })),
            ModelCapabilities::default()
        );
    }

    #[test]
    fn unusable_prices_are_unknown() {
        // OpenRouter's own router has no price of its own.
        for pricing in [
            json!({ "prompt": "-1", "completion": "-1" }),
            json!({ "prompt": "0.1" }),
            json!("free"),
        ] {
            assert_eq!(read_prices(&pricing), None, "{pricing}");
        }
        let free = read_prices(&json!({ "prompt": "0", "completion": "0" })).unwrap();
        assert_eq!(free.input, Dollars(0));
    }

    #[test]
    fn a_text_only_model_does_not_think() {
        let entry = json!({ "id": "m", "supported_parameters": ["max_tokens"], "architecture": { "input_modalities": ["text"] } });
        let read = read_capabilities(&entry);
        assert_eq!(read.thinking, Some(ThinkingSupport::NONE));
        assert_eq!(
            (read.image_input, read.pdf_input, read.tool_use),
            (Some(false), Some(false), Some(false))
        );
    }
}
