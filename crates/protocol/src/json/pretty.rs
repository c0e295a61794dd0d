//! Pretty-printing of JSON, for people.

const INDENT: &str = "  ";

/// The maximum indentation, in levels. Otherwise deeply nested JSON would grow quadratically.
const MAX_INDENT: usize = 16;

/// Returns the same JSON with each element on a line of its own. Only whitespace changes: numbers and the order of
/// members stay. Text that is not JSON is kept readable as well.
pub fn pretty_print(json: &str) -> String {
    pretty_print_up_to(json, usize::MAX)
}

/// [`pretty_print`] that ends soon after `limit` bytes.
pub fn pretty_print_up_to(json: &str, limit: usize) -> String {
    let mut out = String::with_capacity(limit.min(json.len() * 2));
    let mut depth = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    let mut characters = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth.min(MAX_INDENT)).for_each(|_| out.push_str(INDENT));
    };
    while out.len() <= limit
        && let Some(character) = characters.next()
    {
        if in_string {
            out.push(character);
            in_string = escaped || character != '"';
            escaped = character == '\\' && !escaped;
            continue;
        }
        match character {
            '"' => {
                in_string = true;
                out.push('"');
            }
            '{' | '[' => {
                out.push(character);
                while characters.next_if(|next| next.is_ascii_whitespace()).is_some() {}
                match characters.next_if(|next| matches!(next, '}' | ']')) {
                    Some(end) => out.push(end),
                    None => {
                        depth += 1;
                        line(&mut out, depth);
                    }
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                line(&mut out, depth);
                out.push(character);
            }
            ',' => {
                out.push(',');
                line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            space if space.is_ascii_whitespace() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_serde_json_pretty_output() {
        for json in [
            r#"{"a":1,"b":[true,null,{"c":"x, {y}: \"z\" \\"}],"d":{},"e":[ ],"é":-1.5}"#,
            "[]",
            "\"{\"",
            "7",
            "[[[]],{\"a\":{}}]",
        ] {
            let value: serde_json::Value = serde_json::from_str(json).unwrap();
            let expected = serde_json::to_string_pretty(&value).unwrap();
            assert_eq!(pretty_print(json), expected, "{json}");
            assert_eq!(pretty_print(&expected), expected);
        }
    }

    #[test]
    fn keeps_numbers_and_the_order_of_members() {
        assert_eq!(
            pretty_print(r#"{"z":1.50,"a" : [ ],"b\"{,": [true,{"c":"\\"}] , "d":{} }"#),
            "{\n  \"z\": 1.50,\n  \"a\": [],\n  \"b\\\"{,\": [\n    true,\n    {\n      \"c\": \"\\\\\"\n    }\n  ],\n  \"d\": {}\n}"
        );
        assert_eq!(pretty_print("12345678901234567890123"), "12345678901234567890123");
    }

    #[test]
    fn deep_json_stays_short_and_fast() {
        let deep = "[".repeat(100_000) + &"1,".repeat(100_000) + "1" + &"]".repeat(100_000);
        assert!(pretty_print(&deep).len() < deep.len() * 2 * (MAX_INDENT + 1));
        assert!(pretty_print_up_to(&deep, 1 << 20).len() < (1 << 20) + 100);
    }

    #[test]
    fn keeps_text_that_is_not_json() {
        for text in ["", "]]]", "{\"a", "\"\\", "}{", ",,::"] {
            pretty_print(text);
        }
    }
}
