//! Texts in the answers of models, which write other values for them.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Reads a text, or the text of another value: models write numbers and truth values without quotes.
pub(crate) fn text_of_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => String::new(),
        Value::String(text) => text,
        Value::Bool(true) => "yes".into(),
        Value::Bool(false) => "no".into(),
        Value::Array(values) => {
            let texts = values
                .iter()
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            texts.collect::<Vec<_>>().join("; ")
        }
        other => other.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(Deserialize)]
    struct Answer {
        #[serde(deserialize_with = "text_of_any")]
        value: String,
    }

    #[test]
    fn values_of_any_type_are_texts() {
        for (value, read) in [
            (json!("five"), "five"),
            (json!(5), "5"),
            (json!(true), "yes"),
            (json!(null), ""),
            (json!(["a", 2]), "a; 2"),
        ] {
            let answer: Answer = serde_json::from_value(json!({ "value": value })).unwrap();
            assert_eq!(answer.value, read);
        }
    }
}
