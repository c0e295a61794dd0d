//! The explanations of refusals.

use parlor_base::text::single_line;
use parlor_model::ModelEvent;

/// The maximum length of an explanation in characters.
const MAX_EXPLANATION_CHARS: usize = 500;

/// Returns the event of an explanation: the first text that is not empty, in one line.
pub fn refusal_event<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<ModelEvent> {
    let mut lines = texts
        .into_iter()
        .map(|text| single_line(text, MAX_EXPLANATION_CHARS));
    lines.find(|line| !line.is_empty()).map(ModelEvent::Refusal)
}

/// Returns a constant of an API as words: "dangerous content" for "HARM_CATEGORY_DANGEROUS_CONTENT".
pub fn constant_words(constant: &str, prefix: &str) -> String {
    let name = constant.strip_prefix(prefix).unwrap_or(constant);
    name.to_lowercase().replace('_', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_the_first_text_in_one_line() {
        let explained = |text: &str| Some(ModelEvent::Refusal(text.into()));
        assert_eq!(
            refusal_event(["", " No,\n\tthanks. ", "x"]),
            explained("No, thanks.")
        );
        assert_eq!(refusal_event(["", " "]), None);
        let Some(ModelEvent::Refusal(long)) = refusal_event([&*"long ".repeat(1000)]) else {
            panic!("it is long");
        };
        // An ellipsis follows.
        assert!(long.chars().count() <= MAX_EXPLANATION_CHARS + 1, "{long}");
    }

    #[test]
    fn constants_become_words() {
        let words = |constant| constant_words(constant, "HARM_CATEGORY_");
        assert_eq!(words("HARM_CATEGORY_DANGEROUS_CONTENT"), "dangerous content");
        assert_eq!(words("PROHIBITED_CONTENT"), "prohibited content");
    }
}
