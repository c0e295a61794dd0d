//! Pretty-printing of JSON, for people.

const INDENT: &str = "  ";

/// Returns the same JSON with each element on a line of its own. Text that is not JSON is kept readable as
/// well.
pub fn pretty_print(json: &str) -> String {
    let mut out = String::with_capacity(json.len() * 2);
    let mut depth = 0_usize;
    let (mut in_string, mut escaped) = (false, false);
    let mut characters = json.chars().peekable();
    let line = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str(INDENT));
    };
    while let Some(character) = characters.next() {
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
    fn keeps_text_that_is_not_json() {
        for text in ["", "]]]", "{\"a", "\"\\", "}{", ",,::"] {
            pretty_print(text);
        }
    }
}
