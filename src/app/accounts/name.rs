//! Names of accounts.

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::protocol::{ApiError, ErrorCode};

/// The maximum length of an account's name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The maximum length of a written name, in bytes. The characters of a valid one can each be written with several.
const MAX_WRITTEN_BYTES: usize = 2048;

/// Returns a name as it is compared: names that look the same are the same. Returns the empty name, which no account has, for
/// one that is too long for any.
pub(in crate::app) fn normalize(name: &str) -> String {
    if name.len() > MAX_WRITTEN_BYTES {
        return String::new();
    }
    let name = ComposingNormalizerBorrowed::new_nfkc().normalize(name.trim());
    name.to_lowercase()
}

fn is_allowed(c: char) -> bool {
    c.is_alphanumeric() || "._-@+".contains(c)
}

/// Returns the name for an account of somebody whom a provider calls so; none if nothing of it can be in a name.
pub(super) fn from_foreign(name: &str) -> Option<String> {
    let words = normalize(name);
    let words = words.split_whitespace().collect::<Vec<_>>().join(".");
    let name: String = words
        .chars()
        .filter(|c| is_allowed(*c))
        .take(MAX_NAME_CHARS)
        .collect();
    name.chars().any(char::is_alphanumeric).then_some(name)
}

/// Returns a name with a number, for an account whose own name is taken.
pub(super) fn with_number(name: &str, number: usize) -> String {
    let number = format!("-{number}");
    let kept: String = name.chars().take(MAX_NAME_CHARS - number.len()).collect();
    kept + &number
}

/// Parses the name of a new account.
pub(super) fn parse(name: &str) -> Result<String, ApiError> {
    let name = normalize(name);
    if name.is_empty() || name.chars().count() > MAX_NAME_CHARS || !name.chars().all(is_allowed) {
        let message = format!(
            "A name has 1 to {MAX_NAME_CHARS} letters, digits and . _ - @ +, without spaces. No account was made."
        );
        return Err(ApiError::new(ErrorCode::BadRequest, message));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_oversized_name_is_nobodys() {
        assert_eq!(normalize("Ann"), "ann");
        let decomposed = "a\u{301}".repeat(MAX_NAME_CHARS);
        assert_eq!(parse(&decomposed).unwrap(), "á".repeat(MAX_NAME_CHARS));
        assert_eq!(normalize(&"\u{fdfa}".repeat(100_000)), "");
    }

    #[test]
    fn foreign_names_become_valid_ones() {
        assert_eq!(from_foreign("Ann Lee").as_deref(), Some("ann.lee"));
        assert_eq!(from_foreign("<b>ann</b>\u{202e}").as_deref(), Some("bannb"));
        assert_eq!(from_foreign("\u{202e} <>"), None);
        for name in ["Ann Lee", &"x".repeat(100)] {
            let name = from_foreign(name).unwrap();
            assert!(
                parse(&name).is_ok() && parse(&with_number(&name, 99)).is_ok(),
                "{name}"
            );
        }
    }

    #[test]
    fn names_that_look_the_same_are_equal() {
        for name in ["ann", " Ann ", "ＡＮＮ"] {
            assert_eq!(parse(name).unwrap(), "ann");
        }
        assert_eq!(parse("Ann@Example.org").unwrap(), "ann@example.org");
        for name in ["", " ", "ann lee", "<b>", "a\u{202e}b", "a\0", &"x".repeat(65)] {
            assert!(parse(name).is_err(), "{name:?}");
        }
    }
}
