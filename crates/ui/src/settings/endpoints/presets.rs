//! The services and programs that have a tile: what is filled in for each.

use super::texts;
use parlor_protocol::{
    EndpointKind::{self, Anthropic, Gemini, OpenAi, OpenAiResponses},
    SERVICES, Service,
};

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
    service(&SERVICES[0]),
    service(&SERVICES[1]),
    service(&SERVICES[2]),
    service(&SERVICES[3]),
    service(&SERVICES[4]),
    service(&SERVICES[5]),
    service(&SERVICES[6]),
    Preset {
        label: "Azure OpenAI",
        name: "azure",
        kind: OpenAi,
        base_url: "https://NAME.openai.azure.com/openai/v1",
        key: KeyNeed::Required,
        note: texts::AZURE_NOTE,
    },
    program("Ollama", "ollama", "http://127.0.0.1:11434/v1"),
    program("llama.cpp", "llama.cpp", "http://127.0.0.1:8080/v1"),
    program("LM Studio", "lmstudio", "http://127.0.0.1:1234/v1"),
    program("vLLM", "vllm", "http://127.0.0.1:8000/v1"),
    Preset {
        label: texts::ANOTHER_SERVER,
        name: "",
        kind: OpenAi,
        base_url: "",
        key: KeyNeed::Optional,
        note: texts::ANOTHER_NOTE,
    },
];

const fn service(of: &Service) -> Preset {
    Preset {
        label: of.label,
        name: of.name,
        kind: of.kind,
        base_url: of.base_url,
        key: KeyNeed::Required,
        note: of.note,
    }
}

const fn program(label: &'static str, name: &'static str, base_url: &'static str) -> Preset {
    Preset {
        label,
        name,
        kind: OpenAi,
        base_url,
        key: KeyNeed::Optional,
        note: texts::PROGRAM_NOTE,
    }
}

/// Returns the name of a protocol for people.
pub fn kind_label(kind: EndpointKind) -> &'static str {
    match kind {
        OpenAi => texts::OPENAI_COMPATIBLE,
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
