//! The services and programs that have a tile: what is filled in for each.

use parlor_protocol::EndpointKind::{self, Anthropic, Gemini, OpenAi, OpenAiResponses};

/// A service or a program that has models.
#[derive(Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name on its tile.
    pub label: &'static str,
    /// The suggested name of the model server; empty for none.
    pub name: &'static str,
    pub kind: EndpointKind,
    pub base_url: &'static str,
    pub key: KeyNeed,
    /// What to know before the address or the key is entered; may be empty.
    pub note: &'static str,
}

/// The need for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyNeed {
    /// A service: without a key it answers nothing.
    Required,
    /// A program on one's own machine, or anything else.
    Optional,
}

pub const PRESETS: [Preset; 13] = [
    service(
        "Anthropic",
        "anthropic",
        Anthropic,
        "https://api.anthropic.com",
        "Keys are made at console.anthropic.com.",
    ),
    service(
        "OpenAI",
        "openai",
        OpenAi,
        "https://api.openai.com/v1",
        "Keys are made at platform.openai.com.",
    ),
    service(
        "Google",
        "gemini",
        Gemini,
        "https://generativelanguage.googleapis.com/v1beta",
        "Keys are made in Google AI Studio.",
    ),
    service(
        "OpenRouter",
        "openrouter",
        OpenAi,
        "https://openrouter.ai/api/v1",
        "One key for the models of many providers.",
    ),
    service(
        "Mistral",
        "mistral",
        OpenAi,
        "https://api.mistral.ai/v1",
        "Keys are made at console.mistral.ai.",
    ),
    service(
        "Groq",
        "groq",
        OpenAi,
        "https://api.groq.com/openai/v1",
        "Keys are made at console.groq.com.",
    ),
    service(
        "DeepSeek",
        "deepseek",
        OpenAi,
        "https://api.deepseek.com/v1",
        "Keys are made at platform.deepseek.com.",
    ),
    service(
        "Azure OpenAI",
        "azure",
        OpenAi,
        "https://NAME.openai.azure.com/openai/v1",
        "Put the name of your resource in place of NAME.",
    ),
    program("Ollama", "ollama", "http://127.0.0.1:11434/v1"),
    program("llama.cpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    program("LM Studio", "lmstudio", "http://127.0.0.1:1234/v1"),
    program("vLLM", "vllm", "http://127.0.0.1:8000/v1"),
    Preset {
        label: "Another server",
        name: "",
        kind: OpenAi,
        base_url: "",
        key: KeyNeed::Optional,
        note: "Any server that speaks one of these protocols.",
    },
];

const fn service(
    label: &'static str,
    name: &'static str,
    kind: EndpointKind,
    base_url: &'static str,
    note: &'static str,
) -> Preset {
    Preset {
        label,
        name,
        kind,
        base_url,
        key: KeyNeed::Required,
        note,
    }
}

const fn program(label: &'static str, name: &'static str, base_url: &'static str) -> Preset {
    Preset {
        label,
        name,
        kind: OpenAi,
        base_url,
        key: KeyNeed::Optional,
        note: "Start it on the machine of Parlor, or enter the address of another one.",
    }
}

/// Returns the name of a protocol for people.
pub fn kind_label(kind: EndpointKind) -> &'static str {
    match kind {
        OpenAi => "OpenAI-compatible",
        OpenAiResponses => "OpenAI Responses",
        Anthropic => "Anthropic",
        Gemini => "Google Gemini",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_tile_has_its_own_name_and_address() {
        let labels: HashSet<_> = PRESETS.iter().map(|preset| preset.label).collect();
        let names: HashSet<_> = PRESETS.iter().map(|preset| preset.name).collect();
        let addresses: HashSet<_> = PRESETS.iter().map(|preset| preset.base_url).collect();
        for found in [labels.len(), names.len(), addresses.len()] {
            assert_eq!(found, PRESETS.len());
        }
    }
}
