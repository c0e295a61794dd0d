//! Names of accounts.

use icu_normalizer::ComposingNormalizerBorrowed;

use crate::protocol::{ApiError, ErrorCode};

/// The maximum length of an account's name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// Returns a name as it is compared: names that look the same are the same.
pub(super) fn normalize(name: &str) -> String {
    let name = ComposingNormalizerBorrowed::new_nfkc().normalize(name.trim());
    name.to_lowercase()
}

/// Parses the name of a new account.
pub(super) fn parse(name: &str) -> Result<String, ApiError> {
    let name = normalize(name);
    let is_allowed = |c: char| c.is_alphanumeric() || "._-@+".contains(c);
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
