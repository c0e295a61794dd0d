//! Regular expressions of schemas. Servers check them with the engine of their own language, and refuse the request if it can't
//! read one.

use regex_syntax::Parser;

/// Features that the engines of some languages lack or spell in another way: properties of characters, long code points, and names of
/// groups.
const NOT_EVERYWHERE: [&str; 4] = [r"\p", r"\P", r"\u{", r"\k"];

/// Groups that look around. The parser has none, all servers' engines do.
const LOOKS_AROUND: [&str; 4] = ["(?=", "(?!", "(?<=", "(?<!"];

/// Returns true for a regular expression of the dialect that JavaScript, Python and others share.
pub fn is_portable(pattern: &str) -> bool {
    if NOT_EVERYWHERE.iter().any(|part| pattern.contains(part)) {
        return false;
    }
    let plain = LOOKS_AROUND
        .iter()
        .fold(pattern.to_owned(), |pattern, look| pattern.replace(look, "(?:"));
    // What is left are flags and names of groups.
    let has_flags = plain.replace("(?:", "").contains("(?");
    !has_flags && Parser::new().parse(&plain).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_common_dialect_is_portable() {
        for (pattern, expected) in [
            (r"^[a-z0-9_-]{1,64}$", true),
            (r"^\d{4}-\d{2}-\d{2}T[\d:.]+(Z|[+-]\d{2}:\d{2})$", true),
            (r"^https?:\/\/", true),
            (r"^(?!\s)(?:a|b)(?<=b)$", true),
            (r"^[^\x00-\x1f]*$", true),
            ("", true),
            ("[", false),
            ("a{2,1}", false),
            ("*", false),
            (r"^\p{L}+$", false),
            (r"^(?<year>\d{4})$", false),
            (r"^(?P<year>\d{4})$", false),
            (r"(?i)abc", false),
            (r"[\u{1F600}]", false),
            (r"(a)\1", false),
            (r"a)", false),
        ] {
            assert_eq!(is_portable(pattern), expected, "{pattern}");
        }
    }
}
