//! The capabilities of well-known models, for servers whose lists have only names. Prices are left out, because
//! they change.

use std::borrow::Cow;

use parlor_protocol::{
    ModelCapabilities,
    ThinkingLevel::{self, High, Low, Max, Medium, Minimal, Off, On, XHigh},
    ThinkingSupport,
};

/// A model, or all models whose names begin alike.
#[derive(Clone, Copy, Debug)]
struct KnownModel {
    /// The beginning of the name.
    prefix: &'static str,
    /// Another part of the name; empty for any.
    part: &'static str,
    image_input: Option<bool>,
    pdf_input: Option<bool>,
    tool_use: Option<bool>,
    thinking: Thinking,
    /// The context window and the maximum length of an answer, which only hosted models have everywhere.
    limits: Option<(usize, usize)>,
}

#[derive(Clone, Copy, Debug)]
enum Thinking {
    Unknown,
    None,
    /// The model always thinks, and decides alone how much.
    Always,
    Levels(&'static [ThinkingLevel]),
    /// The smallest and the largest budget.
    Budget(usize, usize),
    /// The same, and it can be turned off.
    BudgetOrOff(usize, usize),
}

use Thinking::{Always, Budget, BudgetOrOff, Levels};

/// Creates an entry of which only the thinking is known.
const fn model(prefix: &'static str, thinking: Thinking) -> KnownModel {
    KnownModel {
        prefix,
        part: "",
        image_input: None,
        pdf_input: None,
        tool_use: None,
        thinking,
        limits: None,
    }
}

impl KnownModel {
    const fn named(mut self, part: &'static str) -> Self {
        self.part = part;
        self
    }

    const fn sees(mut self) -> Self {
        self.image_input = Some(true);
        self
    }

    /// Sets that the model takes neither images nor PDF files.
    const fn is_blind(mut self) -> Self {
        self.image_input = Some(false);
        self.pdf_input = Some(false);
        self
    }

    const fn reads_pdf(mut self) -> Self {
        self.pdf_input = Some(true);
        self
    }

    const fn uses_tools(mut self) -> Self {
        self.tool_use = Some(true);
        self
    }

    const fn limits(mut self, window: usize, max_output: usize) -> Self {
        self.limits = Some((window, max_output));
        self
    }

    /// All inputs, and tools.
    const fn multimodal(self) -> Self {
        self.sees().reads_pdf().uses_tools()
    }
}

const LOW_TO_HIGH: Thinking = Levels(&[Low, Medium, High]);
const SWITCH: Thinking = Levels(&[Off, On]);

/// The models. The first one that matches counts, so special names come before general ones.
#[rustfmt::skip] // One line a model.
const MODELS: &[KnownModel] = &[
    // OpenAI.
    model("gpt-5-chat", Thinking::None).multimodal().limits(128_000, 16_384),
    model("gpt-5-pro", Levels(&[High])).multimodal().limits(400_000, 272_000),
    model("gpt-5-codex", LOW_TO_HIGH).multimodal().limits(400_000, 128_000),
    model("gpt-5.1-codex-max", Levels(&[Low, Medium, High, XHigh])).multimodal().limits(400_000, 128_000),
    model("gpt-5.1-codex", LOW_TO_HIGH).multimodal().limits(400_000, 128_000),
    model("gpt-5.1-chat", Thinking::Unknown).multimodal().limits(128_000, 16_384),
    model("gpt-5.1", Levels(&[Off, Low, Medium, High])).multimodal().limits(400_000, 128_000),
    model("gpt-5.2-chat", Thinking::Unknown).multimodal().limits(128_000, 16_384),
    model("gpt-5.2-pro", Levels(&[Medium, High, XHigh])).multimodal().limits(400_000, 128_000),
    model("gpt-5.", Levels(&[Low, Medium, High, XHigh])).named("-codex").multimodal(),
    model("gpt-5.", Thinking::Unknown).named("-chat").multimodal(),
    model("gpt-5.", Levels(&[Medium, High, XHigh])).named("-pro").multimodal(),
    model("gpt-5.2", Levels(&[Off, Low, Medium, High, XHigh])).multimodal().limits(400_000, 128_000),
    model("gpt-5.", Levels(&[Off, Low, Medium, High, XHigh])).multimodal(),
    model("gpt-5", Levels(&[Minimal, Low, Medium, High])).multimodal().limits(400_000, 128_000),
    model("gpt-oss", LOW_TO_HIGH).is_blind().uses_tools(),
    model("gpt-4.1", Thinking::None).multimodal().limits(1_047_576, 32_768),
    model("gpt-4o", Thinking::None).multimodal().limits(128_000, 16_384),
    model("chatgpt-4o", Thinking::None).sees().limits(128_000, 16_384),
    model("gpt-4-turbo", Thinking::None).sees().uses_tools().limits(128_000, 4096),
    model("gpt-4.5", Thinking::None).sees().uses_tools().limits(128_000, 16_384),
    model("gpt-4", Thinking::None).named("vision").sees(),
    model("gpt-4", Thinking::None).is_blind().uses_tools(),
    model("gpt-3.5", Thinking::None).is_blind().uses_tools(),
    model("o1-mini", Always).is_blind().limits(128_000, 65_536),
    model("o1-preview", Always).is_blind().limits(128_000, 32_768),
    model("o1", LOW_TO_HIGH).multimodal().limits(200_000, 100_000),
    model("o3-mini", LOW_TO_HIGH).is_blind().uses_tools().limits(200_000, 100_000),
    model("o3", LOW_TO_HIGH).multimodal().limits(200_000, 100_000),
    model("o4-mini", LOW_TO_HIGH).multimodal().limits(200_000, 100_000),
    // Anthropic.
    model("claude-3-haiku", Thinking::None).sees().uses_tools().limits(200_000, 4096),
    model("claude-3-opus", Thinking::None).sees().uses_tools().limits(200_000, 4096),
    model("claude-3-sonnet", Thinking::None).sees().uses_tools().limits(200_000, 4096),
    model("claude-3-5", Thinking::None).multimodal().limits(200_000, 8192),
    model("claude-3-7", BudgetOrOff(1024, 63_999)).multimodal().limits(200_000, 64_000),
    model("claude-opus-4-0", BudgetOrOff(1024, 31_999)).multimodal().limits(200_000, 32_000),
    model("claude-opus-4-1", BudgetOrOff(1024, 31_999)).multimodal().limits(200_000, 32_000),
    model("claude-opus-4-2", BudgetOrOff(1024, 31_999)).multimodal().limits(200_000, 32_000),
    model("claude-opus-4-5", BudgetOrOff(1024, 63_999)).multimodal().limits(200_000, 64_000),
    model("claude-sonnet-4-0", BudgetOrOff(1024, 63_999)).multimodal().limits(200_000, 64_000),
    model("claude-sonnet-4-2", BudgetOrOff(1024, 63_999)).multimodal().limits(200_000, 64_000),
    model("claude-sonnet-4-5", BudgetOrOff(1024, 63_999)).multimodal().limits(200_000, 64_000),
    model("claude-haiku-4-5", BudgetOrOff(1024, 63_999)).multimodal().limits(200_000, 64_000),
    model("claude-opus-4-6", Levels(&[Off, Low, Medium, High, Max])).multimodal(),
    model("claude-opus-4-", Levels(&[Off, Low, Medium, High, XHigh, Max])).multimodal(),
    model("claude-", Levels(&[Off, Low, Medium, High])).multimodal(),
    // Google.
    model("gemini-3-pro-image", Always).sees(),
    model("gemini-3-pro", Levels(&[Low, High])).multimodal().limits(1_048_576, 65_536),
    model("gemini-3.1-pro", Levels(&[Low, Medium, High])).multimodal().limits(1_048_576, 65_536),
    model("gemini-3", Thinking::Unknown).named("-image").sees(),
    model("gemini-3", Levels(&[Minimal, Low, Medium, High])).named("-flash").multimodal().limits(1_048_576, 65_536),
    model("gemini-3", LOW_TO_HIGH).multimodal(),
    model("gemini-2.5-flash-image", Thinking::None).sees(),
    model("gemini-2.5-pro", Budget(128, 32_768)).multimodal().limits(1_048_576, 65_536),
    model("gemini-2.5-flash-lite", BudgetOrOff(512, 24_576)).multimodal().limits(1_048_576, 65_536),
    model("gemini-2.5-flash", BudgetOrOff(1, 24_576)).multimodal().limits(1_048_576, 65_536),
    model("gemini-2.0", Thinking::None).multimodal(),
    model("gemini-1.5", Thinking::None).multimodal(),
    model("gemma-3n", Thinking::None),
    model("gemma-3-1b", Thinking::None).is_blind(),
    model("gemma-3", Thinking::None).sees(),
    // Open models.
    model("qwen3-vl", Always).named("thinking").sees().uses_tools(),
    model("qwen3-vl", Thinking::None).sees().uses_tools(),
    model("qwen3-omni", Always).named("thinking").sees(),
    model("qwen3-omni", Thinking::None).named("instruct").sees(),
    model("qwen3-omni", Thinking::Unknown).sees(),
    model("qwen3", Always).named("thinking").is_blind().uses_tools(),
    model("qwen3", Thinking::None).named("instruct").is_blind().uses_tools(),
    model("qwen3", Thinking::None).named("coder").is_blind().uses_tools(),
    model("qwen3-max", Thinking::Unknown).is_blind().uses_tools(),
    model("qwen3", SWITCH).uses_tools(),
    model("qwq", Always).is_blind(),
    model("qwen", Thinking::None).named("-vl").sees(),
    model("deepseek-r1", Always).is_blind(),
    model("deepseek-reasoner", Always).is_blind(),
    model("deepseek-chat", Thinking::None).is_blind().uses_tools(),
    model("deepseek-v3.", SWITCH).is_blind().uses_tools(),
    model("kimi-k2-thinking", Always).is_blind().uses_tools(),
    model("kimi-k2", Thinking::None).uses_tools(),
    model("glm-4.1v", Always).sees(),
    model("glm-4.5v", SWITCH).sees().uses_tools(),
    model("glm-4.6v", SWITCH).sees().uses_tools(),
    model("glm-4.", SWITCH).is_blind().uses_tools(),
    model("grok-3-mini", Levels(&[Low, High])).is_blind().uses_tools(),
    model("grok-4", Always).sees().uses_tools(),
    model("magistral", Always).uses_tools(),
    model("pixtral", Thinking::None).sees().uses_tools(),
    model("mistral-medium-3", Thinking::None).sees().uses_tools(),
    model("llama-4", Thinking::None).sees().uses_tools(),
    model("llama-3", Thinking::None).named("vision").sees(),
    model("llama-3", Thinking::None).is_blind(),
    model("llava", Thinking::None).sees(),
];

/// Returns the known capabilities of a model by its name, as "gpt-5", "openai/gpt-5:free" or "models/gemini-2.5-pro".
pub fn known_capabilities(name: &str) -> ModelCapabilities {
    let name = name.to_lowercase();
    let name = name.rsplit('/').next().unwrap_or_default();
    // Gateways write both `claude-3-5-sonnet` and `claude-3.5-sonnet`.
    let name = match name.starts_with("claude-") {
        true => Cow::Owned(name.replace('.', "-")),
        false => Cow::Borrowed(name),
    };
    let matches = |known: &&KnownModel| name.starts_with(known.prefix) && name.contains(known.part);
    MODELS
        .iter()
        .find(matches)
        .map(ModelCapabilities::from)
        .unwrap_or_default()
}

impl From<&KnownModel> for ModelCapabilities {
    fn from(known: &KnownModel) -> Self {
        let thinking = match known.thinking {
            Thinking::Unknown => None,
            Thinking::None => Some(ThinkingSupport::NONE),
            Always => Some(ThinkingSupport::levels(&[])),
            Levels(levels) => Some(ThinkingSupport::levels(levels)),
            Budget(min, max) => Some(ThinkingSupport::budget(min, max, false)),
            BudgetOrOff(min, max) => Some(ThinkingSupport::budget(min, max, true)),
        };
        Self {
            image_input: known.image_input,
            pdf_input: known.pdf_input,
            tool_use: known.tool_use,
            thinking,
            context_window: known.limits.map(|(window, _)| window),
            max_output_tokens: known.limits.map(|(_, max_output)| max_output),
            prices: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn special_names_come_before_general_ones() {
        for (at, known) in MODELS.iter().enumerate() {
            let hides = |before: &&KnownModel| {
                known.prefix.starts_with(before.prefix)
                    && (before.part.is_empty()
                        || known.part == before.part
                        || known.prefix.contains(before.part))
            };
            let hidden_by = MODELS[..at].iter().find(hides);
            assert!(hidden_by.is_none(), "{} is hidden by {hidden_by:?}", known.prefix);
        }
    }

    #[test]
    fn knows_the_thinking_of_each_family() {
        let levels = |levels: &[ThinkingLevel]| Some(ThinkingSupport::levels(levels));
        for (name, thinking) in [
            ("gpt-5-mini", levels(&[Minimal, Low, Medium, High])),
            ("openai/gpt-5.1:free", levels(&[Off, Low, Medium, High])),
            ("gpt-5.4", levels(&[Off, Low, Medium, High, XHigh])),
            ("gpt-5.3-codex", levels(&[Low, Medium, High, XHigh])),
            ("gpt-4o-mini", Some(ThinkingSupport::NONE)),
            ("claude-opus-4-8", levels(&[Off, Low, Medium, High, XHigh, Max])),
            (
                "claude-sonnet-4-20250514",
                Some(ThinkingSupport::budget(1024, 63_999, true)),
            ),
            ("claude-3-5-haiku-20241022", Some(ThinkingSupport::NONE)),
            (
                "models/gemini-3-flash-preview",
                levels(&[Minimal, Low, Medium, High]),
            ),
            ("gemini-3-pro-preview", levels(&[Low, High])),
            (
                "gemini-2.5-pro",
                Some(ThinkingSupport::budget(128, 32_768, false)),
            ),
            ("Qwen/Qwen3-8B", levels(&[Off, On])),
            ("qwen3:8b", levels(&[Off, On])),
            ("qwen3-4b-instruct-2507", Some(ThinkingSupport::NONE)),
            ("deepseek-reasoner", levels(&[])),
            ("somebody/unheard-of", None),
        ] {
            assert_eq!(known_capabilities(name).thinking, thinking, "{name}");
        }
        assert_eq!(known_capabilities("gpt-4o").image_input, Some(true));
        assert_eq!(known_capabilities("gpt-oss-20b").context_window, None);
    }

    #[test]
    fn seeing_models_of_blind_families_are_known() {
        for name in [
            "gpt-4.5-preview",
            "gpt-4-vision-preview",
            "gpt-4-1106-vision-preview",
            "qwen3-omni-30b-a3b-thinking",
            "qwen3-omni-30b-a3b-instruct",
            "qwen3-omni-flash",
            "thudm/glm-4.1v-9b-thinking",
        ] {
            assert_eq!(known_capabilities(name).image_input, Some(true), "{name}");
        }
    }
}
