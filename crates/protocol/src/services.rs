//! The services whose address everybody knows: a key is all that they need.

use super::EndpointKind::{self, Anthropic, Gemini, OpenAi};

/// A service with models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Service {
    /// The name for people.
    pub label: &'static str,
    /// The name of its model server.
    pub name: &'static str,
    pub kind: EndpointKind,
    pub base_url: &'static str,
    /// The place where its keys are made.
    pub note: &'static str,
}

/// All of them, in the order of their tiles.
pub const SERVICES: [Service; 7] = [
    Service {
        label: "Anthropic",
        name: "anthropic",
        kind: Anthropic,
        base_url: "https://api.anthropic.com",
        note: "Keys are made at console.anthropic.com.",
    },
    Service {
        label: "OpenAI",
        name: "openai",
        kind: OpenAi,
        base_url: "https://api.openai.com/v1",
        note: "Keys are made at platform.openai.com.",
    },
    Service {
        label: "Google",
        name: "gemini",
        kind: Gemini,
        base_url: "https://generativelanguage.googleapis.com/v1beta",
        note: "Keys are made in Google AI Studio.",
    },
    Service {
        label: "OpenRouter",
        name: "openrouter",
        kind: OpenAi,
        base_url: "https://openrouter.ai/api/v1",
        note: "One key for the models of many providers.",
    },
    Service {
        label: "Mistral",
        name: "mistral",
        kind: OpenAi,
        base_url: "https://api.mistral.ai/v1",
        note: "Keys are made at console.mistral.ai.",
    },
    Service {
        label: "Groq",
        name: "groq",
        kind: OpenAi,
        base_url: "https://api.groq.com/openai/v1",
        note: "Keys are made at console.groq.com.",
    },
    Service {
        label: "DeepSeek",
        name: "deepseek",
        kind: OpenAi,
        base_url: "https://api.deepseek.com/v1",
        note: "Keys are made at platform.deepseek.com.",
    },
];

/// Returns the name for people of a service by the name of its model server.
pub fn service_label(name: &str) -> Option<&'static str> {
    let service = SERVICES.iter().find(|service| service.name == name)?;
    Some(service.label)
}
