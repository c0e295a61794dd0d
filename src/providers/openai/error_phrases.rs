//! What a server means that refuses a request because of something in it that its model does not know. There are no codes for that:
//! it is told from its words.

use crate::model::{ModelError, ModelErrorKind};

/// How servers say that a model knows no tools, without quotation marks and apostrophes and in lower case.
const NO_TOOLS_PHRASES: [&str; 12] = [
    // Ollama, Mistral, LM Studio.
    "not support tool",
    "nt support tool",
    "not support function call",
    "nt support function call",
    // OpenRouter.
    "no endpoints found that support tool use",
    // Groq, xAI.
    "tools is not supported",
    "tools are not supported",
    "tool use is not supported",
    "tool calling is not supported",
    "tool calls are not supported",
    "function calling is not supported",
    "function calling is not enabled",
];

/// Options without which llama.cpp and vLLM have no tools. Whatever the status, they name what is missing.
const TOOL_OPTION_NAMES: [&str; 2] = ["--jinja", "--enable-auto-tool-choice"];

/// How servers say that a model takes no instructions of the system's, in the same way.
const NO_SYSTEM_PHRASES: [&str; 8] = [
    // The templates of Gemma and Mistral, as llama.cpp, LM Studio and vLLM show them.
    "system role not supported",
    "system role is not supported",
    "only user and assistant roles",
    "only user, assistant and tool roles",
    // OpenAI.
    "not support system with this model",
    "not support the system role",
    "not support system message",
    // Google.
    "developer instruction is not enabled",
];

/// Whether the server says that this model, or the server as it was started, has no tools.
pub fn is_tools_unsupported(error: &ModelError) -> bool {
    let words = normalized_message(error);
    let says = |phrase: &&str| words.contains(phrase);
    (is_permanent(error) && NO_TOOLS_PHRASES.iter().any(&says))
        || (words.contains("tool") && TOOL_OPTION_NAMES.iter().any(says))
}

/// Whether the server says that this model knows no role for instructions.
pub fn is_system_unsupported(error: &ModelError) -> bool {
    let words = normalized_message(error);
    // Templates fail inside the server, which some report as a fault of their own.
    NO_SYSTEM_PHRASES.iter().any(|phrase| words.contains(phrase))
}

/// Whether it is the request that was refused, and would be again.
fn is_permanent(error: &ModelError) -> bool {
    error.kind == ModelErrorKind::Refused
}

fn normalized_message(error: &ModelError) -> String {
    let words = error.error.message.to_lowercase();
    words.replace(['"', '\'', '`', '“', '”', '’'], "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::RunError;

    fn error(kind: ModelErrorKind, message: &str) -> ModelError {
        let error = RunError {
            code: "request_refused".into(),
            message: message.into(),
            hint: String::new(),
        };
        ModelError { error, kind }
    }

    #[test]
    fn detects_tools_unsupported_only_by_phrase() {
        let refused = |message| error(ModelErrorKind::Refused, message);
        for message in [
            "registry.ollama.ai/library/gemma:2b does not support tools",
            "No endpoints found that support tool use. To learn more, visit the docs.",
            "`tool calling` is not supported with this model",
            "This model doesn't support tool calls.",
            "Unsupported parameter: 'tools' is not supported with this model.",
        ] {
            assert!(is_tools_unsupported(&refused(message)), "{message}");
        }
        for message in [
            "The tool call id must have nine characters; contact support.",
            "tools[0].function.parameters: the keyword 'format' is not supported",
            "'tool_choice' is not supported",
            "The tool failed",
        ] {
            assert!(!is_tools_unsupported(&refused(message)), "{message}");
        }
        let busy = ModelErrorKind::Unavailable { after: None };
        assert!(
            !is_tools_unsupported(&error(busy, "This model does not support tools.")),
            "a server that is in trouble may say anything"
        );
        assert!(is_tools_unsupported(&error(
            busy,
            "tools param requires --jinja flag"
        )));
    }
}
