//! The line about a chart of Plotly, for the model.

use serde_json::Value;

use parlor_base::text::single_line;

/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// The maximum number of named types, and the length of a name, in characters.
const MAX_TYPES: usize = 5;
const MAX_TYPE_CHARS: usize = 30;

/// The type of a trace that names none.
const DEFAULT_TYPE: &str = "scatter";

/// Returns a line that says what a chart shows: its title, and the types of its traces.
pub fn describe_chart(chart: &str) -> String {
    let chart: Value = serde_json::from_str(chart).unwrap_or_default();
    let title = &chart["layout"]["title"];
    let title = title["text"].as_str().or_else(|| title.as_str());
    let title = single_line(title.unwrap_or_default(), MAX_TITLE_CHARS);
    let title = match title.is_empty() {
        true => String::new(),
        false => format!(": “{title}”"),
    };
    let mut types: Vec<&str> = Vec::new();
    for trace in chart["data"].as_array().map(Vec::as_slice).unwrap_or_default() {
        let name = trace["type"].as_str().unwrap_or(DEFAULT_TYPE);
        let is_name =
            name.len() <= MAX_TYPE_CHARS && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name && !types.contains(&name) && types.len() < MAX_TYPES {
            types.push(name);
        }
    }
    let types = match types.is_empty() {
        true => String::new(),
        false => format!(" ({})", types.join(", ")),
    };
    format!("[The person sees an interactive chart{title}{types}.]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_title_and_types() {
        for (chart, said) in [
            ("{}", "."),
            ("no JSON", "."),
            (
                r#"{"data":[{}],"layout":{"title":"Rates"}}"#,
                ": “Rates” (scatter).",
            ),
            (
                r#"{"data":[{"type":"bar"},{"type":"a]b"},{"type":"bar"},{"type":3}],"layout":{"title":{"text":"a\nb"}}}"#,
                ": “a b” (bar, scatter).",
            ),
            (r#"{"data":{"type":"bar"},"layout":[]}"#, "."),
        ] {
            let expected = format!("[The person sees an interactive chart{said}]");
            assert_eq!(describe_chart(chart), expected, "{chart}");
        }
    }
}
