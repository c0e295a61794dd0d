//! The text in which a server rejects a request. There are no error codes for most rejected features, so the
//! text is searched for names and phrases: in the server's own words only, not in links to its documentation.

use super::error_phrases::normalize_phrase;
use parlor_model::ModelError;

/// The statuses of a request whose form is rejected. Other errors may mention any feature.
const REJECTION_STATUSES: [u16; 2] = [400, 422];

/// Phrases that call something unusable, in the form of [`RejectionText`].
const COMPLAINTS: [&str; 20] = [
    "not support",
    "nt support",
    "unsupported",
    "not permitted",
    "not allowed",
    "not available",
    "not enabled",
    "only enabled",
    "only be set",
    "not compatible",
    "not a valid",
    "not recognized",
    "invalid",
    "unknown",
    "unrecognized",
    "unexpected",
    "deprecated",
    "extra_forbidden",
    "must be",
    "cannot be used",
];

/// The server's text: in lower case, without quotation marks, apostrophes and URLs.
#[derive(Debug)]
pub struct RejectionText(String);

impl RejectionText {
    /// Returns the text of an error; `None` unless the form of the request was rejected.
    pub fn from_error(error: &ModelError) -> Option<Self> {
        let reply = error.reply.as_ref()?;
        let text = normalize_phrase(&reply.text);
        let words: Vec<&str> = text.split(' ').filter(|word| !word.contains("://")).collect();
        REJECTION_STATUSES
            .contains(&reply.status)
            .then(|| Self(words.join(" ")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if any of these phrases occurs.
    pub fn contains(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.0.contains(phrase))
    }

    /// Returns true if any of these names occurs as whole words.
    pub fn names(&self, names: &[&str]) -> bool {
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        names.iter().any(|name| {
            self.0.match_indices(name).any(|(at, _)| {
                !self.0[..at].ends_with(is_part) && !self.0[at + name.len()..].starts_with(is_part)
            })
        })
    }

    /// Returns true if the text names any of these and calls something unusable.
    pub fn rejects(&self, names: &[&str]) -> bool {
        self.names(names) && self.contains(&COMPLAINTS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parlor_model::{ErrorReply, ModelErrorKind};
    use parlor_protocol::RunError;

    fn rejection(status: u16, text: &str) -> Option<RejectionText> {
        RejectionText::from_error(&ModelError {
            error: RunError {
                code: "request_refused".into(),
                message: "The endpoint “reasoning” (http://reasoning.example) refused.".into(),
                hint: String::new(),
            },
            kind: ModelErrorKind::Refused,
            reply: Some(ErrorReply {
                status,
                text: text.into(),
            }),
        })
    }

    #[test]
    fn finds_whole_names_in_own_words() {
        for (text, is_named) in [
            ("Unsupported parameter: 'reasoning.effort'", true),
            ("\"reasoning\" is not supported", true),
            ("reasoning_content is not supported", false),
            (
                "Invalid prompt: see https://x.example/guides/reasoning#advice",
                false,
            ),
            ("It failed.", false),
        ] {
            let found = rejection(400, text).unwrap();
            assert_eq!(found.rejects(&["reasoning"]), is_named, "{text}");
        }
        assert!(
            !rejection(422, "The reasoning was long.")
                .unwrap()
                .rejects(&["reasoning"])
        );
    }

    #[test]
    fn ignores_errors_of_other_statuses() {
        for status in [401, 403, 404, 413, 429, 500] {
            assert!(
                rejection(status, "reasoning is not supported").is_none(),
                "{status}"
            );
        }
    }
}
