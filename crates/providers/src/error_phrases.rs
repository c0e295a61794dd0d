//! Detection of rejected features in error messages. There are no error codes for a feature that the model
//! does not support, so the message is searched for known phrases.

use parlor_model::{ModelError, ModelErrorKind};

/// Phrases for a model without tools, in lower case and without quotation marks and apostrophes.
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

/// Options that enable tools in llama.cpp and vLLM. Errors with any status name the missing option.
const TOOL_OPTION_NAMES: [&str; 2] = ["--jinja", "--enable-auto-tool-choice"];

/// Phrases for a model without a system role, in the same form.
const NO_SYSTEM_PHRASES: [&str; 7] = [
    // The templates of Gemma and Mistral, as quoted by llama.cpp, LM Studio and vLLM.
    "system role not supported",
    "system role is not supported",
    // Llama 3.2 with images.
    "incompatible with system messages",
    // OpenAI.
    "not support system with this model",
    "not support the system role",
    "not support system message",
    // Google.
    "developer instruction is not enabled",
];

/// Words of errors about the schema of an answer: of its field (OpenAI, Groq, DeepSeek, LM Studio), of its feature (OpenRouter), of
/// what servers make of it (llama.cpp, vLLM).
pub const ANSWER_SCHEMA_WORDS: [&str; 6] = [
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "structured output",
    "grammar",
];

/// Returns true if this model, or the server as it was started, has no tools.
pub fn is_tools_unsupported(error: &ModelError) -> bool {
    let message = normalized_message(error);
    let contains = |phrase: &&str| message.contains(phrase);
    (is_permanent(error) && NO_TOOLS_PHRASES.iter().any(&contains))
        || (message.contains("tool") && TOOL_OPTION_NAMES.iter().any(contains))
}

/// Returns true if this model has no system role.
pub fn is_system_unsupported(error: &ModelError) -> bool {
    let message = normalized_message(error);
    // Templates fail inside the server, which some servers report as an internal error.
    NO_SYSTEM_PHRASES.iter().any(|phrase| message.contains(phrase))
}

/// Returns true if this model makes no images: "Unknown parameter: modalities", "no endpoints support the requested output
/// modalities".
pub fn is_image_output_unsupported(error: &ModelError) -> bool {
    is_permanent(error) && normalized_message(error).contains("modalit")
}

/// Returns true if this model or server keeps no answer to a schema, or not to this one.
pub fn is_answer_schema_unsupported(error: &ModelError) -> bool {
    let message = normalized_message(error);
    is_permanent(error) && ANSWER_SCHEMA_WORDS.iter().any(|word| message.contains(word))
}

/// Returns true if the request was rejected and would be again.
fn is_permanent(error: &ModelError) -> bool {
    error.kind == ModelErrorKind::Refused
}

/// Returns the server's own text. The error for the user also names the endpoint and its URL.
pub fn normalized_message(error: &ModelError) -> String {
    let text = error.reply.as_ref().map_or("", |reply| &reply.text);
    normalize_phrase(text)
}

/// Returns a text in lower case, without quotation marks and apostrophes.
pub fn normalize_phrase(text: &str) -> String {
    text.to_lowercase().replace(['"', '\'', '`', '“', '”', '’'], "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_model::ErrorReply;
    use parlor_protocol::RunError;

    fn error(kind: ModelErrorKind, message: &str) -> ModelError {
        let error = RunError {
            code: "request_refused".into(),
            message: "The endpoint “does not support tools” failed.".into(),
            hint: String::new(),
        };
        ModelError {
            error,
            kind,
            reply: Some(ErrorReply {
                status: 400,
                text: message.into(),
            }),
        }
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
