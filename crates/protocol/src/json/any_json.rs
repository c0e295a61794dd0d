//! JSON of every shape, for property tests.

use proptest::prelude::*;

/// JSON texts of every shape: possible model output and possible values of fields that take any JSON.
pub fn any_json() -> impl Strategy<Value = String> {
    let scalar = prop_oneof![
        prop::sample::select(EDGE_CASES).prop_map(str::to_owned),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_filter_map("a number", |number| number
            .is_finite()
            .then(|| format!("{number:e}"))),
        any::<String>().prop_map(|text| serde_json::Value::from(text).to_string()),
    ];
    let key = prop_oneof![
        Just(r#""a""#.to_owned()),
        any::<String>().prop_map(|key| serde_json::Value::from(key).to_string())
    ];
    scalar.prop_recursive(8, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(|fields| {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{key}:{value}"))
                    .collect();
                format!("{{{}}}", fields.join(" , "))
            }),
        ]
    })
}

/// Values at the edges of JSON.
pub const EDGE_CASES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "0.1",
    "1e400",
    "-1E-400",
    "123456789012345678901234567890",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "\"\"",
    "\"null\"",
    "[]",
    "{}",
    "[null]",
    "{\"a\":null}",
    "{\"a\":1,\"a\":2}",
    "{\"\":{}}",
    "\"\\u0000\"",
    "\"\\ud83d\\ude00\"",
    "\"\u{2028}\u{7f}\"",
    "[[[[[[[[[[[[]]]]]]]]]]]]",
];
