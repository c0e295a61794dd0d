//! The capabilities and prices in the settings, in the form of all others.

use super::{CapabilitySettings, Price, ThinkingSetting};
use parlor_protocol::{ModelCapabilities, Prices, ThinkingLevel, ThinkingSupport};

impl From<&CapabilitySettings> for ModelCapabilities {
    fn from(set: &CapabilitySettings) -> Self {
        Self {
            image_input: set.images,
            pdf_input: set.pdf,
            tool_use: set.tools,
            thinking: configured_thinking(set),
            context_window: set.context_window,
            max_output_tokens: set.max_output_tokens,
            prices: None,
        }
    }
}

fn configured_thinking(set: &CapabilitySettings) -> Option<ThinkingSupport> {
    let mut support = match (&set.thinking, set.thinking_budget) {
        (Some(ThinkingSetting::Supported(false)), _) => return Some(ThinkingSupport::NONE),
        (None, None) => return None,
        (Some(ThinkingSetting::Supported(true)) | None, _) => ThinkingSupport::levels(&[]),
        (Some(ThinkingSetting::Levels(levels)), _) => {
            let is_set = |level: &ThinkingLevel| levels.contains(level);
            let ordered: Vec<ThinkingLevel> = ThinkingLevel::ALL.into_iter().filter(is_set).collect();
            ThinkingSupport::levels(&ordered)
        }
    };
    if let Some([min, max]) = set.thinking_budget {
        (support.min_budget, support.max_budget) = (Some(min), Some(max));
    }
    Some(support)
}

impl From<&Price> for Prices {
    fn from(price: &Price) -> Self {
        Self {
            input: price.input,
            output: price.output,
            cached_input: price.cached_input,
            cache_write: price.cache_write,
            image_output: price.image_output,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_form_of_thinking() {
        let thinking = |toml: &str| {
            ModelCapabilities::from(&toml::from_str::<CapabilitySettings>(toml).unwrap()).thinking
        };
        assert_eq!(thinking("images = true"), None);
        assert_eq!(thinking("thinking = false"), Some(ThinkingSupport::NONE));
        assert_eq!(thinking("thinking = true"), Some(ThinkingSupport::levels(&[])));
        let levels = ThinkingSupport::levels(&[ThinkingLevel::Off, ThinkingLevel::XHigh]);
        assert_eq!(thinking("thinking = [\"xhigh\", \"off\"]"), Some(levels));
        let budget = ThinkingSupport::budget(100, 2000, true);
        assert_eq!(
            thinking("thinking = [\"off\"]\nthinking_budget = [100, 2000]"),
            Some(budget)
        );
    }
}
