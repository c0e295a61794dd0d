//! Where servers of the same protocol differ: what an endpoint says of itself.

use serde::Deserialize;

/// Where servers of the same protocol differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    pub thinking_level: ThinkingField,
    pub longest_answer: MaxTokensField,
    /// Whether the model is not shown what it thought before it asked for its tools. Some servers refuse it.
    pub forget_thinking: bool,
}

/// How a server is told how much to think.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingField {
    /// `"reasoning_effort": "low"`.
    #[default]
    ReasoningEffort,
    /// `"reasoning": {"effort": "low"}`, as OpenRouter has it.
    Reasoning,
    /// `"chat_template_kwargs": {"reasoning_effort": "low"}`, for vLLM and llama.cpp with models whose template reads it.
    ChatTemplate,
}

/// What a server calls the longest answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokensField {
    #[default]
    MaxCompletionTokens,
    /// The older name, which some servers know alone.
    MaxTokens,
}
