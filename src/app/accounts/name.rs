//! Names of accounts. [`check_look`] rejects those that could be read as somebody else's; [`Accounts`](super::Accounts) calls it
//! wherever an account gets a name.

use icu_normalizer::ComposingNormalizerBorrowed;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};

use parlor_protocol::{ApiError, ErrorCode};

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
    let is_usable = name.chars().any(char::is_alphanumeric) && has_one_alphabet(&name);
    is_usable.then_some(name)
}

/// Returns `true` if all letters of a name are of one alphabet, or of several that are written together, as in Japanese (the
/// level "highly restrictive" of UTS 39).
fn has_one_alphabet(name: &str) -> bool {
    let letters: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    letters.check_restriction_level(RestrictionLevel::HighlyRestrictive)
}

/// Returns `true` if two different names can look the same. Two names in ASCII never do: `ann1` and `annl` are told apart.
fn look_the_same(name: &str, other: &str) -> bool {
    !(name.is_ascii() && other.is_ascii()) && skeleton(name).eq(skeleton(other))
}

/// Checks a new name of an account against those of all others.
///
/// # Errors
///
/// If the name could be read as another one.
pub(super) fn check_look<'a>(name: &str, mut others: impl Iterator<Item = &'a str>) -> Result<(), ApiError> {
    let refusal = |why: &str| Err(ApiError::new(ErrorCode::BadRequest, why));
    if !has_one_alphabet(name) {
        return refusal(
            "The name has letters of several alphabets, or unusual ones, so it could be read as another name. It was not \
             taken; use the letters of one alphabet.",
        );
    }
    if others.any(|other| other != name && look_the_same(name, other)) {
        return refusal(
            "The name looks like that of another account. It was not taken; choose one that can't be mixed up.",
        );
    }
    Ok(())
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
    fn names_of_mixed_alphabets_are_rejected() {
        for name in [
            // Cyrillic а; Greek ο; Armenian օ; Latin alpha and small capitals, which no language writes.
            "\u{430}nn",
            "b\u{3bf}b",
            "b\u{585}b",
            "\u{251}nn",
            "\u{1d00}nn",
            "ann-\u{430}",
            "анна.lee",
        ] {
            assert!(check_look(name, [].into_iter()).is_err(), "{name}");
            assert_eq!(from_foreign(name), None, "{name}");
        }
        for name in [
            "ann",
            "müller-1",
            "анна",
            "山田たろう",
            "김철수",
            "marie@x.org",
            "αθηνά",
            "נועם",
            "a+b_c",
        ] {
            assert!(check_look(name, [].into_iter()).is_ok(), "{name}");
            assert_eq!(from_foreign(name).as_deref(), Some(name));
        }
    }

    #[test]
    fn names_that_look_like_others_are_rejected() {
        let check = |name: &str, others: &[&str]| check_look(name, others.iter().copied()).is_ok();
        // All letters are Cyrillic.
        let (cyrillic, latin) = ("\u{441}\u{430}\u{440}\u{430}", "capa");
        assert!(!check(cyrillic, &["bob", latin]) && !check(latin, &[cyrillic]));
        assert!(check(cyrillic, &["bob", cyrillic]) && check(latin, &[latin, "cара-2"]));
        assert!(check("ann1", &["annl"]), "names in ASCII are told apart");
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
