//! The dialect of an endpoint: the differences between servers of the same protocol.

use serde::Deserialize;

/// The differences between servers of the same protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The request field for the thinking level: "reasoning_effort" (OpenAI), "reasoning" (OpenRouter),
    /// "chat_template" (vLLM, llama.cpp) or "enable_thinking" (Alibaba, SiliconFlow).
    pub thinking_level: ThinkingField,
    /// The request field for the length of an answer: "max_completion_tokens" or "max_tokens".
    pub longest_answer: MaxTokensField,
    /// True if the model's thinking before its tool calls is omitted from later requests. Some servers reject
    /// it.
    pub forget_thinking: bool,
}

/// The request field that sets the thinking level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingField {
    /// `"reasoning_effort": "low"`.
    #[default]
    ReasoningEffort,
    /// `"reasoning": {"effort": "low"}`, as used by OpenRouter.
    Reasoning,
    /// `"chat_template_kwargs": {"reasoning_effort": "low"}` or `{"enable_thinking": false}`, for vLLM and
    /// llama.cpp with models whose template reads it.
    ChatTemplate,
    /// `"enable_thinking": true, "thinking_budget": 4096`.
    EnableThinking,
}

/// The request field that limits the length of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    #[default]
    MaxCompletionTokens,
    /// The older name, the only one that some servers know.
    MaxTokens,
}
